"""The members of a consumer group: its clients, their connections, subscriptions and queues, with their lines."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any, Final, NamedTuple

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
Pair = tuple[Any, Any]
"""Two subscriptions, or two connections, that differ."""
OWNERS: Final = ["place", "client_id", "topic", "broker", "queue_id", "first", "last"]
LATE_CLOSE: Final = dt.timedelta(seconds=150)
"""How long a broker may keep a connection that is gone: clientChannelMaxIdleTimeSeconds and one scan."""
COMPARED: Final = 1_000
"""Most members of one group, or connections of one client id, the last ones, that are compared with each other."""


class Subscription(NamedTuple):
    """What one client subscribes to: {topic: expression}. Naive UTC; `last` None: to the end of the evidence."""

    group: str
    client_id: str
    topics: dict[str, str]
    first: Time
    last: Time
    ref: Ref


@attrs.frozen
class Connection:
    """One connection of a client. `listed`: an output lists it (False: the broker's log has it)."""

    group: str
    client_id: str
    address: str
    first: Time
    last: Time
    file: str
    line: int
    listed: bool

    @property
    def host(self) -> str:
        return self.address.rpartition(":")[0]


# --- subscriptions -------------------------------------------------------------------------------------------------


@memo
def subscriptions(facts: Facts) -> list[Subscription]:
    """Return what each client of users' groups subscribes to: running info files, heartbeats, the broker's log."""
    every = []
    for each in (*_running(facts), *_printed(facts)):
        own = {t: each.topics[t] for t in sorted(each.topics) if not t.startswith(names.RETRY_PREFIX)}
        if own and names.of_users(each.group):
            every.append(each._replace(topics=own))
    return every


def _running(facts: Facts) -> Iterator[Subscription]:
    for info in admin_output.running(facts):
        rows = info["subscriptions"]
        lines = [line for topic, (_, line) in rows.items() if not topic.startswith(names.RETRY_PREFIX)]
        if lines and info["group"]:
            topics = {topic: expression for topic, (expression, _) in rows.items()}
            ref = facts.ref(info["file"], min(lines))
            yield Subscription(info["group"], info["client_id"], topics, info["time"], info["time"], ref)


def _printed(facts: Facts) -> Iterator[Subscription]:
    """Yield the subscriptions in heartbeats of clients and in the broker's log."""
    by_address = {(c.group, c.address): c for c in connections(facts) if not c.listed}
    # A client existed until the last time in its log, rounded up to a second.
    ends = {i.file: i.last + dt.timedelta(seconds=1) for i in facts.zoned.items if i.last is not None}
    for statement in consumer_logs.of(facts, "heartbeat-data", "consumer-registered"):
        address, ref = (statement.address or "").removeprefix("/"), facts.ref(statement.file, statement.line)
        for group, topics in consumer_logs.subscriptions(statement.data).items():
            client, last = statement.client_id or "", admin_output.naive(ends.get(statement.file))
            if statement.event == "consumer-registered":
                known = by_address.get((group, address))
                client, last = (known.client_id, known.last) if known else (address, None)
            yield Subscription(group, client, topics, statement.first, last, ref)


def differing(facts: Facts) -> dict[str, list[Pair]]:
    """Return, by group, pairs of clients that subscribed differently at the same time."""
    return _pairs(
        ((each.group, each) for each in subscriptions(facts)),
        lambda a, b: a.client_id != b.client_id and a.topics != b.topics and _overlap(a, b),
    )


def _pairs(members: Iterable[tuple[Any, Any]], differ: Callable[[Any, Any], bool]) -> dict[str, list[Pair]]:
    """Return, by group, the pairs that differ, of members of one group that have one key."""
    alike: dict[Any, list[Any]] = defaultdict(list)
    for key, member in members:
        alike[key].append(member)
    pairs: dict[str, list[Pair]] = defaultdict(list)
    for of_key in alike.values():
        for a, b in combinations(of_key[-COMPARED:], 2):
            if differ(a, b):
                pairs[a.group].append((a, b))
    return dict(pairs)


def words(subscription: Subscription) -> str:
    """Return what a client subscribes to as one text."""
    return ", ".join(f"{topic} ({expression})" for topic, expression in subscription.topics.items())


def _overlap(a: Subscription, b: Subscription) -> bool:
    if a.first is None or b.first is None:
        return True
    early, late = (a, b) if a.first <= b.first else (b, a)
    assert early.first is not None and late.first is not None
    # Running info files are of one moment: two calls a minute apart show the same clients.
    near = early.last == early.first and (late.first - early.first).total_seconds() < 60
    return early.last is None or early.last >= late.first or near


# --- queues --------------------------------------------------------------------------------------------------------


@memo
def holdings(facts: Facts) -> pd.DataFrame:
    """Return which process pulled which queue from when to when, by client logs (rebalancing): group, place (the folder
    of its log), client_id, topic, broker, queue_id, first, last (null: to the end of the evidence), file, line.
    """
    created = consumer_logs.of(facts, "queues-assigned", "queues-assigned-go", "client-created")
    clients = {s.file: s.client_id for s in created if s.client_id}
    ended: list[tuple[Any, Any, Time]] = []
    taken: dict[tuple[str, str, Queue], consumer_logs.Statement] = {}
    # The set a rebalance ends with shows what was taken where the lines of each queue are gone (rolled away).
    slugs = ("queue-taken", "pull-started", "queues-assigned", "queues-assigned-go", "queue-left", "consumer-stopped")
    for statement in consumer_logs.of(facts, *slugs):
        if statement.event == "consumer-stopped":
            stopped = [key for key in taken if key[0] == statement.place and statement.group in (None, key[1])]
            ended += [(key, taken.pop(key), statement.first) for key in stopped]
        for queue in [statement.queue] if statement.queue else sorted(consumer_logs.queues(statement.set)):
            key = statement.place, statement.group or "", queue
            if statement.event != "queue-left":
                taken.setdefault(key, statement)
            elif key in taken:
                ended.append((key, taken.pop(key), statement.last))
    ended += [(key, statement, None) for key, statement in taken.items()]
    rows = [
        (group, place, s.client_id or clients.get(s.file, ""), *queue, s.first, last, s.file, s.line)
        for (place, group, queue), s, last in ended
        if names.of_users(group)
    ]
    return pd.DataFrame(rows, columns=pd.Index(["group", *OWNERS, "file", "line"]))


def held_at_end(facts: Facts, group: str) -> pd.DataFrame:
    """Return the rows of `holdings` of the queues that a group's processes held to the end."""
    rows = holdings(facts)
    return rows[(rows["group"] == group) & rows["last"].isna()]


def owned(facts: Facts, group: str, topic: str, queue_id: int) -> bool | None:
    """Return whether a client of a group holds a queue, None where nothing shows who holds others of the topic.

    By client logs and by the last running info of each client.
    """
    last_held = held_at_end(facts, group)
    last = {info["client_id"]: info["queues"] for info in admin_output.running(facts) if info["group"] == group}
    rows = [row for queues in last.values() for row in queues if row["#Topic"] == topic and row.get("droped") != "true"]
    known = {*last_held.loc[last_held["topic"] == topic, "queue_id"], *(integer(row["#QID"]) for row in rows)}
    return queue_id in known if known else None


def window(firsts: list[Time], facts: Facts) -> tuple[dt.datetime, dt.datetime] | None:
    """Return the time from the earliest of these times to the last statement about consuming, None without one."""
    known = [first for first in firsts if first is not None]
    return (min(known), max([*known, consumer_logs.last_time(facts) or known[0]])) if known else None


# --- connections ---------------------------------------------------------------------------------------------------


@memo
def connections(facts: Facts) -> list[Connection]:
    """Return the connections of users' groups that consumerConnection lists, and those of broker logs.

    An output prints no time: it is that of its file, unless the file is a copy.
    """
    original = facts.rows("file_times")[0]["original"]
    every = [
        Connection(
            group=b["-g"], client_id=b["#ClientId"], address=b.get("#ClientAddr", ""), first=b["time"] if original else None,
            last=b["time"] if original else None, file=b["file"], line=b["line"], listed=True,
        )
        for b in admin_output.blocks_of(facts, "consumerConnection") if b.get("#ClientId") and b.get("-g")
    ]  # fmt: skip
    gone: dict[tuple[str, str], list[dt.datetime]] = defaultdict(list)
    for statement in consumer_logs.of(facts, "consumer-disconnected"):  # in order of time
        if statement.first is not None:
            gone[statement.file, statement.address or ""].append(statement.first)
    for statement in consumer_logs.of(facts, "consumer-connected"):
        address, first = statement.address or "", statement.first
        every.append(Connection(
            group=statement.group or "", client_id=statement.client_id or "", address=address, first=first,
            last=next((end for end in gone[statement.file, address] if first is not None and end >= first), None),
            file=statement.file, line=statement.line, listed=False,
        ))  # fmt: skip
    return [c for c in every if names.of_users(c.group)]


@memo
def simultaneous(facts: Facts) -> dict[str, list[Pair]]:
    """Return, by group, pairs of connections of one client id, from two addresses, at the same time on one broker."""
    saved = {(s.group, s.address): s.last for s in consumer_logs.of(facts, "consumer-offset-back")}
    return _pairs(
        (((c.group, c.client_id, c.file, c.listed), c) for c in connections(facts)),
        lambda a, b: a.address != b.address and (a.listed or _together(a, b, saved)),
    )


def _together(a: Connection, b: Connection, saved: dict[tuple[str | None, str | None], Time]) -> bool:
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
