"""Cross-checks between store files: case → Spark frames, empty if all is well or nothing can be compared.

A plain unit of a consume queue is written for every record but those of a transaction's first and last step
(`DefaultMessageStore.CommitLogDispatcherBuildConsumeQueue`: PREPARED and ROLLBACK have none). Brokers are told apart by who stored a record (hosts
that wrote into one file are one broker) and files of one store by the folders they lie in, where these are RocketMQ's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from kit.rocketmq import names
from kit.spark.properties import prop

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kit.case.case import Case

NO_RECORD, OTHER_RECORD, NOT_COVERED, DAMAGED = (
    "no record there",
    "another record there",
    "outside the commitlog files",
    "damaged unit",
)
NO_QUEUE, BEFORE_QUEUE, BEHIND_QUEUE, NO_UNIT = (
    "no file of this queue",
    "before its first unit",
    "behind its last unit",
    "no unit for it",
)
BEYOND_END, BEFORE_START = "beyond the end", "before the start"
_QUEUE: Final = ("topic", "queue_id", "queue_offset")


def _queued() -> Column:
    """Whether a record has a place in its queue."""
    kind = F.col("sys_flag").bitwiseAND(names.TRANSACTION_MASK)
    return ~kind.isin(names.TRANSACTION_PREPARED, names.TRANSACTION_ROLLBACK)


def _records(case: Case) -> DataFrame:
    fields = ("file", "physical_offset", "store_size", *_QUEUE, "offset_msg_id")
    return case.records.where(_queued() & F.col("problem").isNull()).select(*fields)


def _units(case: Case) -> DataFrame:
    """Return plain units whose queue is known."""
    return case.consumequeue.where((F.col("kind") == "plain") & F.col("topic").isNotNull())


def dangling(case: Case) -> DataFrame:
    """Return units of consume queues that do not point to a record of their own.

    Columns file, topic, queue_id, queue_offset, physical_offset, size, why: `DAMAGED`, `OTHER_RECORD` (topic, queue, offset or size differ),
    `NO_RECORD`, or `NOT_COVERED` (no commitlog file of the evidence reaches there: nothing can be said).
    """
    units = _units(case).select(
        "file", "topic", "queue_id", F.col("logical_offset").alias("queue_offset"), "physical_offset", "size", "problem"
    )
    records = _records(case)
    there = records.groupBy("physical_offset").agg(F.lit(True).alias("there"))
    mine = records.withColumnRenamed("store_size", "size")
    known = units.join(mine, [*_QUEUE, "physical_offset", "size"], "left_anti").join(there, "physical_offset", "left")
    spans = case.stored_messages.groupBy("file").agg(
        F.min("physical_offset").alias("low"), F.max(F.try_add("physical_offset", "store_size")).alias("high")
    )
    covered = known.join(
        F.broadcast(spans.select("low", "high").distinct()),
        F.col("physical_offset").between(F.col("low"), F.col("high") - 1),
        "left_semi",
    )
    places = covered.select("physical_offset").distinct().withColumn("covered", F.lit(True))
    why = (
        F.when(F.col("problem").isNotNull(), DAMAGED)
        .when(F.col("there"), OTHER_RECORD)
        .when(F.col("covered"), NO_RECORD)
        .otherwise(NOT_COVERED)
    )
    return known.join(places, "physical_offset", "left").select(
        "file", *_QUEUE, "physical_offset", "size", why.alias("why")
    )


def unqueued(case: Case) -> DataFrame:
    """Return records that should have a unit in a consume queue and have none.

    Columns file, physical_offset, topic, queue_id, queue_offset, offset_msg_id, why: `NO_UNIT` and `BEHIND_QUEUE` (the queue was not written on) are
    losses; `BEFORE_QUEUE` is an older part of the queue that was deleted or not copied, `NO_QUEUE` a queue that was not copied at all.
    """
    units = _units(case).where(F.col("problem").isNull())
    ends = units.groupBy("topic", "queue_id").agg(
        F.min("logical_offset").alias("low"), F.max("logical_offset").alias("high")
    )
    pointed = units.select(*_QUEUE[:2], F.col("logical_offset").alias("queue_offset"), "physical_offset")
    lone = (
        _records(case)
        .join(pointed, [*_QUEUE, "physical_offset"], "left_anti")
        .join(ends, ["topic", "queue_id"], "left")
    )
    why = (
        F.when(F.col("low").isNull(), NO_QUEUE)
        .when(F.col("queue_offset") < F.col("low"), BEFORE_QUEUE)
        .when(F.col("queue_offset") > F.col("high"), BEHIND_QUEUE)
        .otherwise(NO_UNIT)
    )
    return lone.select("file", "physical_offset", *_QUEUE, "offset_msg_id", why.alias("why"))


def queue_gaps(case: Case) -> DataFrame:
    """Return stretches of queue offsets that no record has, between records that are there: a lost or damaged part of the commitlog.

    Columns broker (its host as in offset message ids), topic, queue_id, first (missing queue offset), last, missing
    (how many), behind and before:
    the physical offsets of the records on both sides. An inner batch takes as many offsets as it has messages
    (`INNER_NUM`).
    """
    frame = case.records.where(_queued() & F.col("problem").isNull())
    count = F.when(F.col("sys_flag").bitwiseAND(names.INNER_BATCH) != 0, prop("INNER_NUM").try_cast("long"))
    taken = frame.select(
        _broker(case).alias("broker"),
        *_QUEUE,
        "physical_offset",
        F.try_add(F.col("queue_offset"), F.coalesce(count, F.lit(1))).alias("next"),
    )
    order = Window.partitionBy("broker", "topic", "queue_id").orderBy("queue_offset", "physical_offset")
    steps = taken.withColumn("first", F.lag("next").over(order)).withColumn(
        "behind", F.lag("physical_offset").over(order)
    )
    gap = steps.where(F.col("queue_offset") > F.col("first"))
    last, missing = F.try_subtract("queue_offset", F.lit(1)), F.try_subtract("queue_offset", "first")
    return gap.select(
        "broker",
        "topic",
        "queue_id",
        "first",
        last.alias("last"),
        missing.alias("missing"),
        "behind",
        F.col("physical_offset").alias("before"),
    )


def _broker(case: Case) -> Column:
    """Return who a record's queue belongs to: a DLedger group stores under the address of whoever leads it."""
    from kit.analysis.transactions import owners

    host = F.expr("substring(offset_msg_id, 1, length(offset_msg_id) - 16)")
    pairs = (
        case.stored_messages.where(F.col("offset_msg_id").isNotNull())
        .select("file", host.alias("host"))
        .distinct()
        .collect()
    )
    known = owners.joined(sorted((row.file, row.host) for row in pairs))
    if len(set(known.values())) == len(known):
        return host
    table = F.create_map(*[F.lit(word) for pair in sorted(known.items()) for word in pair])
    return F.coalesce(F.try_element_at(table, host), host)


def _root(file: str, below: str) -> Column:
    """Return the store a file lies in, null where its path does not show it."""
    return F.nullif(F.regexp_extract(F.concat(F.lit("/"), F.col(file)), f"^(.*/){below}$", 1), F.lit(""))


def stray_offsets(case: Case) -> DataFrame:
    """Return consumer and delay offsets that lie outside their queue.

    Columns file, kind (`consumer`, `delay`), topic, group, queue_id, value, start, end (the next offset to be written), why: `BEYOND_END` (the queue
    is shorter than what was consumed: records were lost, or it was made anew) or `BEFORE_START` (not consumed and no longer there). Start and end are
    those of the store the offsets belong to, from its queues and records; without RocketMQ's own folders they are only compared where there is one
    store.
    """
    units = _units(case).where(F.col("problem").isNull() & F.col("logical_offset").isNotNull())
    queues = units.select(
        _root("file", r"consumequeue/[^/]+/\d+/\d{20}").alias("store"),
        "topic",
        "queue_id",
        F.col("logical_offset").alias("at"),
    )
    records = _records(case).select(
        _root("file", r"commitlog/\d{20}").alias("store"), "topic", "queue_id", F.col("queue_offset").alias("at")
    )
    every = queues.unionByName(records)
    stores = [row.store for row in every.select("store").distinct().collect()]
    ends = every.groupBy("store", "topic", "queue_id").agg(F.min("at").alias("start"), (F.max("at") + 1).alias("end"))
    said = case.offsets.where(F.col("kind").isin("consumer", "delay") & ~F.col("backup")).withColumn(
        "store", _root("file", r"config/[^/]+")
    )
    on = ["topic", "queue_id"]
    if len(stores) > 1:
        on = ["store", *on]
    else:
        said, ends = said.drop("store"), ends.drop("store")
    value = F.col("value")
    why = F.when(value > F.col("end"), BEYOND_END).when(value < F.col("start"), BEFORE_START)
    found = said.join(ends, on).withColumn("why", why).where(F.col("why").isNotNull())
    return found.select("file", "kind", "topic", "group", "queue_id", "value", "start", "end", "why")


def changed_configs(case: Case) -> DataFrame:
    """Return settings that differ from the copy of the time before the last save (`.bak`): what was changed last.

    Columns file, origin, subject (topic or group; null: the broker), name, was (null: not there before), value (null:
    not there any more).
    """
    key = ["file", "origin", "subject", "name"]
    rows = case.configs.withColumn("file", F.regexp_replace("file", r"(?i)\.bak$", ""))
    was, now = (
        rows.where(side).groupBy(*key).agg(F.max("value").alias(name))
        for side, name in ((F.col("backup"), "was"), (~F.col("backup"), "value"))
    )
    pairs = was.select("file", "origin").distinct().join(now.select("file", "origin").distinct(), ["file", "origin"])
    left, right = was.alias("a"), now.alias("b")
    same = [F.col(f"a.{name}").eqNullSafe(F.col(f"b.{name}")) for name in key]
    both = left.join(right, same, "full").select(
        *[F.coalesce(f"a.{name}", f"b.{name}").alias(name) for name in key], "was", "value"
    )
    return (
        both.where(~F.col("was").eqNullSafe(F.col("value")))
        .join(pairs, ["file", "origin"], "left_semi")
        .select(*key, "was", "value")
    )
