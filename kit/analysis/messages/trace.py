"""The life of one message: its copies, found by any id, what wrote each, who handled it, what mentions it, what lacks.

Copies are joined by UNIQ_KEY, op records by broker and half-queue offset. What each hop writes: reference §4, the
broker's EndTransactionProcessor, TransactionalMessageServiceImpl.check, ScheduleMessageService, SendMessageProcessor.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from kit.analysis.consumers import outcomes
from kit.data import grouped
from kit.formats.commitlog.schema import as_dict
from kit.formats.printed_times import local_text, utc, utc_text
from kit.i18n import labels
from kit.inventory import quotes
from kit.rocketmq import ids, names, stages
from kit.tables.facts import Facts

if TYPE_CHECKING:
    from kit.case.case import Case

Row = dict[str, Any]
MOST_RECORDS: Final = 100_000
"""Copies listed of one message (`questions/copies.sql`)."""
MOST_KEYLESS: Final = 1_000
WHY: Final = labels("analysis")["copies"]
GAPS: Final = labels("analysis")["gaps"]
_WITHOUT_SOURCE: Final = (stages.ORIGINAL, stages.HALF, stages.SCHEDULE, stages.LEAKED)
HALVES: Final = (stages.HALF, stages.CHECK_BACK)
_SENT_BACK: Final = (stages.SCHEDULE, stages.RETRY, stages.DLQ)
_OF_TIMER: Final = {"TIMER_DEL_UNIQKEY": "recall", "TIMER_ROLL_TIMES": "rolled"}
"""Properties of what a broker writes for a timed message: processor/RecallMessageProcessor, TimerMessageStore."""
_NEVER: Final = dt.datetime.max  # noqa: DTZ901 - all are naive UTC
TOLD: Final = ("type", "group", "client_host", "time", "cost_ms", "success", "retry_times", "state", "request_id")
TEXTS: Final = ("log", "text", "mqadmin", "rows", "sends")


def trace(case: Case, id: str) -> dict[str, Any]:  # noqa: A002 - the public name of the argument
    """Return the life of the message with this UNIQ_KEY, offset id of a copy, or business key (of all that have it).

    Return {"id", "kind" (`uniq`, `offset`, `grpc`, `key`), "uniq_keys", "records", "ops", "handled", "consumers",
    "traces", "mentions", "gaps"}. `records` are the copies in store order, each with `stage`, `why` and `copied_from`;
    `ops` the op records that ended its half messages; `traces` what clients wrote about it into the message trace
    topic; `consumers` what became of it in each group that could have consumed it, the `fate` and why (`outcomes`). An
    unknown id gives empty lists. Times are ISO 8601, in UTC or without an offset where no zone is known.
    """
    return traces(case, [id])[0]


def traces(case: Case, ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the lives of several messages, each as `trace` does; their records and lines are searched for once."""
    lives = records_of(case.facts, ids)
    texts = [item for item in case.facts.files.of_kind(*TEXTS, replicas=False) if item.has_lines]
    lines = quotes.mentions(texts, [words(life) for life in lives])
    return [_life(case, *each) for each in zip(lives, lines, strict=True)]


def records_of(facts: Facts, ids: Iterable[str]) -> list[Row]:
    """Return the records of each id's messages: id, uniq_keys, records, ops, as in `trace`."""
    asked = [each.strip() for each in ids]
    copies = _copies_of(facts, [each for each in asked if each])
    lives: list[Row] = [{"id": each, "records": with_lineage(copies.get(each, []))} for each in asked]
    for each in lives:
        keys = list(dict.fromkeys(r["uniq_key"] for r in each["records"] if r["uniq_key"]))
        each["uniq_keys"] = keys or _keys_elsewhere(facts, each["id"])
        each["ops"] = _ops(facts, each["records"])
    return lives


def words(life: Row) -> set[str]:
    """Return what the lines about a message name it by: any id of any copy, or a business key."""
    words = {life["id"], *life["uniq_keys"], *(r["offset_msg_id"] for r in (*life["records"], *life["ops"]))}
    return words.union(*((r["keys"] or "").split() for r in life["records"]))


def _life(case: Case, life: Row, quoted: quotes.Mentions) -> dict[str, Any]:
    facts, asked, keys, records, ops = case.facts, life["id"], life["uniq_keys"], life["records"], life["ops"]
    handled = _handled(facts, keys, records, asked)
    # Entries of the message trace topic about it, or of the record with this id.
    entries = facts.has("traces") and facts.answers("trace_entries", keys=keys, id="" if records else asked.upper())
    traced = [row | {"text": ", ".join(f"{n}={row[n]}" for n in TOLD if row[n] is not None)} for row in entries or ()]
    consumers: list[Row] = []
    with case.noting("consumers"):  # the journey is worth showing without it
        consumers = outcomes.of(facts, records, handled, [*keys, asked])
    missing = [] if traced and not records else [*_gaps(facts, asked, records, ops)]
    lines, counts = quoted
    quoted_of = Counter(line["file"] for line in lines)
    more = ((file, n) for file, n in counts.items() if quoted_of[file] < n)
    missing += [_gap("unquoted", file=file, count=n, kept=quoted_of[file]) for file, n in more]
    lists = {
        "records": records, "ops": ops, "handled": handled, "consumers": consumers, "traces": traced,
        "mentions": lines, "gaps": missing,
    }  # fmt: skip
    plain = {name: [_plain(row, case) for row in rows] for name, rows in lists.items()}
    return {"id": asked, "kind": _kind(asked, keys, records), "uniq_keys": keys, **plain}


def _kind(asked: str, keys: list[str], records: list[Row]) -> str:
    """Return what an id is: as a record has it, else by its form."""
    up = asked.upper()
    if any(r["offset_msg_id"] == up for r in records):
        return "offset"
    if {asked, up} & {*keys}:
        return "grpc" if len(up) == 34 else "uniq"
    is_key = any(asked in (r["keys"], *(r["keys"] or "").split()) for r in records)
    return _form(asked) if not records else "key" if is_key else "offset"


def _gaps(facts: Facts, asked: str, records: list[Row], ops: list[Row]) -> Iterator[Row]:
    if not records:
        yield _gap("not-found" if facts.has("messages") else "no-store")
    elif len(records) >= MOST_RECORDS:
        # What follows is not listed, so nothing can be said to be missing.
        yield _gap("cut", count=MOST_RECORDS)
    else:
        end = max((row["last"] for row in facts.rows("store_extent") if row["last"]), default=None)
        yield from gaps(records, ops, end)
    if 0 < len(asked) < quotes.MIN_KEY:
        yield _gap("short-key")


def _keys_elsewhere(facts: Facts, asked: str) -> list[str]:
    """Return the UNIQ_KEYs that tables of senders and consumers give for an id or key no record has."""
    up = asked.upper()
    if rows := facts.answers("keys_elsewhere", id=up, key=asked) if facts.has("rows") or facts.has("sends") else ():
        return [row["uniq_key"] for row in rows]
    return [up] if _form(asked) in ("uniq", "grpc") else []


def _form(text: str) -> str:
    try:
        return ids.decode(text).kind
    except ids.BadId:
        return "key"


def _handled(facts: Facts, keys: list[str], records: list[Row], asked: str) -> list[Row]:
    """Return each delivery a consumer wrote down: file, line, consumer, copy, result, whether it took effect."""
    if not facts.has("rows") and not facts.has_source("app"):
        return []
    keyless = sorted({r["offset_msg_id"] for r in records if r["uniq_key"] is None})[:MOST_KEYLESS]
    return facts.answers("deliveries_of", keys=keys, offset_ids=[*keyless, asked.upper()])


def _plain(row: Row, case: Case) -> Row:
    """Return one row as JSON takes it: times as text, sentences rendered, a retry's number in its stage."""
    rendered = {name: value.render(case.lang) if hasattr(value, "render") else value for name, value in row.items()}
    text = local_text if row.get("file") in case.local_files else utc_text
    plain = {name: text(value) if isinstance(value, dt.datetime) else value for name, value in rendered.items()}
    if plain.get("stage") == stages.RETRY:
        plain["stage"] = f"{stages.RETRY} {plain['reconsume_times']}"
    return plain


# --- copies ----------------------------------------------------------------------------------------------------------


def _copies_of(facts: Facts, ids: list[str]) -> dict[str, list[Row]]:
    """Return for each id (UNIQ_KEY, offset id of a copy, business key) the copies in store order."""
    if not ids or not facts.has("messages"):
        return {}
    upper = [each.upper() for each in ids]
    offsets = [int(each[-16:], 16) for each in upper if re.fullmatch(r"[0-9A-F]{32,}", each)]
    halves = [str(offset) for offset in offsets if 0 < offset < 1 << 63]
    about = [row["topic"] for row in facts.rows("trace_topics")] if facts.has("traces") else [names.TRACE_TOPIC]
    rows = facts.answers("named_messages", ids=ids, upper=upper, offsets=halves, trace_names=about)
    named = grouped((row["asked"], row["name"]) for row in rows)
    copies = named_copies(facts, {name for own in named.values() for name in own})
    if len(ids) > 1 and len(copies) == MOST_RECORDS:
        return {each: _copies_of(facts, [each])[each] for each in named}
    of_name = grouped((row["uniq_key"] or row["offset_msg_id"], row) for row in copies)
    return {each: sorted((r for n in own for r in of_name[n]), key=_store_order) for each, own in named.items()}


def named_copies(facts: Facts, of: Iterable[str]) -> list[Row]:
    """Return the records of these messages, by UNIQ_KEY, or by the offset id of a copy that lost it, in store order."""
    wanted = sorted(of)[:MOST_RECORDS]
    places = facts.answers("copy_places", names=wanted)[0] if wanted else {"first": None}
    if places["first"] is None:
        return []
    rows = facts.answers("copies", names=wanted, **places)
    for row in rows:
        row["properties"] = as_dict(row.pop("properties_text") or "")
        if row["stage"] == stages.RETRY:
            row["consumer_group"] = outcomes.groups(facts, row["topic"])[0]
    return rows


def _ops(facts: Facts, records: list[Row]) -> list[Row]:
    """Return the op records that end one of the half records among these, each once and in store order."""
    halves = [r for r in records if r["stage"] in HALVES]
    if not halves:
        return []
    brokers = {row["file"]: row["broker"] for row in facts.rows("store_brokers")}
    by_place = {(brokers.get(half["file"]), half["queue_offset"]): half for half in halves}
    offsets = [str(offset) for offset in sorted({offset for _, offset in by_place})]
    ended: dict[tuple[str, int], Row] = {}
    for row in facts.answers("ending_ops", queue_offsets=offsets):
        half = by_place.get((row.pop("broker"), row["half_queue_offset"]))
        if half is not None:
            of_half = {"uniq_key": half["uniq_key"], "half_offset_msg_id": half["offset_msg_id"]}
            ended[row["offset_msg_id"], row["half_queue_offset"]] = row | {"stage": stages.OP} | of_half
    return list(ended.values())


def _store_order(record: Row) -> tuple[bool, dt.datetime, str, int]:
    """Return the sort key of copies; those with an impossible store time are last."""
    at = record["store_timestamp"]
    return at is None, at or _NEVER, record["store_host"] or "", record["physical_offset"]


# --- lineage ----------------------------------------------------------------------------------------------------------


class _Earlier:
    """The copies of one message so far: the latest of each kind that a later hop can have read."""

    def __init__(self) -> None:
        self.waits: dict[Any, Row] = {}
        """By `HALF`, or by topic and retry: what waits for a check or a commit, or for its delay."""
        self.visible: dict[int, Row] = {}
        self.seen: set[Any] = set()
        """The stages with and without their topic, and what messages of one batch have in common."""

    def add(self, record: Row) -> None:
        stage = record["stage"]
        if stage in (stages.HALF, stages.CHECK_BACK, stages.LEAKED):
            self.waits[stages.HALF] = record
        if stage in (stages.SCHEDULE, stages.LEAKED):
            self.waits[record.get("real_topic"), record["reconsume_times"]] = record
        elif stage not in HALVES:
            self.visible[record["reconsume_times"]] = record
        self.seen |= {(stage, record["topic"]), (stage, None), _attempt(record)}

    def source(self, record: Row, ids: set[str]) -> str | None:
        """Return the offset id of the record this one was written from: the latest one that the hop could have read."""
        stage, times = record["stage"], record["reconsume_times"]
        if stage == stages.COMMIT:
            return _half_id(record) if _half_id(record) in ids else None
        delayed = stage in (stages.DUE, stages.RETRY, stages.DLQ, stages.LEAKED) and (record["topic"], times)
        read = self.waits.get(stages.HALF if stage in (stages.CHECK_BACK, stages.DISCARDED) else delayed)
        sent_back = stage in _SENT_BACK and (stage != stages.SCHEDULE or record.get("consumer_group") is not None)
        if read is None and sent_back:
            # The latest copy that a consumer was given before this retry.
            given = [each for n, each in self.visible.items() if n < times]
            read = max(given, key=_store_order, default=None)
        return read["offset_msg_id"] if read else None

    def reason(self, record: Row) -> str:
        """Return the name of the sentence that says what wrote a record."""
        stage, target = str(record["stage"]), record.get("real_topic") or ""
        if stage == stages.SCHEDULE and record.get("resent"):
            return "resent"
        if stage == stages.SCHEDULE and target.startswith((names.DLQ_PREFIX, names.RETRY_PREFIX)):
            return "to-dlq" if target.startswith(names.DLQ_PREFIX) else "sent-back"
        if stage == stages.SCHEDULE:
            first = "timed" if record["topic"] == names.TIMER_TOPIC else "delayed"
            first = "again" if (stage, None) in self.seen else first
            return next((why for name, why in _OF_TIMER.items() if name in record["properties"]), first)
        if stage == stages.ORIGINAL and _attempt(record) in self.seen:
            return "batch"
        if stage in (stages.ORIGINAL, stages.HALF):
            return "again" if (stage, record["topic"]) in self.seen else stage
        if stage == stages.CHECK_BACK:
            return "check-back" if record.get("check_times") is not None else "immunity"
        if stage == stages.COMMIT:
            return "commit-again" if (stage, None) in self.seen else "commit"
        prepared = (record["sys_flag"] & names.TRANSACTION_MASK) == names.TRANSACTION_PREPARED
        return "retry-prepared" if stage == stages.RETRY and prepared else stage


def with_lineage(records: list[Row]) -> list[Row]:
    """Return the records, in store order, with `copied_from` (offset id or None) and `why` (a sentence)."""
    done: list[Row] = []
    of_key = defaultdict[str | None, _Earlier](_Earlier)
    ids: set[str] = set()
    told: set[str | None] = set()
    for record in records:
        earlier = of_key[record["uniq_key"]]
        reason = earlier.reason(record)
        why = WHY[reason].say(**_values(record))
        # Said of the first copy: it is true of every one.
        if earlier.seen and reason != "batch" and record["uniq_key"] not in told:
            why = WHY["last"].say(why=why, more=WHY["new-id"])
            told.add(record["uniq_key"])
        done.append({**record, "copied_from": earlier.source(record, ids), "why": why})
        earlier.add(record)
        ids.add(record["offset_msg_id"])
    return done


def _values(record: Row) -> Row:
    prepared = str(record["prepared_transaction_offset"])
    return {**record, "prepared": prepared, "consumer_group": record.get("consumer_group") or "?"}


def _attempt(record: Row) -> tuple[Any, ...]:
    """Return what the messages of one batch have in common, and two attempts of a client do not."""
    return record["born_timestamp"], record["store_host"], record["queue_id"]


def _half_id(commit: Row) -> str:
    """Return the offset id of the half record of a commit: the prepared offset on the same store host."""
    return f"{commit['offset_msg_id'][:-16]}{commit['prepared_transaction_offset']:016X}"


# --- gaps -------------------------------------------------------------------------------------------------------------


def gaps(records: list[Row], ops: list[Row], end: dt.datetime | None) -> list[dict[str, Any]]:
    """Return what lacks in the life of one message: dicts `kind`, `text` (a sentence), `offset_msg_id` of the record.
    `end`: the last store time of the evidence, by which a step may not have been due.
    """
    by_key = grouped((record["uniq_key"], record) for record in records)
    return [gap for own in by_key.values() for gap in (*_broken(own), *_waiting(own, end), *_transaction(own, ops))]


def _gap(kind: str, record: Row | None = None, **values: Any) -> dict[str, Any]:
    given = {**_values(record), "at": _when(record["store_timestamp"]), **values} if record else values
    return {"kind": kind, "offset_msg_id": record["offset_msg_id"] if record else None, "text": GAPS[kind].say(**given)}


def _when(at: dt.datetime | None) -> str | None:
    return None if at is None else utc(at).isoformat(sep=" ", timespec="milliseconds").replace("+00:00", " UTC")


def _broken(own: list[Row]) -> Iterator[dict[str, Any]]:
    first = own[0]
    waits = first["stage"] == stages.SCHEDULE and first.get("consumer_group") is None  # of no consumer
    if first["stage"] not in (stages.ORIGINAL, stages.HALF) and not waits:
        yield _gap("first-missing", first)
    ids = {r["offset_msg_id"] for r in own}
    for record in own[1:]:
        origin = record.get("origin_message_id")
        if record["stage"] == stages.COMMIT and _half_id(record) not in ids:
            yield _gap("half-missing", record)
        elif record["copied_from"]:
            continue
        elif origin and origin not in {*ids, record["uniq_key"]} and record["stage"] in _SENT_BACK:
            yield _gap("origin-missing", record, origin=origin)
        elif record["stage"] not in _WITHOUT_SOURCE:
            yield _gap("source-missing", record)
    checks = {
        r["check_times"]: r for r in reversed(own) if r["stage"] == stages.CHECK_BACK and r["check_times"] is not None
    }
    for before, after in itertools.pairwise([0, *sorted(checks)]):
        if after > before + 1:
            yield _gap("check-missing", checks[after], first=before + 1, last=after - 1)


def _waiting(own: list[Row], end: dt.datetime | None) -> Iterator[dict[str, Any]]:
    reached = {r["copied_from"] for r in own}
    # What a timer takes out is not due any more, nor is what it put back.
    timed = [r for r in own if r["topic"] == names.TIMER_TOPIC]
    gone = timed if any("TIMER_DEL_UNIQKEY" in r["properties"] for r in timed) else timed[:-1]
    reached |= {r["offset_msg_id"] for r in gone}
    for record in own:
        if record["stage"] == stages.SCHEDULE and record["offset_msg_id"] not in reached:
            due = record.get("due")
            late = due is not None and end is not None and due <= end
            yield _gap("due-missing" if late else "not-due", record, due=_when(due), target=record.get("real_topic"))


def _transaction(own: list[Row], ops: list[Row]) -> Iterator[dict[str, Any]]:
    halves = {r["offset_msg_id"]: r for r in own if r["stage"] in HALVES}
    ended = {op["half_offset_msg_id"] for op in ops}
    commits = [r for r in own if r["stage"] == stages.COMMIT]
    if halves and not commits and ended.isdisjoint(halves) and not any(r["stage"] == stages.DISCARDED for r in own):
        yield _gap("pending", next(iter(halves.values())))
    yield from (_gap("op-missing", r) for r in commits if _half_id(r) in halves and _half_id(r) not in ended)
