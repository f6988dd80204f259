"""The members of a consumer group: its clients, their connections, subscriptions and queues, with their lines."""

import datetime as dt
import re
from collections.abc import Iterator
from itertools import combinations, groupby
from typing import Any, Final, NamedTuple

import pandas as pd

from kit.analysis import brokers
from kit.analysis.consumers import consumer_logs, lag
from kit.data import grouped
from kit.formats.printed_times import utc
from kit.formats.values import integer, real
from kit.inventory.model import Ref, folder_of
from kit.rocketmq import names
from kit.tables.facts import Facts, memo
from kit.tables.queries import fold

Time = dt.datetime | None
Pair = tuple["Subscription", "Subscription"]
Row = dict[str, Any]
Block = dict[str, Any]
COMPARED: Final = 1_000
"""Most members of one group, the last ones, that are compared with each other."""


class Subscription(NamedTuple):
    """What one client subscribes to: {topic: expression}. Naive UTC; `last` None: to the end of the evidence."""

    group: str
    client_id: str
    topics: dict[str, str]
    first: Time
    last: Time
    ref: Ref


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


@fold(
    "group string, client_id string, topic string, expression string, first timestamp, last timestamp, file string, line bigint",
    "consumer_statements", "admin_blocks", "client_connections",
)  # fmt: skip
def client_subscriptions(facts: Facts) -> list[Row]:
    """One row per statement of what a client of a consumer group subscribes to, and topic: group, client_id, topic,
    expression, first, last (null: to the end of the evidence), file, line. From heartbeats,
    the broker's log and consumerStatus.
    """
    return [
        each._asdict() | {"topic": topic, "expression": text, "file": each.ref.file, "line": each.ref.line}
        for each in subscriptions(facts)
        for topic, text in each.topics.items()
    ]


def _running(facts: Facts) -> Iterator[Subscription]:
    for info in running(facts):
        if rows := info["subscriptions"]:
            topics = {topic: expression for topic, (expression, _) in rows.items()}
            ref = facts.ref(info["file"], min(line for _, line in rows.values()))
            yield Subscription(info["group"], info["client_id"], topics, info["time"], info["time"], ref)


def _printed(facts: Facts) -> Iterator[Subscription]:
    """Yield the subscriptions in heartbeats of clients and in the broker's log."""
    by_address = {(c["group"], c["address"]): c for c in connections(facts)}  # the broker's log behind mqadmin's lists
    # A client existed until the last time in its log, rounded up to a second.
    timed = ((item.file, item.last) for item in facts.zoned.items if item.last is not None)
    ends = {file: utc(last).replace(tzinfo=None) + dt.timedelta(seconds=1) for file, last in timed}
    for statement in consumer_logs.of(facts, "heartbeat-data", "consumer-registered"):
        address, ref = (statement.address or "").removeprefix("/"), facts.ref(statement.file, statement.line)
        for group, topics in consumer_logs.subscriptions(statement.data).items():
            client, last = statement.client_id or "", ends.get(statement.file)
            if statement.event == "consumer-registered":
                known = by_address.get((group, address))
                client = known["client_id"] if known else address
                last = known["last"] if known and not known["listed"] else None
            yield Subscription(group, client, topics, statement.first, last, ref)


def differing(facts: Facts) -> dict[str, list[Pair]]:
    """Return, by group, pairs of clients of one cluster that subscribed differently at the same time."""
    groups = grouped((each.group, each) for each in subscriptions(facts))
    pairs = (pair for members in groups.values() for pair in combinations(members[-COMPARED:], 2))
    unlike = ((a, b) for a, b in pairs if a.client_id != b.client_id and a.topics != b.topics and _overlap(a, b))
    return grouped((a.group, (a, b)) for a, b in unlike if not brokers.apart(facts, a.ref.file, b.ref.file))


def misled_by(facts: Facts, group: str) -> tuple[str, ...]:
    """Return the root causes by which queues of a group get clients that do not pull them, as far as signs are there."""
    doubled = {row["group"] for row in facts.rows("doubled_connections")}
    signs = {"duplicate-client-id": doubled, "subscription-mismatch": differing(facts)}
    return tuple(cause for cause, groups in signs.items() if group in groups)


def words(subscription: Subscription) -> str:
    """Return what a client subscribes to as one text."""
    return ", ".join(f"{topic} ({expression})" for topic, expression in subscription.topics.items())


def _overlap(a: Subscription, b: Subscription) -> bool:
    if a.first is None or b.first is None:
        return True
    first, late, last = min((a.first, b.first, a.last), (b.first, a.first, b.last), key=lambda times: times[0])
    # Running info files are of one moment: two calls a minute apart show the same clients.
    near = last == first and late - first < dt.timedelta(minutes=1)
    return last is None or last >= late or near


# --- hosts ------------------------------------------------------------------------------------------------------------


def places(facts: Facts, group: str) -> set[str]:
    """Return the folders (hosts) in whose client logs a group consumes."""
    return {folder_of(row["file"]) for row in facts.rows("group_logs") if row["group"] == group}


def ledgers(facts: Facts, group: str) -> list[str]:
    """Return the delivery ledgers of a group's hosts; none if one of its hosts has none: what it handled is unknown."""
    rows = facts.rows("group_ledgers") if facts.has("rows") else []
    return [row["file"] for row in rows if row["group"] == group]


# --- queues --------------------------------------------------------------------------------------------------------


def held_at_end(facts: Facts, group: str) -> pd.DataFrame:
    """Return the rows of `queue_owners` of the queues that a group's processes pulled to the end."""
    rows = facts("queue_owners")
    return rows[(rows["group"] == group) & rows["last"].isna()]


def owned(facts: Facts, group: str, queue: brokers.Queue) -> bool | None:
    """Return whether a client of a group holds a queue, by client logs and last running infos; None where nothing shows
    who holds others of the topic, or where a client that may hold it is not in the evidence.
    """
    known = holders(facts, group, queue[0])
    holds = any(brokers.same_queue(facts, each, queue) for each in known)
    return holds if holds or (known and every_client(facts, group, queue[0])) else None


@memo
def holders(facts: Facts, group: str, topic: str) -> dict[brokers.Queue, str]:
    """Return the client that holds each queue of a topic, as far as known: its id, else its address or the folder of
    its log. By consumerProgress -s where all outputs name the same, client logs, the last running info of each client.
    """
    printed = {(b["file"], b["line"]): b.get("#Client IP", "N/A") for b in blocks_of(facts, "consumerProgress")}
    looks = lag.of_topic(facts, group, topic).to_dict("records")
    addresses = grouped(((topic, r["broker"], r["queue_id"]), printed.get((r["file"], r["line"]))) for r in looks)
    clients = {queue: set(filter(None, by)) for queue, by in addresses.items()}
    known = {queue: next(iter(by)) for queue, by in clients.items() if len(by) == 1 and "N/A" not in by}
    logged = held_at_end(facts, group).to_dict("records")
    known |= {(topic, r["broker"], r["queue_id"]): r["client_id"] or r["place"] for r in logged if r["topic"] == topic}
    infos = ((client, row) for client, rows in _infos(facts, group).items() for row in rows)
    return known | {
        row["queue"]: client for client, row in infos if row["queue"][0] == topic and row.get("droped") != "true"
    }


def parts(facts: Facts) -> list[lag.Pair]:
    """Return the `part` of each topic, with `client` where one client holds all of its queues and none that go on."""
    pairs = []
    for part in (p.part for p in lag.pairs(facts) if p.part and not p.topic.startswith(lag.INNER)):
        known = holders(facts, part.group, part.topic)
        each = ([known.get((part.topic, q.broker, q.queue_id)) for q in qs] for qs in (part.queues, part.going_on))
        (first, *rest), others = each
        alone = first not in others and all(client == first for client in rest)
        pairs.append(lag.Pair(**vars(part) | {"client": first if alone else None}))
    return pairs


def _infos(facts: Facts, group: str) -> dict[str, list[Block]]:
    return {info["client_id"]: info["queues"] for info in running(facts) if info["group"] == group}


def every_client(facts: Facts, group: str, topic: str) -> bool:
    """Return whether the evidence has the log or the running info of as many clients of a group as are connected, of
    those that share an id one, or, if that is not known, as its last rebalance of a topic counted (cidAllSize).
    """
    assigned = [s for s in consumer_logs.of(facts, "queues-assigned", group=group) if s.topic == topic and s.clients]
    rows = (row for row in connections(facts) if row["group"] == group and (row["listed"] or row["last"] is None))
    there = len({row["client_id"] for row in rows}) or next((int(s.clients) for s in assigned[-1:]), 0)
    clients = {*_infos(facts, group), *held_at_end(facts, group)["client_id"]}
    return 0 < there <= max(len(places(facts, group)), len(clients - {""}))


def window(firsts: list[Time], facts: Facts, group: str, file: str) -> tuple[dt.datetime, dt.datetime] | None:
    """Return the time from the first of these to the last statement about a group in a file's cluster, or None."""
    known = [first for first in firsts if first is not None]
    statements = facts.rows("consumer_statements", group=(group,))
    own = (statement for statement in statements if not brokers.apart(facts, file, statement["file"]))
    lasts = (statement["last"] for statement in own if statement["last"] is not None)
    return (min(known), max([*known, *lasts])) if known else None


def connections(facts: Facts) -> list[Row]:
    """Return the rows of `client_connections` of users' groups."""
    return [row for row in facts.rows("client_connections") if names.of_users(row["group"])]


# --- outputs of mqadmin: their rows, and the running info of each client (consumerStatus -s) --------------------------

_TABLES: Final = ("#SubExpression", "commitOffset", "#Consume RT", "#Consumer Offset")
"""The column that each table of a running info file has of its own."""
_CLIENT: Final = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}@.+?(?=\.txt$|$)")
_EPOCH: Final = re.compile(r"(?:^|/)(1[4-9]\d{11})/[^/]+$")


@memo
def admin_blocks(facts: Facts) -> list[Block]:
    """Return the rows of mqadmin outputs: cells, `file`, `line`, `time`, `command`, and its arguments as `-g`, …."""
    place = ("file", "line", "time", "command")
    return [
        dict(row["arguments"] or ()) | {name: row[name] for name in place} | dict(row["cells"])
        for row in facts.rows("admin_blocks")
    ]


def blocks_of(facts: Facts, command: str) -> list[Block]:
    return [block for block in admin_blocks(facts) if block["command"] == command]


def client_of(file: str) -> str:
    """Return the client id that consumerStatus named a file after, whatever a copy put in front; else its name."""
    name = file.rpartition("/")[2]
    named = _CLIENT.search(name)
    return named[0] if named else name


@memo
def running(facts: Facts) -> list[Block]:
    """Return the running info files (consumerStatus -s): file, time, client_id, group, properties, and of their tables

    `subscriptions` {topic: (expression, line)}, `queues` (rows with the fields of ProcessQueueInfo, `queue`, the
    one it is about, and `cached`, the messages in it), `rt` {topic: (ms per message, line)}, as the listener took them.
    """
    infos = []
    for file, group in groupby(blocks_of(facts, "consumerRunningInfo"), lambda block: block["file"]):
        rows = grouped((next((name for name in _TABLES if name in block), None), block) for block in group)
        subscribed = rows.get("#SubExpression", ())
        properties = {name: value for block in rows.get(None, ()) for name, value in block.items()}
        times = {b.get("#Topic"): (real(b["#Consume RT"]), b["line"]) for b in rows.get("#Consume RT", ())}
        # consumerStatus writes its files below the milliseconds of the call.
        at = _EPOCH.search(file)
        owner = brokers.of_file(facts, file)
        own = {owner.printed: owner.name} if owner else {}
        called = at and dt.datetime.fromtimestamp(int(at[1]) / 1000, dt.UTC).replace(tzinfo=None)
        infos.append({
            "file": file, "time": called or next(iter(rows.values()))[0]["time"],
            "client_id": client_of(file) if facts.files.get(file) else "",
            "group": properties.get("consumerGroup", ""), "properties": properties,
            "subscriptions": {
                topic: (b["#SubExpression"], b["line"])
                for b in subscribed if (topic := b.get("#Topic")) and not topic.startswith(names.RETRY_PREFIX)
            },
            "queues": [
                b | {
                    "queue": (b["#Topic"], own.get(b["#Broker Name"], b["#Broker Name"]), integer(b["#QID"])),
                    "cached": integer(b.get("cachedMsgCount")) or 0,
                }
                for b in rows.get("commitOffset", ()) if all(b.get(name) for name in ("#Topic", "#Broker Name", "#QID"))
            ],
            "rt": {topic: time for topic, time in times.items() if topic and time[0] is not None},
        })  # fmt: skip
    return sorted(infos, key=lambda i: (str(i["time"]), i["file"]))
