"""What clients wrote about their own sends and deliveries into the message trace topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812

from kit.case.memoize import per_case
from kit.inventory import mentions
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

MOST_RECORDS: Final = 1_000


@per_case
def topics(case: Case) -> list[str]:
    """Return the topics that clients write message traces to: RocketMQ's own, and those whose records are traces."""
    found = {names.TRACE_TOPIC}
    if case.has("traces"):
        places = case.traces.select("file", "physical_offset").distinct()
        every = case.messages.join(places, ["file", "physical_offset"], "left_semi").select("topic").distinct()
        found |= {row.topic for row in every.collect()}
    return sorted(found)


def entries(case: Case, keys: list[str], wanted: str, *, itself: bool) -> list[dict[str, Any]]:
    """Return what clients wrote about this message into the message trace topic, at most `mentions.MOST` entries.

    `itself`: `wanted` may be the id of a trace record; then what that one says.
    """
    if not case.has("traces"):
        return []
    mine = F.col("msg_id").isin(keys)
    if itself:
        up = wanted.upper()
        named = (F.col("uniq_key") == up) | (F.col("offset_msg_id") == up)
        at = case.messages.where(F.col("topic").isin(topics(case)) & named).select("file", "physical_offset")
        for row in at.limit(MOST_RECORDS).collect():
            mine |= (F.col("file") == row.file) & (F.col("physical_offset") == row.physical_offset)
    rows = case.traces.where(mine).orderBy("time", "file", "physical_offset").limit(mentions.MOST).toArrow().to_pylist()
    said = ("type", "group", "client_host", "time", "cost_ms", "success", "retry_times", "state", "request_id")
    kept = ("file", "physical_offset", *said, "topic", "tags", "keys", "store_host", "offset_msg_id")
    return [
        {
            "uniq_key": row["msg_id"],
            **{name: row[name] for name in kept},
            "text": ", ".join(f"{name}={row[name]}" for name in said if row[name] is not None),
        }
        for row in rows
    ]
