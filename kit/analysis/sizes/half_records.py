"""Half messages against the size limit: what each topic leaves for a body, and the message that a what-if starts from."""

from __future__ import annotations

import json
from typing import Any, Final

import pandas as pd

from kit.analysis.sizes import limits, refusals
from kit.analysis.sizes.limits import Limits
from kit.rocketmq import binary_format, names, size
from kit.rocketmq.versions import OLDEST, Version
from kit.tables.facts import Facts, memo

TOPICS: Final = ("topic", "half_records", "overhead", "properties", "refused", "safe_body")
RISK: Final = ("uniq_key", "state", "topic", "queue_offset", "offset_msg_id", "store_size", "next_size", "last_size")
COLUMNS: Final = (
    "topic", "body", "properties", "broker", "limit", "producer_group", "check_max", "dledger", "v6", "cluster",
    "extra", "safe_body",
)  # fmt: skip
ADDED: Final = frozenset(
    {
        names.UNIQ_KEY, names.WAIT, names.CLUSTER, names.REAL_TOPIC, names.REAL_QID, names.TRAN_MSG, names.PGROUP,
        names.CHECK_TIMES, names.MSG_REGION, names.TRACE_ON, names.TRANSACTION_ID, names.PREPARED_QUEUE_OFFSET,
    }
)  # fmt: skip
"""Properties that client and broker add themselves: `kit.rocketmq.size` adds them again."""


@memo
def topics(facts: Facts) -> pd.DataFrame:
    """Return `TOPICS`: how much each topic's transactions leave for a body. `overhead` (largest, growth included), `properties` (longest,
    grown), `refused` (half records that some put-back would exceed), `safe_body` (None if no body is safe, or no limit known).
    """
    if not facts.has("messages"):
        return pd.DataFrame(columns=pd.Index(TOPICS))
    rows = facts("half_topics")
    known = [limits.limits(facts, broker) for broker in rows["broker"]]
    safe = [_safe(*each) for each in zip(rows["overhead"], rows["properties"], known, strict=True)]
    # What one broker cannot say is open (least of -1, which no body has); else the strictest of a topic's brokers counts.
    rows = rows.assign(safe_body=[-1 if each is None else each for each in safe])
    how = {"half_records": "sum", "overhead": "max", "properties": "max", "refused": "sum", "safe_body": "min"}
    frame = rows.groupby("topic", as_index=False, sort=False).agg(how).reindex(columns=list(TOPICS))
    least = [int(each) if each >= 0 else None for each in frame["safe_body"]]
    return frame.assign(safe_body=pd.Series(least, frame.index, dtype=object))


def _safe(overhead: int, properties: int, known: limits.Limits) -> int | None:
    if known.limit is None or known.how is None or properties > known.properties:
        return None
    # `body`, `body+64k` and `total` do not change within the releases of one rule.
    version = {"total": OLDEST, "body": Version(4, 9, 4), "body+64k": Version(4, 9, 5)}[known.how]
    most = size.safe_stored_body(int(overhead), version, known.limit)
    most = min(most, size.DLEDGER_MAX_RECORD - int(overhead)) if known.dledger else most
    return most if most >= 0 else None


@memo
def at_risk(facts: Facts) -> pd.DataFrame | None:
    """Return the table `half_misfits`: the open transactions whose record some put-back would exceed; None if it cannot be known."""
    if not facts.has("messages"):
        return None
    brokers = {row["broker"] for row in facts.rows("half_brokers")}
    known = [limits.limits(facts, broker) for broker in brokers or (None,)]
    if topics(facts)["refused"].sum():
        return None if any(each.how is None for each in known) else facts("half_misfits")
    return None if any(each.limit is None for each in known) else pd.DataFrame(columns=pd.Index(RISK))


@memo
def looping(facts: Facts) -> tuple[list[dict[str, Any]], int | None]:
    """Return the table `half_looping` and how many half messages a log names as refused; ([], None) if none does."""
    rows = facts("size_refusals")
    ids = rows.loc[rows["event"] == "put-back-failed", "msg_id"].dropna().str.upper().unique()
    printed = refusals.for_size(rows, "put_back")[["total", "body"]].dropna()
    stored = facts.rows("half_looping") if facts.has("messages") and (len(ids) or len(printed)) else []
    return stored, len(ids) or len(stored) or None


def start(half: Any, known: Limits, safe_body: int | None) -> pd.DataFrame:
    """Return the one row of `COLUMNS` from a half record, none if limit or release are unknown.

    `body`: its stored body in bytes; `properties`: the application's, as JSON; `extra`: bytes of its record that the
    arithmetic does not explain (properties of other clients), kept in every copy; `safe_body`: the largest on its topic.
    """
    columns = pd.Index(COLUMNS)
    if known.limit is None or known.version is None:
        return pd.DataFrame(columns=columns)
    stored = dict(half.properties or {})
    own = {name: value for name, value in stored.items() if name not in ADDED}
    how = {
        "limit": known.limit, "dledger": known.dledger, "producer_group": stored.get(names.PGROUP, ""),
        "check_max": known.check_max, "cluster": stored.get(names.CLUSTER) or names.DEFAULT_CLUSTER,
        "v6": bool(half.sys_flag & binary_format.BORN_HOST_V6), "broker": known.version,
    }  # fmt: skip
    rows = size.rewrites(half.body_size, half.real_topic, own, **how)["rows"]
    counted = stored.get(names.CHECK_TIMES)
    written = half.store_size - (len(names.CHECK_TIMES) + len(counted) + 2 if counted else 0)
    extra = written - next(row["bytes"] for row in rows if row["stage"] == "prepared")
    values = {
        "topic": half.real_topic, "body": half.body_size, "extra": extra, "safe_body": safe_body,
        "properties": json.dumps(own, ensure_ascii=False, sort_keys=True),
    }  # fmt: skip
    return pd.DataFrame([how | values], columns=columns)
