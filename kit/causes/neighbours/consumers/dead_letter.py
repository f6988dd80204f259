"""dead-letter: messages that a consumer group stopped retrying, in its %DLQ% topic.

Deciding step: records in a %DLQ% topic; without the store, the broker's `send msg to DLQ` (5.x) or a %DLQ% topic that mqadmin shows filled. Source:
broker/processor/SendMessageProcessor.consumerSendMsgBack (reference §4.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis import refs
from kit.analysis.messages import record_stage
from kit.case import columnar, scan
from kit.causes import collect_next
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Remedy, Step, deciding, supporting
from kit.formats.commitlog.schema import promoted
from kit.i18n import T
from kit.rocketmq import names

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

_LETTERS = ds.field("stage") == record_stage.DLQ
_WAITS = (ds.field("stage") == record_stage.SCHEDULE) & pc.starts_with(
    scan.text(promoted(names.REAL_TOPIC)), names.DLQ_PREFIX
)
"""Records that wait for a delay on their way to a dead letter topic."""

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
    groups = _by_group(case) if store else None
    frame = (
        None
        if groups is None
        else groups[groups["stage"] == record_stage.DLQ].drop(columns="stage").reset_index(drop=True)
    )
    waiting = 0 if groups is None else int(groups["waiting"].sum())
    logged = refs.seen(case, "dlq-sent")
    count = int(frame["messages"].sum()) if frame is not None else None
    if frame is not None and len(frame):
        finding.steps = [
            deciding(
                "in-dead-letter-queue",
                IN_DLQ.say(records=int(frame["records"].sum()), count=count, groups=_groups(frame)),
                True,
                refs.records_where(case, _LETTERS),
            )
        ]
    elif logged:
        finding.steps = [
            deciding("in-dead-letter-queue", LOGGED.say(count=logged.count), True, refs.quote(case, logged))
        ]
    else:
        finding.steps = [deciding("in-dead-letter-queue", LIES_IN, False if store and not waiting else None)]
    finding.steps += [
        _on_the_way(case) if waiting else supporting("on-the-way", NONE_WAITS, None),
        _failed_step(case, bool(count or logged)),
    ]
    finding.figures = {"dead_lettered": count if store else (logged.count or None)}
    if frame is not None and count:
        finding.summary = SUMMARY.say(count=count, groups=_groups(frame))
        finding.window = (frame["first"].min().to_pydatetime(), frame["last"].max().to_pydatetime())
        finding.tables = {
            "dead_letters": _listed(case),
            "dead_letter_groups": frame.drop(columns="waiting"),
            "dead_letter_funnel": record_stage.funnel(case).head(5_000),
        }
    elif logged:
        finding.summary = SUMMARY_LOG.say(count=logged.count)
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


def _by_group(case: Case) -> pd.DataFrame:
    """Count dead letters by group, and records that wait for a delay before a dead letter topic (`waiting`: more than have arrived)."""
    columns = ("consumer_group", "stage", "uniq_key", "offset_msg_id", "reconsume_times", "store_timestamp")
    where = _LETTERS | _WAITS
    letters = scan.records(case, columns, where).to_pandas().astype({"consumer_group": object, "stage": object})
    letters["message"] = letters["uniq_key"].fillna(letters["offset_msg_id"])
    letters["store_timestamp"] = letters["store_timestamp"].dt.tz_localize(None)
    frame = (
        letters.groupby(["consumer_group", "stage"], dropna=False)
        .agg(
            records=("stage", "size"),
            messages=("message", "nunique"),
            reconsume_times=("reconsume_times", "max"),
            first=("store_timestamp", "min"),
            last=("store_timestamp", "max"),
        )
        .reset_index()
        .sort_values(["consumer_group", "stage"], na_position="first", ignore_index=True)
    )
    arrived = frame[frame["stage"] == record_stage.DLQ].groupby("consumer_group", dropna=False)["messages"].sum()
    sent = frame["messages"].where(frame["stage"] == record_stage.SCHEDULE, 0)
    return frame.assign(waiting=(sent - frame["consumer_group"].map(arrived).fillna(0)).clip(lower=0))


def _groups(frame: pd.DataFrame) -> list[str]:
    return [str(group) for group in frame["consumer_group"].head(5)] + (["…"] if len(frame) > 5 else [])


def _listed(case: Case) -> pd.DataFrame:
    """Return the first records in dead letter topics."""
    origin = {promoted(names.RETRY_TOPIC): "retry_topic", promoted(names.ORIGIN_MESSAGE_ID): "origin_message_id"}
    columns = (
        "consumer_group",
        "uniq_key",
        "keys",
        "tags",
        "offset_msg_id",
        "reconsume_times",
        "born_timestamp",
        "store_timestamp",
        "file",
        "physical_offset",
    )
    letters = columnar.to_pandas(scan.records(case, (*columns, *origin), _LETTERS)).rename(columns=origin)
    return letters.sort_values(["store_timestamp", "physical_offset"], ignore_index=True).head(5_000)


def _on_the_way(case: Case) -> Step:
    """Return the step that messages wait for a delay before a dead letter topic, as with brokers before 4.9.2."""
    same = ["uniq_key", "consumer_group"]
    keyed = ds.field("uniq_key").is_valid()
    late = columnar.to_pandas(scan.records(case, (*same, "file", "physical_offset", "store_timestamp"), _WAITS & keyed))
    arrived = columnar.to_pandas(scan.records(case, same, _LETTERS & keyed)).drop_duplicates().dropna()
    both = late.merge(arrived.assign(arrived=True), "left", same)
    open_ = both[both["arrived"].isna()]
    count = int(open_["uniq_key"].nunique())
    said = ON_THE_WAY.say(count=count) if count else NONE_WAITS
    return supporting("on-the-way", said, count, refs.records_at(case, open_, 2) if count else ())


def _failed_step(case: Case, happened: bool) -> Step:
    failed = refs.seen(case, "consume-exception", "consume-null")
    if not failed or not happened:
        return supporting("listener-failed", NO_FAILURE, None)
    return supporting("listener-failed", FAILED.say(count=failed.count), True, refs.quote(case, failed, 2))
