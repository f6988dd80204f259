"""Signs of the message that blocks a queue: its attempts, the thread that has it, the consumer's memory, or pulls held back at it."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final, Literal

import attrs

from kit.analysis.consumers import admin_output, consumer_logs, consumption, lag, members, stacks
from kit.causes import texts
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.tables.facts import Facts

TEXTS: Final = texts.read("root_causes", "consumer-stuck")
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
        return Message(
            True,
            TEXTS.say("attempted", group=queue.group, offset=queue.offset, count=count, times=times),
            (said.ref(facts), said.ref(facts, last=True)),
            "suspended",
            said=said,
        )
    if locked := deadlocked(threads):
        return Message(
            True,
            TEXTS.say("deadlock", count=len(locked), frame=frame(locked[0])),
            thread_refs(facts, locked),
            "deadlock",
            frame(locked[0]),
        )
    standing = stacks.standing(threads)
    if standing and len({t.thread for t, _ in standing}) * 2 <= len({t.thread for t in threads}):
        first, last = standing[0]
        claim = TEXTS.say("thread", thread=first.thread, frame=frame(first), first=first.file, last=last.file)
        return Message(True, claim, thread_refs(facts, [first, last]), "endless", frame(first))
    if memory := _memory(facts, queue):
        claim = TEXTS.say("held", count=memory["cachedMsgCount"], offset=queue.offset)
        why: Why | None = (
            "suspended"
            if memory.get("locked") == "true" and _ordered(facts, queue.group)
            else "endless"
            if standing
            else None
        )
        return Message(
            True, claim, (facts.ref(memory["file"], memory["line"]),), why, frame(standing[0][0]) if standing else None
        )
    still = same_minimum(facts)
    if (
        still is not None
        and still.queue
        and (still.queue[0], still.queue[2]) == place
        and still.lowest["min_offset"] == queue.offset
    ):
        return Message(
            True,
            TEXTS.say("spanning", offset=queue.offset, count=still.count),
            (still.ref(facts), still.ref(facts, last=True)),
            "endless" if standing else None,
        )
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
            if (
                there
                and row.get("cachedMsgMinOffset") == str(queue.offset)
                and (integer(row.get("cachedMsgCount")) or 0) > 0
            ):
                return row
    return None


def _ordered(facts: Facts, group: str) -> bool:
    return any(
        info["properties"].get("PROP_CONSUMEORDERLY") == "true"
        for info in admin_output.running(facts)
        if info["group"] == group
    )
