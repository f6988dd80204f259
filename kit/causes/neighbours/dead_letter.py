"""dead-letter: messages that a consumer group stopped retrying, in its %DLQ% topic.

Deciding step: records in a %DLQ% topic; without the store, the broker's `send msg to DLQ` (5.x) or a %DLQ% topic that mqadmin shows filled. Source:
broker/processor/SendMessageProcessor.consumerSendMsgBack (reference §4.8).
"""

from __future__ import annotations

from typing import Final

import pandas as pd

from kit.analysis import refs
from kit.causes import collect_next
from kit.causes.findings import Finding, Step, deciding, supporting
from kit.causes.texts import texts_of
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def examine(facts: Facts) -> Finding:
    """Report which messages were dead-lettered, by which group."""
    finding = TEXTS.finding()
    store = facts.has("messages")
    every = facts("dead_letter_groups")
    groups = every[every["records"] > 0].drop(columns="waiting")
    logged = refs.seen(facts, "dlq-sent")
    count = int(groups["messages"].sum())
    if count:
        said = TEXTS.say("in_dlq", records=int(groups["records"].sum()), count=count, groups=_names(groups))
        letters = facts("dead_letters")
        finding.steps = [deciding("in-dead-letter-queue", said, True, refs.records_at(facts, letters))]
        finding.actors = tuple(groups["consumer_group"].dropna())
        finding.summary = TEXTS.say("summary", count=count, groups=_names(groups))
        finding.window = (groups["first"].min().to_pydatetime(), groups["last"].max().to_pydatetime())
        finding.tables = {
            "dead_letters": letters,
            "dead_letter_groups": groups,
            "dead_letter_funnel": facts("retry_funnel"),
        }
    elif logged:
        said = TEXTS.say("logged", count=logged.count)
        finding.steps = [deciding("in-dead-letter-queue", said, True, refs.quote(facts, logged))]
        finding.summary = TEXTS.say("summary_log", count=logged.count)
    else:
        waits = bool(every["waiting"].sum())
        finding.steps = [deciding("in-dead-letter-queue", TEXTS["lies_in"], False if store and not waits else None)]
    finding.steps += [_on_the_way(facts, every), _failed_step(facts, bool(count or logged))]
    finding.figures = {"dead_lettered": count if store else (logged.count or None)}
    if count or logged:
        finding.remedies = [TEXTS.remedy("action", count=count or logged.count), TEXTS.remedy("stop")]
        if not facts.has_source("client"):
            finding.missing.append(collect_next.ask("consumer's client log", TEXTS["want_client"]))
    elif not store:
        finding.missing.append(collect_next.ask("commitlog", TEXTS["want_store"]))
    return finding


def _names(groups: pd.DataFrame) -> list[str]:
    return [str(group) for group in groups["consumer_group"].head(5)] + (["…"] if len(groups) > 5 else [])


def _on_the_way(facts: Facts, groups: pd.DataFrame) -> Step:
    """Return the step that messages wait for a delay before a dead letter topic, as with brokers before 4.9.2."""
    if not groups["waiting"].sum():
        return supporting("on-the-way", TEXTS["none_waits"], None)
    late = facts("late_dead_letters")
    count = int(late["messages"].iloc[0]) if len(late) else 0
    said = TEXTS.say("on_the_way", count=count) if count else TEXTS["none_waits"]
    return supporting("on-the-way", said, count, refs.records_at(facts, late, 2))


def _failed_step(facts: Facts, happened: bool) -> Step:
    failed = refs.seen(facts, "consume-exception", "consume-null")
    if not failed or not happened:
        return supporting("listener-failed", TEXTS["no_failure"], None)
    return supporting("listener-failed", TEXTS.say("failed", count=failed.count), True, refs.quote(facts, failed, 2))
