"""Half messages against the size limit: which fit at every put-back up to the check limit, which will be refused so that the check loops, and
where in the half queue the check is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from kit.analysis import refs
from kit.analysis.sizes import in_force, refusals
from kit.case.memoize import per_case
from kit.rocketmq import names, size
from kit.rocketmq.versions import OLDEST, Version

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.references import Ref

KEY: Final = f'"{names.HALF_TOPIC}@{names.TRANSACTION_GROUP}"'
"""How consumerOffset.json names the position of the check: broker/offset/ConsumerOffsetManager."""
TOPICS: Final = ("topic", "half_records", "overhead", "properties", "refused", "safe_body")
RISK: Final = ("uniq_key", "state", "topic", "queue_offset", "offset_msg_id", "store_size", "next_size", "last_size")


@per_case
def topics(case: Case) -> pd.DataFrame:
    """Return `TOPICS`: how much each topic's transactions leave for a body. `overhead` (largest, growth included), `properties` (longest,
    grown), `refused` (half records that some put-back would exceed), `safe_body` (None if no body is safe, or no limit known).
    """
    if not case.has("messages"):
        return pd.DataFrame(columns=pd.Index(TOPICS))
    rows: dict[str, dict[str, Any]] = {}
    for row in case.fact_rows("half_topics"):
        safe = _safe(row["overhead"], row["properties"], in_force.limits(case, row["broker"]))
        one = rows.setdefault(row["topic"], {**row, "half_records": 0, "refused": 0, "safe_body": safe})
        for name in ("half_records", "refused"):
            one[name] += row[name]
        for name in ("overhead", "properties"):
            one[name] = max(one[name], row[name])
        # What one broker cannot say is open; else the strictest of a topic's brokers counts.
        one["safe_body"] = None if safe is None or one["safe_body"] is None else min(one["safe_body"], safe)
    frame = pd.DataFrame(list(rows.values()), columns=pd.Index(TOPICS))
    return frame.assign(safe_body=pd.Series([row["safe_body"] for row in rows.values()], dtype=object))


def _safe(overhead: int, properties: int, known: in_force.Limits) -> int | None:
    if known.limit is None or known.how is None or properties > known.properties:
        return None
    # `body`, `body+64k` and `total` do not change within the releases of one rule.
    version = {"total": OLDEST, "body": Version(4, 9, 4), "body+64k": Version(4, 9, 5)}[known.how]
    most = size.safe_stored_body(overhead, version, known.limit)
    most = min(most, size.DLEDGER_MAX_RECORD - overhead) if known.dledger else most
    return most if most >= 0 else None


@per_case
def at_risk(case: Case) -> pd.DataFrame | None:
    """Return the table `half_misfits`: the open transactions whose record some put-back would exceed; None if it cannot be known."""
    if not case.has("messages"):
        return None
    brokers = {row["broker"] for row in case.fact_rows("half_brokers")}
    known = [in_force.limits(case, broker) for broker in brokers or (None,)]
    if not topics(case)["refused"].sum():
        return None if any(each.limit is None for each in known) else pd.DataFrame(columns=pd.Index(RISK))
    return None if any(each.how is None for each in known) else case.facts("half_misfits")


@per_case
def looping(case: Case) -> tuple[list[dict[str, Any]], int | None]:
    """Return the table `half_looping` and how many half messages a log names as refused; ([], None) if none does."""
    rows = case.facts("size_refusals")
    ids = rows.loc[rows["event"] == "put-back-failed", "msg_id"].dropna().str.upper().unique()
    printed = refusals.for_size(rows, "put_back")[["total", "body"]].dropna()
    stored = case.fact_rows("half_looping") if case.has("messages") and (len(ids) or len(printed)) else []
    return stored, len(ids) or len(stored) or None


def saved(case: Case) -> list[tuple[str, int]]:
    """Return (file, next half offset to be checked) from the newest offset files, in order of file."""
    return sorted((row["file"], row["offset"]) for row in case.fact_rows("half_queue") if row["line"] == "saved")


def saved_refs(case: Case) -> tuple[Ref, ...]:
    """Quote the line of each offset file with the position of the check."""
    return tuple(ref for file, _ in saved(case) if (ref := refs.first_with(case, file, KEY)))


def timeline(case: Case) -> pd.DataFrame:
    """Return the half queue over time: columns ts, offset, line: `checked` (where a round of checks began), `stored` (end of the queue)."""
    rows = case.facts("half_queue")
    return rows.loc[rows["line"] != "saved", ["ts", "offset", "line"]].reset_index(drop=True)
