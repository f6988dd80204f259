"""Progress in notebooks: a bar that disappears when the work is done, and an interrupt that leaves the kernel usable.

From `notebook.start` on every cell is watched: Spark work in it shows its progress, and the stop button ends it.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any, Final

from kit.case.case import Case
from kit.case.progress import STAGES, Progress, Stage
from kit.i18n import Lang
from kit.interrupts import Interrupts
from kit.notebook.prose import listen, shell

COUNTED: Final = "{desc} {bar:20} {n_fmt}/{total_fmt} {elapsed}{postfix}"
BEGUN: Final = "{desc} {elapsed}{postfix}"


class Bar(Progress):
    """One bar for each stage in turn; it disappears at the end."""

    def __init__(self, lang: Lang) -> None:
        self._lang = lang
        self._lock = threading.Lock()
        self._bar: Any = None
        self._stage: Stage | None = None

    def begin(self, stage: Stage, total: int | None = None) -> None:
        from tqdm import tqdm

        with self._lock:
            if stage != self._stage:
                self._close()
                # JupyterLab leaves a red box where something was written to stderr, even after it is cleared.
                look: dict[str, Any] = {"leave": False, "file": sys.stderr if shell() is None else sys.stdout}
                self._bar = tqdm(
                    total=total, desc=STAGES[stage].in_(self._lang), bar_format=COUNTED if total else BEGUN, **look
                )
                self._stage = stage

    def step(self) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar.update()

    def end(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = self._stage = None


@contextlib.contextmanager
def watched(case: Case, lang: Lang, interactive: bool) -> Iterator[None]:
    """Show the progress of the work for a case, and let an interrupt stop it, while the block runs; in a notebook also
    in the rest of this cell and in later ones.
    """
    progress, cell = Bar(lang) if interactive else Progress(), contextlib.ExitStack()
    # Otherwise jobs and threads would go on, and those that wait for them.
    stop = Interrupts(case.cancel)

    def begin(*_: Any) -> None:
        cell.close()
        case.resume()
        cell.callback(stop.forget)
        cell.callback(setattr, case, "progress", case.progress)
        cell.callback(progress.end)
        case.progress = progress
        if threading.current_thread() is threading.main_thread():
            cell.callback(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, stop))

    def end(*_: Any) -> None:
        cell.close()

    if shell() is not None:
        before = listen("progress", pre_run_cell=begin, post_run_cell=end)
        before.get("post_run_cell", end)()
    begin()
    try:
        yield
    finally:
        if shell() is None:
            end()
