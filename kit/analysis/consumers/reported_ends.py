"""Where a replica's log ends according to brokerStatus, when its store is not in the evidence, and which acknowledged records come after that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from kit.analysis.consumers import replicas
from kit.case.memoize import per_case
from kit.inventory.references import Ref

if TYPE_CHECKING:
    from kit.case.case import Case


@per_case
def reported_end(case: Case) -> tuple[int, Ref] | None:
    """Return commitLogMaxOffset of a slave's brokerStatus, and the line: where its log ends when its store is not there."""
    for row in case.fact_rows("admin_cells"):
        if row["name"] == "commitLogMaxOffset" and (row["value"] or "").strip().isdecimal() and replicas.slaves(case):
            return int(row["value"]), case.ref(row["file"], row["line"])
    return None


def behind(case: Case, end: int) -> int | None:
    """Return how many acknowledged records of the ledgers are at or after a physical offset; None if no ledger names
    them by offset id.
    """
    places = _acknowledged_places(case)
    return sum(place[1] >= end for place in places) if len({place[0] for place in places}) == 1 else None


@per_case
def _acknowledged_places(case: Case) -> list[tuple[str, int]]:
    ids = (
        replicas.answered(case, (replicas.ACKNOWLEDGED,), ["offset_msg_id"])["offset_msg_id"]
        if case.has("sends")
        else pd.Series()
    )
    return [place for text in ids.dropna().head(replicas.MOST) if (place := replicas.of_id(text))]


@per_case
def all_reported(case: Case) -> tuple[int, Ref] | None:
    """Return how many acknowledged records there are and the line, if brokerStatus of another broker than the one that answered (-b) shows an end behind all of them."""
    reported = reported_end(case)
    if reported is None or behind(case, reported[0]) != 0:
        return None
    places, asked = _acknowledged_places(case), {block.get("-b") for block in replicas.blocks(case, "brokerStatus")}
    return (len(places), reported[1]) if None not in asked and asked.isdisjoint({places[0][0]}) else None
