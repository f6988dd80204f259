"""What logs, outputs and copies of consumerOffset.json say of a group's offsets: lines by their values, new groups, first stored offsets."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

import attrs

from kit.analysis.consumers import admin_output, consumer_logs, positions
from kit.case.memoize import per_case
from kit.inventory.references import Ref
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

RESETS: Final = ("offset-reset-started", "offset-reset-done", "offset-reset-client", "offset-reset-command")
FROM_FIRST: Final = "CONSUME_FROM_FIRST_OFFSET"
"""common/consumer/ConsumeFromWhere"""


@per_case
def _statements(case: Case) -> list[dict[str, Any]]:
    return case.fact_rows("offset_statements")


def lines(case: Case, *slugs: str, group: str | None = None, topic: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of the table `offset_statements` with these texts, of one group and topic if given, in order of time."""
    return [
        row
        for row in _statements(case)
        if row["event"] in slugs and group in (None, row["group"]) and topic in (None, row["topic"])
    ]


@per_case
def created(case: Case) -> dict[str, dt.datetime]:
    """Return {group: when the broker created it}: a client of the group connected for the first time (autoCreateSubscriptionGroup)."""
    rows = lines(case, "group-created")
    return {r["group"]: r["first"] for r in reversed(rows) if r["group"] and r["first"] is not None}


@per_case
def copies(case: Case) -> list[dict[str, Any]]:
    """Return the offsets of groups in copies of consumerOffset.json and in consumerProgress outputs (`known_positions`)."""
    rows = case.fact_rows("known_positions")
    return [row for row in rows if row["source"] in ("copy", "progress") and row["offset"] is not None]


@per_case
def copy_times(case: Case) -> dict[str, dt.datetime]:
    """Return {copy of consumerOffset.json: when it was taken}, if that is known."""
    rows = [row for row in case.fact_rows("known_positions") if row["source"] == "copy"]
    found = {row["file"]: row["time"] for row in reversed(rows) if row["time"] is not None}
    # A copy in which no group has an offset yet has no positions.
    if positions.preserved(case):
        for item in case.found.of_kind("store_json"):
            copy = item.detail.get("name") == "consumerOffset" and not item.detail.get("backup")
            if copy and item.modified is not None and item.file not in {row["file"] for row in rows}:
                found[item.file] = admin_output.naive(item.modified)
    return found


@per_case
def admin_queues(case: Case) -> list[dict[str, Any]]:
    """Return the rows of the table `admin_queues`."""
    return case.fact_rows("admin_queues") if case.found.of_mqadmin() else []


def first_stored(case: Case, topic: str) -> dict[int, int]:
    """Return {queue: the first offset still stored} from the latest topicStatus."""
    rows = [row for row in admin_queues(case) if row["topic"] == topic and row["min_offset"] is not None]
    return {row["queue_id"]: row["min_offset"] for row in sorted(rows, key=lambda row: row["min_offset"])}


# --- what only points to a move ------------------------------------------------------------------------------------------------


@per_case
def behind_the_first(case: Case) -> list[dict[str, Any]]:
    """Return the queues whose next message is deleted: rows of `admin_queues` with `first`, the first offset still stored, None where nothing says it.

    `#LastTime` is that of the message at offset − 1 (`AdminBrokerProcessor.getConsumeStats`); N/A with a difference and an offset above 0 means that it,
    and what follows up to the queue's first offset, is no longer stored.
    """
    found = []
    for row in admin_queues(case):
        named = row["group"] and row["topic"] and row["command"] in ("consumerProgress", "brokerConsumeStats")
        if named and row["last_time"] == "N/A" and (row["offset"] or 0) > 0 and (row["diff"] or 0) > 0:
            first = first_stored(case, row["topic"]).get(row["queue_id"])
            found += [row | {"first": first}] if first is None or first > row["offset"] else []
    return found


@attrs.frozen
class Start:
    """A group that the broker had just created while no log shows where it began. `skips`: the first offset of a topic of its where that is
    above 0, so that a start from the end skips.
    """

    group: str
    policy: str
    topic: str
    skips: int | None
    ref: Ref


@per_case
def unseen_starts(case: Case) -> list[Start]:
    """Return the new groups of which no client log shows the first pulls, and that do not begin with the first message.

    CONSUME_FROM_LAST_OFFSET, the default, begins at the end of a queue whose first message is deleted (`ConsumerManageProcessor.queryConsumerOffset`).
    """
    new = created(case).keys() - {row["group"] for row in lines(case, "pull-started")}
    found = []
    for group in sorted(filter(names.of_users, new)):
        policy = start_policy(case, group)
        if policy is None or policy[0] == FROM_FIRST:
            continue
        told = consumer_logs.of(case, "consumer-registered", group=group)
        topics = {each for s in told for each in consumer_logs.subscriptions(s.values.get("data", "")).get(group, {})}
        first = {
            topic: min(first_stored(case, topic).values(), default=0)
            for topic in sorted(topics)
            if not topic.startswith(names.RETRY_PREFIX)
        }
        topic = max(first, key=lambda name: first[name], default="")
        found.append(Start(group, policy[0], topic, first.get(topic) or None, policy[1]))
    return found


def start_policy(case: Case, group: str) -> tuple[str, Ref] | None:
    """Return the group's ConsumeFromWhere and the line that says it (`ConsumerData` in the broker's log)."""
    rows = (row for row in case.fact_rows("start_policies") if row["group"] == group)
    return next(((row["policy"], case.ref(row["file"], row["line"])) for row in rows), None)
