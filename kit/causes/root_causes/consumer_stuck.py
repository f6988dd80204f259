"""consumer-stuck: one message holds its queue; the group's other queues go on.

A queue that nobody pulls does not move either, but has no owner.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import attrs

from kit.analysis import refs as quoting
from kit.analysis.consumers import admin_output, consumer_logs, consumption, lag, members, positions, stacks
from kit.causes import collect_next
from kit.causes.declared import Observed
from kit.causes.texts import texts_of
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)
ATTEMPTS = 3
"""Attempts of one ordered message from which it counts as never finishing."""


@attrs.frozen
class Message:
    """The message that blocks a queue. `says`: name of the sentence; `why`: suspended, endless, deadlock."""

    says: str
    values: dict[str, Any]
    refs: tuple[Ref, ...] = ()
    why: str | None = None
    frame: str | None = None


def observe(facts: Facts) -> Observed:
    """Find the queue that is stuck, at which message, and what blocks it."""
    judged = [(each, _in_work(facts, each)) for each in lag.stuck(facts)]
    # A queue in which nothing was ever handled has no owner, unless its message is seen in work.
    standing = [(s, m) for s, m in judged if (m and m.says != "no_owner") or (m is None and s.offset > s.begin)]
    best = max(standing, key=lambda sm: (bool(sm[1]), sm[0].end - sm[0].offset), default=None) or next(
        iter(judged), None
    )
    if best is not None:
        return _stuck(facts, *best, stands=bool(standing))
    pairs = lag.pairs(facts)
    message = _hint(facts)
    observed = Observed({"all_known": bool(pairs) and all(p.backlog_known for p in pairs)})
    once = next(((p, q) for p in pairs if (q := p.held_up) is not None), None)
    if once is not None:
        pair, queue = once
        observed.values |= {
            "group": pair.group, "lag_group": pair.group, "lag_topic": pair.topic, "lag_queue": queue.queue_id,
            "lag_offset": queue.last_offset,
            "lags_alone": queue.last_lag,
        }  # fmt: skip
        observed.quotes["one-queue-lags"] = lag.refs(facts, pair.group, pair.topic, queue.queue_id, most=1)
    if message is not None:
        observed.values |= message.values | {"message": message.says}
        observed.quotes["message-in-work"] = message.refs
        if message.says == "attempted":
            observed.actors = (message.values["group"],) if message.values["group"] else ()
    return observed


def _stuck(facts: Facts, queue: lag.Stuck, message: Message | None, *, stands: bool) -> Observed:
    records = facts("stuck_records")
    at = records[(records["topic"] == queue.topic) & (records["queue_id"] == queue.queue_id)]
    at = at[at["queue_offset"] == queue.offset].head(1)
    place = _place(queue.topic, queue.broker, queue.queue_id)
    expired = [
        s
        for s in consumer_logs.of(facts, "expired-sent-back")
        if s.queue
        and (s.queue[0], s.queue[2]) == (queue.topic, queue.queue_id)
        and s.values.get("queue_offset") == str(queue.offset)
    ]
    observed = Observed(
        {name: getattr(queue, name) for name in ("group", "topic", "queue_id", "offset", "others", "end")},
        {
            "queue-stands": lag.refs(facts, queue.group, queue.topic, queue.queue_id),
            "record": quoting.records_at(facts, at) if len(at) else (),
            "expired": [s.ref(facts) for s in expired[:1]],
        },
        (queue.first, queue.last) if stands else None,
        actors=(queue.group, queue.topic),
        tables={"stuck_queue": _table(facts, queue)},
    )
    observed.values |= {
        "stuck_queue": True, "stands": stands, "record": len(at), "expired": sum(s.count for s in expired),
        "pulls_logged": consumer_logs.of(facts, "queues-assigned", "queue-taken", "pull-started", group=queue.group),
    }  # fmt: skip
    key = None
    if message is not None:
        key = message.values.pop("uniq_key", None)
        name = "no_owner" if message.says == "no_owner" else "message"
        observed.values |= message.values | {name: message.says}
        observed.quotes["message-in-work"] = message.refs
    if stands:
        why = message.why if message else None
        observed.values |= {
            "queue": place, "queue_offset": queue.offset, "uniq_key": at["uniq_key"].iloc[0] if len(at) else key,
            "why": why,
            "messages_behind": _known_end(facts, queue) - queue.offset - 1, "blocked": why in ("endless", "deadlock"),
            "frame": message.frame if message else None,
        }  # fmt: skip
    if not len(at) and "no_owner" not in observed.values:
        topic, broker = collect_next.word(queue.topic), collect_next.word(queue.broker or "BROKER")
        at_queue = f"-t {topic} -b {broker} -i {queue.queue_id} -o {queue.offset}"
        command = f"mqadmin queryMsgByOffset -n NAMESRV:9876 {at_queue}"
        observed.missing = [collect_next.ask("look-up", TEXTS["want_message"], command=command)]
    return observed


def _place(topic: str, broker: str | None, queue_id: int) -> dict[str, Any]:
    return {"topic": topic, "broker": broker or None, "queue_id": queue_id}


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


def _table(facts: Facts, queue: lag.Stuck) -> Any:
    every = positions.every(facts)
    of_queue = every[(every["group"] == queue.group) & (every["topic"] == queue.topic) & every["end"].notna()]
    columns = ["time", "source", "group", "topic", "broker", "queue_id", "offset", "end", "lag", "file", "line"]
    return of_queue[columns].head(5_000)


# --- the message that blocks a queue -------------------------------------------------------------------------------


def _hint(facts: Facts) -> Message | None:
    """Return a message that seems to block its queue where no two looks show a stuck queue."""
    attempts = [s for s in consumer_logs.of(facts, "orderly-not-done") if s.count >= ATTEMPTS]
    if attempts:
        said = max(attempts, key=lambda s: s.count)
        message = _attempted(facts, said, said.count, said.values.get("queue_offset"))
        if said.queue is not None:
            message.values.update(
                queue=_place(*said.queue), queue_offset=integer(said.values.get("queue_offset")), why="suspended"
            )
        else:
            message.values.pop("uniq_key")
        return message
    if held := same_minimum(facts):
        return _spanning(facts, held, held.lowest["min_offset"], None)
    if row := one_full(facts):
        return _held(facts, row, row.get("cachedMsgMinOffset"), None, None)
    if threads := [t for t in stacks.consuming(facts) if t.deadlocked]:
        return _deadlock(facts, threads)
    return None


def _in_work(facts: Facts, queue: lag.Stuck) -> Message | None:
    """Return what shows the message at a queue's offset, or that the queue has no owner; None if nothing does."""
    place = (queue.topic, queue.queue_id)
    attempts = [
        s
        for s in consumer_logs.of(facts, "orderly-not-done", group=queue.group)
        if s.queue and (s.queue[0], s.queue[2]) == place and s.values.get("queue_offset") == str(queue.offset)
    ]
    threads = stacks.of_group(facts, queue.group, frozenset(consumption.places(facts, queue.group)))
    if attempts:
        said = max(attempts, key=lambda s: s.count)
        return _attempted(facts, said, sum(s.count for s in attempts), queue.offset, queue.group)
    if locked := [t for t in threads if t.deadlocked]:
        return _deadlock(facts, locked)
    standing = stacks.standing(threads)
    if standing and len({t.thread for t, _ in standing}) * 2 <= len({t.thread for t in threads}):
        first, last = standing[0]
        values = {"thread": first.thread, "frame": frame(first), "first": first.file, "last": last.file}
        return Message("thread", values, thread_refs(facts, [first, last]), "endless", frame(first))
    why, inside = ("endless", frame(standing[0][0])) if standing else (None, None)
    if memory := _memory(facts, queue):
        ordered = memory.get("locked") == "true" and _ordered(facts, queue.group)
        return _held(facts, memory, queue.offset, "suspended" if ordered else why, inside)
    still = same_minimum(facts)
    of_queue = still is not None and still.queue is not None and (still.queue[0], still.queue[2]) == place
    if still is not None and of_queue and still.lowest["min_offset"] == queue.offset:
        return _spanning(facts, still, queue.offset, why)
    return Message("no_owner", {}) if members.unowned(facts, queue.group, queue.topic, queue.queue_id) else None


def _attempted(
    facts: Facts, said: consumer_logs.Statement, count: int, offset: Any, group: str | None = None
) -> Message:
    values = {
        "group": group or said.group, "offset": offset, "count": count, "times": said.highest.get("reconsume_times"),
        "uniq_key": said.values.get("uniq_key"),
    }  # fmt: skip
    return Message("attempted", values, (said.ref(facts), said.ref(facts, last=True)), "suspended")


def _spanning(facts: Facts, said: consumer_logs.Statement, offset: Any, why: str | None) -> Message:
    values = {"offset": offset, "count": said.count}
    return Message("spanning", values, (said.ref(facts), said.ref(facts, last=True)), why)


def _held(facts: Facts, row: dict[str, Any], offset: Any, why: str | None, frame: str | None) -> Message:
    values = {"offset": offset, "count": row["cachedMsgCount"]}
    return Message("held", values, (facts.ref(row["file"], row["line"]),), why, frame)


def _deadlock(facts: Facts, threads: list[stacks.Consuming]) -> Message:
    inside = frame(threads[0])
    return Message(
        "deadlock", {"count": len(threads), "frame": inside}, thread_refs(facts, threads), "deadlock", inside
    )


def one_full(facts: Facts) -> dict[str, Any] | None:
    """Return the only full process queue of a topic whose others hold few messages, None if absent."""
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
