"""The copies of a message: every record of it, found by any of its ids; which record each was copied from, what wrote
it, and what is missing.

Copies are joined by UNIQ_KEY; if one lost it, by ORIGIN_MESSAGE_ID or by the prepared offset of a commit; op records by
broker and half-queue offset. What each hop writes: reference §4, the broker's EndTransactionProcessor,
TransactionalMessageServiceImpl.check, ScheduleMessageService, SendMessageProcessor.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from kit.formats.commitlog.schema import as_dict
from kit.formats.printed_times import utc
from kit.i18n import labels
from kit.rocketmq import names, stages
from kit.tables.facts import Facts

Record = dict[str, Any]
Name = tuple[str | None, str]
"""UNIQ_KEY and offset id of a record."""
MOST_RECORDS: Final = 100_000
"""Copies listed of one message (`questions/copies.sql`)."""
MOST_LINKED: Final = 1_000
WHY: Final = labels("analysis")["copies"]
GAPS: Final = labels("analysis")["gaps"]
_WITHOUT_SOURCE: Final = (stages.ORIGINAL, stages.HALF, stages.SCHEDULE, stages.LEAKED)
_SENT_BACK: Final = (stages.SCHEDULE, stages.RETRY, stages.DLQ)
_NEVER: Final = dt.datetime.max  # noqa: DTZ901 - all are naive UTC


def of(facts: Facts, ids: Sequence[str]) -> dict[str, list[Record]]:
    """Return for each id (UNIQ_KEY, offset id of a copy or an op record, business key) the copies in store order.

    Each has `link`: how it was joined if it has no UNIQ_KEY.
    """
    named = _named(facts, ids)
    elsewhere = [each for each in ids if not named[each]]
    if elsewhere:
        ended: defaultdict[str, list[Name]] = defaultdict(list)
        for row in facts.answers("ended_halves", upper=[each.upper() for each in elsewhere]):
            ended[row["op"]].append((row["uniq_key"], row["offset_msg_id"]))
        named |= {each: ended[each.upper()] for each in elsewhere}
    keys = {each: sorted({key for key, _ in named[each] if key}) for each in ids}
    loose = {each: sorted({copy for key, copy in named[each] if not key or each in elsewhere}) for each in ids}
    rows = _copies(facts, set(itertools.chain(*keys.values())), set(itertools.chain(*loose.values())))
    if len(ids) > 1 and len(rows) == MOST_RECORDS:
        return {each: of(facts, [each])[each] for each in ids}
    of_key: defaultdict[str, list[Record]] = defaultdict(list)
    for row in rows:
        of_key[row["uniq_key"]].append(row)
    of_copy = {row["offset_msg_id"]: row for row in rows}
    own = {
        each: [row for key in keys[each] for row in of_key[key]] + [of_copy[n] for n in loose[each] if n in of_copy]
        for each in ids
    }
    return {each: _with_linked(facts, rows) for each, rows in own.items()}


def _named(facts: Facts, ids: Sequence[str]) -> dict[str, list[Name]]:
    """Return for each id the records it names."""
    upper = [each.upper() for each in ids]
    offsets = [int(each[-16:], 16) for each in upper if re.fullmatch(r"[0-9A-F]{32,}", each)]
    trace_names = [row["topic"] for row in facts.rows("trace_topics")] if facts.has("traces") else [names.TRACE_TOPIC]
    halves = [str(offset) for offset in offsets if 0 < offset < 1 << 63]  # numbers in a list have to be of one size
    by_id: defaultdict[str | None, dict[Name, None]] = defaultdict(dict)
    by_word: defaultdict[str | None, dict[Name, None]] = defaultdict(dict)
    for row in facts.answers("named_records", ids=list(ids), upper=upper, halves=halves, trace_names=trace_names):
        record = row["uniq_key"], row["offset_msg_id"]
        for name in (*record, row["origin"], row["half"]):
            by_id[name][record] = None
        for word in (row["uniq_key"], *re.split(r"\s+", row["keys"] or "", flags=re.ASCII)):
            by_word[word][record] = None
    return {each: list(by_id[each.upper()] | by_word[each])[:MOST_RECORDS] for each in ids}


def _copies(facts: Facts, keys: set[str], offset_ids: set[str]) -> list[Record]:
    if not keys and not offset_ids:
        return []
    return [completed(row) for row in facts.answers("copies", keys=sorted(keys), offset_ids=sorted(offset_ids))]


def completed(row: Record) -> Record:
    """Return a row of `message_copies` with its properties as a dict."""
    properties = as_dict(str(row["properties_text"] or ""))
    return {name: row[name] for name in row if name not in ("id", "properties_text")} | {"properties": properties}


def _with_linked(facts: Facts, rows: Iterable[Record]) -> list[Record]:
    """Add the copies that lost their UNIQ_KEY but name a copy of this message, or are named by one."""
    known = {row["offset_msg_id"]: {**row, "link": None} for row in rows}
    named = {row["origin_message_id"] for row in known.values()}
    named |= {half_id(row) for row in known.values() if row["stage"] == stages.COMMIT}
    links: dict[str, str] = {}
    loose = [row for row in facts.rows("keyless_records") if row["offset_msg_id"] not in known] if known else []
    grown = True
    while grown:
        grown = False
        for row in loose:
            own = row["offset_msg_id"]
            by_origin = own in named or row["origin"] in known or row["origin"] in links
            if own not in links and (by_origin or row["half"] in known or row["half"] in links):
                links[own] = names.ORIGIN_MESSAGE_ID if by_origin else "preparedTransactionOffset"
                named |= {row["origin"], row["half"]} - {None}
                grown = True
    for row in _copies(facts, set(), set(list(links)[:MOST_LINKED])):
        known[row["offset_msg_id"]] = {**row, "link": links[row["offset_msg_id"]]}
    return sorted(known.values(), key=store_order)


def ops(facts: Facts, halves: list[Record]) -> list[Record]:
    """Return the op records that end one of these half records, each once and in store order."""
    if not halves:
        return []
    brokers = {row["file"]: row["broker"] for row in facts.rows("store_brokers")}
    by_place = {(brokers.get(half["file"]), half["queue_offset"]): half for half in halves}
    offsets = [str(offset) for offset in sorted({offset for _, offset in by_place})]
    ended: dict[tuple[str, int], Record] = {}
    for row in facts.answers("ending_ops", queue_offsets=offsets):
        half = by_place.get((row.pop("broker"), row["half_queue_offset"]))
        if half is not None:
            of_half = {"uniq_key": half["uniq_key"], "half_offset_msg_id": half["offset_msg_id"]}
            ended[row["offset_msg_id"], row["half_queue_offset"]] = row | {"stage": stages.OP} | of_half
    return list(ended.values())


def store_order(record: Record) -> tuple[bool, dt.datetime, str, int]:
    """Return the sort key of copies; those with an impossible store time are last."""
    at = record["store_timestamp"]
    return at is None, at or _NEVER, record["store_host"] or "", record["physical_offset"]


# --- lineage ----------------------------------------------------------------------------------------------------------


class _Earlier:
    """The copies of one message so far: the latest of each kind that a later hop can have read."""

    def __init__(self) -> None:
        self.half: Record | None = None
        self.waits: dict[tuple[Any, int], Record] = {}
        self.visible: dict[int, Record] = {}
        self.seen: set[tuple[str, str | None]] = set()

    def add(self, record: Record) -> None:
        stage = record["stage"]
        if stage in (stages.HALF, stages.CHECK_BACK, stages.LEAKED):
            self.half = record
        if stage in (stages.SCHEDULE, stages.LEAKED):
            self.waits[record.get("real_topic"), record["reconsume_times"]] = record
        elif stage not in (stages.HALF, stages.CHECK_BACK):
            self.visible[record["reconsume_times"]] = record
        self.seen |= {(stage, record["topic"]), (stage, None)}

    def source(self, record: Record, ids: set[str]) -> str | None:
        """Return the offset id of the record this one was written from: the latest one that the hop could have read."""
        stage, times = record["stage"], record["reconsume_times"]
        if stage == stages.COMMIT:
            return half_id(record) if half_id(record) in ids else None
        read: Record | None = None
        if stage in (stages.CHECK_BACK, stages.DISCARDED):
            read = self.half
        elif stage in (stages.DUE, stages.RETRY, stages.DLQ, stages.LEAKED):
            read = self.waits.get((record["topic"], times))
        if read is None and (stage in (stages.RETRY, stages.DLQ) or (stage == stages.SCHEDULE and _back(record))):
            # The latest copy that a consumer was given before this retry.
            given = [each for n, each in self.visible.items() if n < times]
            read = max(given, key=store_order, default=None)
        return read["offset_msg_id"] if read else None

    def reason(self, record: Record) -> str:
        """Return the name of the sentence that says what wrote a record."""
        stage, target = str(record["stage"]), record.get("real_topic") or ""
        if stage == stages.SCHEDULE and record.get("resent"):
            return "resent"
        if stage == stages.SCHEDULE and target.startswith((names.DLQ_PREFIX, names.RETRY_PREFIX)):
            return "to-dlq" if target.startswith(names.DLQ_PREFIX) else "sent-back"
        if stage == stages.SCHEDULE:
            return "again" if (stage, None) in self.seen else "delayed"
        if stage in (stages.ORIGINAL, stages.HALF):
            return "again" if (stage, record["topic"]) in self.seen else stage
        if stage == stages.CHECK_BACK:
            return "check-back" if record.get("check_times") is not None else "immunity"
        if stage == stages.COMMIT:
            return "commit-again" if (stage, None) in self.seen else "commit"
        prepared = (record["sys_flag"] & names.TRANSACTION_MASK) == names.TRANSACTION_PREPARED
        return "retry-prepared" if stage == stages.RETRY and prepared else stage


def _back(record: Record) -> bool:
    """Return whether a waiting record was sent back by a consumer."""
    return record.get("consumer_group") is not None


def with_lineage(records: list[Record]) -> list[Record]:
    """Return the records, in store order, with `copied_from` (offset id or None) and `why` (a sentence)."""
    done: list[Record] = []
    everything = _Earlier()
    of_key: defaultdict[str, _Earlier] = defaultdict(_Earlier)
    keyless = _Earlier()
    ids: set[str] = set()
    for record in records:
        key = record["uniq_key"]
        earlier = everything if key is None else of_key[key]
        source = earlier.source(record, ids) or (None if key is None else keyless.source(record, ids))
        why = WHY[earlier.reason(record)].say(**_values(record))
        why = WHY["last"].say(why=why, more=WHY["new-id"]) if earlier.seen else why
        done.append({**record, "copied_from": source, "why": why})
        everything.add(record)
        (keyless if key is None else of_key[key]).add(record)
        ids.add(record["offset_msg_id"])
    return done


def _values(record: Record) -> Record:
    prepared = str(record["prepared_transaction_offset"])
    return {**record, "prepared": prepared, "consumer_group": record.get("consumer_group") or "?"}


def half_id(commit: Record) -> str:
    """Return the offset id of the half record of a commit: the prepared offset on the same store host."""
    return f"{commit['offset_msg_id'][:-16]}{commit['prepared_transaction_offset']:016X}"


# --- gaps -------------------------------------------------------------------------------------------------------------


def gaps(records: list[Record], ops: list[Record], end: dt.datetime | None) -> list[dict[str, Any]]:
    """Return what is missing in the life of one message: dicts `kind`, `text` (a sentence), `offset_msg_id` of the
    record concerned.

    `end`: the last store time of the evidence; the sentence of a step that was not due by then says so.
    """
    by_key: defaultdict[str | None, list[Record]] = defaultdict(list)
    for record in records:
        by_key[record["uniq_key"]].append(record)
    return [gap for own in by_key.values() for gap in (*_broken(own), *_waiting(own, end), *_transaction(own, ops))]


def gap(kind: str, record: Record | None, **values: Any) -> dict[str, Any]:
    """Return one gap; `record` is the one concerned."""
    given = {**_values(record), "at": when(record["store_timestamp"]), **values} if record else values
    return {"kind": kind, "offset_msg_id": record["offset_msg_id"] if record else None, "text": GAPS[kind].say(**given)}


def when(at: dt.datetime | None) -> str | None:
    """Return a time as printed in the sentences of a gap."""
    return None if at is None else utc(at).isoformat(sep=" ", timespec="milliseconds").replace("+00:00", " UTC")


def _broken(own: list[Record]) -> Iterator[dict[str, Any]]:
    first = own[0]
    waits = first["stage"] == stages.SCHEDULE and not _back(first)
    if first["stage"] not in (stages.ORIGINAL, stages.HALF) and not waits:
        yield gap("first-missing", first)
    yield from (gap("uniq-missing", r, link=r.get("link") or "?") for r in own if r["uniq_key"] is None)
    ids = {r["offset_msg_id"] for r in own}
    for record in own[1:]:
        origin = record.get("origin_message_id")
        if record["stage"] == stages.COMMIT and half_id(record) not in ids:
            yield gap("half-missing", record)
        elif record["copied_from"]:
            continue
        elif origin and origin not in {*ids, record["uniq_key"]} and record["stage"] in _SENT_BACK:
            yield gap("origin-missing", record, origin=origin)
        elif record["stage"] not in _WITHOUT_SOURCE:
            yield gap("source-missing", record)
    checks = {
        r["check_times"]: r for r in reversed(own) if r["stage"] == stages.CHECK_BACK and r["check_times"] is not None
    }
    for before, after in itertools.pairwise([0, *sorted(checks)]):
        if after > before + 1:
            yield gap("check-missing", checks[after], first=before + 1, last=after - 1)


def _waiting(own: list[Record], end: dt.datetime | None) -> Iterator[dict[str, Any]]:
    reached = {r["copied_from"] for r in own}
    for record in own:
        if record["stage"] == stages.SCHEDULE and record["offset_msg_id"] not in reached:
            due = record.get("due")
            late = due is not None and end is not None and due <= end
            yield gap("due-missing" if late else "not-due", record, due=when(due), target=record.get("real_topic"))


def _transaction(own: list[Record], ops: list[Record]) -> Iterator[dict[str, Any]]:
    halves = {r["offset_msg_id"]: r for r in own if r["stage"] in (stages.HALF, stages.CHECK_BACK)}
    ended = {op["half_offset_msg_id"] for op in ops}
    commits = [r for r in own if r["stage"] == stages.COMMIT]
    if halves and not commits and ended.isdisjoint(halves) and not any(r["stage"] == stages.DISCARDED for r in own):
        yield gap("pending", next(iter(halves.values())))
    yield from (gap("op-missing", r) for r in commits if half_id(r) in halves and half_id(r) not in ended)
