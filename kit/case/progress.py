"""Progress of long work, and stopping it: an interrupt reaches one thread, but the work has several and Spark.

A case has a `Progress`; nothing is shown unless a caller, such as the command line, sets its own.
"""

from __future__ import annotations

from typing import Final, Literal

from kit.i18n import labels

Stage = Literal["reading", "asking", "writing"]
STAGES: Final = labels("case")["stages"]


class Progress:
    """Listens to stages: `begin` ends the previous one, `step`: one of `total` parts is done, `end`: everything is."""

    def begin(self, stage: Stage, total: int | None = None) -> None:
        """Begin a stage; the base class ignores it."""

    def step(self) -> None:
        """Count one part of the stage as done. May be called from any thread."""

    def end(self) -> None:
        """End the current stage; another may begin later."""
