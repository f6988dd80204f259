"""Counts over all transactions of the stores, by producer group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from kit.analysis import unseen
from kit.case.memoize import once

if TYPE_CHECKING:
    from kit.case.case import Case

STATES: Final = ("committed", "rolled_back", "discarded", "pending")


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


def summary(case: Case) -> Summary:
    """Return the counts over all transactions, by producer group; computed once."""
    return once(case, "transaction summary", lambda: _summary(case))


def _summary(case: Case) -> Summary:
    rows = case.fact_rows("transaction_totals")
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
        or case.fact_rows("discards_stored")[0]["kept"]
        or any(row["discarded"] or row["cluster"] for row in rows)
        or case.has_source("transaction")
    )
    return Summary(tuple(groups), sum(row["dead"] for row in rows), knows, not unseen.stretches(case))
