"""subscription-mismatch: clients of one group subscribe differently, so messages and queues are shared out wrongly.

The broker keeps one subscription table per group (broker/client/ConsumerGroupInfo.updateSubscription): the last
heartbeat wins; clients share out the queues of each topic among all of them (client/impl/consumer/RebalanceImpl). A
rolling restart prints the same lines and is no sign of it.
"""

from collections import Counter
from typing import Final

from kit.analysis import noise
from kit.analysis import refs as quoting
from kit.analysis.consumers import consumer_logs, lag, members
from kit.analysis.messages import lookups
from kit.causes.declared import Observed
from kit.rocketmq import names
from kit.rocketmq.catalogue import PASSING
from kit.tables.facts import Facts

FLAPS = 2
"""How often a topic or an expression has to come back into the broker's table: a deployment replaces it once."""
PICKED = 5
"""Number of refused pulls from which they matter, in an excerpt without any start or stop of a consumer; in copied
lines one does."""
QUOTED: Final = 3
"""Most messages that nobody handled to be quoted."""
STARTS: Final = PASSING["subscription-missing"].start_events


def observe(facts: Facts) -> Observed:
    different, flaps = members.differing(facts), _flapping(facts)
    idle = {group: _idle_queues(facts, group, _topics(pairs)) for group, pairs in different.items()}
    group = min(different, key=lambda g: (-sum(len(queues) for _, queues in idle[g]), g), default=None)
    named = group or max(flaps, key=lambda g: flaps[g][0], default=None)
    warned = [b["file"] for b in members.admin_blocks(facts) if "Different subscription" in (b.get("WARN") or "")]
    warnings = [quoting.first_with(facts, file, "Different subscription") for file in warned[:1]]
    untouched, untouched_at = lag.untouched(facts, group)
    known = {(s.group, s.client_id) for s in members.subscriptions(facts)}
    connected = {(c["group"], c["client_id"]) for c in members.connections(facts)}
    # The only client with a log here may not be the only one of its group.
    several = len({name for name, _ in known}) < len(known)
    values = untouched | {
        "group": named, "asked": named or untouched.get("untouched_group"), "warned": warned,
        "all_alike": connected <= known and (connected or several),
        "heartbeats": consumer_logs.of(facts, "heartbeat-data"),
        "ledgers": bool(named and members.ledgers(facts, named)),
    }  # fmt: skip
    observed = Observed(values, {"status-warns": [*filter(None, warnings)], "queues-untouched": untouched_at})
    if group:
        _different(facts, observed, group, different[group])
        if not observed.values["behind"]:
            _waiting(facts, observed, group, idle[group])
    if named in flaps:
        count, what, lines = flaps[named]
        observed.values |= {"flaps": count, "what": what}
        observed.quotes["subscription-flaps"] = consumer_logs.quote(facts, lines[:3])
    _refused(facts, observed, named)
    return observed


def _different(facts: Facts, observed: Observed, group: str, pairs: list[members.Pair]) -> None:
    # Prefer a pair whose difference lasts: files of one consumerStatus call before lines of a log.
    one, other = max(pairs, key=lambda pair: (pair[0].first == pair[1].first, min(str(p.last) for p in pair)))
    clients = {s.client_id: s.topics for pair in pairs for s in pair}
    by_topics = any(set(a.topics) != set(b.topics) for a, b in pairs)
    observed.quotes["different-subscriptions"] = (one.ref, other.ref)
    front: dict[str, int | None] = {}
    behind: dict[str, int | None] = {}
    nobody: dict[str, int | None] = {}
    for topic in _topics(pairs):
        last = lag.last_positions(facts, group, topic)
        front[topic] = None if last.empty or last["lag"].isna().any() else int(last["lag"].sum())
        behind[topic] = None
        nobody[topic] = (front[topic] or None) if by_topics or not facts.has("messages") else None
        # Of several brokers, a record does not say which one's offset it lies behind.
        if len(last) and facts.has("messages") and members.ledgers(facts, group) and last["broker"].nunique() < 2:
            rows = facts("unhandled").query("group == @group and topic == @topic")
            passed, ahead = rows[rows["passed"]], rows[~rows["passed"]]
            lost, waiting = (int(part["messages"].max()) if len(part) else 0 for part in (passed, ahead))
            behind[topic], front[topic], nobody[topic] = lost, waiting, lost + waiting
            records = (*quoting.records_at(facts, passed, QUOTED), *quoting.records_at(facts, ahead, QUOTED))
            quoted = observed.quotes.get("messages-unhandled", ())
            observed.quotes["messages-unhandled"] = (*quoted, *records)[:QUOTED] if lost else quoted
    total, lost = (sum(filter(None, counts.values())) for counts in (front, behind))
    observed.values |= {
        "one": one.client_id, "other": other.client_id, "first": members.words(one), "second": members.words(other),
        "subscriptions": dict(sorted(clients.items())) or None, "handled_by_nobody": nobody or None,
        "behind_the_offset": behind or None, "in_front_of_the_offset": front or None,
        "front": total, "in_front": total > lag.SMALL, "behind": lost,
        "topics": [topic for topic in front if behind[topic] or not lost],
        "no_effect": set(behind.values()) == {0} and all(n is not None and n <= lag.SMALL for n in front.values()),
    }  # fmt: skip
    observed.window = members.window([s.first for pair in pairs for s in pair], facts, group, one.ref.file)


def _waiting(facts: Facts, observed: Observed, group: str, idle: list[tuple[lag.Pair, list[lag.Course]]]) -> None:
    pair, queues = next(((p, q) for p, q in idle if len(q) < len(p.queues)), (None, []))
    if pair is not None:
        waiting = sum(q.last_lag for q in queues)
        observed.values |= {"queues": lag.ids(queues, pair.queues), "idle_topic": pair.topic, "waiting": waiting}
        refs = [ref for queue in (queues[0], queues[-1]) for ref in lag.refs(facts, group, pair.topic, queue)]
        observed.quotes["messages-unhandled"] = dict.fromkeys(refs)


def _idle_queues(facts: Facts, group: str, topics: tuple[str, ...]) -> list[tuple[lag.Pair, list[lag.Course]]]:
    """Return those of some topics with the queues in which messages wait that did not move, or were never handled."""
    idle = [
        (pair, [
            q for q in pair.queues
            if q.last_lag > 0 and (q.stands or (q.looks == 1 and q.never_handled and q.last_lag > lag.SMALL))
        ])
        for pair in lag.pairs(facts) if pair.group == group and pair.topic in topics
    ]  # fmt: skip
    return [(pair, queues) for pair, queues in idle if queues]


def _refused(facts: Facts, observed: Observed, group: str | None) -> None:
    refused = consumer_logs.concerning(facts, group, "subscription-missing")
    refused = [s for s in refused if not (s.topic or "").startswith(names.RETRY_PREFIX)]
    count = sum(s.n for s in refused)
    # A start prints a few of these lines: on their own they count only if they go on, or in a chosen excerpt.
    copied = {item.file for item in facts.files.items if item.source == "text"}
    least = 1 if lookups.is_paste(facts) or any(s.file in copied for s in refused) else PICKED
    on = "subscription-missing" in noise.going_on(facts) or (count >= least and not quoting.seen(facts, *STARTS))
    if on or (count >= FLAPS and group is not None):
        observed.values |= {
            "refused": count,
            # The answer a client prints names neither its group nor the topic.
            "refused_group": next((s.group for s in refused if s.group), None),
            "refused_topics": sorted({s.topic for s in refused if s.topic}) or None,
        }
        observed.quotes["pulls-refused"] = consumer_logs.quote(facts, refused[:2])


def _topics(pairs: list[members.Pair]) -> tuple[str, ...]:
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
