"""Offsets of groups that moved, by logs, outputs and copies of consumerOffset.json, and what only points to a move."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from kit.analysis.consumers import consumer_logs, positions
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts, memo

RESETS: Final = ("offset-reset-started", "offset-reset-done", "offset-reset-client", "offset-reset-command")
FROM_FIRST: Final = "CONSUME_FROM_FIRST_OFFSET"
"""common/consumer/ConsumeFromWhere"""

Row = dict[str, Any]


def lines(facts: Facts, *slugs: str, group: str | None = None, topic: str | None = None) -> list[Row]:
    """Return the rows of `offset_statements` with these texts, of one group and topic if given, in order of time."""
    return [
        row
        for row in facts.rows("offset_statements")
        if row["event"] in slugs and group in (None, row["group"]) and topic in (None, row["topic"])
    ]


@memo
def created(facts: Facts) -> dict[str, dt.datetime]:
    """Return {group: when the broker created it}, when its first client connected (autoCreateSubscriptionGroup)."""
    rows = lines(facts, "group-created")
    return {r["group"]: r["first"] for r in reversed(rows) if r["group"] and r["first"] is not None}


def moves(facts: Facts) -> list[Row]:
    """Return the table `offset_moves`, where anything tells of offsets."""
    return facts.rows("offset_moves") if facts.rows("offset_statements") or admin_queues(facts) else []


def copies(facts: Facts) -> bool:
    """Return whether a copy of consumerOffset.json or a consumerProgress output has an offset of a group."""
    return bool(positions.every(facts)["offset"].notna().any())


def admin_queues(facts: Facts) -> list[Row]:
    """Return the rows of the table `admin_queues`."""
    return facts.rows("admin_queues") if facts.files.of_mqadmin() else []


def first_stored(facts: Facts, topic: str) -> dict[int, int]:
    """Return {queue: the first offset still stored} from the latest topicStatus."""
    rows = [row for row in admin_queues(facts) if row["topic"] == topic and row["min_offset"] is not None]
    return {row["queue_id"]: row["min_offset"] for row in sorted(rows, key=lambda row: row["min_offset"])}


# --- what only points to a move -----------------------------------------------------------------------------------


def behind_the_first(facts: Facts) -> list[Row]:
    """Return the queues whose next message is deleted: rows of `admin_queues` with `first`, the first offset still
    stored, None where nothing says it.

    `#LastTime` is that of the message at offset − 1 (`AdminBrokerProcessor.getConsumeStats`); N/A with a difference and
    an offset above 0 means that it, and what follows up to the queue's first offset, is no longer stored.
    """
    rows = [
        row | {"first": first_stored(facts, row["topic"]).get(row["queue_id"])}
        for row in admin_queues(facts)
        if row["group"] and row["topic"] and row["command"] in ("consumerProgress", "brokerConsumeStats")
        if row["last_time"] == "N/A" and (row["offset"] or 0) > 0 and (row["diff"] or 0) > 0
    ]
    return [row for row in rows if row["first"] is None or row["first"] > row["offset"]]


@memo
def unseen_starts(facts: Facts) -> list[Row]:
    """Return the new groups of which no client log shows the first pulls, and that do not begin with the first message:
    new_group, new_policy, ref (its line), new_topic, new_first (its first offset, if above 0: a start from the end
    skips).

    CONSUME_FROM_LAST_OFFSET, the default, begins at the end of a queue whose first message is deleted
    (`ConsumerManageProcessor.queryConsumerOffset`).
    """
    starts = []
    for group in sorted(_unprinted(facts)):
        policy = start_policy(facts, group) if names.of_users(group) else None
        if policy is None or policy[0] == FROM_FIRST:
            continue
        registered = (s.data for s in consumer_logs.of(facts, "consumer-registered", group=group))
        topics = {topic for data in registered for topic in consumer_logs.subscriptions(data).get(group, ())}
        own = sorted(topic for topic in topics if not topic.startswith(names.RETRY_PREFIX))
        first = {topic: min(first_stored(facts, topic).values(), default=0) for topic in own}
        topic = max(own, key=lambda name: first[name], default="")
        start = {"new_group": group, "new_topic": topic, "new_first": first.get(topic) or None}
        starts.append(start | {"new_policy": policy[0], "ref": policy[1]})
    return starts


def _unprinted(facts: Facts) -> set[str]:
    """Return the new groups of which no client log shows the first pulls: clients of 5.0.0 and later print none, and a
    log that begins later may show that of the retry topic alone.
    """
    pulls = (row for row in lines(facts, "pull-started") if not (row["topic"] or "").startswith(names.RETRY_PREFIX))
    return created(facts).keys() - {row["group"] for row in pulls}


def late_starts(facts: Facts) -> list[Row]:
    """Return the table `late_starts`, where no copy of offsets and no new group says more."""
    known = copies(facts) or created(facts) or not lines(facts, "pull-started")
    return [] if known else facts.rows("late_starts")


def start_policy(facts: Facts, group: str) -> tuple[str, Ref] | None:
    """Return the group's ConsumeFromWhere and the line that says it (`ConsumerData` in the broker's log)."""
    rows = (row for row in facts.rows("start_policies") if row["group"] == group)
    return next(((row["policy"], facts.ref(row["file"], row["line"])) for row in rows), None)
