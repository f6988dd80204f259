"""Counts over all transactions of the stores, by producer group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kit.analysis import unseen
from kit.analysis.transactions import transactions
from kit.case import columnar
from kit.case.memoize import once

if TYPE_CHECKING:
    from kit.case.case import Case


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
        return {state: self.total(state) if known.get(state, True) else None for state in transactions.STATES}


def summary(case: Case) -> Summary:
    """Return the counts over all transactions, by producer group; computed once."""
    return once(case, "transaction summary", lambda: _summary(case))


def _summary(case: Case) -> Summary:
    every = transactions.accounts(case)
    state = every["state"].combine_chunks()
    is_ = {name: pc.fill_null(pc.equal(state, name), fill_value=False) for name in transactions.STATES}
    covered = pc.if_else(every["with_row"], every["half_time"], None)
    counted = {
        "half_messages": pc.is_valid(state),
        **is_,
        "committed_twice": pc.and_(pc.is_valid(state), pc.greater(every["commits"], 1)),
        "checked": pc.fill_null(pc.greater(every["check_times"], 0), fill_value=False),
        "renewed": pc.if_else(pc.is_valid(state), pc.subtract(every["half_records"], 1), 0),
        "without_row": pc.and_(is_["committed"], pc.invert(every["with_row"])),
        "immune": every["immune"],
        "dead": every["dead"],
        "cluster": every["cluster"],
    }
    sums = {name: column.cast(pa.int64()) for name, column in counted.items()}
    spans = {"first": every["half_time"], "last": every["last_time"], "from": covered, "until": covered}
    grouped = pa.table({"name": every["producer_group"], **sums, **spans}).group_by("name")
    over = zip(spans, ("min", "max", "min", "max"), strict=True)
    found = grouped.aggregate([*((name, "sum") for name in sums), *over])
    rows = columnar.to_pandas(found).sort_values("name", na_position="first").astype(object).to_dict("records")
    numbers = [a.name for a in attrs.fields(Group) if a.name not in ("name", "covered", "first", "last")]
    groups = [
        Group(
            name=r["name"] if isinstance(r["name"], str) else None,
            covered=(r["from_min"], r["until_max"]) if pd.notna(r["from_min"]) else None,
            first=r["first_min"],
            last=r["last_max"],
            **{name: int(r[f"{name}_sum"]) for name in numbers},
        )
        for r in rows
        if r["half_messages_sum"]
    ]
    # CLUSTER is stored by 4.6.0 and later, which all keep what they discard.
    knows = (
        not groups
        or transactions.keeps_discarded(case)
        or any(r["discarded_sum"] or r["cluster_sum"] for r in rows)
        or case.has_source("transaction")
    )
    return Summary(tuple(groups), int(sum(r["dead_sum"] for r in rows)), knows, not unseen.stretches(case))
