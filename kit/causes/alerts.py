"""Live alerts: each cause lists in `alerts` of its YAML the known texts and records that are its first signs.

A sign is the slug of a known log text, `problem:` and the slug of a known problem, `stage:` and the stage of a stored
record, or what is measured of disks (`DISK_FULL`). Nothing here searches for a text: signs are what the readers of logs
and stores find anyway.
"""

from functools import cache
from typing import Final

import msgspec

from kit import causes
from kit.causes.texts import Alert
from kit.rocketmq.catalogue import PROBLEM, SEARCHED

STAGE: Final = "stage:"
DISK_FULL: Final = "disk:full"
"""Values: path. The disk of a store is nearly so full that a broker refuses messages."""
LONGEST: Final = 600.0
"""Shortest time, in seconds, within which the entries of a known problem must come."""


@cache
def rules() -> tuple[Alert, ...]:
    """Return the alerts of every cause, and one for each known problem with its own number of entries and duration."""
    every = [msgspec.structs.replace(alert, cause=cause.slug) for cause in causes.discover() for alert in cause.alerts]
    for problem in SEARCHED:
        slug, least, lasts = problem.slug, problem.seen.least, problem.seen.lasts
        within = max(LONGEST, 2 * lasts)
        every.append(Alert(PROBLEM + slug, problem.title, "seen", least, within, lasts, "notice", cause=slug))
    return tuple(every)
