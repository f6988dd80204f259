"""disk-full: the broker marked its disk full and accepted no more messages.

What `df` shows supports it only: it was printed at some other time, and older releases count reserved blocks as free.
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from kit.analysis import refs
from kit.analysis.sends import sends, times
from kit.causes.declared import Observed
from kit.inventory.references import Ref
from kit.tables.facts import Facts

LIMIT: Final = 0.90


def observe(facts: Facts) -> Observed:
    """Count the log entries and the answers that say that a disk was full."""
    marks, _, marked = answers(facts, "marked")
    refused, ratio, full = answers(facts, "full")
    ledger, stored = sends.ledger(facts), facts.has_source("store")
    values: dict[str, Any] = {
        "marks": marks, "refused": refused, "limit": str(LIMIT), "most": round(100 * LIMIT),
        "happened": marks or refused,
        "looked": stored or (ledger.knows_kinds and not answers(facts, "unknown")[0]), "marked_full": marks if stored else None,
        "refused_answers": refused if ledger.whole or refused else None,
        "highest_ratio": answers(facts, "room")[1] if ratio is None else ratio,
    }  # fmt: skip
    measured = times.full_disks(facts, 100 * LIMIT)
    if measured.empty:
        return Observed(values, {"marked-full": (*marked, *full)})
    worst = measured.iloc[0]
    values |= {"mount": str(worst["subject"]), "percent": round(worst["value"]), "of_store": times.store_paths(facts)}
    return Observed(values, {"marked-full": (*marked, *full), "df": refs.lines(facts, measured, 1)})


def answers(facts: Facts, state: str) -> tuple[int, float | None, tuple[Ref, ...]]:
    """Return how many entries of `disk_answers` have a state, their highest ratio, and the first two."""
    if not refs.seen(facts, "disk-full", "service-not-available"):
        return 0, None, ()
    rows = facts("disk_answers")
    rows = rows[rows["state"] == state]
    if rows.empty:
        return 0, None, ()
    highest = rows["highest"].iloc[0]
    within = None if state == "marked" else "service not available now"
    quoted = refs.earliest(facts, rows, 2, within=within)
    return int(rows["n"].iloc[0]), None if pd.isna(highest) else float(highest), quoted
