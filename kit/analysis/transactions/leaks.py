"""Leaked messages: half and schedule records whose REAL_TOPIC is the half topic itself.

No producer writes such a record. A consumer older than 4.6.1 does, when its send-back is refused and it sends the
message anew with TRAN_MSG
and a delay still set (client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack, up to 4.6.0): the broker takes it
for a half message and the delay
diverts it into SCHEDULE_TOPIC_XXXX, which overwrites REAL_TOPIC.
"""

from __future__ import annotations

import itertools
import statistics
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from kit.case.memoize import per_case
from kit.rocketmq import names

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column, DataFrame

    from kit.case.case import Case

CHART_ROWS = 4_000
TIMELINE_ROWS = 300


def prop(name: str) -> Column:
    """A property of a record, null when it has none of that name."""
    return F.col("properties").getItem(name)


def is_commit(flag: str = "sys_flag") -> Column:
    return F.col(flag).bitwiseAND(names.TRANSACTION_MASK) == names.TRANSACTION_COMMIT


def is_commit_itself() -> Column:
    """A commit names the record it ends; put-backs of a committed copy keep the bit, not the name."""
    return (F.col("topic") == names.SCHEDULE_TOPIC) & is_commit() & (F.col("prepared_transaction_offset") != 0)


@per_case
def leaked(case: Case) -> DataFrame:
    """Return the leaked records of the case, once each: half, schedule and given-up ones.

    Columns of `messages` plus `check_times` (int, null before the first check), `committed` (bool: written by a commit)
    and
    `place` (`half`, `schedule`, `discarded`).
    """
    records = case.records
    half, given_up = names.HALF_TOPIC, names.DISCARD_TOPIC
    place = (
        F.when((F.col("topic") == half) & (prop("REAL_TOPIC") == half), "half")
        .when((F.col("topic") == names.SCHEDULE_TOPIC) & (prop("REAL_TOPIC") == half), "schedule")
        # A leaked record that is given up goes through SCHEDULE as well and names the give-up topic as its target.
        .when(F.col("topic").isin(names.SCHEDULE_TOPIC, given_up) & (prop("REAL_TOPIC") == given_up), "discarded")
    )
    return (
        records.withColumn("place", place)
        .where(F.col("place").isNotNull() & (prop("TRAN_MSG") == "true") & prop("DELAY").isNotNull())
        .withColumn("check_times", prop("TRANSACTION_CHECK_TIMES").try_cast("int"))
        .withColumn("committed", is_commit())
        .persist()
    )


def half_records(case: Case) -> DataFrame:
    return leaked(case).where(F.col("place") == "half")


def resent(case: Case) -> DataFrame:
    """Return the records with which the leak began: written by a consumer, seen once, not yet checked."""
    return leaked(case).where(
        (F.col("place") == "schedule")
        & (F.col("reconsume_times") > 0)
        & prop("RECONSUME_TIME").isNotNull()
        & F.col("check_times").isNull()
    )


def committed_again(case: Case) -> DataFrame:
    """Return the leaked records with the commit bit: written by a commit that was diverted, or copied from one."""
    return leaked(case).where(F.col("committed") & (F.col("place") != "discarded"))


def twins(case: Case) -> DataFrame:
    """Return leaked half records that share UNIQ_KEY and check count with another one: one message became two."""
    same = Window.partitionBy("uniq_key", "check_times")
    return (
        half_records(case)
        .withColumn("n", F.count("*").over(same))
        .where((F.col("n") > 1) & F.col("uniq_key").isNotNull())
        .drop("n")
    )


def counts(case: Case) -> pd.DataFrame:
    """Return records by place and by descent: columns place, committed (it or an ancestor was committed), records,
    commits, messages, …

    `commits` are the records that a commit itself wrote into SCHEDULE: they name the record they end, put-backs of them
    do not.
    """
    return (
        leaked(case)
        .groupBy("place", "committed")
        .agg(
            F.count("*").alias("records"),
            F.count_if(is_commit_itself()).alias("commits"),
            F.count_distinct("uniq_key").alias("messages"),
            F.max("check_times").alias("max_check_times"),
            F.min("store_timestamp").alias("first"),
            F.max("store_timestamp").alias("last"),
        )
        .orderBy("place", "committed")
        .toPandas()
    )


def growth(case: Case, messages: int, records: int) -> pd.DataFrame:
    """Return leaked half records in the order of their offsets, thinned to what a chart draws; each doubling (messages
    × 2^k) is kept.

    Columns seq (1 …), store_timestamp, half_queue_offset, check_times, uniq_key, doubling (bool).
    """
    marks = doublings(messages, records)
    every = max(1, records // CHART_ROWS)
    numbered = half_records(case).withColumn(
        "seq", F.row_number().over(Window.orderBy("store_host", "physical_offset"))
    )
    shown = numbered.where((F.col("seq") % every == 0) | F.col("seq").isin([1, records, *marks]))
    frame = (
        shown.orderBy("seq")
        .select("seq", "store_timestamp", F.col("queue_offset").alias("half_queue_offset"), "check_times", "uniq_key")
        .toPandas()
    )
    frame["doubling"] = frame["seq"].isin(marks)
    return frame


def doublings(messages: int, records: int) -> list[int]:
    """Return messages × 2^k for k = 0, 1, … up to the number of records."""
    marks = []
    m = messages
    while 0 < m <= records:
        marks.append(m)
        m *= 2
    return marks


def doubling_seconds(growth_frame: pd.DataFrame, messages: int, records: int) -> float | None:
    """Median time from the m-th to the 2m-th leaked half record, m = messages × 2^k; None below three terms."""
    when = growth_frame.set_index("seq")["store_timestamp"]
    marks = doublings(messages, records)
    terms = [(when[b] - when[a]).total_seconds() for a, b in itertools.pairwise(marks)]
    if len(terms) < 3:
        return None
    return round(statistics.median(terms), 3)


def flow(case: Case) -> pd.DataFrame:
    """Return how leaked records moved between topics: columns source, target, records. Read from the records
    themselves.

    A leaked schedule record came from the consumer (reconsumed), from a check's put-back, or from a commit; it goes
    where its REAL_TOPIC says.
    Put-backs of a committed copy keep its commit bit; only the commit itself names the record it ends
    (preparedTransactionOffset).
    """
    into = (
        F.when(is_commit_itself(), "commit")
        .when((F.col("reconsume_times") > 0) & F.col("check_times").isNull(), "consumer")
        .otherwise("check")
    )
    scheduled = leaked(case).where(F.col("topic") == names.SCHEDULE_TOPIC)
    return (
        scheduled.groupBy(into.alias("writer"), prop("REAL_TOPIC").alias("target"))
        .agg(F.count("*").alias("records"))
        .orderBy("writer", "target")
        .toPandas()
    )


def timelines(case: Case, most: int = 8) -> pd.DataFrame:
    """Return the records of the first leaked messages (at most `most`) in store order, the first `TIMELINE_ROWS` of
    each; `uniq_key` says whose.
    """
    first = F.min("store_timestamp").alias("at")
    began = (
        resent(case)
        .groupBy("uniq_key")
        .agg(first, F.lit(0).alias("rank"))
        .union(half_records(case).groupBy("uniq_key").agg(first, F.lit(1).alias("rank")))
    )
    picked = (
        began.where(F.col("uniq_key").isNotNull())
        .groupBy("uniq_key")
        .agg(F.min(F.struct("rank", "at")).alias("began"))
        .orderBy("began", "uniq_key")
    )
    keys = [row.uniq_key for row in picked.limit(most).collect()]
    ended = is_commit() & ((F.col("topic") != names.SCHEDULE_TOPIC) | (F.col("prepared_transaction_offset") != 0))
    within = F.row_number().over(Window.partitionBy("uniq_key").orderBy("store_timestamp", "physical_offset"))
    frame = (
        case.records.where(F.col("uniq_key").isin(keys) if keys else F.lit(False))
        .withColumn("_n", within)
        .where(F.col("_n") <= TIMELINE_ROWS)
        .select(
            "uniq_key",
            "store_timestamp",
            "file",
            "physical_offset",
            "topic",
            "queue_id",
            "queue_offset",
            "offset_msg_id",
            "sys_flag",
            "reconsume_times",
            prop("REAL_TOPIC").alias("real_topic"),
            prop("TRANSACTION_CHECK_TIMES").try_cast("int").alias("check_times"),
            ended.alias("committed"),
        )
        .toPandas()
    )
    order = {key: n for n, key in enumerate(keys)}
    return frame.sort_values(
        ["uniq_key", "store_timestamp", "physical_offset"],
        key=lambda c: c.map(order) if c.name == "uniq_key" else c,
        ignore_index=True,
    )
