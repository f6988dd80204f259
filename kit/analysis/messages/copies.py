"""The copies of messages: every record of one message, found by any of its ids.

Copies are joined by UNIQ_KEY; if one lost it, by ORIGIN_MESSAGE_ID or by the prepared offset of a commit; op records by
broker and half-queue offset.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from kit.analysis.messages import lineage
from kit.formats.commitlog.schema import as_dict
from kit.rocketmq import names, stages

if TYPE_CHECKING:
    from kit.case.case import Case

Record = dict[str, Any]
MOST_RECORDS: Final = 100_000
"""Copies listed of one message; one caught in a doubling half topic has tens of thousands."""
MOST_LINKED: Final = 1_000

NAMED: Final = """
select uniq_key, offset_msg_id, keys, property_ORIGIN_MESSAGE_ID as origin, if((sys_flag & 12) = 8 and prepared_transaction_offset > 0,
  concat(left(offset_msg_id, length(offset_msg_id) - 16), lpad(hex(prepared_transaction_offset), 16, '0')), null) as half
from records
where stage <> 'op' and not array_contains(:trace_names, topic) and (
  array_contains(:ids, uniq_key) or array_contains(:upper, uniq_key) or array_contains(:upper, offset_msg_id)
  or array_contains(:upper, property_ORIGIN_MESSAGE_ID) or array_contains(cast(:halves as array<bigint>), prepared_transaction_offset)
  or array_contains(:ids, keys) or (keys rlike r'[ \\t\\n\\r\\f\\x0B]' and arrays_overlap(split(keys, r'[ \\t\\n\\r\\f\\x0B]+'), :ids)))
order by file, physical_offset
"""
"""The records that ids name: by UNIQ_KEY, offset id, key, or as the copy they were made from."""
COPIES: Final = f"""
select * from message_copies
where array_contains(cast(:keys as array<string>), uniq_key) or array_contains(cast(:offset_ids as array<string>), offset_msg_id)
order by store_timestamp nulls last, file, physical_offset limit {MOST_RECORDS}
"""
ENDED: Final = """
select o.offset_msg_id as op, h.uniq_key, h.offset_msg_id
from ops o
  join (select distinct file, broker from half_brokers) b on o.file = b.file
  join records h on h.queue_offset = o.half_queue_offset
  join (select distinct file, broker from half_brokers) c on h.file = c.file and b.broker = c.broker
where o.queue_id = 0 and array_contains(:upper, o.offset_msg_id)
  and h.stage in ('half', 'check-back') and h.uniq_key is not null and h.property_REAL_TOPIC is not null
order by h.file, h.physical_offset
"""
"""The half records that op records ended."""
OPS: Final = """
select distinct o.file, o.physical_offset, o.offset_msg_id, o.queue_id, o.store_timestamp, o.half_queue_offset, b.broker
from ops o join half_brokers b on o.file = b.file
where o.queue_id = 0 and array_contains(cast(:queue_offsets as array<bigint>), o.half_queue_offset)
order by o.store_timestamp nulls last, o.physical_offset, o.file
"""


def of(case: Case, ids: Sequence[str]) -> dict[str, list[Record]]:
    """Return for each id (UNIQ_KEY, offset id of a copy or an op record, business key) the copies in store order.

    Each has `link`: how it was joined if it has no UNIQ_KEY.
    """
    named = _named(case, ids)
    elsewhere = [each for each in ids if not named[each]]
    if elsewhere:
        named |= _ended_by(case, elsewhere)
    keys = {each: {key for key, _ in named[each] if key} for each in ids}
    loose = {each: {copy for key, copy in named[each] if not key or each in elsewhere} for each in ids}
    rows = _copies(case, set().union(*keys.values()), set().union(*loose.values()))
    if len(ids) > 1 and len(rows) == MOST_RECORDS:
        return {each: of(case, [each])[each] for each in ids}
    of_key: defaultdict[str, list[Record]] = defaultdict(list)
    for row in rows:
        of_key[row["uniq_key"]].append(row)
    of_copy = {row["offset_msg_id"]: row for row in rows}
    copies = {}
    for each in ids:
        mine = [row for key in sorted(keys[each]) for row in of_key[key]]
        mine += [of_copy[copy] for copy in sorted(loose[each]) if copy in of_copy]
        copies[each] = _with_linked(case, mine)
    return copies


def _named(case: Case, ids: Sequence[str]) -> dict[str, list[tuple[str | None, str]]]:
    """Return for each id the records it names, as (UNIQ_KEY, offset id)."""
    upper = [each.upper() for each in ids]
    offsets = [int(each[-16:], 16) for each in upper if re.fullmatch(r"[0-9A-F]{32,}", each)]
    trace_names = (
        [row["topic"] for row in case.fact_rows("trace_topics")] if case.has("traces") else [names.TRACE_TOPIC]
    )
    halves = [str(offset) for offset in offsets if 0 < offset < 1 << 63]  # numbers in a list have to be of one size
    by_id: defaultdict[str | None, dict[tuple[str | None, str], None]] = defaultdict(dict)
    by_word: defaultdict[str | None, dict[tuple[str | None, str], None]] = defaultdict(dict)
    for row in case.answers(NAMED, ids=list(ids), upper=upper, halves=halves, trace_names=trace_names):
        record = row["uniq_key"], row["offset_msg_id"]
        for name in (*record, row["origin"], row["half"]):
            by_id[name][record] = None
        for word in (row["uniq_key"], *re.split(r"\s+", row["keys"] or "", flags=re.ASCII)):
            by_word[word][record] = None
    return {each: list(by_id[each.upper()] | by_word[each])[:MOST_RECORDS] for each in ids}


def _ended_by(case: Case, ids: Sequence[str]) -> dict[str, list[tuple[str | None, str]]]:
    """Return for each id of an op record the half records that it ended."""
    ended: dict[str, list[tuple[str | None, str]]] = {each.upper(): [] for each in ids}
    for row in case.answers(ENDED, upper=list(ended)):
        ended[row["op"]].append((row["uniq_key"], row["offset_msg_id"]))
    return {each: ended[each.upper()] for each in ids}


def _copies(case: Case, keys: set[str], offset_ids: set[str]) -> list[Record]:
    if not keys and not offset_ids:
        return []
    return [completed(row) for row in case.answers(COPIES, keys=sorted(keys), offset_ids=sorted(offset_ids))]


def completed(row: Record) -> Record:
    """Return a row of `message_copies` with its properties as a dict and its times in UTC."""
    copy = {
        name: utc(value) if isinstance(value, dt.datetime) else value for name, value in row.items() if name != "id"
    }
    return copy | {"properties": as_dict(str(copy.pop("properties_text") or ""))}


def utc(at: dt.datetime | None) -> dt.datetime | None:
    """Return a naive UTC time with its zone."""
    return None if at is None else at.replace(tzinfo=dt.UTC)


def _with_linked(case: Case, rows: Iterable[Record]) -> list[Record]:
    known = {row["offset_msg_id"]: {**row, "link": None} for row in rows}
    linked = _linked(case, known) if known else {}
    for row in _copies(case, set(), set(linked)):
        known[row["offset_msg_id"]] = {**row, "link": linked[row["offset_msg_id"]]}
    return sorted(known.values(), key=lineage.store_order)


def _linked(case: Case, known: dict[str, Record]) -> dict[str, str]:
    """Return {offset id: link} of copies that lost their UNIQ_KEY but name a copy of this message, or are named by one."""
    loose = [row for row in case.fact_rows("keyless_records") if row["offset_msg_id"] not in known]
    mine = set(known)
    named = {row["origin_message_id"] for row in known.values()}
    named |= {lineage.half_id(row) for row in known.values() if row["stage"] == stages.COMMIT}
    links: dict[str, str] = {}
    grown = bool(loose)
    while grown:
        grown = False
        for row in loose:
            if row["offset_msg_id"] in links:
                continue
            by_origin = row["origin"] in mine or row["offset_msg_id"] in named
            if by_origin or row["half"] in mine:
                links[row["offset_msg_id"]] = names.ORIGIN_MESSAGE_ID if by_origin else "preparedTransactionOffset"
                mine.add(row["offset_msg_id"])
                named |= {row["origin"], row["half"]} - {None}
                grown = True
    return dict(list(links.items())[:MOST_LINKED])


def ops(case: Case, halves: list[Record]) -> list[Record]:
    """Return the op records that end one of these half records, each once and in store order."""
    if not halves:
        return []
    brokers = {row["file"]: row["broker"] for row in case.fact_rows("half_brokers")}
    mine = {(brokers.get(half["file"]), half["queue_offset"]): half for half in halves}
    ended: dict[tuple[str, int], Record] = {}
    for row in case.answers(OPS, queue_offsets=[str(offset) for offset in sorted({offset for _, offset in mine})]):
        half = mine.get((row.pop("broker"), row["half_queue_offset"]))
        if half is not None:
            of_half = {"uniq_key": half["uniq_key"], "half_offset_msg_id": half["offset_msg_id"]}
            stored = {"store_timestamp": utc(row["store_timestamp"]), "stage": stages.OP}
            ended[row["offset_msg_id"], row["half_queue_offset"]] = row | stored | of_half
    return list(ended.values())
