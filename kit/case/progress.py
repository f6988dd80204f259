"""Progress of long work, stage by stage: a bar on a terminal or in a notebook, nothing unless the caller sets one."""

import threading
from typing import Any, Final, Literal, TextIO

from kit.i18n import Lang, labels

Stage = Literal["reading", "asking", "writing"]
STAGES: Final = labels("case")["stages"]


class Progress:
    """Shows a bar for each stage (`leave`: it stays), a line where none moves (not `is_live`), nothing without `file`."""

    def __init__(
        self, lang: Lang = "en", file: TextIO | None = None, *, is_live: bool = False, leave: bool = False
    ) -> None:
        self.is_live = is_live
        self._lang, self._file, self._leave = lang, file, leave
        self._lock = threading.Lock()
        self._stage: Stage | None = None
        self._bar: Any = None
        self._over = threading.Event()

    def begin(self, stage: Stage, total: int | None = None) -> None:
        """Begin a stage of `total` parts, which ends the one before."""
        with self._lock:
            if stage == self._stage:
                return
            self._close()
            self._stage, name = stage, STAGES[stage].in_(self._lang)
            if not self.is_live:
                if self._file is not None:  # it may be closed
                    print(f"{name} …", file=self._file, flush=True)
                return
            from tqdm import tqdm

            form = "{desc} {bar:20} {n_fmt}/{total_fmt} {elapsed}" if total else "{desc} {elapsed}"
            self._bar = tqdm(total=total, desc=name, bar_format=form, leave=self._leave, file=self._file)
            self._over = threading.Event()
            threading.Thread(target=_tick, args=(self._bar, self._over), daemon=True).start()

    def step(self) -> None:
        """Count one part of the stage as done. May be called from any thread."""
        with self._lock:
            if self._bar is not None:
                self._bar.update()

    def end(self) -> None:
        """End the current stage; another may begin later."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        self._over.set()
        if self._bar is not None:
            self._bar.close()
        self._bar = self._stage = None


def _tick(bar: Any, over: threading.Event) -> None:
    """Let the time of a bar go on while no part gets done."""
    while not over.wait(1):
        bar.refresh()
