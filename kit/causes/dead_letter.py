"""dead-letter: messages that a consumer group gave up, in its %DLQ% topic.

Deciding step: records in a %DLQ% topic; without the store, the broker's `send msg to DLQ` (5.x) or a %DLQ% topic that mqadmin shows filled.
Source: broker/processor/SendMessageProcessor.consumerSendMsgBack (reference §4.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from kit import requests
from kit.facts import names
from kit.findings import Finding, Kind, Remedy, Step
from kit.inquiry import refs, stages
from kit.texts import T

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    from kit.case import Case

SLUG = "dead-letter"
KIND: Kind = "neighbour"

TITLE = T("A consumer group gave messages up", "消费者组放弃了消息")
SUMMARY = T("{count} messages lie in dead letter topics ({groups}); nobody consumes them there.", "{count} 条消息进入死信主题（{groups}），没有人会再消费它们。")
SUMMARY_LOG = T("The broker moved {count} messages to dead letter topics.", "Broker 将 {count} 条消息移入死信主题。")
NONE = T("No message lies in a dead letter topic.", "死信主题中没有消息。")
IN_DLQ = T("{records} records of {count} messages lie in dead letter topics: {groups}.", "死信主题中有 {count} 条消息的 {records} 条记录：{groups}。")
LOGGED = T("The broker's log says that {count} messages were moved to a dead letter topic.", "Broker 日志显示有 {count} 条消息被移入死信主题。")
LIES_IN = T("A message lies in a dead letter topic.", "死信主题中有消息。")
ON_THE_WAY = T(
    "{count} more messages wait for a delay on their way to a dead letter topic.",
    "另有 {count} 条消息正在等待延时、前往死信主题。",
)
NONE_WAITS = T("Messages wait for a delay on their way to a dead letter topic.", "有消息正在等待延时、前往死信主题。")
NO_FAILURE = T("The consumer's log shows its listener failing.", "消费者日志显示其监听器失败。")
FAILED = T("The consumer's log shows its listener failing ({count} lines).", "消费者日志显示其监听器失败（{count} 行）。")
WANT_STORE = T("dead letters are records of %DLQ% + group", "死信就是 %DLQ% + 组名 主题中的记录")
WANT_CLIENT = T("its `consumeMessage exception` says why the messages failed", "其中的 `consumeMessage exception` 说明消息为何消费失败")
ACTION = T("Find out why the listener fails, repair it, then send the dead letters again.", "查明监听器失败的原因并修复，再重新投递死信。")
WHY = T("Nothing consumes a dead letter topic: these {count} messages stay unhandled.", "死信主题无人消费：这 {count} 条消息会一直得不到处理。")
RISK = T(
    "The topic is created write-only before 4.9.2 (set perm 6 to read it); messages sent again must be handled idempotently.",
    "4.9.2 之前该主题默认只写（设为 perm 6 才能读取）；重新投递的消息须幂等处理。",
)
VERIFY = T("The dead letter topic stops growing, and the business rows of these keys are there.", "死信主题不再增长，且这些 key 的业务数据已补齐。")

LOOKS_LIKE = (
    ("send-back-refused", T("the message never reaches a retry topic: it stays in the consumer's memory", "消息从未进入重试主题：停留在消费者内存中")),
    ("dlq-unreadable", T("the messages are there; the topic lacks the read bit", "消息在死信主题中；只是主题没有读权限")),
    ("check-unknown-until-discard", T("given up by the broker's checks, in TRANS_CHECK_MAX_TIME_TOPIC, before any consumer saw it", "由 Broker 回查放弃，位于 TRANS_CHECK_MAX_TIME_TOPIC，消费者从未见过")),
)


def examine(case: Case) -> Finding:
    """Say which messages were given up, by which group."""
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    store = case.has("messages")
    letters = dead_letters(case) if store else None
    groups = _by_group(case) if store else None
    frame = None if groups is None else groups[groups["stage"] == stages.DLQ].drop(columns="stage").reset_index(drop=True)
    waiting = 0 if groups is None else int(groups["waiting"].sum())
    logged = refs.seen(case, "dlq-sent")
    count = int(frame["messages"].sum()) if frame is not None else None
    if frame is not None and letters is not None and len(frame):
        finding.steps = [Step(IN_DLQ.say(records=int(frame["records"].sum()), count=count, groups=_groups(frame)), "deciding", True, refs.records(letters))]
    elif logged:
        finding.steps = [Step(LOGGED.say(count=logged.count), "deciding", True, refs.quote(case, logged))]
    else:
        finding.steps = [Step(LIES_IN, "deciding", False if store and not waiting else None)]
    finding.steps += [_on_the_way(case) if waiting else Step(NONE_WAITS, "supporting", None), _failed_step(case, bool(count or logged))]
    finding.figures = {"dead_lettered": count if store else (logged.count or None)}
    if frame is not None and letters is not None and count:
        finding.summary = SUMMARY.say(count=count, groups=_groups(frame))
        finding.window = (frame["first"].min().to_pydatetime(), frame["last"].max().to_pydatetime())
        finding.tables = {"dead_letters": _listed(letters), "dead_letter_groups": frame.drop(columns="waiting"), "dead_letter_funnel": stages.funnel(case).limit(5_000).toPandas()}
    elif logged:
        finding.summary = SUMMARY_LOG.say(count=logged.count)
    if count or logged:
        finding.remedies = [Remedy(ACTION, WHY.say(count=count or logged.count), RISK, VERIFY)]
        if not case.has_source("client"):
            finding.missing.append(requests.client_log(requests.CONSUMER, WANT_CLIENT))
    elif not store:
        finding.missing.append(requests.commitlog(WANT_STORE))
    return finding


def dead_letters(case: Case) -> DataFrame:
    """Return the records in dead letter topics, with the columns of `messages`."""
    return stages.staged(case).where(F.col("stage") == stages.DLQ)


def _by_group(case: Case) -> pd.DataFrame:
    """Count dead letters by group, and what waits for a delay in front of a dead letter topic (`waiting`: more than have arrived)."""
    every = stages.staged(case)
    to_dlq = F.startswith(F.coalesce(stages.prop(names.REAL_TOPIC), F.lit("")), F.lit(names.DLQ_PREFIX))
    mine = every.where((F.col("stage") == stages.DLQ) | ((F.col("stage") == stages.SCHEDULE) & to_dlq))
    per_group = mine.groupBy("consumer_group", "stage").agg(
        F.count("*").alias("records"), F.count_distinct(F.coalesce("uniq_key", "offset_msg_id")).alias("messages"), F.max("reconsume_times").alias("reconsume_times"),
        F.min("store_timestamp").alias("first"), F.max("store_timestamp").alias("last"),
    )  # fmt: skip
    frame = per_group.orderBy("consumer_group", "stage").toPandas()
    arrived = frame[frame["stage"] == stages.DLQ].groupby("consumer_group", dropna=False)["messages"].sum()
    sent = frame["messages"].where(frame["stage"] == stages.SCHEDULE, 0)
    return frame.assign(waiting=(sent - frame["consumer_group"].map(arrived).fillna(0)).clip(lower=0))


def _groups(frame: pd.DataFrame) -> list[str]:
    return [str(group) for group in frame["consumer_group"].head(5)] + (["…"] if len(frame) > 5 else [])


def _listed(letters: DataFrame) -> pd.DataFrame:
    origin = stages.prop(names.ORIGIN_MESSAGE_ID).alias("origin_message_id")
    came_from = stages.prop(names.RETRY_TOPIC).alias("retry_topic")
    columns = ("consumer_group", "uniq_key", "keys", "tags", "offset_msg_id", "reconsume_times", "born_timestamp", "store_timestamp", "file", "physical_offset")
    return letters.select(*columns, came_from, origin).orderBy("store_timestamp", "physical_offset").limit(5_000).toPandas()


def _on_the_way(case: Case) -> Step:
    """Return that messages wait for a delay in front of a dead letter topic, where brokers before 4.9.2 send them."""
    every = stages.staged(case)
    to_dlq = F.startswith(F.coalesce(stages.prop(names.REAL_TOPIC), F.lit("")), F.lit(names.DLQ_PREFIX))
    late = every.where((F.col("stage") == stages.SCHEDULE) & to_dlq & F.col("uniq_key").isNotNull())
    arrived = dead_letters(case).select("uniq_key", "consumer_group").distinct()
    open_ = late.join(arrived, ["uniq_key", "consumer_group"], "left_anti")
    count = open_.select("uniq_key").distinct().count()
    return Step(ON_THE_WAY.say(count=count) if count else NONE_WAITS, "supporting", True if count else None, refs.records(open_, 2) if count else ())


def _failed_step(case: Case, happened: bool) -> Step:
    failed = refs.seen(case, "consume-exception", "consume-null")
    if not failed or not happened:
        return Step(NO_FAILURE, "supporting", None)
    return Step(FAILED.say(count=failed.count), "supporting", True, refs.quote(case, failed, 2))
