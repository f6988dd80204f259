"""The watch as a process: steps, keeps its state, tells alerts, until it is stopped."""

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

from kit.watch import keeping
from kit.watch.loop import Watch
from kit.watch.out import Outlet

NICE: Final = 10
RANKS: Final = ("warning", "critical")
AT_ONCE: Final = 1000
"""Steps without a pause while there is much to catch up with."""


class Stopped(Exception):
    """Somebody asked the process to end."""


def gently() -> None:
    """Take one core, and that only where nobody else wants it."""
    os.nice(NICE)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)


def ends_on_signals() -> None:
    """Let SIGTERM and SIGINT end the process between two steps, or while it waits."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Stopped

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def told(watch: Watch, folder: Path, outlets: Sequence[Outlet]) -> None:
    """Tell what was not told yet. It is kept before, so that a process killed here tells it when it starts again; by its
    `id` whoever hears it twice knows it.
    """
    waiting, watch.kept.untold = watch.kept.untold, []
    if not waiting:
        return
    for alert in waiting:
        for outlet in outlets:
            outlet(alert)
    keeping.save(folder, watch.kept, durable=True)


def step(watch: Watch, folder: Path, outlets: Sequence[Outlet]) -> list[dict[str, Any]]:
    """Make one step, keep it, and tell its alerts."""
    alerts = watch.step()
    keeping.save(folder, watch.kept, durable=bool(alerts))
    told(watch, folder, outlets)
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
    told(watch, folder, outlets)  # what an earlier process was killed over
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
    """Tell whether an episode that somebody should look at is open."""
    return any(episode.severity in RANKS for episode in watch.kept.episodes.open.values())


def complain(text: str) -> None:
    print(text, file=sys.stderr)
