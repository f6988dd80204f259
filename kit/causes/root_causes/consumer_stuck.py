"""consumer-stuck: one message holds its queue; the group's other queues go on.

Deciding steps: a queue whose offset stayed the same between two looks although messages waited in it and more came, while other queues of the topic passed what
had waited there · the message at that offset: its attempts (ConsumeMessageOrderlyService: SUSPEND_CURRENT_QUEUE_A_MOMENT for ever), a process queue that
begins with it, or the thread that has it. A queue that nobody pulls does not move either, but has no owner.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final, Literal

import attrs

from kit.analysis import refs as quoting
from kit.analysis.consumers import admin_output, consumer_logs, consumption, lag, members, positions, stacks
from kit.causes import collect_next
from kit.causes.findings import Finding, Missing, Remedy, Step, deciding, supporting
from kit.causes.texts import texts_of
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)

ATTEMPTS = 3
"""Attempts of one ordered message from which it counts as never finishing."""


def examine(facts: Facts) -> Finding:
    """Report which queue is stuck, at which message, and what blocks it."""
    finding = TEXTS.finding()
    judged = [(each, in_work(facts, each)) for each in lag.stuck(facts)]
    # A queue in which nothing was ever handled has no owner, unless its message is seen in
    standing = [(s, m) for s, m in judged if m.shown or (m.shown is None and s.offset > s.begin)]
    best = max(standing, key=lambda sm: (bool(sm[1].shown), sm[0].end - sm[0].offset), default=None) or next(
        iter(judged), None
    )
    if best is None:
        return _without(facts, finding)
    queue, message = best
    stands = bool(standing)
    place = {name: getattr(queue, name) for name in ("group", "topic", "queue_id", "offset", "others")}
    claim = TEXTS.say("stands", end=queue.end, **place)
    record = _record(facts, queue)
    looks = lag.refs(facts, queue.group, queue.topic, queue.queue_id)
    stored = TEXTS.say("record", offset=queue.offset) if record else TEXTS["no_record"]
    finding.steps = [
        deciding("queue-stands", claim, True if stands else None, looks),
        deciding("message-in-work", message.claim, message.shown, message.refs),
        supporting("record", stored, record, (record[0],) if record else ()),
        _expired(facts, queue.topic, queue.queue_id, queue.offset),
    ]
    finding.figures = _figures(queue, message, record, _known_end(facts, queue)) if stands else _unknown()
    finding.actors = (queue.group, queue.topic)
    if stands:
        finding.window = (queue.first, queue.last)
        behind = finding.figures["messages_behind"]
        finding.summary = TEXTS.say("summary", behind=behind, **place)
        finding.remedies = _remedies(message, behind)
    if finding.verdict != "ruled_out":
        finding.missing = _missing(facts, finding, queue, record is None)
    finding.tables = {"stuck_queue": _table(facts, queue)}
    return finding


def _without(facts: Facts, finding: Finding) -> Finding:
    """Complete the finding if no two looks show a stuck queue: by attempts alone, or not at all."""
    pairs = lag.pairs(facts)
    known = bool(pairs) and all(p.backlog_known for p in pairs)
    attempts = sorted(
        (s for s in consumer_logs.of(facts, "orderly-not-done") if s.count >= ATTEMPTS), key=lambda s: -s.count
    )
    finding.steps = [deciding("queue-stands", TEXTS["not_stands"], False if known else None)]
    finding.figures = _unknown()
    if attempts:
        said = attempts[0]
        finding.actors = (said.group,) if said.group else ()
        offset, times = said.values.get("queue_offset"), said.highest.get("reconsume_times")
        claim = TEXTS.say("attempted", group=said.group, offset=offset, count=said.count, times=times)
        finding.steps.append(deciding("message-in-work", claim, True, (said.ref(facts), said.ref(facts, last=True))))
        if said.queue is not None:
            topic, broker, queue_id = said.queue
            finding.figures |= {
                "queue": {"topic": topic, "broker": broker or None, "queue_id": queue_id}, "queue_offset": integer(said.values.get("queue_offset")),
                "uniq_key": said.values.get("uniq_key"), "why": "suspended",
            }  # fmt: skip
    elif held := same_minimum(facts):
        claim = TEXTS.say("spanning", offset=held.lowest["min_offset"], count=held.count)
        finding.steps.append(supporting("message-in-work", claim, True, (held.ref(facts), held.ref(facts, last=True))))
    elif row := one_full(facts):
        claim = TEXTS.say("held", count=row["cachedMsgCount"], offset=row.get("cachedMsgMinOffset"))
        ref = facts.ref(row["file"], row["line"])
        finding.steps.append(supporting("message-in-work", claim, True, (ref,)))
    elif threads := deadlocked(stacks.consuming(facts)):
        claim = TEXTS.say("deadlock", count=len(threads), frame=frame(threads[0]))
        finding.steps.append(deciding("message-in-work", claim, True, thread_refs(facts, threads)))
    else:
        finding.steps.append(deciding("message-in-work", TEXTS["no_message"], None))
    once = next(((p, q) for p in pairs if (q := p.held_up) is not None), None)
    if once is not None:
        pair, queue = once
        place = {"group": pair.group, "topic": pair.topic, "queue_id": queue.queue_id}
        claim = TEXTS.say("one_lags", offset=queue.last_offset, behind=queue.last_lag, **place)
        refs = lag.refs(facts, pair.group, pair.topic, queue.queue_id, most=1)
        finding.steps.append(supporting("one-queue-lags", claim, True, refs))
    if finding.verdict == "suspected":
        finding.summary = TEXTS["maybe"] if finding.steps[1].holds else TEXTS["maybe_lags"]
    if finding.verdict != "ruled_out":
        group = attempts[0].group if attempts else once[0].group if once else None
        finding.missing = [
            collect_next.ask("offsets", TEXTS["want_positions"], group=group),
            collect_next.ask("running clients", TEXTS["want_status"], group=group),
            collect_next.ask("thread dumps", TEXTS["want_dump"]),
        ]
    return finding


def _record(facts: Facts, queue: lag.Stuck) -> tuple[Ref, str | None] | None:
    """Quote the record at which a queue is stuck; with its UNIQ_KEY."""
    found = facts("stuck_records")
    place = (found["topic"] == queue.topic) & (found["queue_id"] == queue.queue_id)
    first = found[place & (found["queue_offset"] == queue.offset)].head(1)
    return (quoting.records_at(facts, first)[0], first["uniq_key"].iloc[0]) if len(first) else None


def _known_end(facts: Facts, queue: lag.Stuck) -> int:
    """Return the end of the queue while it was stuck: the last one known if it still is."""
    last = consumption.last_positions(facts, queue.group, queue.topic)
    of_queue = last[
        (last["queue_id"] == queue.queue_id)
        & (last["broker"] == queue.broker)
        & last["end"].notna()
        & (last["offset"] == queue.offset)
    ]
    return max([queue.end, *(int(end) for end in of_queue["end"])])


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


def _expired(facts: Facts, topic: str, queue_id: int, offset: int) -> Step:
    said = [
        s
        for s in consumer_logs.of(facts, "expired-sent-back")
        if s.queue and (s.queue[0], s.queue[2]) == (topic, queue_id) and s.values.get("queue_offset") == str(offset)
    ]
    if not said:
        return supporting("expired", TEXTS["not_expired"], None)
    return supporting("expired", TEXTS.say("expired", count=sum(s.count for s in said)), True, (said[0].ref(facts),))


def _remedies(message: Message, behind: int) -> list[Remedy]:
    if message.why in ("endless", "deadlock"):
        found = [TEXTS.remedy("restart", behind=behind)]
        return [*found, TEXTS.remedy("timeout", frame=message.frame)] if message.frame else found
    return [TEXTS.remedy("skip"), TEXTS.remedy("limit")]


def _missing(facts: Facts, finding: Finding, queue: lag.Stuck, no_record: bool) -> list[Missing]:
    wanted = []
    if finding.steps[0].holds is None:
        wanted.append(collect_next.ask("offsets", TEXTS["want_positions"], group=queue.group))
    if finding.steps[1].holds is None:
        wanted += [
            collect_next.ask("running clients", TEXTS["want_status"], group=queue.group),
            collect_next.ask("thread dumps", TEXTS["want_dump"]),
        ]
        if not consumer_logs.of(facts, "queues-assigned", "queue-taken", "pull-started", group=queue.group):
            wanted.append(collect_next.ask("consumer's client log", TEXTS["want_client"]))
    if no_record:
        command = f"mqadmin queryMsgByOffset -n NAMESRV:9876 -t {collect_next.word(queue.topic)} -b {collect_next.word(queue.broker or 'BROKER')} -i {queue.queue_id} -o {queue.offset}"
        wanted.append(collect_next.ask("look-up", TEXTS["want_message"], command=command))
    return wanted


def _table(facts: Facts, queue: lag.Stuck) -> Any:
    every = positions.every(facts)
    of_queue = every[(every["group"] == queue.group) & (every["topic"] == queue.topic) & every["end"].notna()]
    return of_queue[
        ["time", "source", "group", "topic", "broker", "queue_id", "offset", "end", "lag", "file", "line"]
    ].head(5_000)


# --- the message that blocks a queue -------------------------------------------------------------------------------


Why = Literal["suspended", "endless", "deadlock"]


@attrs.frozen
class Message:
    """What shows the message that blocks a queue. `shown`: None if nothing does, False if the queue has no owner."""

    shown: bool | None
    claim: Any
    refs: tuple[Ref, ...] = ()
    why: Why | None = None
    frame: str | None = None
    said: consumer_logs.Statement | None = None


def one_full(facts: Facts) -> dict[str, Any] | None:
    """Return the only process queue of a topic with many waiting messages while the client's others hold few, None if absent."""
    for info in admin_output.running(facts):
        by_topic: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in info["queues"]:
            by_topic[row["#Topic"]].append(row)
        for rows in by_topic.values():
            full = [row for row in rows if (integer(row.get("cachedMsgCount")) or 0) > lag.LEAST]
            if len(full) == 1 < len(rows) and (integer(full[0]["cachedMsgCount"]) or 0) > lag.SMALL:
                return full[0]
    return None


def same_minimum(facts: Facts) -> consumer_logs.Statement | None:
    """Return the pulls of a queue that were held back several times at the same first message, None if absent."""
    held = [
        s
        for s in consumer_logs.of(facts, "pull-held-back")
        if s.count > 1 and "min_offset" in s.lowest and s.lowest["min_offset"] == s.highest["min_offset"]
    ]
    return max(held, key=lambda s: s.count, default=None)


def in_work(facts: Facts, queue: lag.Stuck) -> Message:
    """Return what shows the message at a queue's offset."""
    place = (queue.topic, queue.queue_id)
    attempts = [
        s
        for s in consumer_logs.of(facts, "orderly-not-done", group=queue.group)
        if s.queue and (s.queue[0], s.queue[2]) == place and s.values.get("queue_offset") == str(queue.offset)
    ]
    threads = stacks.of_group(facts, queue.group, frozenset(consumption.places(facts, queue.group)))
    if attempts:
        said = max(attempts, key=lambda s: s.count)
        count, times = sum(s.count for s in attempts), said.highest.get("reconsume_times")
        claim = TEXTS.say("attempted", group=queue.group, offset=queue.offset, count=count, times=times)
        return Message(True, claim, (said.ref(facts), said.ref(facts, last=True)), "suspended", said=said)
    if locked := deadlocked(threads):
        claim = TEXTS.say("deadlock", count=len(locked), frame=frame(locked[0]))
        return Message(True, claim, thread_refs(facts, locked), "deadlock", frame(locked[0]))
    standing = stacks.standing(threads)
    if standing and len({t.thread for t, _ in standing}) * 2 <= len({t.thread for t in threads}):
        first, last = standing[0]
        claim = TEXTS.say("thread", thread=first.thread, frame=frame(first), first=first.file, last=last.file)
        return Message(True, claim, thread_refs(facts, [first, last]), "endless", frame(first))
    if memory := _memory(facts, queue):
        claim = TEXTS.say("held", count=memory["cachedMsgCount"], offset=queue.offset)
        why: Why | None = "endless" if standing else None
        if memory.get("locked") == "true" and _ordered(facts, queue.group):
            why = "suspended"
        line = facts.ref(memory["file"], memory["line"])
        return Message(True, claim, (line,), why, frame(standing[0][0]) if standing else None)
    still = same_minimum(facts)
    of_queue = still is not None and still.queue is not None and (still.queue[0], still.queue[2]) == place
    if still is not None and of_queue and still.lowest["min_offset"] == queue.offset:
        claim = TEXTS.say("spanning", offset=queue.offset, count=still.count)
        lines = (still.ref(facts), still.ref(facts, last=True))
        return Message(True, claim, lines, "endless" if standing else None)
    if members.unowned(facts, queue.group, queue.topic, queue.queue_id):
        return Message(False, TEXTS["no_owner"])
    return Message(None, TEXTS["no_message"])


def deadlocked(threads: list[stacks.Consuming]) -> list[stacks.Consuming]:
    return [t for t in threads if t.deadlocked]


def frame(thread: stacks.Consuming) -> str | None:
    return stacks.method(thread.own[0]) if thread.own else None


def thread_refs(facts: Facts, threads: list[stacks.Consuming]) -> tuple[Ref, ...]:
    places = dict.fromkeys((t.file, t.lines[0] if t.lines else t.line) for t in threads)
    # A dump from a table in another form may name no line.
    return facts.refs([(file, line) for file, line in places if line > 0][:3])


def _memory(facts: Facts, queue: lag.Stuck) -> dict[str, Any] | None:
    """Return the process queue (consumerStatus) whose first message is at the queue's offset, None if absent."""
    for info in admin_output.running(facts):
        for row in info["queues"] if info["group"] == queue.group else ():
            there = (row["#Topic"], integer(row["#QID"])) == (queue.topic, queue.queue_id)
            begins = row.get("cachedMsgMinOffset") == str(queue.offset)
            if there and begins and (integer(row.get("cachedMsgCount")) or 0) > 0:
                return row
    return None


def _ordered(facts: Facts, group: str) -> bool:
    return any(
        info["properties"].get("PROP_CONSUMEORDERLY") == "true"
        for info in admin_output.running(facts)
        if info["group"] == group
    )
