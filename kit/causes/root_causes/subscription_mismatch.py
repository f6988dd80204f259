"""subscription-mismatch: clients of one group subscribe differently, so the broker filters and the clients share out
queues wrongly.

The broker keeps one subscription table per group (broker/client/ConsumerGroupInfo.updateSubscription): the last
heartbeat wins; clients share out the queues of each topic among all of them (client/impl/consumer/RebalanceImpl). A
rolling restart prints the same lines and is no sign of it.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

from kit.analysis import noise
from kit.analysis import refs as quoting
from kit.analysis.consumers import admin_output, consumer_logs, lag, members
from kit.causes.declared import Observed
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.rocketmq.catalogue import PASSING
from kit.tables.facts import Facts

FLAPS = 2
"""How often a topic or an expression has to come back into the broker's table: a deployment replaces it once."""
PICKED = 5
"""Number of refused pulls from which they matter, in an excerpt without any start or stop of a consumer."""
QUOTED: Final = 3
"""Most messages that nobody handled to be quoted."""
STARTS: Final = PASSING["subscription-missing"].start_events


class Topic(NamedTuple):
    """The messages of one topic that nobody of a group handled, by the last known offsets, some quoted: in all
    (`nobody`), behind the group's offset, in front of it; None where that is unknown.
    """

    topic: str
    front: int | None
    nobody: int | None = None
    behind: int | None = None
    records: tuple[Ref, ...] = ()


def observe(facts: Facts) -> Observed:
    """Find the clients of a group that subscribe differently, and what became of the messages."""
    different, flaps = members.differing(facts), _flapping(facts)
    idle = {group: _idle_queues(facts, group, _topics(pairs)) for group, pairs in different.items()}
    group = min(different, key=lambda g: (-sum(len(queues) for _, queues in idle[g]), g), default=None)
    named = group or max(flaps, key=lambda g: flaps[g][0], default=None)
    pairs = different[group] if group else []
    rows = [_unhandled(facts, group, topic) for topic in _topics(pairs)] if group else []
    warned = [b for b in admin_output.admin_blocks(facts) if "Different subscription" in (b.get("WARN") or "")]
    warning = quoting.first_with(facts, warned[0]["file"], "Different subscription") if warned else None
    untouched, untouched_at = lag.untouched(facts, group)
    known = {(s.group, s.client_id) for s in members.subscriptions(facts)}
    connected = {(c["group"], c["client_id"]) for c in members.connections(facts)}
    # The only client with a log here may not be the only one of its group.
    several = len({name for name, _ in known}) < len(known)
    values = untouched | {
        "group": named, "asked": named or untouched.get("untouched_group"), "warned": warned,
        "all_alike": connected <= known and (connected or several), "topics": [t.topic for t in rows],
        "heartbeats": consumer_logs.of(facts, "heartbeat-data"), "front": sum(t.front or 0 for t in rows),
        "behind": sum(t.behind or 0 for t in rows),
    }  # fmt: skip
    quotes = {"status-warns": [warning] if warning else [], "queues-untouched": untouched_at}
    observed = Observed(values, quotes)
    if group:
        _different(facts, observed, group, pairs, rows)
        if not any(t.behind for t in rows):
            _waiting(facts, observed, group, idle[group])
    if named in flaps:
        count, what, lines = flaps[named]
        observed.values |= {"flaps": count, "what": what}
        observed.quotes["subscription-flaps"] = consumer_logs.quote(facts, lines[:3])
    _refused(facts, observed, named)
    return observed


def _different(facts: Facts, observed: Observed, group: str, pairs: list[members.Pair], rows: list[Topic]) -> None:
    """Add which clients subscribe differently, and the messages in front of and behind the group's offset."""
    # Prefer a pair whose difference lasts: files of one consumerStatus call before lines of a log.
    one, other = max(pairs, key=lambda pair: (pair[0].first == pair[1].first, min(str(p.last) for p in pair)))
    clients = {s.client_id: s.topics for pair in pairs for s in pair}
    by_topics = any(set(a.topics) != set(b.topics) for a, b in pairs)
    nobody = {t.topic: t.nobody if t.nobody is not None else t.front if by_topics and t.front else None for t in rows}
    observed.values |= {
        "one": one.client_id, "other": other.client_id, "first": members.words(one), "second": members.words(other),
        "subscriptions": dict(sorted(clients.items())) or None, "handled_by_nobody": nobody or None,
        "behind_the_offset": {t.topic: t.behind for t in rows} or None,
        "in_front_of_the_offset": {t.topic: t.front for t in rows} or None,
        "in_front": observed.values["front"] > lag.SMALL,
        "no_effect": rows and all(t.behind == 0 and t.front is not None and t.front <= lag.SMALL for t in rows),
    }  # fmt: skip
    gone = [t for t in rows if t.behind]
    observed.quotes["different-subscriptions"] = (one.ref, other.ref)
    observed.quotes["messages-unhandled"] = [ref for t in gone for ref in t.records][:3]
    if gone:
        observed.values["topics"] = [t.topic for t in gone]
    observed.window = members.window([s.first for pair in pairs for s in pair], facts)


def _unhandled(facts: Facts, group: str, topic: str) -> Topic:
    """Count the messages of a topic that nobody of the group handled."""
    last = lag.last_positions(facts, group, topic)
    front = None if last.empty or last["lag"].isna().any() else int(last["lag"].sum())
    if not facts.has("messages") or last.empty:
        return Topic(topic, front, nobody=front or None)
    if not members.ledgers(facts, group) or last["broker"].nunique() > 1:
        # Of several brokers, a record does not say which one's offset it lies behind.
        return Topic(topic, front)
    rows = facts("unhandled")
    rows = rows[(rows["group"] == group) & (rows["topic"] == topic)]
    passed, ahead = rows[rows["passed"]], rows[~rows["passed"]]
    behind, front = (int(part["messages"].max()) if len(part) else 0 for part in (passed, ahead))
    records = (*quoting.records_at(facts, passed, QUOTED), *quoting.records_at(facts, ahead, QUOTED))[:QUOTED]
    return Topic(topic, front, behind + front, behind, records)


def _waiting(facts: Facts, observed: Observed, group: str, idle: list[tuple[lag.Pair, list[lag.Course]]]) -> None:
    """Add the queues of a topic that make no progress while others do, if there are any."""
    pair, queues = next(((p, q) for p, q in idle if len(q) < len(p.queues)), (None, []))
    if pair is not None:
        named = [q.queue_id for q in queues]
        waiting = sum(q.last_lag for q in queues)
        observed.values |= {"queues": named, "idle_topic": pair.topic, "waiting": waiting}
        refs = [ref for queue in (named[0], named[-1]) for ref in lag.refs(facts, group, pair.topic, queue)]
        observed.quotes["messages-unhandled"] = dict.fromkeys(refs)


def _idle_queues(facts: Facts, group: str, topics: tuple[str, ...]) -> list[tuple[lag.Pair, list[lag.Course]]]:
    """Return those of some topics in which messages wait in queues that did not move, or of which nothing was ever
    handled, with these queues.
    """
    idle = [
        (pair, [
            q for q in pair.queues
            if q.last_lag > 0 and (q.stands or (q.looks == 1 and q.never_handled and q.last_lag > lag.SMALL))
        ])
        for pair in lag.pairs(facts) if pair.group == group and pair.topic in topics
    ]  # fmt: skip
    return [(pair, queues) for pair, queues in idle if queues]


def _refused(facts: Facts, observed: Observed, group: str | None) -> None:
    """Add the pulls that the broker refused because the subscription of the group lacks the topic."""
    refused = consumer_logs.concerning(facts, group, "subscription-missing")
    refused = [s for s in refused if not (s.topic or "").startswith(names.RETRY_PREFIX)]
    count = sum(s.n for s in refused)
    # A start prints a few of these lines: on their own they count only if they go on, or in a chosen excerpt.
    on = "subscription-missing" in noise.going_on(facts) or (count >= PICKED and not quoting.seen(facts, *STARTS))
    if count >= FLAPS and (group is not None or on):
        observed.values |= {
            "refused": count,
            # The answer a client prints names neither its group nor the topic.
            "refused_group": next((s.group for s in refused if s.group), None),
            "refused_topics": sorted({s.topic for s in refused if s.topic}),
        }
        observed.quotes["pulls-refused"] = consumer_logs.quote(facts, refused[:2])


def _topics(pairs: list[members.Pair]) -> tuple[str, ...]:
    """Return the topics whose subscription differs between clients."""
    topics = {topic for one, other in pairs for topic, _ in one.topics.items() ^ other.topics.items()}
    return tuple(sorted(topics))


def _flapping(facts: Facts) -> dict[str, tuple[int, list[str], list[consumer_logs.Statement]]]:
    """Return, by group, (lines, what comes and goes, statements) of a subscription that returns."""
    flapping = {}
    for group, lines in consumer_logs.of_users(facts, "subscription-replaced", "subscription-removed").items():
        removed = [s for s in lines if s.event == "subscription-removed"]
        times = Counter(s.topic for s in removed if s.topic)
        again = set(times) if len(times) > 1 else {topic for topic, n in times.items() if n >= FLAPS}
        moves = [s for s in lines if s.event == "subscription-replaced" and s.old != s.new]
        pairs = {(s.topic, s.old, s.new) for s in moves}
        back = [s for s in moves if (s.topic, s.new, s.old) in pairs]
        if again:
            flapping[group] = sum(s.n for s in removed), sorted(again), removed
        elif back:
            flapping[group] = sum(s.n for s in back), sorted({s.old for s in back} | {s.new for s in back}), back
    return flapping
