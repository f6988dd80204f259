"""What a long piece of work is doing. A case has one; nothing is shown unless somebody, the command line say, puts its own there."""

from __future__ import annotations

from typing import Final, Literal

from kit.i18n import T

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
