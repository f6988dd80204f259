"""The watch as a process: it steps, stores its state and sends alerts until it is stopped."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pyarrow as pa

from kit.watch import state_folder
from kit.watch.loop import Watch
from kit.watch.outlets import Outlet

NICE: Final = 10
RANKS: Final = ("warning", "critical")
AT_ONCE: Final = 1000
"""Most steps without a pause while catching up."""


class Stopped(Exception):
    """The process was asked to end."""


def gently() -> None:
    """Use one core, with the lowest priority."""
    os.nice(NICE)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)


def ends_on_signals() -> None:
    """Let SIGTERM and SIGINT end the process between two steps, or while it waits."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Stopped

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def send_alerts(watch: Watch, folder: Path, outlets: Sequence[Outlet]) -> None:
    """Send unsent alerts. They are stored first, so that a process killed here sends them when it restarts; the
    `id` shows a receiver that it got one twice.
    """
    waiting, watch.kept.untold = watch.kept.untold, []
    if not waiting:
        return
    for alert in waiting:
        for outlet in outlets:
            outlet(alert)
    state_folder.save(folder, watch.kept, durable=True)


def step(watch: Watch, folder: Path, outlets: Sequence[Outlet]) -> list[dict[str, Any]]:
    """Make one step, store its state, and send its alerts."""
    alerts = watch.step()
    state_folder.save(folder, watch.kept, durable=bool(alerts))
    send_alerts(watch, folder, outlets)
    return alerts


def forever(
    watch: Watch,
    folder: Path,
    outlets: Sequence[Outlet],
    show: Callable[[list[dict[str, Any]]], None],
    every: float,
    once: bool = False,
) -> None:
    """Step every `every` seconds until the process is stopped; with `once` until everything that is there was read."""
    send_alerts(watch, folder, outlets)  # alerts that a killed process did not send
    quick = 0
    while True:
        began, read = time.monotonic(), watch.figures.read
        show(step(watch, folder, outlets))
        quick = quick + 1 if watch.figures.read > read else 0
        if once and (not quick or quick > AT_ONCE):
            return
        if not once and not watch.figures.behind:
            time.sleep(max(0.0, every - (time.monotonic() - began)))


def rings(watch: Watch) -> bool:
    """Return whether an episode that needs attention is open."""
    return any(episode.severity in RANKS for episode in watch.kept.episodes.open.values())


def complain(text: str) -> None:
    print(text, file=sys.stderr)
