"""Topics that clients use but the name server does not know, and existing topics."""

from __future__ import annotations

import contextlib
import datetime as dt
import difflib
from typing import Final

import attrs

from kit.analysis import refs
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts, memo

ALIKE: Final = 0.75
"""difflib's ratio from which on a name is worth a hint: one or two letters of ten."""
NORMAL: Final = (names.RETRY_PREFIX, names.DLQ_PREFIX, "TBW102", "%SYS%", "rmq_sys_")
"""Topics that a healthy start asks for before they exist (reference: operators' incidents §7)."""


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


@memo
def unknown(facts: Facts) -> list[Unknown]:
    """Return the topics that a send, a consumer or mqadmin found no route for, the most sends first."""
    if not refs.seen(facts, "topic-unknown-to-consumer", "no-route"):
        return []
    rows = sorted(
        facts.rows("unknown_topics"), key=lambda row: (not row["by_send"], row["event"], row["file"], row["line"])
    )
    topics = sorted({row["topic"] for row in rows if not row["topic"].startswith(NORMAL)})
    exist = existing(facts) if topics else frozenset()
    result = []
    for topic in topics:
        of_topic = [row for row in rows if row["topic"] == topic]
        # An application's exception and its client's warning report one send: the fuller log counts.
        sends: dict[str, int] = {}
        for row in of_topic:
            sent = row["source"] != "mqadmin" and (row["by_send"] or row["source"] in ("app", "text"))
            # Only the client's own dispatcher of traces sends to that topic.
            if sent and row["event"] == "no-route" and topic != names.TRACE_TOPIC:
                sends[row["source"] or ""] = sends.get(row["source"] or "", 0) + row["n"]
        like = [] if topic in exist else difflib.get_close_matches(topic, sorted(exist), 1, ALIKE)
        result.append(
            Unknown(
                topic,
                sends=max(sends.values(), default=0),
                groups=tuple(sorted({row["consumer_group"] for row in of_topic if row["consumer_group"]})),
                asked=sum(row["n"] for row in of_topic if row["source"] == "mqadmin"),
                entries=sum(row["n"] for row in of_topic),
                exists=topic in exist,
                like=next(iter(like), None),
                places=tuple((row["file"], row["line"]) for row in of_topic),
                first=min((row["first"] for row in of_topic if row["first"]), default=None),
                last=max((row["last"] for row in of_topic if row["last"]), default=None),
            )
        )
    return sorted(result, key=lambda u: (u.exists, -u.sends, -len(u.groups), u.topic))


@memo
def existing(facts: Facts) -> frozenset[str]:
    """Return the topics that exist, as far as the evidence knows."""
    return frozenset(row["topic"] for row in facts.rows("known_topics"))


def quote(facts: Facts, found: Unknown, most: int = 3) -> tuple[Ref, ...]:
    """Quote the entries that report the missing topic: the line that names it."""
    quoted = []
    for file, line in found.places[:most]:
        for number in range(line, line + 3):
            with contextlib.suppress(IndexError):
                ref = facts.ref(file, number)
                if found.topic in ref.text and ("oute" in ref.text or "not exist" in ref.text):
                    quoted.append(ref)
                    break
    return tuple(quoted)
