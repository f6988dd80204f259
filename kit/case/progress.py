"""Progress of long work, and stopping it: an interrupt reaches one thread, but the work has several and Spark.

A case has a `Progress`; nothing is shown unless a caller, such as the command line, sets its own.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Final, Literal

from kit.i18n import T

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pyspark.sql import SparkSession

Stage = Literal["reading", "asking", "writing"]
STAGES: Final[dict[Stage, T]] = {
    "reading": T("Reading the evidence"),
    "asking": T("Examining the causes"),
    "writing": T("Writing the report"),
}


class Progress:
    """Listens to stages: `begin` ends the previous one, `step` means that one of `total` parts is done, `end` that everything is."""

    def begin(self, stage: Stage, total: int | None = None) -> None:
        """Begin a stage; the base class ignores it."""

    def step(self) -> None:
        """Count one part of the stage as done. May be called from any thread."""

    def end(self) -> None:
        """End the current stage; another may begin later."""


class Stoppable:
    """The part of a `Case` that stops its work and asks Spark for its progress."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._spark: Future[SparkSession] | None = None

    def cancel(self) -> None:
        """Stop the current work, the engine's queries and other threads, like an interrupt; the session stays usable,
        the case after `resume`.
        """
        self._stopping.set()
        started = self._spark
        if started is None or not started.done() or started.exception() is not None:
            return
        from kit.spark import interrupt

        with contextlib.suppress(Exception):
            interrupt.cancel(started.result())

    def go_on(self) -> None:
        """Raise `KeyboardInterrupt` after `cancel`: threads that work for a case call this between two pieces of work."""
        if self._stopping.is_set():
            raise KeyboardInterrupt

    def resume(self) -> None:
        """Allow work again after `cancel`."""
        self._stopping.clear()
