"""Clients' own entries about sends and deliveries in the message trace topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.dataset as ds

from kit.case import columnar, scan
from kit.case.memoize import per_case
from kit.formats.commitlog.schema import TRACES
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
        places = columnar.to_pandas(scan.table(case, "traces", ["file", "physical_offset"])).drop_duplicates()
        at = pa.array(places["physical_offset"].unique(), pa.int64())
        others = (ds.field("topic") != names.TRACE_TOPIC) & ds.field("physical_offset").isin(at)
        every = columnar.to_pandas(scan.table(case, "messages", ["file", "physical_offset", "topic"], others))
        found |= set(every.merge(places)["topic"])
    return sorted(found)


def entries(case: Case, keys: list[str], wanted: str, *, itself: bool) -> list[dict[str, Any]]:
    """Return what clients wrote about this message into the message trace topic, at most `mentions.MOST` entries.

    `itself`: `wanted` may be the id of a trace record; then its entries are returned.
    """
    if not case.has("traces"):
        return []
    mine = ds.field("msg_id").isin(pa.array(keys, pa.string()))
    if itself:
        up = wanted.upper()
        named = (ds.field("uniq_key") == up) | (ds.field("offset_msg_id") == up)
        of_traces = scan.one_of("topic", topics(case)) & named
        at = scan.table(case, "messages", ["file", "physical_offset"], of_traces).slice(0, MOST_RECORDS).to_pylist()
        for row in at:
            mine |= (ds.field("file") == row["file"]) & (ds.field("physical_offset") == row["physical_offset"])
    found = columnar.countable(scan.table(case, "traces", TRACES.names, mine))
    rows = found.sort_by([("time", "ascending"), ("physical_offset", "ascending")]).slice(0, mentions.MOST).to_pylist()
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
