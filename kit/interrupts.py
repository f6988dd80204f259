"""Ctrl-C and the stop button, at a point where they leave no lock taken."""

import _thread
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

LOCKING: Final = ("grpc", "threading", "concurrent", "logging", "contextlib", "importlib")
"""Packages that take a lock in one statement and release it in another: an exception between leaves it taken."""
PATIENCE: Final = 5.0
"""Seconds an interrupt waits for a better point."""
PAUSE: Final = 0.01
"""Seconds between two looks for one."""


class Interrupts:
    """A handler of SIGINT that calls `stop` and raises `KeyboardInterrupt`, a little later where it would leave a lock
    taken: the next query, or the end of the process, would wait for that lock for ever.
    """

    def __init__(self, stop: Callable[[], object] = lambda: None) -> None:
        self.stop = stop
        self._since: float | None = None  # the first of the interrupts that were put off

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self._since = self._since or time.monotonic()
        if tears(frame) and time.monotonic() < self._since + PATIENCE:
            # No thread of `threading`: this one may hold the locks that starting it takes.
            _thread.start_new_thread(self._again, (threading.get_ident(),))
            return
        self._since = None
        self.stop()
        raise KeyboardInterrupt

    def forget(self) -> None:
        """Forget an interrupt that was put off: what it was to stop has ended."""
        self._since = None

    def _again(self, thread: int) -> None:
        time.sleep(PAUSE)
        if self._since:
            signal.pthread_kill(thread, signal.SIGINT)


def tears(frame: FrameType | None) -> bool:
    """Return whether an exception at this point of the main thread could leave a lock taken.

    A wait is no such point: what waits expects to be interrupted, and holds nothing meanwhile.
    """
    if frame is None or (frame.f_code is threading.Condition.wait.__code__ and "gotit" in frame.f_locals):
        return False
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package in LOCKING:
            return True
        if package in ("kit", "__main__"):  # they hold locks by `with` only
            return False
        frame = frame.f_back
    return False
