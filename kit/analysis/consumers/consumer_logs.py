"""Statements of client and broker logs about consuming, read in one pass: each once, with its count and its first and
last place.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from functools import partial
from operator import itemgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import attrs
import pandas as pd

from kit.case import statements
from kit.case.memoize import once, per_case
from kit.inventory.references import Ref

if TYPE_CHECKING:
    from kit.case.case import Case

SLUGS: Final = (
    "client-created", "heartbeat-data", "queues-assigned", "queues-assigned-go", "queue-taken", "queue-left", "pull-started", "pull-held-back", "pull-held-back-cpp",
    "pull-offset-illegal", "pull-offset-fixed", "queue-lock-failed", "orderly-not-done", "consume-exception", "consume-null", "expired-sent-back",
    "consumer-stopped", "consumer-connected", "consumer-disconnected", "consumer-registered", "consumer-offset-back", "subscription-replaced", "subscription-removed",
    "subscription-added", "subscription-missing", "subscription-not-latest", "consumer-offset-saved", "consumer-group-changed",
    "receive-held-back", "grpc-consumer-created", "group-falls-behind",
)  # fmt: skip
SAME: Final = (
    "file",
    "source",
    "group",
    "topic",
    "broker",
    "queue_id",
    "client_id",
    "address",
    "set",
    "clients",
    "data",
    "old",
    "new",
    "queue_offset",
    "uniq_key",
    "msg_id",
)
"""Values that make a statement another one; numbers that only move (offsets, counts) do not."""
EACH: Final = (
    "client-created", "queues-assigned", "queues-assigned-go", "queue-taken", "queue-left", "pull-started", "consumer-stopped", "consumer-connected", "consumer-disconnected",
    "subscription-replaced", "subscription-removed", "subscription-added", "expired-sent-back",
)  # fmt: skip
"""Events whose order shows who held what: none of them is put together with another."""
NUMBERS: Final = (
    "offset",
    "min_offset",
    "max_offset",
    "next",
    "times",
    "count",
    "limit",
    "requested",
    "stored",
    "reconsume_times",
    "behind_ms",
)
SECOND: Final = {name: f"{name}_2" for name in ("group", "topic", "broker", "queue_id", "address")}
"""What patterns with two places for a value call the second one."""

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

    def ref(self, case: Case, *, last: bool = False) -> Ref:
        line = self.last_line if last else self.line
        return case.ref(self.file, line)


@per_case
def _found(case: Case) -> dict[str, pd.DataFrame]:
    """Return every statement of `SLUGS` by event; the index is its rank by time, file and line."""
    if not case.found.of_kind("log", "text", "mqadmin"):
        return {}
    found = statements.counted(case, SLUGS, by=(*SAME, *SECOND.values()), ranges=NUMBERS, each=EACH)
    for name, other in SECOND.items():
        if other in found:
            found[name] = found[name].where(found[name].notna(), found[other]) if name in found else found[other]
    own = found["event"] == "grpc-consumer-created"
    groups = dict(zip(found.loc[own, "client_id"], found.loc[own, "group"], strict=True))
    if groups:
        # A gRPC client names its group once, at its start.
        found["group"] = found["group"].where(found["group"].notna(), found["client_id"].map(groups))
    return {str(event): rows for event, rows in found.groupby("event", sort=False)}


def _statements(found: pd.DataFrame) -> Iterator[Statement]:
    """Yield a statement for each row; converted column by column, since the logs of a day have a hundred thousand of
    them.
    """
    found = found.dropna(axis="columns", how="all").assign(
        first=found["first"], last=found["last"], source=found["source"]
    )
    texts = {name: found[name].tolist() for name in SAME if name in found and name not in ("file", "source")}
    ranges = [
        {name: found[f"{end}_{name}"].tolist() for name in NUMBERS if f"{end}_{name}" in found}
        for end in ("low", "high")
    ]
    times = [found[name].to_numpy("datetime64[us]").tolist() for name in ("first", "last")]  # NaT is None
    plain = [found[name].tolist() for name in ("event", "file", "source", "n", "line", "last_line")]
    for row, (event, file, source, n, line, last_line) in enumerate(zip(*plain, strict=True)):
        values = {name: said for name, column in texts.items() if (said := column[row]) is not None}
        low, high = (
            {name: int(column[row]) for name, column in numbers.items() if column[row] is not None}
            for numbers in ranges
        )
        yield Statement(event, file, source, values, n, line, last_line, times[0][row], times[1][row], low, high)


def of(case: Case, *slugs: str, group: str | None = None) -> list[Statement]:
    """Return the statements of these events, of one group if given, in order of time, file and line."""
    # Statements are created only on request.
    parts = [once(case, f"said {slug}", partial(_numbered, case, slug)) for slug in slugs]
    every = sorted((each for part in parts for each in part), key=itemgetter(0))
    return [s for _, s in every if group is None or s.group == group]


def _numbered(case: Case, slug: str) -> list[tuple[int, Statement]]:
    found = _found(case).get(slug)
    return [] if found is None else list(zip(found.index.tolist(), _statements(found), strict=True))


def last_time(case: Case) -> dt.datetime | None:
    """Return the latest time of any statement of `SLUGS` (naive UTC)."""
    lasts = [rows["last"].max() for rows in _found(case).values()]
    return max((last.to_pydatetime() for last in lasts if not pd.isna(last)), default=None)


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
