"""Statements of client and broker logs about consuming: each once, with its count and its first and last place."""

import re
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Final

from kit.data import grouped
from kit.inventory.model import Ref, folder_of
from kit.rocketmq import names
from kit.tables.facts import Facts, memo

_SUBSCRIBED: Final = re.compile(r"topic=(?P<topic>[^,]*), subString=(?P<expression>.*?), tagsSet=")
_QUEUE: Final = re.compile(r"topic=(?P<topic>[^,\]]*), brokerName=(?P<broker>[^,\]]*), queueId=(?P<queue_id>\d+)")

Statement = SimpleNamespace
"""A row of `consumer_statements` with `place` (folder of its file) and `queue` (topic, broker, queue id; or None)."""


@memo
def _of(facts: Facts, *slugs: str) -> list[Statement]:
    """Return the statements of these events, in order of time, file and line: others are most of a large log."""
    # A gRPC client names its group once, at its start.
    created = facts.rows("consumer_statements", event=("grpc-consumer-created",))
    groups = {row["client_id"]: row["group"] for row in created}
    statements = []
    for row in facts.rows("consumer_statements", event=slugs):
        named = row["queue_id"] is not None and row["topic"] is not None
        queue = (row["topic"], row["broker"] or "", int(row["queue_id"])) if named else None
        own = row | {"group": row["group"] or groups.get(row["client_id"])}
        statements.append(Statement(**own, place=folder_of(row["file"]), queue=queue))
    return statements


def of(facts: Facts, *slugs: str, group: str | None = None) -> list[Statement]:
    """Return the statements of these events, of one group if given, in order of time, file and line."""
    return [s for s in _of(facts, *slugs) if group in (None, s.group)]


def of_users(facts: Facts, *slugs: str) -> dict[str, list[Statement]]:
    """Return {group of users: its statements of these events}, without those about retry topics."""
    own = (s for s in of(facts, *slugs) if not (s.topic or "").startswith(names.RETRY_PREFIX))
    return grouped((s.group, s) for s in own if names.of_users(s.group or ""))


def concerning(facts: Facts, group: str | None, *slugs: str) -> list[Statement]:
    """Return the statements of these events that name this group (None: any) or no group."""
    return [s for s in of(facts, *slugs) if group is None or s.group in (group, None)]


def at_one_message(statement: Statement) -> bool:
    """Return whether pulls were held back at one message several times, or for the span, which few messages fill."""
    least = statement.low_min_offset
    several = statement.n > 1 or statement.high_count is None
    return least is not None and least == statement.high_min_offset and several


def quote(facts: Facts, statements: Iterable[Statement]) -> tuple[Ref, ...]:
    """Quote the first line of each statement."""
    return facts.refs((s.file, s.line) for s in statements)


def subscriptions(data: str | None) -> dict[str, dict[str, str]]:
    """Return {group: {topic: expression}} of a printed HeartbeatData or ConsumerData (common/protocol/heartbeat)."""
    parts = (part.partition(",") for part in (data or "").split("ConsumerData [groupName=")[1:])
    return {group: {m["topic"]: m["expression"] for m in _SUBSCRIBED.finditer(rest)} for group, _, rest in parts}


def queues(text: str | None) -> frozenset[tuple[str, str, int]]:
    """Return the queues of a printed set of MessageQueue, as (topic, broker, queue id)."""
    return frozenset((m["topic"], m["broker"], int(m["queue_id"])) for m in _QUEUE.finditer(text or ""))
