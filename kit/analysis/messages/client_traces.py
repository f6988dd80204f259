"""Clients' own entries about sends and deliveries in the message trace topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.analysis.messages.copies import utc
from kit.inventory import mentions

if TYPE_CHECKING:
    from kit.case.case import Case

TOLD: Final = ("type", "group", "client_host", "time", "cost_ms", "success", "retry_times", "state", "request_id")
ENTRIES: Final = f"""
with named as (
  select m.file, m.physical_offset from stored_messages m left semi join trace_topics t on m.topic = t.topic
  where m.uniq_key = :id or m.offset_msg_id = :id
)
select t.msg_id as uniq_key, t.file, t.physical_offset, {", ".join(f"t.{name}" for name in TOLD)}, t.topic, t.tags, t.keys, t.store_host, t.offset_msg_id
from traces t left join named n on t.file = n.file and t.physical_offset = n.physical_offset
where array_contains(cast(:keys as array<string>), t.msg_id) or n.file is not null
order by t.time nulls last, t.physical_offset, t.file, t.type, t.offset_msg_id limit {mentions.MOST}
"""


def entries(case: Case, keys: list[str], wanted: str, *, itself: bool) -> list[dict[str, Any]]:
    """Return what clients wrote about this message into the message trace topic, at most `mentions.MOST` entries.

    `itself`: `wanted` may be the id of a trace record; then its entries are returned.
    """
    if not case.has("traces"):
        return []
    rows = case.answers(ENTRIES, keys=keys, id=wanted.upper() if itself else "")
    for row in rows:
        row["time"] = utc(row["time"])
        row["text"] = ", ".join(f"{name}={row[name]}" for name in TOLD if row[name] is not None)
    return rows
