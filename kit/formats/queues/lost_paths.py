"""Consume queue files whose path was lost: the records they point to show which queue they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kit.formats.values import NANO_LAST_MS
from kit.rocketmq import names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def placed(units: DataFrame, records: DataFrame) -> DataFrame:
    """Return `consumequeue` with topic, queue and offset taken from the records for units of files whose path does not
    name them.

    A file holds one queue: if several brokers have a record at an offset, the queue that most units of the file agree
    on is taken.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    lost = units.where(F.col("topic").isNull()).drop("topic", "queue_id", "logical_offset", "deliver_timestamp")
    found = records.select(
        "physical_offset",
        F.col("store_size").alias("size"),
        "topic",
        "queue_id",
        F.col("queue_offset").alias("logical_offset"),
    )
    hits = lost.join(found, ["physical_offset", "size"])
    rank = F.row_number().over(Window.partitionBy("file").orderBy(F.desc("count"), "topic", "queue_id"))
    queues = (
        hits.groupBy("file", "topic", "queue_id")
        .count()
        .withColumn("rank", rank)
        .where("rank = 1")
        .select("file", "topic", "queue_id")
    )
    offsets = hits.select("file", "topic", "queue_id", "physical_offset", "size", "logical_offset").dropDuplicates(
        ["file", "topic", "queue_id", "physical_offset", "size"]
    )
    told = lost.join(queues, "file", "left").join(
        offsets, ["file", "topic", "queue_id", "physical_offset", "size"], "left"
    )
    # In the schedule topic the tags code is the delivery time (`CommitLog.checkMessageAndReturnSize`).
    due = F.when(
        (F.col("topic") == names.SCHEDULE_TOPIC) & F.col("tags_code").between(1, NANO_LAST_MS),
        F.timestamp_millis("tags_code"),
    )
    return units.where(F.col("topic").isNotNull()).unionByName(
        told.withColumn("deliver_timestamp", due).select(units.columns)
    )
