"""Progress of a command on standard error: a bar on a terminal, otherwise one plain line per stage."""

from __future__ import annotations

import threading
import time

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from kit.case.progress import STAGES, Progress, Stage
from kit.i18n import Lang, T

TOOK = T("{stage}: {seconds} s", "{stage}：{seconds} 秒")


class Shown(Progress):
    """Shows each stage; commands print to standard output, so pipes are not affected."""

    def __init__(self, lang: Lang) -> None:
        self._lang = lang
        self._console = Console(stderr=True)
        self._bars: Bars | None = None
        self._task: TaskID | None = None
        self._stage: Stage | None = None
        self._began = 0.0
        self._lock = threading.Lock()

    @property
    def is_live(self) -> bool:
        """Whether a bar can be drawn; without a terminal lines are printed only after the evidence has been recognised."""
        return self._console.is_terminal

    def begin(self, stage: Stage, total: int | None = None) -> None:
        with self._lock:
            if stage == self._stage:
                return
            self._finish()
            self._stage, self._began = stage, time.monotonic()
            if not self._console.is_terminal:
                click.echo(f"{STAGES[stage].in_(self._lang)} …", err=True)
                return
            if self._bars is None:
                columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
                self._bars = Bars(*columns, TimeElapsedColumn(), console=self._console)
                self._bars.start()
            self._task = self._bars.add_task(STAGES[stage].in_(self._lang), total=total)

    def step(self) -> None:
        with self._lock:
            if self._bars is not None and self._task is not None:
                self._bars.advance(self._task)

    def end(self) -> None:
        with self._lock:
            self._finish()
            if self._bars is not None:
                self._bars.stop()
                self._bars = None

    def _finish(self) -> None:
        if self._stage is None:
            return
        if self._bars is None:
            seconds = round(time.monotonic() - self._began)
            click.echo(TOOK.say(stage=STAGES[self._stage], seconds=seconds).render(self._lang), err=True)
        elif self._task is not None:
            task = next(each for each in self._bars.tasks if each.id == self._task)
            done = task.total if task.total is not None else 1
            self._bars.update(self._task, total=done, completed=done)
        self._stage = self._task = None
