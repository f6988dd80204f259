"""consumer-stuck: one message holds its queue; the group's other queues go on.

Deciding steps: a queue whose offset stayed the same between two looks although messages waited in it and more came, while other queues of the topic passed what
had waited there · the message at that offset: its attempts (ConsumeMessageOrderlyService: SUSPEND_CURRENT_QUEUE_A_MOMENT for ever), a process queue that
begins with it, or the thread that has it. A queue that nobody pulls does not move either, but has no owner.
"""

from __future__ import annotations

from typing import Any, Final

from kit.analysis import refs as quoting
from kit.analysis.consumers import consumer_logs, consumption, lag, positions, stacks
from kit.causes import collect_next
from kit.causes import message_in_work as work
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
    judged = [(each, work.in_work(facts, each)) for each in lag.stuck(facts)]
    # A queue in which nothing was ever handled has no owner, unless its message is seen in work.
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
    finding.steps = [
        deciding(
            "queue-stands", claim, True if stands else None, lag.refs(facts, queue.group, queue.topic, queue.queue_id)
        ),
        deciding("message-in-work", message.claim, message.shown, message.refs),
        supporting("record", TEXTS.say("record", offset=queue.offset), True, (record[0],))
        if record
        else supporting("record", TEXTS["no_record"], None),
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
        claim = TEXTS.say(
            "attempted",
            group=said.group,
            offset=said.values.get("queue_offset"),
            count=said.count,
            times=said.highest.get("reconsume_times"),
        )
        finding.steps.append(deciding("message-in-work", claim, True, (said.ref(facts), said.ref(facts, last=True))))
        if said.queue is not None:
            topic, broker, queue_id = said.queue
            finding.figures |= {
                "queue": {"topic": topic, "broker": broker or None, "queue_id": queue_id}, "queue_offset": integer(said.values.get("queue_offset")),
                "uniq_key": said.values.get("uniq_key"), "why": "suspended",
            }  # fmt: skip
    elif held := work.same_minimum(facts):
        claim = TEXTS.say("spanning", offset=held.lowest["min_offset"], count=held.count)
        finding.steps.append(supporting("message-in-work", claim, True, (held.ref(facts), held.ref(facts, last=True))))
    elif row := work.one_full(facts):
        claim = TEXTS.say("held", count=row["cachedMsgCount"], offset=row.get("cachedMsgMinOffset"))
        ref = facts.ref(row["file"], row["line"])
        finding.steps.append(supporting("message-in-work", claim, True, (ref,)))
    elif threads := work.deadlocked(stacks.consuming(facts)):
        finding.steps.append(
            deciding(
                "message-in-work",
                TEXTS.say("deadlock", count=len(threads), frame=work.frame(threads[0])),
                True,
                work.thread_refs(facts, threads),
            )
        )
    else:
        finding.steps.append(deciding("message-in-work", TEXTS["no_message"], None))
    once = next(((p, q) for p in pairs if (q := p.held_up) is not None), None)
    if once is not None:
        pair, queue = once
        claim = TEXTS.say(
            "one_lags",
            queue_id=queue.queue_id,
            topic=pair.topic,
            group=pair.group,
            offset=queue.last_offset,
            behind=queue.last_lag,
        )
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


def _figures(
    queue: lag.Stuck, message: work.Message, record: tuple[Ref, str | None] | None, end: int
) -> dict[str, Any]:
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
    if said:
        return supporting(
            "expired", TEXTS.say("expired", count=sum(s.count for s in said)), True, (said[0].ref(facts),)
        )
    return supporting("expired", TEXTS["not_expired"], None)


def _remedies(message: work.Message, behind: int) -> list[Remedy]:
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
