"""dead-letter: messages that a consumer group stopped retrying, in its %DLQ% topic.

Deciding step: records in a %DLQ% topic; without the store, the broker's `send msg to DLQ` (5.x) or a %DLQ% topic that mqadmin shows filled. Source:
broker/processor/SendMessageProcessor.consumerSendMsgBack (reference §4.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.analysis import refs
from kit.causes import collect_next
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Remedy, Step, deciding, supporting
from kit.i18n import T

if TYPE_CHECKING:
    import pandas as pd

    from kit.case.case import Case

SLUG = "dead-letter"
KIND: Kind = "neighbour"

TITLE = T("A consumer group stopped retrying messages")
SUMMARY = T("{count} {count:message is|messages are} in dead letter topics ({groups}); nobody consumes them there.")
SUMMARY_LOG = T("The broker moved {count} {count:message|messages} to dead letter topics.")
NONE = T("No message is in a dead letter topic.")
IN_DLQ = T(
    "{records} {records:record|records} of {count} {count:message|messages} {records:is|are} in dead letter topics: {groups}."
)
LOGGED = T("According to its log the broker moved {count} {count:message|messages} to a dead letter topic.")
LIES_IN = T("A message is in a dead letter topic.")
ON_THE_WAY = T("{count} more {count:message waits|messages wait} for a delay on their way to a dead letter topic.")
NONE_WAITS = T("Messages wait for a delay on their way to a dead letter topic.")
NO_FAILURE = T("The consumer's log shows its listener failing.")
FAILED = T("The consumer's log shows its listener failing ({count} {count:line|lines}).")
WANT_STORE = T("dead letters are records of %DLQ% + group")
WANT_CLIENT = T("its `consumeMessage exception` says why the messages failed")
ACTION = T("Find out why the listener fails, fix it, then send the dead letters again.")
WHY = T("Nothing consumes a dead letter topic: {count} {count:message here stays|messages here stay} unhandled.")
RISK = T(
    "Before 4.9.2 the topic is created write-only (set perm 6 to read it); messages sent again must be handled idempotently."
)
VERIFY = T("The dead letter topic stops growing, and the business rows of these keys exist.")

LOOKS_LIKE = (
    ("send-back-refused", T("the message never reaches a retry topic: it stays in the consumer's memory")),
    ("dlq-unreadable", T("the messages are stored; the topic lacks the read bit")),
    (
        "check-unknown-until-discard",
        T("discarded by the broker's checks, in TRANS_CHECK_MAX_TIME_TOPIC, before any consumer saw it"),
    ),
)

STOP: Final = T(
    "In the listener, stop after a number of attempts that you choose: from getReconsumeTimes() = N on, store the message elsewhere, raise an alarm and return CONSUME_SUCCESS; or raise an alarm on new records in the dead letter topic."
)
STOP_WHY: Final = T("Somebody is alerted after minutes, not after the 16th attempt some five hours later.")
STOP_RISK: Final = T(
    "Messages stored elsewhere are not processed until somebody does it; an N that an ordinary outage reaches raises false alarms."
)
STOP_VERIFY: Final = T(
    "Let one message fail on a test group: the alarm comes at attempt N, and no dead letter follows."
)

FIGURES: Final = {"dead_lettered": Figure(T("messages in dead-letter queues"))}

ALERTS: Final = (
    Alert("stage:dlq", T("A consumer group stopped retrying messages: they are in its dead letter topic, and nobody consumes them there."),
          "in-dead-letter-queue", by=("group",)),
    Alert("dlq-sent", T("The broker moved messages to a dead letter topic."), "in-dead-letter-queue"),
)  # fmt: skip


def examine(case: Case) -> Finding:
    """Report which messages were dead-lettered, by which group."""
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    store = case.has("messages")
    every = case.facts("dead_letter_groups")
    groups = every[every["records"] > 0].drop(columns="waiting")
    logged = refs.seen(case, "dlq-sent")
    count = int(groups["messages"].sum())
    if count:
        said = IN_DLQ.say(records=int(groups["records"].sum()), count=count, groups=_names(groups))
        letters = case.facts("dead_letters")
        finding.steps = [deciding("in-dead-letter-queue", said, True, refs.records_at(case, letters))]
        finding.summary = SUMMARY.say(count=count, groups=_names(groups))
        finding.window = (groups["first"].min().to_pydatetime(), groups["last"].max().to_pydatetime())
        finding.tables = {
            "dead_letters": letters,
            "dead_letter_groups": groups,
            "dead_letter_funnel": case.facts("retry_funnel"),
        }
    elif logged:
        said = LOGGED.say(count=logged.count)
        finding.steps = [deciding("in-dead-letter-queue", said, True, refs.quote(case, logged))]
        finding.summary = SUMMARY_LOG.say(count=logged.count)
    else:
        waits = bool(every["waiting"].sum())
        finding.steps = [deciding("in-dead-letter-queue", LIES_IN, False if store and not waits else None)]
    finding.steps += [_on_the_way(case, every), _failed_step(case, bool(count or logged))]
    finding.figures = {"dead_lettered": count if store else (logged.count or None)}
    if count or logged:
        finding.remedies = [
            Remedy(ACTION, WHY.say(count=count or logged.count), RISK, VERIFY),
            Remedy(STOP, STOP_WHY, STOP_RISK, STOP_VERIFY),
        ]
        if not case.has_source("client"):
            finding.missing.append(collect_next.client_log(collect_next.CONSUMER, WANT_CLIENT))
    elif not store:
        finding.missing.append(collect_next.commitlog(WANT_STORE))
    return finding


def _names(groups: pd.DataFrame) -> list[str]:
    return [str(group) for group in groups["consumer_group"].head(5)] + (["…"] if len(groups) > 5 else [])


def _on_the_way(case: Case, groups: pd.DataFrame) -> Step:
    """Return the step that messages wait for a delay before a dead letter topic, as with brokers before 4.9.2."""
    if not groups["waiting"].sum():
        return supporting("on-the-way", NONE_WAITS, None)
    late = case.facts("late_dead_letters")
    count = int(late["messages"].iloc[0]) if len(late) else 0
    said = ON_THE_WAY.say(count=count) if count else NONE_WAITS
    return supporting("on-the-way", said, count, refs.records_at(case, late, 2))


def _failed_step(case: Case, happened: bool) -> Step:
    failed = refs.seen(case, "consume-exception", "consume-null")
    if not failed or not happened:
        return supporting("listener-failed", NO_FAILURE, None)
    return supporting("listener-failed", FAILED.say(count=failed.count), True, refs.quote(case, failed, 2))
