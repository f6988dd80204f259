"""Progress in notebooks: a bar that disappears when the work is done, and an interrupt that leaves the kernel usable.

From `notebook.start` on every cell is watched, until another case is started: all Spark work in it shows its progress,
and the stop button ends it.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from kit.case.progress import STAGES, Progress, Stage
from kit.i18n import Lang
from kit.interrupts import Interrupts

if TYPE_CHECKING:
    from kit.case.case import Case

COUNTED: Final = "{desc} {bar:20} {n_fmt}/{total_fmt} {elapsed}{postfix}"
BEGUN: Final = "{desc} {elapsed}{postfix}"
_WATCHING: Final[list[Watch]] = []
"""What watches this kernel's cells."""


class Bar(Progress):
    """One bar for each stage in turn; it disappears at the end."""

    def __init__(self, lang: Lang) -> None:
        self._lang = lang
        self._lock = threading.Lock()
        self._bar: Any = None
        self._stage: Stage | None = None

    def begin(self, stage: Stage, total: int | None = None) -> None:
        with self._lock:
            if stage != self._stage:
                self._stage = stage
                self._open(STAGES[stage].in_(self._lang), total)

    def step(self) -> None:
        with self._lock:
            if self._stage is not None:
                self._bar.update()

    def end(self) -> None:
        with self._lock:
            self._stage = None
            self._close()

    def _open(self, text: str, total: int | None) -> None:
        from tqdm import tqdm

        self._close()
        # JupyterLab leaves a red box where something was written to stderr, even after it is cleared.
        where = sys.stderr if _shell() is None else sys.stdout
        self._bar = tqdm(total=total, desc=text, leave=False, file=where, bar_format=COUNTED if total else BEGUN)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Watch:
    """Watches the work for a case in each cell: `begin` and `end`."""

    def __init__(self, case: Case, lang: Lang, interactive: bool) -> None:
        self._case, self._lang, self._interactive = case, lang, interactive
        self._watching = False
        # Otherwise jobs and threads would go on, and those that wait for them. PySpark's own handler is not used: it talks
        # to Java over this thread's connection, which is waiting for an answer.
        self._stop = Interrupts(case.cancel)

    def begin(self, *_: Any) -> None:
        """Show progress, and let an interrupt stop the work for the case, from now on."""
        if self._watching:
            return
        self._case.resume()
        self._before, self._handler = self._case.progress, None
        self._case.progress, self._watching = Bar(self._lang) if self._interactive else Progress(), True
        if threading.current_thread() is threading.main_thread():
            self._handler = signal.signal(signal.SIGINT, self._stop)

    def end(self, *_: Any) -> None:
        """Restore everything."""
        if not self._watching:
            return
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        self._case.progress.end()
        self._case.progress, self._watching = self._before, False
        self._stop.forget()


@contextlib.contextmanager
def watched(case: Case, lang: Lang, interactive: bool) -> Iterator[None]:
    """Watch the work for a case while the block runs; in a notebook also the rest of this cell and every later one."""
    watch = Watch(case, lang, interactive)
    shell = _shell()
    if shell is not None:
        _instead(shell, watch)
    watch.begin()
    try:
        yield
    finally:
        if shell is None:
            watch.end()


def _instead(shell: Any, watch: Watch) -> None:
    """Watch a notebook's cells for this case instead of the previous one."""
    if _WATCHING:
        old = _WATCHING.pop()
        old.end()
        shell.events.unregister("pre_run_cell", old.begin)
        shell.events.unregister("post_run_cell", old.end)
    shell.events.register("pre_run_cell", watch.begin)
    shell.events.register("post_run_cell", watch.end)
    _WATCHING.append(watch)


def _shell() -> Any:
    """Return IPython's shell, None outside of it."""
    said = sys.modules.get("IPython")
    return said.get_ipython() if said is not None else None
