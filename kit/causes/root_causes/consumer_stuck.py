"""consumer-stuck: one message holds its queue; the group's other queues go on.

A queue that nobody pulls does not move either, but has no owner.
"""

from __future__ import annotations

from collections import defaultdict
from shlex import quote
from typing import Any

from kit.analysis import refs as quoting
from kit.analysis.consumers import admin_output, consumer_logs, lag, members, stacks
from kit.causes.declared import Observed
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.tables.facts import Facts

ATTEMPTS = 3
"""Attempts of one ordered message from which it counts as never finishing: printed ones, or counted by the client."""
Message = dict[str, Any]
"""What shows the message that blocks a queue: `message`, name of the sentence, with its values, `refs`, and, if known,
`why` (suspended, endless, deadlock), `frame`, `uniq_key`. Without a message `no_owner`, if nobody pulls the queue.
"""


def observe(facts: Facts) -> Observed:
    """Find the queue that is stuck, at which message, and what blocks it."""
    judged = [(queue, _in_work(facts, queue)) for queue in lag.stuck(facts)]
    # A queue in which nothing was ever handled has no owner, unless its message is seen in work.
    standing = [(q, m) for q, m in judged if m.get("message") or (not m and q.offset > q.begin)]
    if standing:
        return _stuck(facts, *max(standing, key=lambda qm: (bool(qm[1]), qm[0].end - qm[0].offset)), stands=True)
    if judged:
        return _stuck(facts, *judged[0], stands=False)
    pairs = lag.pairs(facts)
    observed = Observed({"all_known": bool(pairs) and all(p.backlog_known for p in pairs)})
    once = next((p for p in pairs if p.held_up is not None), None)
    if once is not None:
        queue = once.held_up
        observed.values |= {
            "group": once.group, "lag_group": once.group, "lag_topic": once.topic, "lag_queue": queue.queue_id,
            "lag_offset": queue.last_offset, "lags_alone": queue.last_lag,
        }  # fmt: skip
        observed.quotes["one-queue-lags"] = lag.refs(facts, once.group, once.topic, queue.queue_id, most=1)
    message = _hint(facts)
    observed.quotes["message-in-work"] = message.pop("refs", ())
    observed.values |= message
    if message.get("message") == "attempted":
        observed.values["attempted"] = True
        observed.actors = (message["group"],) if message["group"] else ()
    return observed


def _stuck(facts: Facts, queue: lag.Stuck, message: Message, *, stands: bool) -> Observed:
    records = facts("stuck_records")
    at = records[(records["topic"] == queue.topic) & (records["queue_id"] == queue.queue_id)]
    at = at[at["queue_offset"] == queue.offset].head(1)
    expired = [s for s in consumer_logs.of(facts, "expired-sent-back") if _is_at(s, queue)]
    quotes = {
        "queue-stands": lag.refs(facts, queue.group, queue.topic, queue.queue_id),
        "record": quoting.records_at(facts, at) if len(at) else (),
        "expired": consumer_logs.quote(facts, expired[:1]),
        "message-in-work": message.pop("refs", ()),
    }
    own = {name: getattr(queue, name) for name in ("group", "topic", "queue_id", "offset", "others", "end")}
    observed = Observed(own, quotes, (queue.first, queue.last) if stands else None, actors=(queue.group, queue.topic))
    observed.values |= message | {
        "stuck_queue": True, "stands": stands, "record": len(at), "expired": sum(s.n for s in expired),
        "pulls_logged": consumer_logs.of(facts, "queues-assigned", "queue-taken", "pull-started", group=queue.group),
    }  # fmt: skip
    if stands:
        why = message.get("why")
        # The last end that is known, if it is still stuck there.
        last = lag.last_positions(facts, queue.group, queue.topic)
        still = (
            (last["queue_id"] == queue.queue_id) & (last["broker"] == queue.broker) & (last["offset"] == queue.offset)
        )
        ends = last.loc[still, "end"].dropna()
        observed.values |= {
            "queue": _place(queue.topic, queue.broker, queue.queue_id), "queue_offset": queue.offset,
            "uniq_key": at["uniq_key"].iloc[0] if len(at) else message.get("uniq_key"), "why": why,
            "messages_behind": max([queue.end, *map(int, ends)]) - queue.offset - 1, "blocked": why in ("endless", "deadlock"),
            "frame": message.get("frame"),
        }  # fmt: skip
    if not len(at) and "no_owner" not in message:
        topic, broker = quote(queue.topic), quote(queue.broker or "BROKER")
        at_queue = f"-t {topic} -b {broker} -i {queue.queue_id} -o {queue.offset}"
        observed.values["look_up"] = f"mqadmin queryMsgByOffset -n NAMESRV:9876 {at_queue}"
    return observed


def _place(topic: str, broker: str | None, queue_id: int) -> dict[str, Any]:
    return {"topic": topic, "broker": broker or None, "queue_id": queue_id}


# --- the message that blocks a queue -------------------------------------------------------------------------------


def _hint(facts: Facts) -> Message:
    """Return a message that seems to block its queue where no two looks show a stuck queue."""
    attempts = [s for s in consumer_logs.of(facts, "orderly-not-done") if _attempts(s) >= ATTEMPTS]
    if attempts:
        statement = max(attempts, key=_attempts)
        message = _attempted(facts, statement, statement.n)
        if statement.queue is None:
            return message | {"uniq_key": None, "why": None}
        return message | {"queue": _place(*statement.queue), "queue_offset": integer(statement.queue_offset)}
    if still := same_minimum(facts):
        return _spanning(facts, still)
    if row := one_full(facts):
        return _in_memory(facts, row, row.get("cachedMsgMinOffset"))
    threads = [t for t in stacks.consuming(facts) if t.deadlocked]
    return _deadlock(facts, threads) | {"why": None} if threads else {}


def _attempts(statement: consumer_logs.Statement) -> int:
    """Return how often a message was attempted: an excerpt has few of the lines, but each counts those before it."""
    return max(statement.n, 1 + (statement.high_reconsume_times or 0))


def _in_work(facts: Facts, queue: lag.Stuck) -> Message:
    """Return what shows the message at a queue's offset, or that the queue has no owner; {} if nothing does."""
    attempts = [s for s in consumer_logs.of(facts, "orderly-not-done", group=queue.group) if _is_at(s, queue)]
    if attempts:
        statement = max(attempts, key=lambda s: s.n)
        return _attempted(facts, statement, sum(s.n for s in attempts)) | {"offset": queue.offset}
    threads = stacks.of_group(facts, queue.group)
    if locked := [t for t in threads if t.deadlocked]:
        return _deadlock(facts, locked)
    standing = stacks.standing(threads)
    if standing and len({t.thread for t, _ in standing}) * 2 <= len({t.thread for t in threads}):
        first, last = standing[0]
        return {
            "message": "thread", "thread": first.thread, "frame": frame(first), "first": first.file, "last": last.file,
            "refs": thread_refs(facts, [first, last]), "why": "endless",
        }  # fmt: skip
    endless = {"why": "endless", "frame": frame(standing[0][0])} if standing else {}
    if row := _memory(facts, queue):
        infos = (info["properties"] for info in admin_output.running(facts) if info["group"] == queue.group)
        ordered = row.get("locked") == "true" and any(each.get("PROP_CONSUMEORDERLY") == "true" for each in infos)
        return _in_memory(facts, row, queue.offset) | endless | ({"why": "suspended"} if ordered else {})
    still = same_minimum(facts)
    if still is not None and _is_of(still, queue) and still.low_min_offset == queue.offset:
        return _spanning(facts, still) | {"why": endless.get("why")}
    nobodys = members.owned(facts, queue.group, queue.topic, queue.queue_id) is False
    return {"no_owner": True} if nobodys else {}


def _is_of(statement: consumer_logs.Statement, queue: lag.Stuck) -> bool:
    return statement.queue is not None and (statement.queue[0], statement.queue[2]) == (queue.topic, queue.queue_id)


def _is_at(statement: consumer_logs.Statement, queue: lag.Stuck) -> bool:
    return _is_of(statement, queue) and statement.queue_offset == str(queue.offset)


def _attempted(facts: Facts, statement: consumer_logs.Statement, count: int) -> Message:
    return {
        "message": "attempted", "group": statement.group, "offset": statement.queue_offset, "count": count,
        "times": statement.high_reconsume_times, "uniq_key": statement.uniq_key, "why": "suspended",
        "refs": facts.refs([(statement.file, statement.line), (statement.file, statement.last_line)]),
    }  # fmt: skip


def _spanning(facts: Facts, statement: consumer_logs.Statement) -> Message:
    places = [(statement.file, statement.line), (statement.file, statement.last_line)]
    return {"message": "spanning", "offset": statement.low_min_offset, "count": statement.n, "refs": facts.refs(places)}


def _in_memory(facts: Facts, row: dict[str, Any], offset: Any) -> Message:
    place = (facts.ref(row["file"], row["line"]),)
    return {"message": "held", "offset": offset, "count": row["cachedMsgCount"], "refs": place}


def _deadlock(facts: Facts, threads: list[stacks.Consuming]) -> Message:
    values = {"count": len(threads), "frame": frame(threads[0]), "refs": thread_refs(facts, threads)}
    return values | {"message": "deadlock", "why": "deadlock"}


def one_full(facts: Facts) -> dict[str, Any] | None:
    """Return the only full process queue of a topic whose others hold few messages, None if absent."""
    by_topic: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for info in admin_output.running(facts):
        for row in info["queues"]:
            by_topic[info["file"], row["#Topic"]].append(row)
    for rows in by_topic.values():
        full = [row for row in rows if row["cached"] > lag.LEAST]
        if len(full) == 1 < len(rows) and full[0]["cached"] > lag.SMALL:
            return full[0]
    return None


def same_minimum(facts: Facts) -> consumer_logs.Statement | None:
    """Return the pulls of a queue that were held back most often at the same first message, None if absent."""
    still = filter(consumer_logs.at_one_message, consumer_logs.of(facts, "pull-held-back"))
    return max(still, key=lambda s: s.n, default=None)


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
            there = (row["#Topic"], row["queue_id"]) == (queue.topic, queue.queue_id)
            if there and row["cached"] > 0 and row.get("cachedMsgMinOffset") == str(queue.offset):
                return row
    return None
