"""The members of a consumer group: its clients, their connections, subscriptions and queues, with the lines that show them."""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
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
Pair = tuple["Connection", "Connection"]
LATE_CLOSE: Final = dt.timedelta(seconds=150)
"""How long a broker may keep a connection that is gone: clientChannelMaxIdleTimeSeconds and one scan."""


@attrs.frozen
class Subscription:
    """What one client of a group subscribes to, without its retry topic: {topic: expression}. Times naive UTC; `last`
    None: to the end of the evidence.
    """

    group: str
    client_id: str
    topics: dict[str, str]
    first: dt.datetime | None
    last: dt.datetime | None
    ref: Ref


@attrs.frozen
class Holding:
    """A queue that one process pulled. `place`: the folder of its log, or the client's id in a running info file."""

    group: str
    place: str
    client_id: str
    queue: Queue
    first: dt.datetime | None
    last: dt.datetime | None
    ref: Ref


def _own_topics(said: dict[str, str]) -> dict[str, str]:
    return {topic: expression for topic, expression in sorted(said.items()) if not topic.startswith(names.RETRY_PREFIX)}


@memo
def subscriptions(facts: Facts) -> list[Subscription]:
    """Return what each client of users' groups subscribes to: running info files, heartbeats, the broker's log."""
    found = []
    for info in admin_output.running(facts):
        topics = _own_topics({topic: expression for topic, (expression, _) in info["subscriptions"].items()})
        if topics and info["group"]:
            line = min(line for topic, (_, line) in info["subscriptions"].items() if topic in topics)
            ref = facts.ref(info["file"], line)
            found.append(Subscription(info["group"], info["client_id"], topics, info["time"], info["time"], ref))
    ends = _last_times(facts)
    for said in consumer_logs.of(facts, "heartbeat-data"):
        for group, topics in consumer_logs.subscriptions(said.values.get("data", "")).items():
            if own := _own_topics(topics):
                client = said.values.get("client_id", "")
                found.append(Subscription(group, client, own, said.first, ends.get(said.file), said.ref(facts)))
    by_address = {(c.group, c.address): c for c in connections(facts) if not c.listed}
    for said in consumer_logs.of(facts, "consumer-registered"):
        address = said.values.get("address", "").removeprefix("/")
        for group, topics in consumer_logs.subscriptions(said.values.get("data", "")).items():
            if own := _own_topics(topics):
                known = by_address.get((group, address))
                client, last = (known.client_id, known.last) if known else (address, None)
                found.append(Subscription(group, client, own, said.first, last, said.ref(facts)))
    return [s for s in found if names.of_users(s.group)]


@memo
def _last_times(facts: Facts) -> dict[str, dt.datetime | None]:
    """Return the last time in each client log, rounded up to a second: its client existed until then."""
    second = dt.timedelta(seconds=1)
    last = {item.file: item.last + second for item in facts.zoned.items if item.last is not None}
    return {file: admin_output.naive(time) if time.tzinfo else time for file, time in last.items()}


def differing(facts: Facts) -> dict[str, list[tuple[Subscription, Subscription]]]:
    """Return, by group, pairs of clients that subscribed differently at the same time."""
    pairs: dict[str, list[tuple[Subscription, Subscription]]] = defaultdict(list)
    by_group: dict[str, list[Subscription]] = defaultdict(list)
    for each in subscriptions(facts):
        by_group[each.group].append(each)
    for group, members in by_group.items():
        for n, first in enumerate(members):
            pairs[group] += [
                (first, s)
                for s in members[n + 1 :]
                if s.client_id != first.client_id and s.topics != first.topics and _overlap(first, s)
            ]
    return {group: found for group, found in pairs.items() if found}


def _overlap(a: Subscription, b: Subscription) -> bool:
    if a.first is None or b.first is None:
        return True
    early, late = (a, b) if a.first <= b.first else (b, a)
    assert late.first is not None
    # Running info files are of one moment: two calls a minute apart show the same clients.
    return (
        early.last is None
        or early.last >= late.first
        or (early.last == early.first and (late.first - early.first).total_seconds() < 60)
    )


@memo
def holdings(facts: Facts) -> list[Holding]:
    """Return which process pulled which queue from when to when, by client logs (rebalancing) and running info files."""
    found: list[Holding] = []
    clients = {
        s.file: s.values["client_id"]
        for s in consumer_logs.of(facts, "queues-assigned", "queues-assigned-go", "client-created")
        if s.values.get("client_id")
    }

    def held(key: tuple[str, str, Queue], begun: consumer_logs.Statement, last: dt.datetime | None) -> Holding:
        place, group, queue = key
        client = begun.values.get("client_id") or clients.get(begun.file, "")
        return Holding(group, place, client, queue, begun.first, last, begun.ref(facts))

    open_: dict[tuple[str, str, Queue], consumer_logs.Statement] = {}
    for said in consumer_logs.of(facts, "queue-taken", "pull-started", "queue-left", "consumer-stopped"):
        group = said.group
        if said.event == "consumer-stopped":
            ended = [key for key in open_ if key[0] == said.place and group in (None, key[1])]
            found += [held(key, open_.pop(key), said.first) for key in ended]
            continue
        if not group or said.queue is None:
            continue
        key = (said.place, group, said.queue)
        if said.event != "queue-left":
            open_.setdefault(key, said)
        elif key in open_:
            found.append(held(key, open_.pop(key), said.last))
    found += [held(key, said, None) for key, said in open_.items()]
    # The set a rebalance ends with: what is in it was taken even where the lines of each queue are gone (rolled away).
    known = {(h.place, h.group, h.queue) for h in found}
    stopped = {(s.place, s.group) for s in consumer_logs.of(facts, "consumer-stopped")}
    for said in consumer_logs.of(facts, "queues-assigned", "queues-assigned-go"):
        for queue in sorted(consumer_logs.queues(said.values.get("set", ""))):
            key = (said.place, said.group or "", queue)
            if said.group and key not in known and not stopped & {(said.place, said.group), (said.place, None)}:
                found.append(held(key, said, None))
                known.add(key)
    return [h for h in found if names.of_users(h.group)]


def holders_at_end(facts: Facts, group: str) -> dict[Queue, set[str]]:
    """Return the processes that held each queue of a group last, by client logs; empty if no client log shows it."""
    found: dict[Queue, set[str]] = defaultdict(set)
    for holding in holdings(facts):
        if holding.group == group and holding.last is None:
            found[holding.queue].add(holding.place)
    return dict(found)


def status_queues(facts: Facts, group: str) -> dict[str, set[Queue]]:
    """Return the queues each client of a group held by its last running info file, by client id; empty if absent."""
    found: dict[str, set[Queue]] = {}
    for info in admin_output.running(facts):
        if info["group"] == group:
            found[info["client_id"]] = {
                (b["#Topic"], b["#Broker Name"], queue)
                for b in info["queues"]
                if b.get("droped") != "true" and (queue := integer(b["#QID"])) is not None
            }
    return found


def unowned(facts: Facts, group: str, topic: str, queue_id: int) -> bool:
    """Return whether the evidence shows that no client of a group holds a queue, although it shows who holds others of the topic."""
    known = _shown_held(facts, group, topic)
    return bool(known) and all((topic, queue_id) not in held for held in known)


def owned(facts: Facts, group: str, topic: str, queue_id: int) -> bool:
    """Return whether the evidence shows that a client of a group holds a queue."""
    return any((topic, queue_id) in held for held in _shown_held(facts, group, topic))


def _shown_held(facts: Facts, group: str, topic: str) -> list[set[tuple[str, int]]]:
    """Return the queues (topic, queue id) that a group's clients hold, by client logs and by running info files."""
    logs = {(q[0], q[2]) for q, places in holders_at_end(facts, group).items() if places}
    status = {(q[0], q[2]) for held in status_queues(facts, group).values() for q in held}
    return [held for held in (logs, status) if any(name == topic for name, _ in held)]


def window(firsts: list[dt.datetime | None], facts: Facts) -> tuple[dt.datetime, dt.datetime] | None:
    """Return the time from the earliest of these times to the last statement about consuming, None without one."""
    known = [t for t in firsts if t is not None]
    last = consumer_logs.last_time(facts) if known else None
    return (min(known), max([*known, *([last] if last else [])])) if known else None


def table(facts: Facts, group: str) -> pd.DataFrame:
    """Return who held which queue of a group: place, client_id, topic, broker, queue_id, first, last (null: to the end)."""
    rows = [(h.place, h.client_id, *h.queue, h.first, h.last) for h in holdings(facts) if h.group == group]
    columns = ["place", "client_id", "topic", "broker", "queue_id", "first", "last"]
    return pd.DataFrame(rows, columns=columns).head(5_000)


@attrs.frozen
class Connection:
    """One connection of a client. `listed`: number of the output that lists it, None for one of the broker's log."""

    group: str
    client_id: str
    address: str
    first: dt.datetime | None
    last: dt.datetime | None
    file: str
    line: int
    listed: bool = False

    @property
    def host(self) -> str:
        return self.address.rpartition(":")[0]

    def ref(self, facts: Facts) -> Ref:
        return facts.ref(self.file, self.line)


@memo
def connections(facts: Facts) -> list[Connection]:
    """Return the connections of users' groups: those that consumerConnection lists, and those of broker logs with their time."""
    found = [
        Connection(
            block["-g"], block["#ClientId"], block.get("#ClientAddr", ""), at, at, block["file"], block["line"], True
        )
        for block in admin_output.admin_blocks(facts)
        if block["command"] == "consumerConnection" and block.get("#ClientId") and block.get("-g")
        for at in [block["time"]]
    ]
    gone: dict[tuple[str, str], list[dt.datetime]] = defaultdict(list)
    for said in consumer_logs.of(facts, "consumer-disconnected"):  # in order of time
        if said.first is not None:
            gone[said.file, said.values.get("address", "")].append(said.first)
    for said in consumer_logs.of(facts, "consumer-connected"):
        address = said.values.get("address", "")
        ends = gone[said.file, address]
        after = len(ends) if said.first is None else bisect_left(ends, said.first)
        if said.group:
            client, last = said.values.get("client_id", ""), ends[after] if after < len(ends) else None
            found.append(Connection(said.group, client, address, said.first, last, said.file, said.line))
    return [c for c in found if names.of_users(c.group)]


@memo
def simultaneous(facts: Facts) -> dict[str, list[Pair]]:
    """Return, by group, pairs of connections of one client id that existed at the same time on one broker."""
    pairs: dict[str, list[Pair]] = defaultdict(list)
    alike: dict[tuple[str, str, str, bool], list[Connection]] = defaultdict(list)
    for each in connections(facts):
        alike[each.group, each.client_id, each.file, each.listed].append(each)
    saved = {(s.group, s.values.get("address")): s.last for s in consumer_logs.of(facts, "consumer-offset-back")}
    for (group, _, _, listed), members in alike.items():
        if len(members) > 1:
            found = (
                listed_together(members)
                if listed
                else open_together(members, lambda c: saved.get((c.group, c.address)))
            )
            pairs[group] += [(members[n], members[m]) for n, m in sorted(found)]
    return {group: found for group, found in pairs.items() if found}


def listed_together(listed: list[Connection]) -> Iterator[tuple[int, int]]:
    """Yield pairs of positions of connections of one list, which all existed at its time: those of different addresses."""
    by_address: dict[str, list[int]] = defaultdict(list)
    for m, connection in enumerate(listed):
        yield from ((n, m) for address, there in by_address.items() if address != connection.address for n in there)
        by_address[connection.address].append(m)


def open_together(
    logged: list[Connection], saved: Callable[[Connection], dt.datetime | None]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of positions, the lower first, of connections of a broker's log that existed at the same time, of
    different addresses.

    A connection closed up to `LATE_CLOSE` after the next one opened may have been gone before, as may one without an
    end if the next comes from the same host; unless the client `saved` offsets over it later than that. Takes time
    in proportion to the pairs found, and to sorting the connections.
    """
    dated: list[tuple[dt.datetime, int]] = []
    by_host: dict[str, list[int]] = defaultdict(list)
    for n, connection in enumerate(logged):
        by_host[connection.host].append(n)
        if connection.first is not None:
            dated.append((connection.first, n))
    for n, undated in enumerate(logged):
        if undated.first is None:
            others = (m for host, there in by_host.items() if host != undated.host for m in there)
            yield from ((min(n, m), max(n, m)) for m in others if n < m or logged[m].first is not None)
    without_end: dict[str, list[int]] = defaultdict(list)  # by host
    alive: dict[str, dict[int, None]] = defaultdict(dict)  # by address, surely there until the time in `ends`
    ends: list[tuple[dt.datetime, int]] = []
    for opened, m in sorted(dated):
        while ends and ends[0][0] <= opened:
            _, gone = heappop(ends)
            del alive[logged[gone].address][gone]
            if not alive[logged[gone].address]:
                del alive[logged[gone].address]
        late = logged[m]
        early = {n for address, there in alive.items() if address != late.address for n in there}
        early |= {n for host, there in without_end.items() if host != late.host for n in there}
        yield from ((min(n, m), max(n, m)) for n in early)
        used = saved(late)
        if late.last is None:
            without_end[late.host].append(m)
            until = used
        else:
            until = max(late.last - LATE_CLOSE, min(late.last, used or opened))
        if until is not None and until > opened:
            alive[late.address][m] = None
            heappush(ends, (until, m))
