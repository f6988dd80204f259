"""Neighbours behind a consumer: send-backs that are refused, retry topics, dead letters, delayed messages."""

from collections.abc import Iterable, Mapping
from shlex import quote
from typing import Any, Final

import pandas as pd

from kit.analysis import brokers, refs, send_back, sizes
from kit.causes import collect_next, shown_by
from kit.causes.declared import Observed
from kit.formats.values import integer
from kit.rocketmq import names
from kit.tables.facts import Facts

COMMAND: Final = "mqadmin updateTopicPerm -n NAMESRV:9876 -b BROKER:10911"
FOR_SIZE: Final = ("MESSAGE_ILLEGAL", "PROPERTIES_SIZE_EXCEEDED")
"""store/PutMessageStatus of a record that is too large."""


def send_back_refused(facts: Facts) -> Observed:
    """Count the refused send-backs, and those whose re-send by the client failed too: nothing is stored or leaks.

    Source: client/impl/consumer/ConsumeMessageConcurrentlyService.processConsumeResult,
    DefaultMQPushConsumerImpl.sendMessageBack.
    """
    back = send_back.examine(facts)
    counts: dict[str, int | None] = dict.fromkeys(("refused_send_backs", "failed_resends"))
    if shown_by.has(facts, "consumer's client log"):
        counts = {"refused_send_backs": back.refusals, "failed_resends": back.resent_failed}
    values = {**counts, "reason": send_back.REASONS[back.reason or "unknown"] if back.refusals else None}
    quotes = {"send-back-refused": back.refs, "re-send-failed": back.resent_refs}
    return Observed(values, quotes, back.window if all(counts.values()) else None, actors=back.groups)


def retry_topic_too_long(facts: Facts) -> Observed:
    """Measure the name of a retry topic, and count the send-backs refused for it.

    A name that the store refused is nearly always a retry topic's, since clients check those of other topics; without
    the group it stays `suspected`. Limits: store/DefaultMessageStore.putMessage (127 characters, up to 5.0.0),
    broker/util/HookUtils (255 bytes for %RETRY% topics from 5.1.0).
    """
    back = send_back.examine(facts)
    long = back.reason == "name-too-long"
    values = {
        "long": long, "looked": shown_by.has(facts, "store.log") and back.printed_length is None,
        "groups": list(back.groups), "limit": send_back.store_limit(facts),
        "retry_topic_length": back.retry_topic_length,
        "refused_send_backs": back.refusals if long else 0, "printed_length": back.printed_length,
        "count": back.printed.count,
    }  # fmt: skip
    quotes = {
        "name-too-long": back.reason_refs if long else refs.quote(facts, back.printed, 2),
        "send-backs-refused": back.refs,
    }
    return Observed(values, quotes, back.window if long or back.printed_length else None, actors=back.groups)


def dead_letter(facts: Facts) -> Observed:
    """Count the messages that a consumer group stopped retrying, in its %DLQ% topic.

    Source: broker/processor/SendMessageProcessor.consumerSendMsgBack (reference §4.8). Brokers before 4.9.2 keep a
    dead letter for a delay first.
    """
    every = facts("dead_letter_groups")
    groups = every[every["records"] > 0].drop(columns="waiting")
    logged = refs.seen(facts, "dlq-sent")
    failed = refs.seen(facts, "consume-exception", "consume-null")
    waiting, count = bool(every["waiting"].sum()), int(groups["messages"].sum())
    late = facts("late_dead_letters") if waiting else every.head(0)
    letters = facts("dead_letters") if count else every.head(0)
    names_ = [str(group) for group in groups["consumer_group"].head(5)] + (["…"] if len(groups) > 5 else [])
    values = {
        "letters": count, "records": int(groups["records"].sum()), "groups": names_, "logged": logged.count,
        "unhandled": count or logged.count, "dead_lettered": count if facts.has("messages") else logged.count,
        "waiting": waiting, "failures": failed.count or None, "late": int(late["messages"].iloc[0]) if len(late) else None,
    }  # fmt: skip
    quotes = {
        "in-dead-letter-queue": refs.records_at(facts, letters) if count else refs.quote(facts, logged),
        "on-the-way": refs.records_at(facts, late, 2) if len(late) else (),
        "listener-failed": refs.quote(facts, failed, 2),
    }  # fmt: skip
    window = refs.span(groups["first"], groups["last"]) if count else None
    return Observed(values, quotes, window, actors=groups["consumer_group"].dropna())


def dlq_unreadable(facts: Facts) -> Observed:
    """Name the dead letter topics that nobody may read: created write-only (perm 2) by brokers before 4.9.2.

    Source: broker/processor/AbstractSendMessageProcessor, common/constant/PermName (reference §4.8).
    """
    rows = [r for r in facts.rows("settings") if r["origin"] == "topics" and r["name"] == "perm" and not r["backup"]]
    shut = unreadable(rows)
    topics = list(dict.fromkeys(row["subject"] for row in shut))
    command = collect_next.filled(COMMAND, collect_next.addresses(facts)) if topics else COMMAND
    values = {
        "unreadable_dlq_topics": len(topics),
        "topics_seen": brokers.of_each(facts, (row["file"] for row in rows)),
        "topics": topics[:5],
        "commands": [f"`{command} -t {quote(topic)} -p 6`" for topic in topics[:5]],
    }
    return Observed(values, {"unreadable": facts.refs((row["file"], row["line"]) for row in shut[:3])})


def unreadable(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of `settings` that give a dead letter topic no read permission, in order of topic and place."""
    shut = [
        row
        for row in rows
        if row["origin"] == "topics" and row["name"] == "perm" and not row["backup"]
        if names.DLQ_PREFIX in (row["subject"] or "")
        if (permission := integer(row["value"])) is not None and not permission & names.PERM_READ
    ]
    return sorted(shut, key=lambda row: (row["subject"], row["file"], row["line"]))


def schedule_blocked(facts: Facts) -> Observed:
    """Name the delay levels that are blocked, by which record, and count what waits behind it.

    The delivery of a delayed message is refused again and again, similar to the put-back loop: the delivered copy
    differs from the waiting one only in its topic, so it outgrows the limit if the real topic's name is longer than
    SCHEDULE_TOPIC_XXXX. Source: store/schedule/ScheduleMessageService, in 5.x broker/schedule/ScheduleMessageService.
    """
    rows = facts("size_refusals")
    failed, named = rows[rows["repeated"]], sizes.for_size(rows, "schedule")
    known, too_large, blocked = sizes.limits(facts), None, pd.DataFrame({"queue_id": []})
    if facts.has("messages") and known.max_size is not None and known.how is not None:
        misfits = facts("schedule_misfits")
        too_large = misfits[misfits["kind"] == "too_large"]
        blocked = too_large[too_large["nth"] == 1]
    if facts.has("messages") and failed["msg_id"].notna().any():
        # The log names what blocks a level.
        blocked = facts("schedule_misfits").query("kind == 'named'")
    by_store = int(named["count"].sum())
    count = max(int(failed["count"].sum()), by_store)
    levels = sorted({int(queue) + 1 for queue in blocked["queue_id"]})
    refused = failed if len(failed) else named
    values = {
        "count": count,
        "for_size": max(int(failed.loc[failed["status"].isin(FOR_SIZE), "count"].sum()), by_store),
        "limit": known.max_size,
        "undeliverable_records": None if too_large is None else int(too_large["records"].max() if len(too_large) else 0),
        "levels": levels or None, "blocked_levels": levels,
        "waiting_behind": int(blocked["waiting"].sum()) if len(blocked) else None,
    }  # fmt: skip
    quotes = {
        "delivery-failed": (*refs.lines(facts, failed, 2), *refs.lines(facts, named, 1)),
        "too-large": () if too_large is None else refs.records_at(facts, too_large),
        "waiting-behind": refs.records_at(facts, blocked) if len(blocked) else (),
    }
    return Observed(values, quotes, refs.span(refused["first"], refused["last"]) if count else None)
