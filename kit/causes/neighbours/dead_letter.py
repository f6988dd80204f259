"""dead-letter: messages that a consumer group stopped retrying, in its %DLQ% topic.

Source: broker/processor/SendMessageProcessor.consumerSendMsgBack (reference §4.8). Brokers before 4.9.2 keep a dead
letter for a delay first.
"""

from __future__ import annotations

from kit.analysis import refs
from kit.causes.declared import Observed, span
from kit.tables.facts import Facts


def observe(facts: Facts) -> Observed:
    """Count the dead-lettered messages, by group."""
    every = facts("dead_letter_groups")
    groups = every[every["records"] > 0].drop(columns="waiting")
    logged = refs.seen(facts, "dlq-sent")
    failed = refs.seen(facts, "consume-exception", "consume-null")
    waiting, count = bool(every["waiting"].sum()), int(groups["messages"].sum())
    late = facts("late_dead_letters") if waiting else every.head(0)
    letters = facts("dead_letters") if count else every.head(0)
    names = [str(group) for group in groups["consumer_group"].head(5)] + (["…"] if len(groups) > 5 else [])
    observed = Observed(
        {
            "letters": count, "records": int(groups["records"].sum()), "groups": names, "logged": logged.count,
            "unhandled": count or logged.count,
            "dead_lettered": count if facts.has("messages") else logged.count, "waiting": waiting,
            "failures": failed.count,
            "late": int(late["messages"].iloc[0]) if len(late) else 0,
        },
        {
            "in-dead-letter-queue": refs.records_at(facts, letters) if count else refs.quote(facts, logged),
            "on-the-way": refs.records_at(facts, late, 2) if len(late) else (),
            "listener-failed": refs.quote(facts, failed, 2),
        },
        span(groups["first"], groups["last"]) if count else None,
        actors=groups["consumer_group"].dropna(),
    )  # fmt: skip
    if count:
        funnel = facts("retry_funnel")
        observed.tables = {"dead_letters": letters, "dead_letter_groups": groups, "dead_letter_funnel": funnel}
    return observed
