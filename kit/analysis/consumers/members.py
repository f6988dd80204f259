"""The members of a consumer group: its clients, their connections, subscriptions and queues, with their lines."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from itertools import combinations
from typing import Final

import attrs
import pandas as pd

from kit.analysis.consumers import admin_output, consumer_logs
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts, memo

Queue = tuple[str, str, int]
"""(topic, broker, queue id)."""
Time = dt.datetime | None
Pair = tuple["Connection", "Connection"]
LATE_CLOSE: Final = dt.timedelta(seconds=150)
"""How long a broker may keep a connection that is gone: clientChannelMaxIdleTimeSeconds and one scan."""
COMPARED: Final = 1_000
"""Most connections of one client id, the last ones, that are compared with each other."""


@attrs.frozen
class Subscription:
    """What one client of a group subscribes to, without its retry topic: {topic: expression}. Times naive UTC; `last`
    None: to the end of the evidence.
    """

    group: str
    client_id: str
    topics: dict[str, str]
    first: Time
    last: Time
    ref: Ref


@attrs.frozen
class Holding:
    """A queue that one process pulled. `place`: the folder of its log; `last` None: to the end of the evidence."""

    group: str
    place: str
    client_id: str
    queue: Queue
    first: Time
    last: Time
    ref: Ref


@attrs.frozen
class Connection:
    """One connection of a client. `listed`: an output lists it (False: the broker's log tells of it)."""

    group: str
    client_id: str
    address: str
    first: Time
    last: Time
    file: str
    line: int
    listed: bool = False

    @property
    def host(self) -> str:
        return self.address.rpartition(":")[0]

    def ref(self, facts: Facts) -> Ref:
        return facts.ref(self.file, self.line)


@memo
def subscriptions(facts: Facts) -> list[Subscription]:
    """Return what each client of users' groups subscribes to: running info files, heartbeats, the broker's log."""
    found: list[Subscription] = []

    def add(group: str, client: str, topics: dict[str, str], first: Time, last: Time, ref: Ref) -> None:
        own = {topic: topics[topic] for topic in sorted(topics) if not topic.startswith(names.RETRY_PREFIX)}
        if own and names.of_users(group):
            found.append(Subscription(group, client, own, first, last, ref))

    for info in admin_output.running(facts):
        rows = info["subscriptions"]
        lines = [line for topic, (_, line) in rows.items() if not topic.startswith(names.RETRY_PREFIX)]
        if lines and info["group"]:
            topics = {topic: expression for topic, (expression, _) in rows.items()}
            ref = facts.ref(info["file"], min(lines))
            add(info["group"], info["client_id"], topics, info["time"], info["time"], ref)
    by_address = {(c.group, c.address): c for c in connections(facts) if not c.listed}
    # A client existed until the last time in its log, rounded up to a second.
    ends = {i.file: i.last + dt.timedelta(seconds=1) for i in facts.zoned.items if i.last is not None}
    for said in consumer_logs.of(facts, "heartbeat-data", "consumer-registered"):
        address = said.values.get("address", "").removeprefix("/")
        for group, topics in consumer_logs.subscriptions(said.values.get("data", "")).items():
            if said.event == "heartbeat-data":
                client, last = said.values.get("client_id", ""), admin_output.naive(ends.get(said.file))
            else:
                known = by_address.get((group, address))
                client, last = (known.client_id, known.last) if known else (address, None)
            add(group, client, topics, said.first, last, said.ref(facts))
    return found


def differing(facts: Facts) -> dict[str, list[tuple[Subscription, Subscription]]]:
    """Return, by group, pairs of clients that subscribed differently at the same time."""
    by_group: dict[str, list[Subscription]] = defaultdict(list)
    for each in subscriptions(facts):
        by_group[each.group].append(each)
    pairs = {
        group: [
            (a, b)
            for a, b in combinations(members, 2)
            if a.client_id != b.client_id and a.topics != b.topics and _overlap(a, b)
        ]
        for group, members in by_group.items()
    }
    return {group: found for group, found in pairs.items() if found}


def _overlap(a: Subscription, b: Subscription) -> bool:
    if a.first is None or b.first is None:
        return True
    (first, last), (later, _) = sorted([(a.first, a.last), (b.first, b.last)], key=lambda times: times[0])
    # Running info files are of one moment: two calls a minute apart show the same clients.
    return last is None or last >= later or (last == first and (later - first).total_seconds() < 60)


@memo
def holdings(facts: Facts) -> list[Holding]:
    """Return which process pulled which queue from when to when, by client logs (rebalancing)."""
    created = consumer_logs.of(facts, "queues-assigned", "queues-assigned-go", "client-created")
    clients = {s.file: s.values["client_id"] for s in created if s.values.get("client_id")}
    found: list[Holding] = []
    taken: dict[tuple[str, str, Queue], consumer_logs.Statement] = {}

    def add(key: tuple[str, str, Queue], begun: consumer_logs.Statement, last: Time) -> None:
        place, group, queue = key
        client = begun.values.get("client_id") or clients.get(begun.file, "")
        if names.of_users(group):
            found.append(Holding(group, place, client, queue, begun.first, last, begun.ref(facts)))

    # The set a rebalance ends with shows what was taken where the lines of each queue are gone (rolled away).
    slugs = ("queue-taken", "pull-started", "queues-assigned", "queues-assigned-go", "queue-left", "consumer-stopped")
    for said in consumer_logs.of(facts, *slugs):
        if said.event == "consumer-stopped":
            for key in [key for key in taken if key[0] == said.place and said.group in (None, key[1])]:
                add(key, taken.pop(key), said.first)
        for queue in [said.queue] if said.queue else sorted(consumer_logs.queues(said.values.get("set", ""))):
            key = said.place, said.group or "", queue
            if said.event != "queue-left":
                taken.setdefault(key, said)
            elif key in taken:
                add(key, taken.pop(key), said.last)
    for key, said in taken.items():
        add(key, said, None)
    return found


def holders_at_end(facts: Facts, group: str) -> dict[Queue, set[str]]:
    """Return the processes that held each queue of a group last, by client logs; empty if no client log shows it."""
    found: dict[Queue, set[str]] = defaultdict(set)
    for holding in holdings(facts):
        if holding.group == group and holding.last is None:
            found[holding.queue].add(holding.place)
    return dict(found)


def unowned(facts: Facts, group: str, topic: str, queue_id: int) -> bool:
    """Return whether no client of a group holds a queue, by evidence that shows who holds others of the topic."""
    known = _held(facts, group, topic)
    return bool(known) and all(queue_id not in queues for queues in known)


def owned(facts: Facts, group: str, topic: str, queue_id: int) -> bool:
    """Return whether the evidence shows that a client of a group holds a queue."""
    return any(queue_id in queues for queues in _held(facts, group, topic))


def _held(facts: Facts, group: str, topic: str) -> list[set[int | None]]:
    """Return the queues of a topic that clients hold, by their logs and by the last running info of each."""
    logs: set[int | None] = {queue for name, _, queue in holders_at_end(facts, group) if name == topic}
    last = {info["client_id"]: info["queues"] for info in admin_output.running(facts) if info["group"] == group}
    rows = [row for queues in last.values() for row in queues if row["#Topic"] == topic and row.get("droped") != "true"]
    return [queues for queues in (logs, {integer(row["#QID"]) for row in rows}) if queues]


def window(firsts: list[Time], facts: Facts) -> tuple[dt.datetime, dt.datetime] | None:
    """Return the time from the earliest of these times to the last statement about consuming, None without one."""
    known = [first for first in firsts if first is not None]
    return (min(known), max([*known, consumer_logs.last_time(facts) or known[0]])) if known else None


def table(facts: Facts, group: str) -> pd.DataFrame:
    """Return who held which queue: place, client_id, topic, broker, queue_id, first, last (null: to the end)."""
    rows = [(h.place, h.client_id, *h.queue, h.first, h.last) for h in holdings(facts) if h.group == group]
    columns = ["place", "client_id", "topic", "broker", "queue_id", "first", "last"]
    return pd.DataFrame(rows, columns=columns).head(5_000)


@memo
def connections(facts: Facts) -> list[Connection]:
    """Return the connections of users' groups that consumerConnection lists, and those of broker logs."""
    found = [
        Connection(b["-g"], b["#ClientId"], b.get("#ClientAddr", ""), b["time"], b["time"], b["file"], b["line"], True)
        for b in admin_output.admin_blocks(facts)
        if b["command"] == "consumerConnection" and b.get("#ClientId") and b.get("-g")
    ]
    gone: dict[tuple[str, str], list[dt.datetime]] = defaultdict(list)
    for said in consumer_logs.of(facts, "consumer-disconnected"):  # in order of time
        if said.first is not None:
            gone[said.file, said.values.get("address", "")].append(said.first)
    for said in consumer_logs.of(facts, "consumer-connected"):
        address, first = said.values.get("address", ""), said.first
        last = next((end for end in gone[said.file, address] if first is not None and end >= first), None)
        client = said.values.get("client_id", "")
        found.append(Connection(said.group or "", client, address, first, last, said.file, said.line))
    return [c for c in found if names.of_users(c.group)]


@memo
def simultaneous(facts: Facts) -> dict[str, list[Pair]]:
    """Return, by group, pairs of connections of one client id, from two addresses, at the same time on one broker."""
    alike: dict[tuple[str, str, str, bool], list[Connection]] = defaultdict(list)
    for each in connections(facts):
        alike[each.group, each.client_id, each.file, each.listed].append(each)
    saved = {(s.group, s.values.get("address")): s.last for s in consumer_logs.of(facts, "consumer-offset-back")}
    pairs: dict[str, list[Pair]] = defaultdict(list)
    for (group, *_), members in alike.items():
        for a, b in combinations(members[-COMPARED:], 2):
            if a.address != b.address and (a.listed or together(a, b, saved)):
                pairs[group].append((a, b))
    return dict(pairs)


def together(a: Connection, b: Connection, saved: dict[tuple[str | None, str | None], Time]) -> bool:
    """Return whether two connections of a broker's log existed at the same time.

    A connection closed up to `LATE_CLOSE` after the next one opened may have been gone before, as may one without an
    end if the next comes from the same host; unless the client `saved` offsets over it later than that.
    """
    if a.first is None or b.first is None:
        return a.host != b.host
    early, late = (a, b) if a.first <= b.first else (b, a)
    assert early.first is not None and late.first is not None
    used = saved.get((early.group, early.address)) or early.first
    if early.last is None:
        return early.host != late.host or used > late.first
    return max(early.last - LATE_CLOSE, min(early.last, used)) > late.first
