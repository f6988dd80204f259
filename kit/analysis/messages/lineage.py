"""One message's records in order: which record each was copied from, what wrote it, why its offset id is new, and what
is missing between them.

Plain Python over the few records of one message (dicts as in `kit.trace`). What each hop writes: reference §4, the
broker's EndTransactionProcessor, TransactionalMessageServiceImpl.check, ScheduleMessageService, SendMessageProcessor.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, Final

from kit.i18n import T
from kit.rocketmq import names, stages

Record = dict[str, Any]

NEW_ID: Final = T("A new record at a new offset, so a new offset id; UNIQ_KEY is one of the properties it copied.")
WHY: Final[dict[str, T]] = {
    "original": T("The producer's send ({born_host}) as the broker stored it."),
    "again": T("The producer's client sent the same message again after an attempt that failed or timed out."),
    "half": T(
        "A transactional message: stored under the half topic, {real_topic} kept in REAL_TOPIC until the transaction ends."
    ),
    "check-back": T(
        "Check {check_times}: before asking the producer the broker wrote the half message again at the end of the half queue."
    ),
    "immunity": T("Put back unchecked: CHECK_IMMUNITY_TIME_IN_SECONDS was not over."),
    "commit": T("The producer committed: the half record at offset {prepared} was written into its real topic."),
    "commit-again": T(
        "Committed a second time, from the half record at offset {prepared}: an answer and a check both said COMMIT."
    ),
    "delayed": T(
        "Sent with delay level {delay_level}: waits in SCHEDULE_TOPIC_XXXX, its target {real_topic} kept in REAL_TOPIC."
    ),
    "sent-back": T(
        "Group {consumer_group} could not consume it (time {reconsume_times}) and sent it back: the broker's copy waits for delay level {delay_level}."
    ),
    "to-dlq": T(
        "Group {consumer_group} used up its retries: on its way to the dead letter topic, through the delay still set on it."
    ),
    "due": T("The delay was over: written into its target topic."),
    "retry": T("The delay was over: retry {reconsume_times} of group {consumer_group}."),
    "retry-prepared": T(
        "A retry of group {consumer_group} stored as a prepared transaction: it has no consume queue entry and is never consumed."
    ),
    "resent": T("The consumer's client could not send it back and sent a message of its own with the same properties."),
    "dlq": T("Group {consumer_group} gave it up: moved to its dead letter topic."),
    "discarded": T("Given up after {check_times} {check_times:check|checks}: moved to TRANS_CHECK_MAX_TIME_TOPIC."),
    "leaked": T("A retry that became a half message: REAL_TOPIC is the half topic itself."),
}
GAPS: Final[dict[str, T]] = {
    "not-found": T("No record of this evidence has this id."),
    "no-store": T("The evidence holds no commitlog: copies cannot be listed."),
    "first-missing": T("The first copy is not in the evidence: it begins with {stage}, stored {at}."),
    "half-missing": T("The half record at offset {prepared} that this commit was made from is not in the evidence."),
    "origin-missing": T("The copy that was sent back, {origin}, is not in the evidence."),
    "source-missing": T("The copy this {stage} was made from is not in the evidence."),
    "check-missing": T("Checks {first} to {last} left no half record in the evidence."),
    "uniq-missing": T("This copy carries no UNIQ_KEY; it was joined by {link}."),
    "pending": T("Half message stored {at}, never committed, rolled back or discarded."),
    "op-missing": T("Committed {at}, but no op record marks the half message as finished: the checker will ask again."),
    "not-due": T("Stored {at}, due {due}: after the end of the evidence."),
    "due-missing": T("Stored {at}, due {due}, never written into {target}."),
    "never-handled": T("Stored {at} in {topic}, delivered never: no ledger row, log line or trace mentions it."),
    "failed-last": T("The last delivery seen, {at}, failed, and no later copy of it is in the evidence."),
    "cut": T("It has more copies than are listed: the first {count}."),
    "short-key": T("The key is too short to be searched in texts."),
    "unquoted": T("{file}: {count} {count:line mentions|lines mention} it, {kept} of them {kept:is|are} listed."),
}
_SENT_BACK: Final = (stages.SCHEDULE, stages.RETRY, stages.DLQ)
_NEVER: Final = dt.datetime.max.replace(tzinfo=dt.UTC)
LAST_SENTENCE: Final = T("{why} {more}")


def store_order(record: Record) -> tuple[bool, dt.datetime, str, int]:
    """Return the sort key of copies; those with an impossible store time are last."""
    at = record["store_timestamp"]
    return at is None, at or _NEVER, record["store_host"] or "", record["physical_offset"]


class _Seen:
    """The copies of one message seen so far: the latest of each kind that a later hop can have read. Constant time per
    record.
    """

    def __init__(self) -> None:
        self.half: Record | None = None
        self.waits: dict[tuple[Any, int], Record] = {}
        self.visible: dict[int, Record] = {}
        self.counts: Counter[tuple[str, str]] = Counter()

    def add(self, record: Record) -> None:
        stage = record["stage"]
        if stage in (stages.HALF, stages.CHECK_BACK, stages.LEAKED):
            self.half = record
        if stage in (stages.SCHEDULE, stages.LEAKED):
            self.waits[record.get("real_topic"), record["reconsume_times"]] = record
        elif stage not in (stages.HALF, stages.CHECK_BACK):
            self.visible[record["reconsume_times"]] = record
        self.counts[stage, record["topic"]] += 1

    def before(self, times: int) -> Record | None:
        """Return the latest copy that a consumer was given before retry number `times`."""
        earlier = [record for n, record in self.visible.items() if n < times]
        return max(earlier, key=store_order, default=None)


def with_lineage(records: list[Record]) -> list[Record]:
    """Return the records, which are in store order, with `copied_from` (offset id or None) and `why` (a sentence) filled in."""
    done: list[Record] = []
    everything = _Seen()
    of_key: defaultdict[str | None, _Seen] = defaultdict(_Seen)
    ids: set[str] = set()
    for record in records:
        seen = everything if record["uniq_key"] is None else of_key[record["uniq_key"]]
        source = _source(record, seen, ids) or (
            _source(record, of_key[None], ids) if record["uniq_key"] is not None else None
        )
        why = WHY[_reason(record, seen)].say(**_values(record))
        first = not seen.counts
        done.append({**record, "copied_from": source, "why": why if first else LAST_SENTENCE.say(why=why, more=NEW_ID)})
        for known in (everything, of_key[record["uniq_key"]]):
            known.add(record)
        ids.add(record["offset_msg_id"])
    return done


def _values(record: Record) -> Record:
    return {
        **record,
        "prepared": str(record["prepared_transaction_offset"]),
        "consumer_group": record.get("consumer_group") or "?",
    }


def _reason(record: Record, before: _Seen) -> str:
    stage = record["stage"]
    earlier = sum(n for (seen, _), n in before.counts.items() if seen == stage)
    if stage == stages.SCHEDULE:
        if record.get("resent"):
            return "resent"
        to = record.get("real_topic") or ""
        return (
            "to-dlq"
            if to.startswith(names.DLQ_PREFIX)
            else "sent-back"
            if to.startswith(names.RETRY_PREFIX)
            else "again"
            if earlier
            else "delayed"
        )
    if stage in (stages.ORIGINAL, stages.HALF):
        return "again" if before.counts[stage, record["topic"]] else stage
    if stage == stages.CHECK_BACK:
        return "check-back" if record.get("check_times") is not None else "immunity"
    if stage == stages.COMMIT:
        return "commit-again" if earlier else "commit"
    if stage == stages.RETRY:
        prepared = (record["sys_flag"] & names.TRANSACTION_MASK) == names.TRANSACTION_PREPARED
        return "retry-prepared" if prepared else "retry"
    return str(stage)


def _source(record: Record, before: _Seen, ids: set[str]) -> str | None:
    """Return the offset id of the record this one was written from: the latest one before it that the hop could have read."""
    stage, times = record["stage"], record["reconsume_times"]
    found: Record | None = None
    if stage == stages.COMMIT:
        return half_id(record) if half_id(record) in ids else None
    if stage in (stages.CHECK_BACK, stages.DISCARDED):
        found = before.half
    elif stage == stages.SCHEDULE and record.get("consumer_group") is not None:
        found = before.before(times)
    elif stage in (stages.DUE, stages.RETRY, stages.DLQ, stages.LEAKED):
        found = before.waits.get((record["topic"], times))
        if found is None and stage in (stages.RETRY, stages.DLQ):
            found = before.before(times)
    return found["offset_msg_id"] if found else None


def half_id(commit: Record) -> str:
    """Return the offset id of the half record a commit was made from: same store host, the prepared offset (it inherits the host)."""
    return f"{commit['offset_msg_id'][:-16]}{commit['prepared_transaction_offset']:016X}"


def gaps(records: list[Record], ops: list[Record], end: dt.datetime | None) -> list[dict[str, Any]]:
    """Return what is missing in the life of one message: dicts `kind`, `text` (a sentence), `offset_msg_id` of the
    record concerned.

    `end`: the last store time of the evidence; the sentence of a step that was not due by then says so.
    """
    by_key: dict[str | None, list[Record]] = {}
    for record in records:
        by_key.setdefault(record["uniq_key"], []).append(record)
    return [
        gap
        for mine in by_key.values()
        for gap in (*_beginning(mine), *_broken(mine), *_waiting(mine, end), *_transaction(mine, ops))
    ]


def gap(kind: str, record: Record | None, **values: Any) -> dict[str, Any]:
    """Return one gap; `record` is the one concerned."""
    at = {"at": when(record["store_timestamp"])} if record else {}
    said = {**(_values(record) if record else {}), **at, **values}
    return {"kind": kind, "offset_msg_id": record["offset_msg_id"] if record else None, "text": GAPS[kind].say(**said)}


def _beginning(mine: list[Record]) -> Iterable[dict[str, Any]]:
    first = mine[0]
    waits = first["stage"] == stages.SCHEDULE and first.get("consumer_group") is None
    if first["stage"] not in (stages.ORIGINAL, stages.HALF) and not waits:
        yield gap("first-missing", first)
    yield from (gap("uniq-missing", r, link=r.get("link") or "?") for r in mine if r["uniq_key"] is None)


def _broken(mine: list[Record]) -> Iterable[dict[str, Any]]:
    ids = {r["offset_msg_id"] for r in mine}
    for record in mine[1:]:
        origin = record.get("origin_message_id")
        if record["stage"] == stages.COMMIT and half_id(record) not in ids:
            yield gap("half-missing", record)
        elif (
            origin
            and origin not in ids
            and origin != record["uniq_key"]
            and record["stage"] in _SENT_BACK
            and not record["copied_from"]
        ):
            yield gap("origin-missing", record, origin=origin)
        elif not record["copied_from"] and record["stage"] not in (
            stages.ORIGINAL,
            stages.HALF,
            stages.SCHEDULE,
            stages.LEAKED,
        ):
            yield gap("source-missing", record)
    checks = sorted(
        {r["check_times"] for r in mine if r["stage"] == stages.CHECK_BACK and r["check_times"] is not None}
    )
    for before, after in zip([0, *checks], checks, strict=False):
        if after > before + 1:
            yield gap(
                "check-missing", next(r for r in mine if r["check_times"] == after), first=before + 1, last=after - 1
            )


def _waiting(mine: list[Record], end: dt.datetime | None) -> Iterable[dict[str, Any]]:
    reached = {r["copied_from"] for r in mine}
    for record in mine:
        if record["stage"] == stages.SCHEDULE and record["offset_msg_id"] not in reached:
            due = record.get("due")
            late = due is not None and end is not None and due <= end
            yield gap("due-missing" if late else "not-due", record, due=when(due), target=record.get("real_topic"))


def _transaction(mine: list[Record], ops: list[Record]) -> Iterable[dict[str, Any]]:
    halves = [r for r in mine if r["stage"] in (stages.HALF, stages.CHECK_BACK)]
    ended = {op["half_offset_msg_id"] for op in ops}
    half_ids = {r["offset_msg_id"] for r in halves}
    commits = [r for r in mine if r["stage"] == stages.COMMIT]
    if halves and not commits and not any(r["stage"] == stages.DISCARDED for r in mine) and not ended & half_ids:
        yield gap("pending", halves[0])
    for commit in commits:
        if half_id(commit) not in ended and half_id(commit) in half_ids:
            yield gap("op-missing", commit)


def when(at: dt.datetime | None) -> str | None:
    """Return a time as printed in the sentences of a gap."""
    return None if at is None else at.isoformat(sep=" ", timespec="milliseconds").replace("+00:00", " UTC")
