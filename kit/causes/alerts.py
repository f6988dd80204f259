"""Live alerts: each cause module lists in `ALERTS` the known texts and records that are its first signs.

A sign is the slug of a known log text, `problem:` and the slug of a known problem, `stage:` and the stage of a stored
record, or what is computed from offsets (`LAG_GROWS`, `QUEUE_STANDS`) and disks (`DISK_FULL`). Nothing here searches for a
text: signs are what the readers of logs and stores find anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, Literal

import attrs

from kit import causes
from kit.i18n import T
from kit.rocketmq.catalogue import PROBLEM, SEARCHED, Problem

Severity = Literal["notice", "warning", "critical"]
Values = Mapping[str, str | None]
When = Callable[[Values], bool]

STAGE: Final = "stage:"
LAG_GROWS: Final = "lag:grows"
"""Values: group, topic. The lag of a group grows in all queues of a topic while its offsets advance."""
QUEUE_STANDS: Final = "lag:queue-stands"
"""Values: group, topic, queue_id, offset. A queue's offset does not move while others of the topic do."""
DISK_FULL: Final = "disk:full"
"""Values: path. The disk of a store is so full that a broker refuses messages, or will be soon."""
LONGEST: Final = 600.0
"""Shortest time, in seconds, within which the entries of a known problem must come."""


@attrs.frozen
class Alert:
    """One sign of a cause, and when it rings.

    It rings when `least` occurrences within `within` seconds span at least `lasts` seconds. `step` is the id of the cause's step that it shows. `by`:
    values (of the text's pattern, or `file`) that must be the same; `differ`: a value of which there must be two; `when`: which occurrences count, by
    their values (`thread` among them); `clears`: an occurrence for which this is true makes the others of its key harmless; `also`: a sign that must
    come with the same values of `by` in the same time; `without`: known texts in whose entries it means something else; `grows`: alert when it doubles within
    this time; `steady`: it is seen again and again without getting worse.
    """

    sign: str
    says: T
    step: str = ""
    least: int = 1
    within: float = 60.0
    lasts: float = 0.0
    severity: Severity = "warning"
    by: tuple[str, ...] = ()
    differ: str = ""
    when: When | None = None
    clears: When | None = None
    also: str = ""
    without: tuple[str, ...] = ()
    grows: bool = False
    steady: bool = False

    @property
    def needs_values(self) -> bool:
        """Return whether the values of the entries are needed, not only their number."""
        return bool(self.by or self.differ or self.when or self.clears or self.also or self.without)


@attrs.frozen
class Rule:
    """An alert and the cause it points to. `name` is unique and stays the same across runs."""

    cause: str
    alert: Alert

    @property
    def name(self) -> str:
        return f"{self.cause}/{self.alert.sign}/{self.alert.severity}"


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules of every cause, and one for each known problem with its own number of entries and duration."""
    declared = [Rule(module.SLUG, alert) for module in causes.discover() for alert in getattr(module, "ALERTS", ())]
    return (*declared, *(Rule(problem.slug, _of(problem)) for problem in SEARCHED))


def _of(problem: Problem) -> Alert:
    within = max(LONGEST, 2 * problem.seen.lasts)
    return Alert(
        PROBLEM + problem.slug, problem.title, "seen", problem.seen.least, within, problem.seen.lasts, "notice"
    )
