"""Lines of logs and mqadmin outputs about offsets that moved: the values of each line, equal ones once.

A slave that corrects nobody's offset prints its two lines thousands of times a second (reference: operators' incidents
§6), so lines are counted, not listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from kit.case import statements
from kit.case.memoize import per_case

if TYPE_CHECKING:
    from kit.case.case import Case

PULLS: Final = (
    "pull-offset-illegal",
    "offset-too-small",
    "offset-corrected",
    "offset-not-corrected",
    "offset-overflow",
    "offset-reset-on-pull",
)
RESETS: Final = ("offset-reset-started", "offset-reset-done", "offset-reset-client", "offset-reset-command")
STARTS: Final = ("pull-started", "group-created")
OTHERS: Final = ("consumer-offset-back", "queue-min-offset")
NUMBERS: Final = ("queue_id", "offset", "next", "requested", "stored", "min_offset", "max_offset", "timestamp")
TEXTS: Final = ("group", "topic", "broker", "client_id", "address")
COLUMNS: Final = ("event", "file", "source", "line", "last_line", "first", "last", "n", *TEXTS, *NUMBERS)
MOST: Final = 50_000
"""Different lines that are kept."""


@per_case
def lines(case: Case) -> pd.DataFrame:
    """Return one row for each set of values (`COLUMNS`): the first and last line and time, and how often it was printed
    (`n`).

    Numbers are nullable integers; `first` and `last` are naive UTC, null if the log prints no time. In order of time,
    file and line.
    """
    found = statements.counted(case, (*PULLS, *RESETS, *STARTS, *OTHERS), by=(*TEXTS, "group_2", *NUMBERS)).head(MOST)
    # Two patterns call the group of a line of another client `group_2`.
    found["group"] = found["group"].where(found["group"].notna(), found["group_2"])
    found = found.reindex(columns=list(COLUMNS))
    for name in NUMBERS:
        found[name] = pd.to_numeric(found[name], errors="coerce").astype("Int64")
    return found.sort_values(["first", "file", "line"], ignore_index=True)


def of(case: Case, *slugs: str, group: str | None = None, topic: str | None = None) -> pd.DataFrame:
    """Return the rows of `lines` with these texts, of one group and topic if given."""
    found = lines(case)
    wanted = found["event"].isin(slugs)
    if group is not None:
        wanted &= found["group"] == group
    if topic is not None:
        wanted &= found["topic"] == topic
    return found[wanted]
