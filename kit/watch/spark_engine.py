"""The watch on Spark Structured Streaming: tasks read what is new on many brokers' shared folders and count; the driver
feeds its episodes from the counts.

Positions are Spark's (a checkpoint for each stream, in the state folder). A micro-batch that Spark runs again after a crash is
recognised by its number, so it sends no alert twice.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from kit.spark import sessions
from kit.watch import run, signs, state_folder
from kit.watch.lag import SAVED
from kit.watch.loop import Watch
from kit.watch.outlets import Outlet
from kit.watch.signs import RECORD_COLUMNS, Behind, Sign

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

LOGS, RECORDS = "log", "commitlog"
KEPT_BATCHES: Final = "10"
"""How many micro-batches' offsets stay in the checkpoint."""
ROWS: Final = 20_000
"""Most entries of one micro-batch whose values are read."""


class Engine:
    """The streams over the folders of a watch."""

    def __init__(self, watch: Watch, folder: Path, outlets: Sequence[Outlet]) -> None:
        self.watch, self.folder, self.outlets = watch, folder, outlets
        self.lock = threading.RLock()
        self.alerts: list[dict[str, Any]] = []

    def start(self, spark: SparkSession, every: float, *, once: bool) -> list[StreamingQuery]:
        """Start one stream for the logs and one for the stores of each folder."""
        queries = []
        for root, path in enumerate(self.watch.roots):
            for kind in (LOGS, RECORDS):
                name = f"{kind}-{root}"
                found = spark.readStream.format(f"rocketmq.{kind}").option("startingOffsets", self.watch.start)
                found = (
                    found.option("events", "true")
                    if kind == LOGS
                    else found.option("columns", ",".join(RECORD_COLUMNS))
                )
                writer = (
                    found.load(str(path))
                    .writeStream.queryName(name)
                    .option("checkpointLocation", sessions.uri(self.folder / state_folder.CHECKPOINT / name))
                    .foreachBatch(self._batch(name, kind, root))
                )
                trigger = (
                    writer.trigger(availableNow=True) if once else writer.trigger(processingTime=f"{every} seconds")
                )
                queries.append(trigger.start())
        return queries

    def _batch(self, name: str, kind: str, root: int) -> Callable[[DataFrame, int], None]:
        def batch(frame: DataFrame, number: int) -> None:
            if number <= self.watch.kept.batches.get(name, -1):
                return
            found = self.entries(frame, root) if kind == LOGS else self.records(frame)
            with self.lock:
                self.watch.kept.batches[name] = number
                self.tell(found)

        return batch

    def entries(self, frame: DataFrame, root: int) -> list[Sign]:
        """Return the signs in log entries: the tasks count most of them; those with values are returned singly."""
        from pyspark.sql import functions as F  # noqa: N812

        now, behind = self.watch.clock(), self._behind
        one = F.explode("events").alias("slug")
        said = F.substring("message", 1, signs.TEXT).alias("text")
        rows = frame.select("file", "line", F.floor(F.unix_micros("ts") / 1_000_000).alias("at"), said, one)
        plain = sorted(set(signs.watched()) - signs.valued())
        counted = (
            rows.where(F.col("slug").isin(plain))
            .groupBy("slug", "at")
            .agg(F.count("*").alias("count"), F.min(F.struct("file", "line", "text")).alias("first"))
        )
        found = list(signs.of_counts(counted.collect(), now, behind))
        needed = F.array(*(F.lit(name) for name in sorted({*signs.valued(), SAVED})))
        valued = frame.where(F.arrays_overlap("events", needed)).limit(ROWS).toArrow()
        for batch in valued.combine_chunks().to_batches():
            self.watch.lags[root].printed(_plain(batch))
            found += [sign for sign in signs.of_entries(_plain(batch), now, behind) if sign.name in signs.valued()]
        return found

    def records(self, frame: DataFrame) -> list[Sign]:
        """Return the stages of records as signs, counted by the tasks."""
        from pyspark.sql import functions as F  # noqa: N812

        at = F.floor(F.unix_micros("store_timestamp") / 1_000_000).alias("at")
        first = F.min(F.struct("physical_offset", "file", "topic", "queue_id", "uniq_key")).alias("first")
        counted = frame.groupBy("stage", "consumer_group", at).agg(F.count("*").alias("count"), first)
        rows = counted.collect()
        for row in rows:
            self.watch.figures.stages[row["stage"]] += row["count"]
            self.watch.figures.records += row["count"]
        return list(signs.of_record_counts(rows, self.watch.clock(), self._behind))

    @property
    def _behind(self) -> Behind | None:
        return Behind(self.watch.since, drops=True) if self.watch.start == "earliest" else None

    def tell(self, found: Sequence[Sign]) -> None:
        """Feed signs, store the state, send alerts."""
        with self.lock:
            alerts = self.watch.tell([*found, *self.watch.measured()], self.watch.clock())
            state_folder.save(self.folder, self.watch.kept, durable=bool(alerts))
            run.send_alerts(self.watch, self.folder, self.outlets)
            self.alerts += alerts

    def taken(self) -> list[dict[str, Any]]:
        """Return the alerts since the last call."""
        with self.lock:
            alerts, self.alerts = self.alerts, []
            return alerts


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch from Spark with the types of the kernels."""
    from kit.formats.logs.schema import EVENT_FIELDS, SCHEMA

    fields = [field for field in (*SCHEMA, *EVENT_FIELDS) if field.name in batch.schema.names]
    return pa.RecordBatch.from_arrays([batch.column(f.name).cast(f.type) for f in fields], schema=pa.schema(fields))


def forever(
    watch: Watch,
    folder: Path,
    outlets: Sequence[Outlet],
    show: Callable[[list[dict[str, Any]]], None],
    every: float,
    master: str,
    *,
    once: bool = False,
) -> None:
    """Watch until the process is stopped, with `once` until everything available was read."""
    run.send_alerts(watch, folder, outlets)
    spark = sessions.session(master, spark_sql_streaming_minBatchesToRetain=KEPT_BATCHES)
    engine = Engine(watch, folder, outlets)
    queries = engine.start(spark, every, once=once)
    try:
        while any(query.isActive for query in queries):
            time.sleep(min(every, 1.0) if once else every)
            engine.tell([])
            show(engine.taken())
            for query in queries:
                if (error := query.exception()) is not None:
                    raise error
    finally:
        for query in queries:
            query.stop()
        spark.stop()
