"""dlq-unreadable: a dead letter topic that nobody may read: created write-only (perm 2) by brokers before 4.9.2.

Deciding step: topics.json holds a %DLQ% topic whose permission lacks the read bit.
Source: broker/processor/AbstractSendMessageProcessor, common/constant/PermName (reference §4.8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from kit.causes import collect_next
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding
from kit.formats.values import integer
from kit.i18n import T
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "dlq-unreadable"
KIND: Kind = "hazard"

TITLE = T("Nobody can read the dead letters")
SUMMARY = T(
    "{count} dead letter {count:topic is|topics are} write-only ({topics}): a consumer that subscribes to them gets nothing."
)
NONE = T("Every dead letter topic of this evidence can be read.")
UNREADABLE = T("{count} %DLQ% topics lack the read permission: {topics}.")
READABLE = T("A %DLQ% topic lacks the read permission.")
WANT = T("topics.json holds the permission of every topic")
COMMAND: Final = "mqadmin updateTopicPerm -n NAMESRV:9876 -b BROKER:10911"
ACTION = T("`{command} -t {topic} -p 6`")
WHY = T("With permission 6 the dead letters can be consumed and queried; 4.9.2 and later create them so.")
RISK = T("A consumer of the topic starts at its own offset: set it first.")
VERIFY = T("topics.json shows perm 6 and a consumer of the topic receives.")

LOOKS_LIKE = (("dead-letter", T("there are dead letters; whether they can be read is another question")),)

FIGURES: Final = {"unreadable_dlq_topics": Figure(T("dead letter topics that nobody can read"))}


def examine(case: Case) -> Finding:
    """Report which dead letter topics lack the read permission."""
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    rows = case.fact_rows("topic_permissions")
    shut = closed(rows)
    topics = list(dict.fromkeys(row["subject"] for row in shut))
    if shut:
        quoted = case.refs((row["file"], row["line"]) for row in shut[:3])
        finding.steps = [deciding("unreadable", UNREADABLE.say(count=len(topics), topics=topics[:5]), True, quoted)]
        finding.summary = SUMMARY.say(count=len(topics), topics=topics[:5])
        command = collect_next.addressed(case, COMMAND)
        finding.remedies = [
            Remedy(ACTION.say(command=command, topic=collect_next.word(topic)), WHY, RISK, VERIFY)
            for topic in topics[:5]
        ]
    else:
        finding.steps = [deciding("unreadable", READABLE, False if rows else None)]
        finding.missing = [] if rows else [collect_next.store_config(WANT)]
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
