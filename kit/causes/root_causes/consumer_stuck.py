"""consumer-stuck: one message holds its queue; the group's other queues go on.

A queue that nobody pulls does not move either, but has no owner.
"""

from collections.abc import Iterator
from shlex import quote
from typing import Any

from kit.analysis import brokers
from kit.analysis import refs as quoting
from kit.analysis.consumers import consumer_logs, lag, members, stacks
from kit.causes.declared import Observed
from kit.formats.values import integer
from kit.tables.facts import Facts

ATTEMPTS = 3
"""Attempts of one ordered message from which it counts as never finishing: printed ones, or counted by the client."""
LASTING = 5
"""Seconds of attempts from which their queue stands: so far apart are offsets saved (`queue_courses`)."""
Message = dict[str, Any]
"""What shows the message that blocks a queue: `message`, name of the sentence, with its values, `refs`, and, if known,
`why` (suspended, endless, deadlock), `frame`, `uniq_key`. Without a message `no_owner`, if nobody pulls the queue.
"""


def observe(facts: Facts) -> Observed:
    seen = [(q, m) for q in lag.stuck(facts) if (m := _in_work(facts, q)) or not lag.rested(q)]
    # A queue in which nothing was ever handled has no owner, unless its message is seen in work.
    standing = [(q, m) for q, m in seen if m.get("message") or (not m and q.offset > q.begin)]
    stuck = max(standing, key=lambda qm: (bool(qm[1]), qm[0].end - qm[0].offset), default=None)
    once = next((p for p in lag.pairs(facts) if p.held_up), None)
    if once and not (stuck and stuck[1]):
        queue = lag.Stuck(**vars(once.held_up) | {"offset": once.held_up.last_offset, "end": once.held_up.last_end})
        message = _in_work(facts, queue)
        # Attempts of one message are looks at its queue, too.
        queue.others, (queue.first, queue.last) = len(once.queues) - 1, message.get("during") or (None, None)
        if queue.first and (queue.last - queue.first).total_seconds() >= LASTING:
            stuck = queue, message
    if stuck or seen:
        return _stuck(facts, *(stuck or seen[0]), stands=bool(stuck))
    message, expired = _in_work(facts), consumer_logs.of(facts, "expired-sent-back")
    values = {
        "all_known": lag.known(facts) and not once,
        "popped": lag.popped(facts),
        "pops": lag.pops(facts),
        "expired": sum(s.n for s in expired),
    }
    quotes = {"message-in-work": message.pop("refs", ()), "expired": consumer_logs.quote(facts, expired[:1])}
    if once:
        queue = once.held_up
        values |= {
            "group": once.group, "lag_group": once.group, "lag_topic": once.topic, "lag_queue": queue.queue_id,
            "lag_offset": queue.last_offset, "lags_alone": queue.last_lag,
        }  # fmt: skip
        quotes["one-queue-lags"] = lag.refs(facts, once.group, once.topic, queue, most=1)
    actors = filter(None, [message.get("group")])
    return Observed(values | message, quotes, message.get("during"), actors=actors)


def _stuck(facts: Facts, queue: lag.Stuck, message: Message, *, stands: bool) -> Observed:
    place = (queue.topic, queue.queue_id, queue.offset)
    rows = (r for r in facts.rows("stuck_records") if (r["topic"], r["queue_id"], r["queue_offset"]) == place)
    record = next((row for row in rows if brokers.may_be(facts, row["file"], queue.broker)), None)
    expired = [s for s in consumer_logs.of(facts, "expired-sent-back") if _is_at(facts, s, queue)]
    quotes = {
        "queue-stands": lag.refs(facts, queue.group, queue.topic, queue),
        "record": (quoting.record(facts, record["file"], record["physical_offset"]),) if record else (),
        "expired": consumer_logs.quote(facts, expired[:1]),
        "message-in-work": message.pop("refs", ()),
    }
    own = {name: getattr(queue, name) for name in ("group", "topic", "queue_id", "offset", "others", "end")}
    window = (queue.first, queue.last) if stands and queue.first and queue.first < queue.last else None
    observed = Observed(own, quotes, window, actors=(queue.group, queue.topic))
    standing, client, hangs = _client(facts, queue)
    observed.values |= message | {
        "queue_ids": standing, "several": len(standing) > 1, "client": client, "hangs": hangs,
        "stuck_queue": True, "stands": stands, "record": record, "expired": sum(s.n for s in expired),
        "dumped": len({(t.file, t.dump) for t in stacks.of_group(facts, queue.group)}) > 1,
        "pulls_logged": consumer_logs.of(facts, "queues-assigned", "queue-taken", "pull-started", group=queue.group),
    }  # fmt: skip
    if stands:
        # The last end that is known, if it is still stuck there.
        last = lag.last_positions(facts, queue.group, queue.topic)
        last = last[(last["queue_id"] == queue.queue_id) & (last["broker"] == queue.broker)]
        ends = last.loc[last["offset"] == queue.offset, "end"].dropna()
        observed.values |= {
            "queue": {"topic": queue.topic, "broker": queue.broker or None, "queue_id": queue.queue_id},
            "queue_offset": queue.offset, "uniq_key": record["uniq_key"] if record else message.get("uniq_key"),
            "messages_behind": max([queue.end, *map(int, ends)]) - queue.offset - 1,
            "blocked": message.get("why") in ("endless", "deadlock"), "suspended": message.get("why") == "suspended",
        }  # fmt: skip
    if not message:
        observed.consequence_of = members.misled_by(facts, queue.group)
    if not record and "no_owner" not in message:
        topic, broker = quote(queue.topic), quote(queue.broker or "BROKER")
        at_queue = f"-t {topic} -b {broker} -i {queue.queue_id} -o {queue.offset}"
        observed.values["look_up"] = f"mqadmin queryMsgByOffset -n NAMESRV:9876 {at_queue}"
    return observed


def _in_work(facts: Facts, queue: lag.Stuck | None = None) -> Message:
    """Return what shows the message at a queue's offset, or that the queue has no owner; {} if nothing does. Without a
    queue: a message that seems to block its own, where no two looks show one that is stuck.
    """
    attempts = consumer_logs.of(facts, "orderly-not-done", group=queue.group if queue else None)
    attempts = [s for s in attempts if (_is_at(facts, s, queue) if queue else _attempts(s) >= ATTEMPTS)]
    if attempts:
        return _attempted(facts, attempts if queue else [max(attempts, key=_attempts)])
    threads, hangs = stacks.consuming(facts), False
    if queue:
        _, client, hangs = _client(facts, queue)
        threads = stacks.of_client(facts, stacks.of_group(facts, queue.group), client)
    if locked := [t for t in threads if t.deadlocked]:
        deadlock = {"message": "deadlock", "why": "deadlock", "count": len({t.thread for t in locked})}
        return _threads(facts, locked) | deadlock
    endless: Message = {}
    if standing := stacks.standing(threads) if queue else []:
        first, last = standing[0]
        endless = _threads(facts, [first, last]) | {"why": "endless"}
        if hangs or len({t.thread for t, _ in standing}) * 2 <= len({t.thread for t in threads}):
            return endless | {"message": "thread", "thread": first.thread, "first": first.file, "last": last.file}
    if pulled := next(_in_memory(facts, queue), None):
        info, row = pulled
        ordered = row.get("locked") == "true" and info["properties"].get("PROP_CONSUMEORDERLY") == "true"
        why = {"why": "suspended"} if ordered else {}
        offset, place = integer(row.get("cachedMsgMinOffset")), facts.refs([(row["file"], row["line"])])
        return endless | {"message": "held", "offset": offset, "count": row["cachedMsgCount"], "refs": place} | why
    one_message = filter(consumer_logs.at_one_message, consumer_logs.of(facts, "pull-held-back"))
    pulls = (s for s in one_message if not queue or (_is_of(facts, s, queue) and s.low_min_offset == queue.offset))
    if still := max(pulls, key=lambda s: s.n, default=None):
        quoted = facts.refs(dict.fromkeys([(still.file, still.line), (still.file, still.last_line)]))
        name = "spanning" if still.n > 1 else "spanning_once"
        return endless | {"message": name, "offset": still.low_min_offset, "count": still.n, "refs": quoted}
    nobodys = queue and members.owned(facts, queue.group, _place(queue)) is False
    return {"no_owner": True} if nobodys else {}


def _client(facts: Facts, queue: lag.Stuck) -> tuple[list[Any], str | None, bool]:
    """Return the ids of the topic's queues that stand still, the client that holds this one (None if unknown), and
    whether it hangs: none of its queues moved, for longer than it takes to give one to another client.
    """
    pairs = (p for p in lag.pairs(facts) if (p.group, p.topic) == (queue.group, queue.topic))
    queues: list[lag.Course] = next((p.queues for p in pairs), [])
    standing = [q for q in queues if q.stands and q.last_offset == q.stand_offset]
    known = members.holders(facts, queue.group, queue.topic)
    client = known.get(_place(queue))
    its = [q for q in queues if known.get((queue.topic, q.broker, q.queue_id)) == client and q.arrived > 0]
    lasts = [(q.stand_last - q.stand_first).total_seconds() for q in standing if q in its and q.stand_first]
    hangs = bool(client and its and len(lasts) == len(its) and min(lasts) >= lag.REBALANCED)
    return lag.ids(standing, queues), client, hangs


def _place(queue: lag.Stuck) -> brokers.Queue:
    return queue.topic, queue.broker, queue.queue_id


def _is_of(facts: Facts, statement: consumer_logs.Statement, queue: lag.Stuck) -> bool:
    return statement.queue is not None and brokers.same_queue(facts, statement.queue, _place(queue))


def _is_at(facts: Facts, statement: consumer_logs.Statement, queue: lag.Stuck) -> bool:
    return statement.queue_offset == str(queue.offset) and _is_of(facts, statement, queue)


def _attempts(statement: consumer_logs.Statement) -> int:
    """Return how often a message was attempted: an excerpt has few of the lines, but each counts those before it."""
    return max(statement.n, 1 + (statement.high_reconsume_times or 0))


def _attempted(facts: Facts, attempts: list[consumer_logs.Statement]) -> Message:
    last = max(attempts, key=_attempts)
    offset = integer(last.queue_offset)
    place = last.queue and {"topic": last.topic, "broker": last.broker, "queue_id": last.queue[2]}
    return {
        "message": "attempted", "attempted": True, "group": last.group, "offset": offset,
        "count": sum(s.n for s in attempts),
        "times": last.high_reconsume_times, "uniq_key": last.uniq_key, "why": "suspended", "queue": place,
        "queue_offset": offset, "refs": facts.refs([(last.file, last.line), (last.file, last.last_line)]),
        "during": quoting.of_rows(map(vars, attempts)).window,
    }  # fmt: skip


def _threads(facts: Facts, threads: list[stacks.Consuming]) -> Message:
    places = dict.fromkeys((t.file, t.lines[0] if t.lines else t.line) for t in threads)
    # A dump from a table in another form may name no line.
    refs = facts.refs([(file, line) for file, line in places if line > 0][:3])
    return {"frame": stacks.method(threads[0].own[0]) if threads[0].own else None, "refs": refs}


def _in_memory(facts: Facts, queue: lag.Stuck | None) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield running info and process queue with the message at a queue's offset; without one, the only full queue."""
    for info in members.running(facts):
        for row in info["queues"] if queue is None or info["group"] == queue.group else ():
            others = [r["cached"] for r in info["queues"] if r["#Topic"] == row["#Topic"] and r is not row]
            if queue is None:
                there = row["cached"] > lag.SMALL and others and max(others) <= lag.LEAST
            else:
                there = brokers.same_queue(facts, row["queue"], _place(queue)) and row["cached"] > 0
                there &= row.get("cachedMsgMinOffset") == str(queue.offset)
            if there:
                yield info, row
