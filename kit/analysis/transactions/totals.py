"""Counts over all transactions of the stores, by producer group and by path (local answer, checks, end, consumer)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd

from kit.analysis import coverage

if TYPE_CHECKING:
    from kit.tables.facts import Facts

STATES: Final = ("committed", "rolled_back", "discarded", "pending")
ORDER: Final = {"half": 0, "check": 1, "commit": 3, "op": 4, "discard": 5, "retry": 6, "dead letter": 7, "stored": 0}
"""What follows what within one second; answers are at 2, behind the check that asked and before what they cause."""
TIMELINE: Final = ("path", "uniq_key", "key", "stage", "time", "seconds", "file", "physical_offset", "line", "topic")


@attrs.frozen
class Group:
    """Counts of one producer group's transactions. `covered`: first and last half message (UTC) whose business row is in the evidence."""

    name: str | None
    half_messages: int
    committed: int
    rolled_back: int
    discarded: int
    pending: int
    committed_twice: int
    checked: int
    renewed: int
    without_row: int
    immune: int
    first: Any
    last: Any
    covered: tuple[Any, Any] | None


@attrs.frozen
class Summary:
    """Counts over all transactions. `discarded`: None if the version keeps no discarded message and no log reports it."""

    groups: tuple[Group, ...]
    dead_lettered: int
    knows_discarded: bool
    whole: bool = True
    """Whether the logs at hand have no hole in which the end of an open transaction may lie."""

    def total(self, name: str) -> int:
        return sum(getattr(group, name) for group in self.groups)

    @property
    def half_messages(self) -> int:
        return self.total("half_messages")

    @property
    def window(self) -> tuple[Any, Any] | None:
        times = [t for group in self.groups for t in (group.first, group.last) if t is not None]
        return (min(times), max(times)) if times else None

    def states(self) -> dict[str, int | None]:
        known = {"discarded": self.knows_discarded, "pending": self.whole or not self.total("pending")}
        return {state: self.total(state) if known.get(state, True) else None for state in STATES}


def summary(facts: Facts) -> Summary:
    """Return the counts over all transactions, by producer group; computed once."""
    return facts.once("transaction summary", lambda: _summary(facts))


def _summary(facts: Facts) -> Summary:
    rows = facts.rows("transaction_totals")
    numbers = [a.name for a in attrs.fields(Group) if a.name not in ("name", "covered")]
    groups = [
        Group(
            name=row["producer_group"],
            covered=(row["covered_from"], row["covered_until"]) if row["covered_from"] is not None else None,
            **{name: row[name] for name in numbers},
        )
        for row in rows
        if row["half_messages"]
    ]
    # CLUSTER is stored by 4.6.0 and later, which all keep what they discard.
    knows = (
        not groups
        or facts.rows("discards_stored")[0]["kept"]
        or any(row["discarded"] or row["cluster"] for row in rows)
        or facts.has_source("transaction")
    )
    return Summary(tuple(groups), sum(row["dead"] for row in rows), knows, not coverage.stretches(facts))


def paths(facts: Facts) -> pd.DataFrame:
    """Return how many transactions took each path, most common first: columns of `transaction_paths`, and path (one line)."""
    frame = facts("transaction_paths")
    frame["path"] = [describe(row) for row in facts.rows("transaction_paths")]
    return frame


def describe(row: dict[str, Any]) -> str:
    """Return a path as one line in RocketMQ's own terms."""
    parts = ["half", str(row["local"])]
    if row["checks"]:
        parts.append(f"check ×{int(row['checks'])} {row['last_check'] or '?'}")
    parts.append(str(row["state"]).replace("_", " ") + (" ×2" if row["commits"] == 2 else ""))
    if row["consumer"]:
        parts.append(str(row["consumer"]))
    return " → ".join(parts)


def flow(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the paths as flows between stages: source, target, count (transactions). `frame`: from `paths`."""
    counts: dict[tuple[str, str], int] = {}
    for row in frame.to_dict("records"):
        end = f"{row['state']} twice" if row["commits"] == 2 else str(row["state"])
        stages = ["half", f"answer {row['local']}", *(["check"] if row["checks"] else []), end]
        stages += [str(row["consumer"])] if row["consumer"] else []
        for pair in pairwise(stages):
            counts[pair] = counts.get(pair, 0) + int(row["transactions"])
    return pd.DataFrame([(*pair, n) for pair, n in counts.items()], columns=["source", "target", "count"])


def timeline(facts: Facts) -> pd.DataFrame:
    """Return the records and answers of the transactions in `transaction_examples`, by path: columns `TIMELINE`, seconds since the first half record."""
    named = {row["uniq_key"]: describe(row) for row in facts.rows("transaction_examples")}
    places = {path: n for n, path in enumerate(dict.fromkeys(named.values()))}
    rows = facts("transaction_timeline")
    rows["path"] = rows["uniq_key"].map(named)
    start = rows[rows["stage"] == "half"].groupby("uniq_key")["time"].min()
    rows["seconds"] = (rows["time"] - rows["uniq_key"].map(start)).dt.total_seconds().round(3).clip(lower=0)
    rows["key"] = rows["uniq_key"].map(rows.dropna(subset=["key"]).groupby("uniq_key")["key"].first())
    # The broker's log knows whole seconds only: within one, things are in the order in which they happen.
    rows = rows.assign(
        place=rows["path"].map(places),
        second=rows["time"].dt.floor("s"),
        rank=rows["stage"].map(lambda stage: ORDER.get(stage, 2)),
    )
    order = ["place", "uniq_key", "second", "rank", "time"]
    return rows.sort_values(order, kind="stable", ignore_index=True)[list(TIMELINE)]
