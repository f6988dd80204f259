"""What a long piece of work is doing, and stopping it: an interrupt reaches one thread, the work has several and Spark.

A case has a `Progress`; nothing is shown unless somebody, the command line say, puts its own there.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from kit.i18n import T

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from kit.spark.doing import Doing

R = TypeVar("R")
Stage = Literal["reading", "asking", "writing"]
STAGES: Final[dict[Stage, T]] = {
    "reading": T("Reading the evidence"),
    "asking": T("Examining the causes"),
    "writing": T("Writing the report"),
}


class Progress:
    """Listens to stages: `begin` ends the one before, `step` says that one of its `total` parts is done, `end` that all is."""

    def begin(self, stage: Stage, total: int | None = None) -> None:
        """Begin a stage; the one that is under way goes on."""

    def step(self) -> None:
        """One part of the stage is done. From any thread."""

    def end(self) -> None:
        """Nothing is under way any more; another stage may begin later."""


class Stoppable:
    """The part of a `Case` that ends its work, and asks Spark how far it is."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._spark: Future[SparkSession] | None = None

    def cancel(self) -> None:
        """Stop what is being done, Spark's jobs and the work of other threads, as an interrupt does; the session stays usable,
        the case after `resume`.
        """
        self._stopping.set()
        from kit.spark import doing

        self._asked(doing.cancel)

    def go_on(self) -> None:
        """Raise `KeyboardInterrupt` after `cancel`: threads that work for a case ask between two pieces of work."""
        if self._stopping.is_set():
            raise KeyboardInterrupt

    def resume(self) -> None:
        """Let work begin again after `cancel`."""
        self._stopping.clear()

    def begun(self) -> int:
        """Return how many jobs Spark has begun; those of a session that starts later count from 0."""
        from kit.spark import doing

        return self._asked(doing.begun) or 0

    def doing(self, since: int = 0) -> Doing | None:
        """Return what Spark is doing, jobs counted from number `since`; None where it does nothing or cannot say."""
        from kit.spark import doing

        return self._asked(lambda context: doing.doing(context, since))

    def _asked(self, ask: Callable[[SparkContext], R]) -> R | None:
        """Return what Spark's context answers; None before it has started, once it is stopped, and in a remote session."""
        started = self._spark
        if started is None or not started.done() or started.exception() is not None:
            return None
        with contextlib.suppress(Exception):
            return ask(started.result().sparkContext)
        return None
