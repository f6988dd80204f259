"""Statements of client and broker logs about consuming: each once, with its count and its first and last place."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import PurePosixPath
from typing import Any, Final

import attrs

from kit.inventory.references import Ref
from kit.tables.facts import Facts, memo

VALUES: Final = (
    "group", "topic", "broker", "queue_id", "client_id", "address", "set", "clients", "data", "old", "new",
    "queue_offset", "uniq_key", "msg_id",
)  # fmt: skip
_SUBSCRIBED: Final = re.compile(r"topic=(?P<topic>[^,]*), subString=(?P<expression>.*?), tagsSet=")
_QUEUE: Final = re.compile(r"topic=(?P<topic>[^,\]]*), brokerName=(?P<broker>[^,\]]*), queueId=(?P<queue_id>\d+)")


@attrs.frozen
class Statement:
    """A row of `consumer_statements`. `values`: its values by name; `lowest`, `highest`: the range of each number.

    `place`: the folder of its file, one host or process in the usual layout of evidence.
    """

    event: str
    file: str
    place: str
    count: int
    line: int
    last_line: int
    first: dt.datetime | None
    last: dt.datetime | None
    values: dict[str, str]
    lowest: dict[str, int]
    highest: dict[str, int]

    @property
    def group(self) -> str | None:
        return self.values.get("group")

    @property
    def queue(self) -> tuple[str, str, int] | None:
        """The queue it is about, as (topic, broker, queue id)."""
        if self.values.get("queue_id") is None or self.values.get("topic") is None:
            return None
        return self.values["topic"], self.values.get("broker", ""), int(self.values["queue_id"])

    def ref(self, facts: Facts, *, last: bool = False) -> Ref:
        return facts.ref(self.file, self.last_line if last else self.line)


def _statement(row: dict[str, Any]) -> Statement:
    own = {name: row[name] for name in ("event", "file", "line", "last_line", "first", "last")}
    known = {name: value for name, value in row.items() if value is not None}
    lowest, highest = (
        {name.removeprefix(end): value for name, value in known.items() if name.startswith(end)}
        for end in ("low_", "high_")
    )
    values: dict[str, str] = {name: known[name] for name in VALUES if name in known}
    place = str(PurePosixPath(row["file"]).parent)
    return Statement(**own, place=place, count=row["n"], values=values, lowest=lowest, highest=highest)


@memo
def every(facts: Facts) -> list[Statement]:
    """Return every statement about consuming, in order of time, file and line."""
    rows = facts.rows("consumer_statements") if facts.files.of_kind("log", "text", "mqadmin") else []
    # A gRPC client names its group once, at its start.
    groups = {row["client_id"]: row["group"] for row in rows if row["event"] == "grpc-consumer-created"}
    return [_statement(row | {"group": row["group"] or groups.get(row["client_id"])}) for row in rows]


def of(facts: Facts, *slugs: str, group: str | None = None) -> list[Statement]:
    """Return the statements of these events, of one group if given, in order of time, file and line."""
    return [s for s in every(facts) if s.event in slugs and group in (None, s.group)]


def last_time(facts: Facts) -> dt.datetime | None:
    """Return the latest time of any statement about consuming (naive UTC)."""
    return max((s.last for s in every(facts) if s.last is not None), default=None)


def subscriptions(data: str) -> dict[str, dict[str, str]]:
    """Return {group: {topic: expression}} of a printed HeartbeatData or ConsumerData (common/protocol/heartbeat)."""
    parts = (part.partition(",") for part in data.split("ConsumerData [groupName=")[1:])
    return {group: {m["topic"]: m["expression"] for m in _SUBSCRIBED.finditer(rest)} for group, _, rest in parts}


def queues(text: str) -> frozenset[tuple[str, str, int]]:
    """Return the queues of a printed set of MessageQueue, as (topic, broker, queue id)."""
    return frozenset((m["topic"], m["broker"], int(m["queue_id"])) for m in _QUEUE.finditer(text))
