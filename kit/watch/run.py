"""The watch as a process: it steps, stores its state and sends alerts until it is stopped."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pyarrow as pa

from kit.i18n import labels
from kit.watch import state_folder
from kit.watch.loop import Watch
from kit.watch.outlets import Outlet

NICE: Final = 10
RANKS: Final = ("warning", "critical")
SAYS: Final = labels("watch")["run"]
MOST_LATE: Final = 1000
"""Most alerts kept for an outlet that cannot take them."""
AT_ONCE: Final = 1000
"""Most steps without a pause while catching up."""


class Stopped(BaseException):
    """The process was asked to end, whatever it was doing: no file is to blame."""


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


class Sender:
    """Rings, and keeps the state. A place that cannot be written to (a full disk) is named once; the watch goes on with its state in memory."""

    def __init__(self, watch: Watch, folder: Path, outlets: Sequence[Outlet], complain: Callable[[str], None]) -> None:
        self.watch, self.folder, self.outlets, self.complain = watch, folder, outlets, complain
        self.after: Callable[[], None] = lambda: None
        """Called after each step."""
        self._late: list[tuple[Outlet, dict[str, Any]]] = []
        """Alerts that an outlet could not take yet."""
        self._named: set[str] = set()

    def step(self) -> list[dict[str, Any]]:
        """Make one step, store its state, and send its alerts."""
        alerts = self.watch.step()
        self._save(durable=bool(alerts))
        self.send()
        self._done(self.after)
        return alerts

    def send(self) -> None:
        """Send unsent alerts. They are stored first, so that a process killed here sends them when it restarts; the
        `id` shows a receiver that it got one twice.
        """
        waiting, self.watch.kept.untold = self.watch.kept.untold, []
        due = self._late + [(outlet, alert) for alert in waiting for outlet in self.outlets]
        self._late = [(outlet, alert) for outlet, alert in due if not self._rang(outlet, alert)][-MOST_LATE:]
        if waiting:
            self.watch.kept.untold = list({alert["id"]: alert for _, alert in self._late}.values())
            self._save(durable=True)
            self.watch.kept.untold = []

    def _rang(self, outlet: Outlet, alert: dict[str, Any]) -> bool:
        return self._done(partial(outlet, alert))

    def _save(self, *, durable: bool) -> None:
        self._done(partial(state_folder.save, self.folder, self.watch.kept, durable=durable))

    def _done(self, act: Callable[[], object]) -> bool:
        """Do something that may meet a full disk; say once which, and return whether it was done."""
        try:
            act()
        except OSError as error:
            said = SAYS["unwritten"].say(path=str(error.filename or self.folder), why=error.strerror or str(error))
            if (text := said.render(self.watch.lang)) not in self._named:
                self._named.add(text)
                self.complain(text)
            return False
        return True


def forever(sender: Sender, show: Callable[[list[dict[str, Any]]], None], every: float, *, once: bool = False) -> None:
    """Step every `every` seconds until the process is stopped; with `once` until everything that is there was read."""
    sender.send()  # alerts that a killed process did not send
    watch, quick = sender.watch, 0
    while True:
        began, read = time.monotonic(), watch.figures.read
        show(sender.step())
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
