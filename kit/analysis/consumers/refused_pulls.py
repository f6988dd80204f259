"""Pulls refused as busy: they are not refused sends, and a slave that may not be read answers in the same way.

`PullMessageProcessor.rejectRequest` refuses every pull of a slave with slaveReadEnable=false (5.0.0 and later) as
`[REJECTREQUEST]system busy`.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from kit.analysis import refs
from kit.rocketmq.log_layouts import BROKER_SIDE

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.references import Ref

REFUSED: Final = ("flow-control", "thread-pool-busy")


def count(case: Case) -> int:
    """Return how many entries report a request other than a send as refused for busy."""
    rows = case.fact_rows("refused_counts") if refs.seen(case, *REFUSED) else []
    return sum(row["n"] for row in rows if row["kind"] == "busy" and row["pull"])


def refused_sends(case: Case) -> refs.Seen:
    """Return where a send was refused as busy: every refusal except those of pulls."""
    if not count(case):
        return refs.seen(case, *REFUSED)
    rows = case.fact_rows("refused_counts")
    return refs.of_rows(REFUSED, [row for row in rows if row["kind"] == "busy" and not row["pull"]])


def timed_out_sends(case: Case, slugs: tuple[str, ...], outside: Collection[str]) -> refs.Seen:
    """Return where a send timed out, rather than a pull, a heartbeat or a request of a broker itself, outside the
    folders `outside`.
    """
    rows = case.fact_rows("refused_counts") if refs.seen(case, *slugs, outside=outside) else []
    sends = [row for row in rows if row["kind"] == "late" and not row["pull"] and row["source"] not in BROKER_SIDE]
    return refs.of_rows(slugs, [row for row in sends if str(PurePosixPath(row["file"]).parent) not in outside])


def quotes(case: Case) -> tuple[Ref, ...]:
    """Quote the earliest refused pulls: the line that names the refusal."""
    return refs.earliest(case, case.facts("refused_pulls"), 2, within="system busy") if count(case) else ()
