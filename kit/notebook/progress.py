"""What a notebook sees of long work: a bar that goes when the work is done, and an interrupt that leaves the kernel usable."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kit.case.progress import STAGES, Progress, Stage
from kit.i18n import Lang

if TYPE_CHECKING:
    from kit.case.case import Case


class Bar(Progress):
    """One bar on the kernel's stderr, for one stage after the other; nothing of it stays in the notebook."""

    def __init__(self, lang: Lang) -> None:
        self._lang = lang
        self._lock = threading.Lock()
        self._bar: Any = None
        self._stage: Stage | None = None

    def begin(self, stage: Stage, total: int | None = None) -> None:
        from tqdm import tqdm

        with self._lock:
            if stage == self._stage:
                return
            self._close()
            self._stage = stage
            self._bar = tqdm(total=total, desc=STAGES[stage].in_(self._lang), leave=False, file=sys.stderr)

    def step(self) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar.update()

    def end(self) -> None:
        with self._lock:
            self._close()
            self._stage = None

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


@contextlib.contextmanager
def watched(case: Case, lang: Lang, interactive: bool) -> Iterator[None]:
    """Show the progress of a case while the block runs, where somebody watches; an interrupt stops what Spark does for it."""
    before, handler = case.progress, None
    if interactive:
        case.progress = Bar(lang)
    if threading.current_thread() is threading.main_thread():
        handler = signal.getsignal(signal.SIGINT)

        def stop(number: int, frame: Any) -> None:
            # Jobs of other threads would go on, and whoever waits for these threads with them.
            case.cancel()
            if callable(handler):
                handler(number, frame)
            raise KeyboardInterrupt

        signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        case.progress.end()
        case.progress = before
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
