"""Copies, retries and steps that never came, counted by what each record is in the life of its message
(`kit.rocketmq.stages`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow.dataset as ds
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from kit.case import scan, setup
from kit.formats.commitlog.strings import hashed
from kit.formats.values import NANO_LAST_MS
from kit.i18n import T
from kit.rocketmq import names
from kit.rocketmq.stages import CHECK_BACK, COMMIT, DISCARDED, DLQ, DUE, HALF, LEAKED, OP, ORIGINAL, RETRY, SCHEDULE
from kit.spark.properties import prop

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kit.case.case import Case

STAGES: Final[dict[str, T]] = {
    ORIGINAL: T("written by the producer"),
    HALF: T("half message, invisible to consumers"),
    CHECK_BACK: T("half message put back by a check"),
    COMMIT: T("committed, now in its real topic"),
    OP: T("mark that a half message is finished"),
    SCHEDULE: T("waiting for its delay"),
    DUE: T("delivered to its topic when the delay was over"),
    RETRY: T("sent back by a consumer, to be consumed again"),
    DLQ: T("dead letter of its consumer group"),
    DISCARDED: T("discarded by the check"),
    LEAKED: T("a retry that became a half message"),
}
"""Stage → what it means."""
LONGEST_DELAY: Final = 100 * 86_400
"""Seconds. A level beyond is no delay anybody waits for, and could lead out of the times that can be shown."""


def is_commit() -> Column:
    """Whether the commit bit is set: on the committed record and on every later copy of it."""
    return F.col("sys_flag").bitwiseAND(names.TRANSACTION_MASK) == names.TRANSACTION_COMMIT


def staged(case: Case) -> DataFrame:
    """Return every record once, with `stage` (one of `STAGES`; a retry's number is its `reconsume_times`) and
    `consumer_group` (of a retry or dead letter, on its way through the delay too; null for others).
    """
    return case.records


def identities(case: Case) -> tuple[int, int]:
    """Return (distinct UNIQ_KEYs, those with more than one offset id) over every record."""
    hashes = [hashed(batch["uniq_key"]) for batch in scan.batches(case, ("uniq_key",), ds.field("uniq_key").is_valid())]
    # Every record is there once and has an offset id of its own.
    _, counts = np.unique(np.concatenate([np.empty(0, np.uint64), *hashes]), return_counts=True)
    return len(counts), int((counts > 1).sum())


def copies(case: Case) -> DataFrame:
    """Return how many copies each stage holds: topic, stage, reconsume_times, records, messages, first, last."""
    counted = (
        staged(case)
        .groupBy("topic", "stage", "reconsume_times")
        .agg(
            F.count("*").alias("records"),
            F.count_distinct("uniq_key").alias("messages"),
            F.min("store_timestamp").alias("first"),
            F.max("store_timestamp").alias("last"),
        )
    )
    return counted.orderBy("first", "topic", "stage", "reconsume_times")


def journeys(case: Case) -> DataFrame:
    """Return how often each journey was taken: `path` (stages in store order, joined by ` > `), `messages`, `example`
    (a UNIQ_KEY).
    """
    every = staged(case)
    step = F.when(
        F.col("stage") == RETRY, F.concat_ws(" ", F.col("stage"), F.col("reconsume_times").cast("string"))
    ).otherwise(F.col("stage"))
    ordered = F.array_sort(F.collect_list(F.struct("store_timestamp", "physical_offset", step.alias("step"))))
    per_key = every.where(F.col("uniq_key").isNotNull()).groupBy("uniq_key").agg(ordered.alias("steps"))
    paths = per_key.select(
        "uniq_key", F.array_join(F.slice(F.col("steps").getField("step"), 1, 60), " > ").alias("path")
    )
    return (
        paths.groupBy("path")
        .agg(F.count("*").alias("messages"), F.min("uniq_key").alias("example"))
        .orderBy(F.desc("messages"), "path")
    )


def funnel(case: Case) -> DataFrame:
    """Return the retry funnel: consumer_group, level (1 …, the reconsumeTimes), step (`sent back`, `retry`, `dlq`),
    messages, seconds.

    `sent back` counts what the delay holds or held, `retry` what reached the retry topic, `dlq` what became a dead letter.
    `seconds`: median time from the
    message's copy before (the failed delivery's record for `sent back`) to this one.
    """
    every = staged(case)
    mine = Window.partitionBy("uniq_key").orderBy("store_timestamp", "physical_offset")
    before = F.lag("store_timestamp").over(mine)
    timed = every.where(F.col("uniq_key").isNotNull()).withColumn(
        "seconds", _seconds(F.col("store_timestamp")) - _seconds(before)
    )
    to_dlq = F.startswith(F.coalesce(prop(names.REAL_TOPIC), F.lit("")), F.lit(names.DLQ_PREFIX))
    step = F.when(F.col("stage") == SCHEDULE, F.when(to_dlq, "given up").otherwise("sent back")).otherwise(
        F.col("stage")
    )
    rows = timed.where(F.col("consumer_group").isNotNull()).groupBy(
        "consumer_group", F.col("reconsume_times").alias("level"), step.alias("step")
    )
    counted = rows.agg(F.count_distinct("uniq_key").alias("messages"), F.round(F.median("seconds"), 3).alias("seconds"))
    rank = (
        F.when(F.col("step") == "sent back", 0)
        .when(F.col("step") == RETRY, 1)
        .when(F.col("step") == "given up", 2)
        .otherwise(3)
    )
    return counted.orderBy("consumer_group", "level", rank)


def never_came(case: Case, grace_seconds: float = 2.0) -> DataFrame:
    """Return copies whose next step never came although its time was over when the evidence ends.

    Columns uniq_key, offset_msg_id, file, physical_offset, store_timestamp, stage, target (the topic it should have
    reached), due. Covers what
    waits for a delay: delayed messages, retries and dead letters on their way.
    """
    waiting = due(case, staged(case).where((F.col("stage") == SCHEDULE) & F.col("uniq_key").isNotNull()))
    waiting = waiting.withColumn("target", prop(names.REAL_TOPIC))
    same = ["uniq_key", "target", "reconsume_times"]
    nth = F.row_number().over(Window.partitionBy(*same).orderBy("store_timestamp", "physical_offset"))
    came = staged(case).where(F.col("uniq_key").isNotNull() & F.col("stage").isin(DUE, RETRY, DLQ, ORIGINAL, COMMIT))
    arrived = came.groupBy("uniq_key", F.col("topic").alias("target"), "reconsume_times").agg(
        F.count("*").alias("arrived")
    )
    end = case.records.agg(F.max("store_timestamp").alias("end"))
    open_ = (
        waiting.withColumn("nth", nth)
        .join(arrived, same, "left")
        .where(F.col("nth") > F.coalesce("arrived", F.lit(0)))
        .crossJoin(F.broadcast(end))
    )
    late = open_.where(F.col("due") + F.make_dt_interval(secs=F.lit(grace_seconds)) < F.col("end"))
    return late.select(
        "uniq_key", "offset_msg_id", "file", "physical_offset", "store_timestamp", "stage", "target", "due"
    ).orderBy("due", "offset_msg_id")


def due(case: Case, scheduled: DataFrame) -> DataFrame:
    """Add `due`: when the delay of a schedule record is over, by its level (the queue) and the broker's
    messageDelayLevel; null where unknown.
    """
    levels = delay_levels(case)
    table = F.create_map(*[F.lit(x) for pair in levels.items() for x in pair])
    level = F.col("queue_id") + 1
    out = prop("TIMER_OUT_MS").try_cast("long")
    wheel = F.when(out.between(0, NANO_LAST_MS), F.timestamp_millis(out))
    after = F.col("store_timestamp") + F.make_dt_interval(secs=F.try_element_at(table, level).cast("double"))
    return scheduled.withColumn("due", F.when(F.col("topic") == names.TIMER_TOPIC, wheel).otherwise(after))


def delay_levels(case: Case) -> dict[int, int]:
    """Return {level: seconds} of the broker: its messageDelayLevel, else the default."""
    said = setup.setting(case, "messageDelayLevel").value
    try:
        levels = names.delay_seconds(str(said)) if said else names.delay_seconds()
    except ValueError:
        return names.delay_seconds()
    return {level: seconds for level, seconds in levels.items() if seconds <= LONGEST_DELAY}


def _seconds(column: Column) -> Column:
    return F.unix_millis(column) / 1000
