"""Statements of client and broker logs about consuming: each once, with its count and its first and last place."""

from __future__ import annotations

import datetime as dt
import re
from functools import partial
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any, Final

import attrs

from kit.inventory.references import Ref
from kit.tables.facts import Facts, memo

TEXTS: Final = (
    "group", "topic", "broker", "queue_id", "client_id", "address", "set", "clients", "data", "old", "new", "queue_offset", "uniq_key", "msg_id",
)  # fmt: skip
"""Values that make a statement another one; numbers that only move (offsets, counts) do not."""
NUMBERS: Final = {"low": ("min_offset",), "high": ("min_offset", "count", "reconsume_times", "behind_ms")}
_SUBSCRIBED: Final = re.compile(r"topic=(?P<topic>[^,]*), subString=(?P<expression>.*?), tagsSet=")
_QUEUE: Final = re.compile(r"topic=(?P<topic>[^,\]]*), brokerName=(?P<broker>[^,\]]*), queueId=(?P<queue_id>\d+)")


@attrs.frozen
class Statement:
    """One statement. `values`: its values by name; `lowest`, `highest`: the range of each number over its `count`
    occurrences; times naive UTC or None.
    """

    event: str
    file: str
    source: str | None
    values: dict[str, str]
    count: int
    line: int
    last_line: int
    first: dt.datetime | None
    last: dt.datetime | None
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

    @property
    def place(self) -> str:
        """The folder of its file, which is one host or process in the usual layout of evidence."""
        return str(PurePosixPath(self.file).parent)

    def ref(self, facts: Facts, *, last: bool = False) -> Ref:
        line = self.last_line if last else self.line
        return facts.ref(self.file, line)


@memo
def _rows(facts: Facts) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """Return every statement by event, each with its rank by time, file and line."""
    if not facts.files.of_kind("log", "text", "mqadmin"):
        return {}
    rows = facts.rows("consumer_statements")
    groups = {row["client_id"]: row["group"] for row in rows if row["event"] == "grpc-consumer-created"}
    by_event: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for rank, row in enumerate(rows):
        # A gRPC client names its group once, at its start.
        named = row | {"group": row["group"] or groups.get(row["client_id"])}
        by_event.setdefault(row["event"], []).append((rank, named))
    return by_event


def _statement(row: dict[str, Any]) -> Statement:
    values = {name: row[name] for name in TEXTS if row[name] is not None}
    lowest, highest = (
        {name: row[f"{end}_{name}"] for name in names if row[f"{end}_{name}"] is not None}
        for end, names in NUMBERS.items()
    )
    place = row["event"], row["file"], row["source"]
    return Statement(
        *place, values, row["n"], row["line"], row["last_line"], row["first"], row["last"], lowest, highest
    )


def of(facts: Facts, *slugs: str, group: str | None = None) -> list[Statement]:
    """Return the statements of these events, of one group if given, in order of time, file and line."""
    # Statements are created only on request.
    parts = [facts.once(f"statements {slug}", partial(_ranked, facts, slug)) for slug in slugs]
    every = sorted((each for part in parts for each in part), key=itemgetter(0))
    return [s for _, s in every if group is None or s.group == group]


def _ranked(facts: Facts, slug: str) -> list[tuple[int, Statement]]:
    return [(rank, _statement(row)) for rank, row in _rows(facts).get(slug, ())]


def last_time(facts: Facts) -> dt.datetime | None:
    """Return the latest time of any statement about consuming (naive UTC)."""
    lasts = (row["last"] for rows in _rows(facts).values() for _, row in rows)
    return max((last for last in lasts if last is not None), default=None)


def subscriptions(data: str) -> dict[str, dict[str, str]]:
    """Return {group: {topic: expression}} of a printed HeartbeatData or ConsumerData (common/protocol/heartbeat)."""
    found = {}
    for part in data.split("ConsumerData [groupName=")[1:]:
        group = part.partition(",")[0]
        found[group] = {m["topic"]: m["expression"] for m in _SUBSCRIBED.finditer(part)}
    return found


def queues(text: str) -> frozenset[tuple[str, str, int]]:
    """Return the queues of a printed set of MessageQueue, as (topic, broker, queue id)."""
    return frozenset((m["topic"], m["broker"], int(m["queue_id"])) for m in _QUEUE.finditer(text))
