"""subscription-mismatch: clients of one group subscribe differently, so the broker filters and the clients share out
queues wrongly.

The broker keeps one subscription table per group (broker/client/ConsumerGroupInfo.updateSubscription): the last
heartbeat wins; clients share out the queues of each topic among all of them (client/impl/consumer/RebalanceImpl). A
rolling restart prints the same lines and is no sign of it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import pandas as pd

from kit.analysis import noise
from kit.analysis import refs as quoting
from kit.analysis.consumers import admin_output, consumer_logs, consumption, lag, members
from kit.causes import untouched_queues as untouched
from kit.causes.declared import Observed
from kit.rocketmq import names
from kit.rocketmq.catalogue import PASSING
from kit.tables.facts import Facts

FLAPS = 2
"""How often a topic or an expression has to come back into the broker's table: a deployment replaces it once."""
PICKED = 5
"""Number of refused pulls from which they matter, in an excerpt without any start or stop of a consumer."""
STARTS: Final = PASSING["subscription-missing"].start_events


def observe(facts: Facts) -> Observed:
    """Find the clients of a group that subscribe differently, and what became of the messages."""
    different, flaps = members.differing(facts), _flapping(facts)
    group = next(iter(sorted(different, key=lambda g: (-len(_effect_queues(facts, g, different[g])), g))), None)
    named = group or next(iter(sorted(flaps, key=lambda g: -flaps[g][0])), None)
    pairs = different[group] if group else []
    rows = consumption.unhandled(facts, group, _topics(pairs)) if group else []
    warned = [b for b in admin_output.admin_blocks(facts) if "Different subscription" in (b.get("WARN") or "")]
    warning = quoting.first_with(facts, warned[0]["file"], "Different subscription") if warned else None
    observed = Observed(
        {
            "group": named, "asked": named or untouched.group(facts), "all_alike": _all_alike(facts), "warned": warned,
            "heartbeats": consumer_logs.of(facts, "heartbeat-data"), "topics": [t.topic for t in rows],
            "front": sum(t.front or 0 for t in rows), "behind": sum(t.behind or 0 for t in rows),
        },
        {"status-warns": [warning] if warning else []},
        steps=untouched.steps(facts, group),
    )  # fmt: skip
    if group:
        _different(facts, observed, group, pairs, rows)
    if named in flaps:
        count, what, lines = flaps[named]
        observed.values |= {"flaps": count, "what": what}
        observed.quotes["subscription-flaps"] = [s.ref(facts) for s in lines[:3]]
    _refused(facts, observed, named)
    return observed


def _different(facts: Facts, observed: Observed, group: str, pairs: list[Any], rows: list[consumption.Topic]) -> None:
    """Add which clients subscribe differently, and the effect."""
    # Prefer a pair whose difference lasts: files of one consumerStatus call before lines of a log.
    one, other = max(pairs, key=lambda pair: (pair[0].first == pair[1].first, min(str(p.last) for p in pair)))
    clients = {s.client_id: s.topics for pair in pairs for s in pair}
    by_topics = any(set(a.topics) != set(b.topics) for a, b in pairs)
    nobody = {t.topic: t.nobody if t.nobody is not None else t.front if by_topics and t.front else None for t in rows}
    observed.values |= {
        "one": one.client_id, "other": other.client_id, "first": _words(one.topics), "second": _words(other.topics),
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
    else:
        _idle_queues(facts, observed, group, _topics(pairs))
    observed.tables = _tables(facts, group, rows)
    observed.window = members.window([s.first for pair in pairs for s in pair], facts)


def _idle_queues(facts: Facts, observed: Observed, group: str, topics: tuple[str, ...]) -> None:
    """Add the queues of a topic that make no progress while others do, if there are any."""
    for pair in lag.pairs(facts):
        idle = [q for q in pair.queues if _idle(q)] if pair.group == group and pair.topic in topics else []
        if idle and len(idle) < len(pair.queues):
            queues = [q.queue_id for q in idle]
            waiting = sum(q.last_lag for q in idle)
            observed.values |= {"queues": queues, "idle_topic": pair.topic, "waiting": waiting}
            refs = [ref for queue in (queues[0], queues[-1]) for ref in lag.refs(facts, group, pair.topic, queue)]
            observed.quotes["messages-unhandled"] = dict.fromkeys(refs)
            return


def _refused(facts: Facts, observed: Observed, group: str | None) -> None:
    """Add the pulls that the broker refused because the subscription of the group lacks the topic."""
    said = [
        s
        for s in consumer_logs.of(facts, "subscription-missing")
        if (group is None or s.group in (group, None)) and not s.values.get("topic", "").startswith("%RETRY%")
    ]
    count = sum(s.count for s in said)
    # A start prints a few of these lines: on their own they count only if they go on, or in a chosen excerpt.
    on = "subscription-missing" in noise.going_on(facts) or (count >= PICKED and not quoting.seen(facts, *STARTS))
    if count >= FLAPS and (group is not None or on):
        observed.values |= {
            "refused": count,
            # The answer a client prints names neither its group nor the topic.
            "refused_group": next((s.group for s in said if s.group), None),
            "refused_topics": sorted({s.values["topic"] for s in said if s.values.get("topic")}),
        }
        observed.quotes["pulls-refused"] = [s.ref(facts) for s in said[:2]]


def _topics(pairs: list[tuple[members.Subscription, members.Subscription]]) -> tuple[str, ...]:
    """Return the topics whose subscription differs between clients."""
    found = set()
    for one, other in pairs:
        found |= {topic for topic in {*one.topics, *other.topics} if one.topics.get(topic) != other.topics.get(topic)}
    return tuple(sorted(found))


def _all_alike(facts: Facts) -> bool:
    """Return whether the subscriptions of all connected clients are known and equal."""
    by_group: dict[str, set[str]] = defaultdict(set)
    for each in members.subscriptions(facts):
        by_group[each.group].add(each.client_id)
    connected: dict[str, set[str]] = defaultdict(set)
    for connection in members.connections(facts):
        connected[connection.group].add(connection.client_id)
    several = bool(connected) or any(len(clients) > 1 for clients in by_group.values())
    # The only client with a log here may not be the only one of its group.
    return several and all(clients <= by_group.get(group, set()) for group, clients in connected.items())


def _words(topics: dict[str, str]) -> str:
    return ", ".join(f"{topic} ({expression})" for topic, expression in topics.items())


def _effect_queues(
    facts: Facts, group: str, pairs: list[tuple[members.Subscription, members.Subscription]]
) -> list[lag.Course]:
    """Return the queues of topics with differing subscriptions that do not move although messages wait in them."""
    own = [pair for pair in lag.pairs(facts) if pair.group == group and pair.topic in _topics(pairs)]
    return [queue for pair in own for queue in pair.queues if _idle(queue)]


def _idle(queue: lag.Course) -> bool:
    """Return whether messages wait in a queue that did not move, or of which nothing was ever handled."""
    return queue.last_lag > 0 and (
        queue.stands or (queue.looks == 1 and queue.never_handled and queue.last_lag > lag.SMALL)
    )


def _flapping(facts: Facts) -> dict[str, tuple[int, list[str], list[consumer_logs.Statement]]]:
    """Return, by group, (lines, what comes and goes, statements) of a subscription that returns."""
    found: dict[str, tuple[int, list[str], list[consumer_logs.Statement]]] = {}
    by_group: dict[str, list[consumer_logs.Statement]] = defaultdict(list)
    for said in consumer_logs.of(facts, "subscription-replaced", "subscription-removed", "subscription-added"):
        if said.group and names.of_users(said.group) and not said.values.get("topic", "").startswith("%RETRY%"):
            by_group[said.group].append(said)
    for group, lines in by_group.items():
        removed = [s for s in lines if s.event == "subscription-removed"]
        again = {
            s.values["topic"] for s in removed if sum(r.values["topic"] == s.values["topic"] for r in removed) >= FLAPS
        }
        again |= {a.values["topic"] for a in removed if any(b.values["topic"] != a.values["topic"] for b in removed)}
        moves = [s for s in lines if s.event == "subscription-replaced" and s.values.get("old") != s.values.get("new")]
        pairs = {(s.values.get("topic"), s.values.get("old"), s.values.get("new")) for s in moves}
        back = [s for s in moves if (s.values.get("topic"), s.values.get("new"), s.values.get("old")) in pairs]
        if again:
            found[group] = (sum(s.count for s in removed), sorted(again), removed)
        elif back:
            words = sorted({s.values["old"] for s in back} | {s.values["new"] for s in back})
            found[group] = (sum(s.count for s in back), words, back)
    return found


def _tables(facts: Facts, group: str, found: list[consumption.Topic]) -> dict[str, Any]:
    rows = [
        (s.client_id, topic, expression, s.first, s.ref.file, s.ref.line)
        for s in members.subscriptions(facts)
        if s.group == group
        for topic, expression in s.topics.items()
    ]
    columns = ["client_id", "topic", "expression", "first", "file", "line"]
    subscriptions = pd.DataFrame(rows, columns=columns).drop_duplicates(["client_id", "topic", "expression"])
    counted = [
        (t.topic, t.stored, None if t.nobody is None else (t.stored or 0) - t.nobody, t.behind, t.front) for t in found
    ]
    handled_rows = pd.DataFrame(counted, columns=["topic", "stored", "handled", "behind", "front"]).convert_dtypes()
    return {
        "group_subscriptions": subscriptions.head(5_000),
        "handled_against_stored": handled_rows,
        "mismatch_queue_owners": members.table(facts, group),
    }
