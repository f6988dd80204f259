"""Counts over all transactions of the stores, and the flow of their paths (local answer, checks, end, consumer)."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, Final, NamedTuple

import pandas as pd

from kit.analysis import brokers
from kit.tables.facts import Facts, memo

STATES: Final = ("committed", "rolled_back", "discarded", "pending")


class Summary(NamedTuple):
    """Counts over all transactions: rows of `transaction_totals`. `knows_discarded`: whether the version keeps
    discarded messages, or a log reports them. `whole`: the logs at hand have no hole in which the end of an open
    transaction may lie.
    """

    groups: tuple[dict[str, Any], ...]
    dead_lettered: int
    knows_discarded: bool
    whole: bool = True

    def total(self, name: str) -> int:
        return sum(group[name] for group in self.groups)

    @property
    def half_messages(self) -> int:
        return self.total("half_messages")

    def states(self) -> dict[str, int | None]:
        known = {"discarded": self.knows_discarded, "pending": self.whole or not self.total("pending")}
        return {state: self.total(state) if known.get(state, True) else None for state in STATES}


@memo
def summary(facts: Facts) -> Summary:
    """Return the counts over all transactions, by producer group."""
    rows = facts.rows("transaction_totals")
    groups = tuple(row for row in rows if row["half_messages"])
    # CLUSTER is stored by 4.6.0 and later, which all keep what they discard.
    knows = (
        not groups
        or facts.rows("discards_stored")[0]["kept"]
        or any(row["discarded"] or row["cluster"] for row in rows)
        or facts.has_source("transaction")
    )
    return Summary(groups, sum(row["dead"] for row in rows), knows, not brokers.stretches(facts))


def flow(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table `transaction_paths` as flows between stages: source, target, count (transactions)."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in frame.to_dict("records"):
        end = f"{row['state']} twice" if row["commits"] == 2 else str(row["state"])
        stages = ["half", f"answer {row['local']}", *(["check"] if row["checks"] else []), end]
        for pair in pairwise([*stages, *([str(row["consumer"])] if row["consumer"] else [])]):
            counts[pair] += int(row["transactions"])
    return pd.DataFrame([(*pair, n) for pair, n in counts.items()], columns=["source", "target", "count"])
