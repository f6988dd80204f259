"""Progress in notebooks: bars that disappear when the work is done, and an interrupt that leaves the kernel usable.

From `notebook.start` on every cell is watched: Spark work in it shows its progress, and the stop button ends it.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

from kit.case.case import Case
from kit.case.progress import Progress
from kit.i18n import Lang
from kit.interrupts import Interrupts
from kit.notebook.prose import listen, shell


@contextlib.contextmanager
def watched(case: Case, lang: Lang, interactive: bool) -> Iterator[None]:
    """Show the progress of the work for a case, and let an interrupt stop it, while the block runs; in a notebook also
    in the rest of this cell and in later ones.
    """
    # JupyterLab leaves a red box where something was written to stderr, even after it is cleared.
    stream = sys.stderr if shell() is None else sys.stdout
    progress = Progress(lang, stream, is_live=True) if interactive else Progress()
    cell = contextlib.ExitStack()
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
