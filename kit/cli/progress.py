"""Progress of a command on standard error: a bar on a terminal, otherwise one plain line per stage."""

from __future__ import annotations

import threading

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from kit.case.progress import STAGES, Progress, Stage
from kit.i18n import Lang


class Stages(Progress):
    """Shows each stage; commands print to standard output, so pipes are not affected."""

    def __init__(self, lang: Lang) -> None:
        self._lang = lang
        console = Console(stderr=True)
        self.is_live = console.is_terminal
        """Whether a bar can be drawn; else lines are printed once the evidence has been recognised."""
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._bars = Bars(*columns, TimeElapsedColumn(), console=console)
        self._stage: Stage | None = None
        self._task: TaskID | None = None
        self._lock = threading.Lock()

    def begin(self, stage: Stage, total: int | None = None) -> None:
        with self._lock:
            if stage == self._stage:
                return
            self._finish()
            self._stage = stage
            if self.is_live:
                self._bars.start()
                self._task = self._bars.add_task(STAGES[stage].in_(self._lang), total=total)
            else:
                click.echo(f"{STAGES[stage].in_(self._lang)} …", err=True)

    def step(self) -> None:
        with self._lock:
            if self._task is not None:
                self._bars.advance(self._task)

    def end(self) -> None:
        with self._lock:
            self._finish()
            if self.is_live:  # elsewhere it would print an empty line
                self._bars.stop()

    def _finish(self) -> None:
        if self._task is not None:
            total = self._bars.tasks[self._task].total or 1
            self._bars.update(self._task, total=total, completed=total)
        self._stage = self._task = None
