"""dlq-unreadable: a dead letter topic that nobody may read: created write-only (perm 2) by brokers before 4.9.2.

Source: broker/processor/AbstractSendMessageProcessor, common/constant/PermName (reference §4.8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from kit.causes import collect_next
from kit.causes.declared import Observed
from kit.formats.values import integer
from kit.rocketmq import names
from kit.tables.facts import Facts

COMMAND: Final = "mqadmin updateTopicPerm -n NAMESRV:9876 -b BROKER:10911"


def observe(facts: Facts) -> Observed:
    """Name the dead letter topics without the read permission."""
    rows = facts.rows("topic_permissions")
    shut = closed(rows)
    topics = list(dict.fromkeys(row["subject"] for row in shut))
    command = collect_next.addressed(facts, COMMAND) if topics else COMMAND
    return Observed(
        {
            "unreadable_dlq_topics": len(topics),
            "topics_seen": bool(rows),
            "topics": topics[:5],
            "commands": [f"`{command} -t {collect_next.word(topic)} -p 6`" for topic in topics[:5]],
        },
        {"unreadable": facts.refs((row["file"], row["line"]) for row in shut[:3])},
    )


def closed(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of `configs` that give a dead letter topic no read permission, in order of topic and place."""
    perms = [
        r
        for r in rows
        if r["origin"] == "topics" and r["name"] == "perm" and not r["backup"] and integer(r["value"]) is not None
    ]
    shut = [r for r in perms if names.DLQ_PREFIX in (r["subject"] or "") and not int(r["value"]) & names.PERM_READ]
    return sorted(shut, key=lambda r: (r["subject"], r["file"], r["line"]))
