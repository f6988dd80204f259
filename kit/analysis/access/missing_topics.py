"""Topics that clients use but the name server does not know, and existing topics."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable
from itertools import groupby
from types import SimpleNamespace
from typing import Any, Final

from kit.analysis import refs
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts, memo

ALIKE: Final = 0.75
"""difflib's ratio from which on a name is worth a hint: one or two letters of ten."""
NORMAL: Final = (names.RETRY_PREFIX, names.DLQ_PREFIX, "TBW102", "%SYS%", "rmq_sys_")
"""Topics that a healthy start asks for before they exist (reference: operators' incidents §7)."""


@memo
def unknown(facts: Facts) -> list[SimpleNamespace]:
    """Return the topics that a send, a consumer or mqadmin found no route for, the most sends first: topic, sends
    (entries of those), groups (that subscribe), entries (all), exists, like (an existing one), places, window (None without times).
    """
    if not refs.seen(facts, "topic-unknown-to-consumer", "no-route"):
        return []
    rows = [row for row in facts.rows("unknown_topics") if not row["topic"].startswith(NORMAL)]
    rows.sort(key=lambda row: (row["topic"], not row["by_send"], row["event"], row["file"], row["line"]))
    exist = existing(facts) if rows else frozenset()
    topics = [_topic(topic, list(of_topic), exist) for topic, of_topic in groupby(rows, lambda row: row["topic"])]
    return sorted(topics, key=lambda u: (u.exists, -u.sends, -len(u.groups), u.topic))


def _topic(topic: str, rows: list[dict[str, Any]], exist: frozenset[str]) -> SimpleNamespace:
    # An application's exception and its client's warning report one send: the fuller log counts.
    sends: dict[str, int] = {"": 0}
    for row in rows:
        sent = row["source"] != "mqadmin" and (row["by_send"] or row["source"] in ("app", "text"))
        # Only the client's own dispatcher of traces sends to that topic.
        if sent and row["event"] == "no-route" and topic != names.TRACE_TOPIC:
            sends[row["source"] or ""] = sends.get(row["source"] or "", 0) + row["n"]
    like = [] if topic in exist else difflib.get_close_matches(topic, sorted(exist), 1, ALIKE)
    return SimpleNamespace(
        topic=topic, sends=max(sends.values()), groups=sorted({r["consumer_group"] for r in rows} - {None}),
        entries=sum(r["n"] for r in rows), exists=topic in exist, like=next(iter(like), None),
        places=[(r["file"], r["line"]) for r in rows],
        window=refs.of_rows(rows).window,
    )  # fmt: skip


@memo
def existing(facts: Facts) -> frozenset[str]:
    """Return the topics that exist, as far as the evidence knows."""
    return frozenset(row["topic"] for row in facts.rows("known_topics"))


def quote(facts: Facts, topic: SimpleNamespace) -> tuple[Ref, ...]:
    """Quote three entries that report a missing topic: the line that names it."""
    return tuple(ref for file, line in topic.places[:3] for ref in _naming(facts, file, line, topic.topic))


def _naming(facts: Facts, file: str, line: int, topic: str) -> Iterable[Ref]:
    with contextlib.suppress(IndexError):
        for number in range(line, line + 3):
            ref = facts.ref(file, number)
            if topic in ref.text and ("oute" in ref.text or "not exist" in ref.text):
                yield ref
                return
