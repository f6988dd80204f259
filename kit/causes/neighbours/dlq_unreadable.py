"""dlq-unreadable: a dead letter topic that nobody may read: created write-only (perm 2) by brokers before 4.9.2.

Deciding step: topics.json holds a %DLQ% topic whose permission lacks the read bit.
Source: broker/processor/AbstractSendMessageProcessor, common/constant/PermName (reference §4.8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from kit.causes import collect_next
from kit.causes.findings import Finding, deciding
from kit.causes.texts import texts_of
from kit.formats.values import integer
from kit.rocketmq import names
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


COMMAND: Final = "mqadmin updateTopicPerm -n NAMESRV:9876 -b BROKER:10911"


def examine(facts: Facts) -> Finding:
    """Report which dead letter topics lack the read permission."""
    finding = TEXTS.finding()
    rows = facts.rows("topic_permissions")
    shut = closed(rows)
    topics = list(dict.fromkeys(row["subject"] for row in shut))
    if shut:
        quoted = facts.refs((row["file"], row["line"]) for row in shut[:3])
        claim = TEXTS.say("unreadable", count=len(topics), topics=topics[:5])
        finding.steps = [deciding("unreadable", claim, True, quoted)]
        finding.summary = TEXTS.say("summary", count=len(topics), topics=topics[:5])
        command = collect_next.addressed(facts, COMMAND)
        finding.remedies = [
            TEXTS.remedy("action", command=command, topic=collect_next.word(topic)) for topic in topics[:5]
        ]
    else:
        finding.steps = [deciding("unreadable", TEXTS["readable"], False if rows else None)]
        finding.missing = [] if rows else [collect_next.ask("configuration", TEXTS["want"])]
    finding.figures = {"unreadable_dlq_topics": len(topics) if rows else None}
    return finding


def closed(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of `configs` that give a dead letter topic no read permission, ordered by topic, file and line."""
    perms = [
        r
        for r in rows
        if r["origin"] == "topics" and r["name"] == "perm" and not r["backup"] and integer(r["value"]) is not None
    ]
    shut = [r for r in perms if names.DLQ_PREFIX in (r["subject"] or "") and not int(r["value"]) & names.PERM_READ]
    return sorted(shut, key=lambda r: (r["subject"], r["file"], r["line"]))
