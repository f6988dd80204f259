"""consumer-stuck: one message holds its queue; the group's other queues go on.

Deciding steps: a queue whose offset stood between two looks although messages waited in it and more came, while other queues of the topic went past what
had waited there · the message at that offset: its attempts (ConsumeMessageOrderlyService: SUSPEND_CURRENT_QUEUE_A_MOMENT without end), a process queue that
begins with it, or the thread that has it. A queue that nobody pulls is as well: it has no owner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import attrs
import pyarrow.dataset as ds

from kit.analysis import refs as quoting
from kit.analysis.consumers import facts, handled, lag, members, positions, stacks
from kit.case import scan
from kit.causes import collect_next
from kit.causes.alerts import QUEUE_STANDS, Alert
from kit.causes.findings import Figure, Finding, Kind, Missing, Remedy, Step
from kit.i18n import T
from kit.inventory.references import Ref

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "consumer-stuck"
KIND: Kind = "root_cause"
Why = Literal["suspended", "endless", "deadlock"]
ATTEMPTS = 3
"""Attempts of one ordered message from which on it counts as one that does not end."""

TITLE = T("One message blocks its queue")
SUMMARY = T(
    "Queue {queue_id} of topic {topic} does not move for group {group}: it stays at offset {offset} with {behind} messages behind it, while {others} other queues go on."
)
NONE = T("No queue stalls while the group's others go on.")
MAYBE = T("A message is attempted again and again; whether its queue stalls is not shown.")
STANDS = T(
    "The offset of group {group} in queue {queue_id} of {topic} stays at {offset} while the queue's end grows to {end}; {others} other queues of the topic go on."
)
NOT_STANDS = T("The offset of one queue stays the same while its end grows and the group's other queues go on.")
ATTEMPTED = T(
    "The ordered listener of group {group} does not finish the message at offset {offset}: {count} attempts, the last one with reconsumeTimes {times}."
)
HELD = T(
    "The consumer's memory holds {count} messages of this queue, the first of them at offset {offset}: it was pulled and is not finished."
)
THREAD = T("Thread {thread} is in {frame} in {first} and still in {last}.")
DEADLOCK = T("The dump reports a deadlock of {count} consuming threads, one of them in {frame}.")
SPANNING = T("Pulls of this queue are held back with the same minOffset {offset} in every line ({count} lines).")
NO_MESSAGE = T(
    "The message at that offset is shown to be in work: attempts, the consumer's memory, or the thread that has it."
)
NO_OWNER = T("No client holds this queue: nobody pulls it, no message blocks it.")
RECORD = T("The record at offset {offset} of the queue is stored.")
NO_RECORD = T("The record at that offset.")
EXPIRED = T(
    "After consumeTimeout the client sent the message back and dropped it from the queue ({count} lines); the thread that has it is not freed."
)
NOT_EXPIRED = T("The client discarded the message after consumeTimeout.")
WANT_POSITIONS = T("whether one queue is takes the group's offsets at two times")
WANT_STATUS = T("it shows for each queue the first message in the consumer's memory, and who holds it")
WANT_DUMP = T("the thread that has the message is in the same frame in two dumps; a deadlock is reported at the end")
WANT_MESSAGE = T("the message at the offset where the queue is")
WANT_CLIENT = T("it has a line for each attempt of an ordered message, and for pulls held back")
SKIP = T("Repair the data of this message, or catch its failure in the listener and put it aside.")
SKIP_WHY = T(
    "An ordered listener that answers SUSPEND is asked again every second without end: the queue waits for this one message."
)
SKIP_RISK = T("Medium: the later messages of its key are handled without it.")
SKIP_VERIFY = T(
    "The offset of the queue moves, and consumerProgress shows its difference falling to that of the others."
)
LIMIT = T("Set maxReconsumeTimes of the ordered consumer.")
LIMIT_WHY = T("Its default is without limit; with one the message goes to the dead letter topic and the queue goes on.")
LIMIT_RISK = T("Medium: the order of that key is broken.")
RESTART = T("Restart the process whose thread is blocked, after taking a second thread dump.")
RESTART_WHY = T(
    "The committed offset waits for this message although the others behind it are handled; a restart delivers them all again."
)
RESTART_RISK = T("Medium: {behind} messages may be handled a second time; handlers must be idempotent.")
TIMEOUT = T("Give the call in {frame} a time-out, and take locks in one order.")
TIMEOUT_WHY = T("A listener that never returns keeps its thread and its queue's offset for good.")
TIMEOUT_RISK = T("Low: a time-out makes a retry.")

LOOKS_LIKE = (
    ("consumer-backlog", T("all queues lag and all offsets move")),
    (
        "subscription-mismatch",
        T(
            "the queue has no owner among the clients that subscribe to the topic; no message of it is in any client's memory"
        ),
    ),
    ("duplicate-client-id", T("several queues have no owner, others have two")),
    ("schedule-blocked", T("the broker's schedule queue is, not a group's")),
)

FIGURES: Final = {
    "queue": Figure(T("the queue that stopped")),
    "uniq_key": Figure(T("UNIQ_KEY of the message that blocks it")),
    "why": Figure(T("why it blocks")),
    "queue_offset": Figure(T("offset at which the queue stopped")),
    "messages_behind": Figure(T("messages behind the one that blocks the queue")),
    "topic": Figure(T("topic")),
}

ALERTS: Final = (
    Alert(QUEUE_STANDS, T("The offset of one queue does not move while the group's other queues go on."),
          "queue-stands", by=("group", "topic", "queue_id"), severity="critical", steady=True),
    Alert("orderly-not-done", T("An ordered listener answers again and again that the same message is not done: its queue waits."),
          "message-in-work", least=5, within=300, lasts=10, by=("group", "commit_log_offset")),
)  # fmt: skip


@attrs.frozen
class Message:
    """What shows the message that blocks a queue. `shown`: None where nothing does, False where the queue has no owner."""

    shown: bool | None
    claim: Any
    refs: tuple[Ref, ...] = ()
    why: Why | None = None
    frame: str | None = None
    said: facts.Said | None = None


def examine(case: Case) -> Finding:
    """Say which queue is, at which message, and what holds it."""
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    judged = [(each, _message(case, each)) for each in lag.stuck(case)]
    # A queue that nothing was ever handled of stands for want of an owner unless its message is seen in work.
    standing = [(s, m) for s, m in judged if m.shown or (m.shown is None and s.offset > s.begin)]
    best = max(standing, key=lambda sm: (bool(sm[1].shown), sm[0].end - sm[0].offset), default=None) or next(
        iter(judged), None
    )
    if best is None:
        return _without(case, finding)
    queue, message = best
    stands = bool(standing)
    claim = STANDS.say(
        group=queue.group,
        queue_id=queue.queue_id,
        topic=queue.topic,
        offset=queue.offset,
        end=queue.end,
        others=queue.others,
    )
    record = _record(case, queue)
    finding.steps = [
        Step(
            claim,
            "deciding",
            True if stands else None,
            lag.refs(case, queue.group, queue.topic, queue.queue_id),
            id="queue-stands",
        ),
        Step(message.claim, "deciding", message.shown, message.refs, id="message-in-work"),
        Step(RECORD.say(offset=queue.offset), "supporting", True, (record[0],), id="record")
        if record
        else Step(NO_RECORD, "supporting", None, id="record"),
        _expired(case, queue.topic, queue.queue_id, queue.offset),
    ]
    finding.figures = _figures(queue, message, record, _known_end(case, queue)) if stands else _unknown()
    if stands:
        finding.window = (queue.first, queue.last)
        behind = finding.figures["messages_behind"]
        finding.summary = SUMMARY.say(
            queue_id=queue.queue_id,
            topic=queue.topic,
            group=queue.group,
            offset=queue.offset,
            behind=behind,
            others=queue.others,
        )
        finding.remedies = _remedies(message, behind)
    if finding.verdict != "ruled_out":
        finding.missing = _missing(case, finding, queue, record is None)
    finding.tables = {"stuck_queue": _table(case, queue)}
    return finding


def _without(case: Case, finding: Finding) -> Finding:
    """Answer where no two looks show a queue that stands: by attempts alone, or not at all."""
    pairs = lag.pairs(case)
    known = bool(pairs) and all(p.known for p in pairs)
    attempts = sorted((s for s in facts.of(case, "orderly-not-done") if s.count >= ATTEMPTS), key=lambda s: -s.count)
    finding.steps = [Step(NOT_STANDS, "deciding", False if known else None, id="queue-stands")]
    finding.figures = _unknown()
    if attempts:
        said = attempts[0]
        claim = ATTEMPTED.say(
            group=said.group,
            offset=said.values.get("queue_offset"),
            count=said.count,
            times=said.highest.get("reconsume_times"),
        )
        finding.steps.append(
            Step(claim, "deciding", True, (said.ref(case), said.ref(case, last=True)), id="message-in-work")
        )
        if said.queue is not None:
            topic, broker, queue_id = said.queue
            finding.figures |= {
                "queue": {"topic": topic, "broker": broker or None, "queue_id": queue_id}, "queue_offset": positions.number(said.values.get("queue_offset")),
                "uniq_key": said.values.get("uniq_key"), "why": "suspended",
            }  # fmt: skip
    elif held := _same_minimum(case):
        claim = SPANNING.say(offset=held.lowest["min_offset"], count=held.count)
        finding.steps.append(
            Step(claim, "supporting", True, (held.ref(case), held.ref(case, last=True)), id="message-in-work")
        )
    elif threads := _deadlock(stacks.consuming(case)):
        finding.steps.append(
            Step(
                DEADLOCK.say(count=len(threads), frame=_frame(threads[0])),
                "deciding",
                True,
                _thread_refs(case, threads),
                id="message-in-work",
            )
        )
    else:
        finding.steps.append(Step(NO_MESSAGE, "deciding", None, id="message-in-work"))
    if finding.verdict == "suspected":
        finding.summary = MAYBE
    if finding.verdict != "ruled_out":
        group = attempts[0].group if attempts else None
        finding.missing = [
            collect_next.consumer_progress(group, WANT_POSITIONS),
            collect_next.consumer_status(group, WANT_STATUS),
            collect_next.thread_dumps(WANT_DUMP),
        ]
    return finding


def _same_minimum(case: Case) -> facts.Said | None:
    """Return the pulls of a queue that were held back several times at the same first message, None if absent."""
    held = [
        s
        for s in facts.of(case, "pull-held-back")
        if s.count > 1 and "min_offset" in s.lowest and s.lowest["min_offset"] == s.highest["min_offset"]
    ]
    return max(held, key=lambda s: s.count, default=None)


def _message(case: Case, queue: lag.Stuck) -> Message:
    """Return what shows the message at the offset where a queue is."""
    mine = (queue.topic, queue.queue_id)
    attempts = [
        s
        for s in facts.of(case, "orderly-not-done", group=queue.group)
        if s.queue and (s.queue[0], s.queue[2]) == mine and s.values.get("queue_offset") == str(queue.offset)
    ]
    threads = stacks.of_group(case, queue.group, frozenset(handled.places(case, queue.group)))
    if attempts:
        said = max(attempts, key=lambda s: s.count)
        count, times = sum(s.count for s in attempts), said.highest.get("reconsume_times")
        return Message(
            True,
            ATTEMPTED.say(group=queue.group, offset=queue.offset, count=count, times=times),
            (said.ref(case), said.ref(case, last=True)),
            "suspended",
            said=said,
        )
    if locked := _deadlock(threads):
        return Message(
            True,
            DEADLOCK.say(count=len(locked), frame=_frame(locked[0])),
            _thread_refs(case, locked),
            "deadlock",
            _frame(locked[0]),
        )
    standing = stacks.standing(threads)
    if standing and len({t.thread for t, _ in standing}) * 2 <= len({t.thread for t in threads}):
        first, last = standing[0]
        claim = THREAD.say(thread=first.thread, frame=_frame(first), first=first.file, last=last.file)
        return Message(True, claim, _thread_refs(case, [first, last]), "endless", _frame(first))
    if memory := _memory(case, queue):
        claim = HELD.say(count=memory["cachedMsgCount"], offset=queue.offset)
        why: Why | None = (
            "suspended"
            if memory.get("locked") == "true" and _ordered(case, queue.group)
            else "endless"
            if standing
            else None
        )
        return Message(
            True,
            claim,
            (Ref(memory["file"], case.line(memory["file"], memory["line"]), line=memory["line"]),),
            why,
            _frame(standing[0][0]) if standing else None,
        )
    still = _same_minimum(case)
    if (
        still is not None
        and still.queue
        and (still.queue[0], still.queue[2]) == mine
        and still.lowest["min_offset"] == queue.offset
    ):
        return Message(
            True,
            SPANNING.say(offset=queue.offset, count=still.count),
            (still.ref(case), still.ref(case, last=True)),
            "endless" if standing else None,
        )
    if _unowned(case, queue):
        return Message(False, NO_OWNER)
    return Message(None, NO_MESSAGE)


def _deadlock(threads: list[stacks.Consuming]) -> list[stacks.Consuming]:
    return [t for t in threads if t.deadlocked]


def _frame(thread: stacks.Consuming) -> str | None:
    return stacks.method(thread.own[0]) if thread.own else None


def _thread_refs(case: Case, threads: list[stacks.Consuming]) -> tuple[Ref, ...]:
    places = dict.fromkeys((t.file, t.lines[0] if t.lines else t.line) for t in threads)
    return tuple(Ref(file, case.line(file, line), line=line) for file, line in list(places)[:3])


def _memory(case: Case, queue: lag.Stuck) -> dict[str, Any] | None:
    """Return the process queue (consumerStatus) that begins with the message a queue is at, None where none does."""
    for info in positions.running(case):
        for row in info["queues"] if info["group"] == queue.group else ():
            there = (row["#Topic"], positions.number(row["#QID"])) == (queue.topic, queue.queue_id)
            if (
                there
                and row.get("cachedMsgMinOffset") == str(queue.offset)
                and (positions.number(row.get("cachedMsgCount")) or 0) > 0
            ):
                return row
    return None


def _ordered(case: Case, group: str) -> bool:
    return any(
        info["properties"].get("PROP_CONSUMEORDERLY") == "true"
        for info in positions.running(case)
        if info["group"] == group
    )


def _unowned(case: Case, queue: lag.Stuck) -> bool:
    """Tell whether the evidence shows that no client of the group holds a queue, although it shows who holds the others."""
    mine = (queue.topic, queue.queue_id)
    holders = {(q[0], q[2]) for q, places in members.holders_at_end(case, queue.group).items() if places}
    status = {(q[0], q[2]) for held in members.status_queues(case, queue.group).values() for q in held}
    known = [held for held in (holders, status) if any(topic == queue.topic for topic, _ in held)]
    return bool(known) and all(mine not in held for held in known)


def _record(case: Case, queue: lag.Stuck) -> tuple[Ref, str | None] | None:
    """Quote the record at which a queue stands; with its UNIQ_KEY."""
    at = (ds.field("topic") == queue.topic) & (ds.field("queue_id") == queue.queue_id)
    columns = ["file", "physical_offset", "store_timestamp", "uniq_key"]
    found = scan.records(case, columns, at & (ds.field("queue_offset") == queue.offset)).to_pandas()
    first = found.astype({"file": object}).sort_values("file").head(1)
    return (quoting.records_at(case, first)[0], first["uniq_key"].iloc[0]) if len(first) else None


def _known_end(case: Case, queue: lag.Stuck) -> int:
    """Return the end of the queue as long as it stood: the last one known if it still is there."""
    last = handled.last_positions(case, queue.group, queue.topic)
    mine = last[
        (last["queue_id"] == queue.queue_id)
        & (last["broker"] == queue.broker)
        & last["end"].notna()
        & (last["offset"] == queue.offset)
    ]
    return max([queue.end, *(int(end) for end in mine["end"])])


def _figures(queue: lag.Stuck, message: Message, record: tuple[Ref, str | None] | None, end: int) -> dict[str, Any]:
    key = record[1] if record is not None else message.said.values.get("uniq_key") if message.said else None
    return {
        "queue": {"topic": queue.topic, "broker": queue.broker or None, "queue_id": queue.queue_id},
        "queue_offset": queue.offset,
        "uniq_key": key,
        "why": message.why,
        "messages_behind": end - queue.offset - 1,
    }


def _unknown() -> dict[str, Any]:
    return {"queue": None, "queue_offset": None, "uniq_key": None, "why": None, "messages_behind": None}


def _expired(case: Case, topic: str, queue_id: int, offset: int) -> Step:
    said = [
        s
        for s in facts.of(case, "expired-sent-back")
        if s.queue and (s.queue[0], s.queue[2]) == (topic, queue_id) and s.values.get("queue_offset") == str(offset)
    ]
    if said:
        return Step(
            EXPIRED.say(count=sum(s.count for s in said)), "supporting", True, (said[0].ref(case),), id="expired"
        )
    return Step(NOT_EXPIRED, "supporting", None, id="expired")


def _remedies(message: Message, behind: int) -> list[Remedy]:
    if message.why in ("endless", "deadlock"):
        found = [Remedy(RESTART, RESTART_WHY, RESTART_RISK.say(behind=behind), SKIP_VERIFY)]
        return (
            [*found, Remedy(TIMEOUT.say(frame=message.frame), TIMEOUT_WHY, TIMEOUT_RISK, SKIP_VERIFY)]
            if message.frame
            else found
        )
    return [Remedy(SKIP, SKIP_WHY, SKIP_RISK, SKIP_VERIFY), Remedy(LIMIT, LIMIT_WHY, LIMIT_RISK, SKIP_VERIFY)]


def _missing(case: Case, finding: Finding, queue: lag.Stuck, no_record: bool) -> list[Missing]:
    wanted = []
    if finding.steps[0].holds is None:
        wanted.append(collect_next.consumer_progress(queue.group, WANT_POSITIONS))
    if finding.steps[1].holds is None:
        wanted += [collect_next.consumer_status(queue.group, WANT_STATUS), collect_next.thread_dumps(WANT_DUMP)]
        if not facts.of(case, "queues-assigned", "queue-taken", "pull-started", group=queue.group):
            wanted.append(collect_next.client_log(collect_next.CONSUMER, WANT_CLIENT))
    if no_record:
        command = f"mqadmin queryMsgByOffset -n NAMESRV:9876 -t {collect_next.word(queue.topic)} -b {collect_next.word(queue.broker or 'BROKER')} -i {queue.queue_id} -o {queue.offset}"
        wanted.append(collect_next.lookup(command, WANT_MESSAGE))
    return wanted


def _table(case: Case, queue: lag.Stuck) -> Any:
    every = positions.every(case)
    mine = every[(every["group"] == queue.group) & (every["topic"] == queue.topic) & every["end"].notna()]
    return mine[
        ["time", "source", "group", "topic", "broker", "queue_id", "offset", "end", "lag", "file", "line"]
    ].head(5_000)
