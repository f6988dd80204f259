"""Topics that clients use but the name server does not know, and existing topics."""

from __future__ import annotations

import datetime as dt
import difflib
from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd
import pyarrow.dataset as ds

from kit.case import datasets, scan, statements
from kit.case.memoize import per_case
from kit.inventory.references import Ref
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

ALIKE: Final = 0.75
"""difflib's ratio from which on a name is worth a hint: one or two letters of ten."""
NORMAL: Final = (names.RETRY_PREFIX, names.DLQ_PREFIX, "TBW102", "%SYS%", "rmq_sys_")
"""Topics that a healthy start asks for before they exist (reference: operators' incidents §7)."""
MOST: Final = 1_000


@attrs.frozen
class Unknown:
    """A topic without a route. `sends`: entries of sends that report it; `consumers`: groups that subscribe to it;
    `asked`: answers to mqadmin; `entries`: all of these.
    """

    topic: str
    sends: int
    groups: tuple[str, ...]
    asked: int
    entries: int
    exists: bool
    like: str | None
    places: tuple[tuple[str, int], ...]
    first: dt.datetime | None = None
    last: dt.datetime | None = None


@per_case
def unknown(case: Case) -> list[Unknown]:
    """Return the topics that a send, a consumer or mqadmin found no route for, the most sends first."""
    found = statements.counted(
        case,
        ("topic-unknown-to-consumer", "no-route"),
        by=("topic", "group"),
        marks={"by_send": ("DefaultMQProducerImpl",)},
    )
    rows: list[Any] = list(found[found["topic"].notna()].head(MOST).itertuples())
    exist = existing(case)
    topics = sorted({r.topic for r in rows if not r.topic.startswith(NORMAL)})
    result = []
    for topic in topics:
        of_topic = sorted((r for r in rows if r.topic == topic), key=lambda r: (not r.by_send, r.event, r.file, r.line))
        # An application's exception and its client's warning report one send: the fuller log counts.
        sends: dict[str, int] = {}
        for r in of_topic:
            # Only the client's own dispatcher of traces sends to that topic.
            of_user = topic != names.TRACE_TOPIC
            if (
                of_user
                and r.event == "no-route"
                and r.source not in ("mqadmin",)
                and (r.by_send or r.source in ("app", "text"))
            ):
                sends[r.source or ""] = sends.get(r.source or "", 0) + r.n
        times = [t.to_pydatetime() for r in of_topic for t in (r.first, r.last) if not pd.isna(t)]
        result.append(Unknown(
            topic, max(sends.values(), default=0), tuple(sorted({r.group for r in of_topic if r.group})), sum(r.n for r in of_topic if r.source == "mqadmin"),
            sum(r.n for r in of_topic),
            topic in exist, next(iter(difflib.get_close_matches(topic, sorted(exist), 1, ALIKE)), None) if topic not in exist else None,
            tuple((r.file, r.line) for r in of_topic), min(times, default=None), max(times, default=None),
        ))  # fmt: skip
    return sorted(result, key=lambda u: (u.exists, -u.sends, -len(u.groups), u.topic))


@per_case
def existing(case: Case) -> frozenset[str]:
    """Return the topics that exist: in topics.json, topicList and topicStatus outputs, with records in a store, or with queues that a consumer took."""
    rows = datasets.rows(case, "configs", ["subject"], ds.field("origin") == "topics")
    known = {row["subject"] for row in rows if row["subject"] is not None}
    known |= set(statements.counted(case, ("queue-taken", "pull-started"), by=("topic",))["topic"].dropna())
    for row in datasets.rows(case, "admin", ["command", "name", "value"]):
        if row["command"] == "topicList" and row["name"] in ("text", "#Topic") and row["value"]:
            known.add(row["value"].strip())
    if case.has("messages"):
        known |= {
            topic
            for batch in scan.batches(case, ["topic"], repeated=True)
            for topic in batch["topic"].unique().drop_null().to_pylist()
        }
    return frozenset(known)


def refs(case: Case, found: Unknown, most: int = 3) -> tuple[Ref, ...]:
    """Quote the entries that report the missing topic: the line that names it."""
    quoted = []
    for file, line in found.places[:most]:
        for number in range(line, line + 3):
            text = _line(case, file, number)
            if text is not None and found.topic in text and ("oute" in text or "not exist" in text):
                quoted.append(Ref(file, text, line=number))
                break
    return tuple(quoted)


def _line(case: Case, file: str, line: int) -> str | None:
    try:
        return case.line(file, line)
    except IndexError:
        return None
