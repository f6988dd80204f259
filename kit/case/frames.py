"""The tables of a case as Spark DataFrames, and the session that serves them."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kit.case.options import Options
from kit.case.progress import Stoppable
from kit.evidence.unread import Unread
from kit.inventory.inventory import Inventory
from kit.spark import sessions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HIDDEN: Final = ("events", "offset")
"""Columns of `entries` that `logs` does not show."""

BRIEF: Final = 4 << 30
"""Size of evidence, in bytes, below which a JVM's optimising compiler does not pay off."""


def _table(name: str, holds: str) -> Any:
    return property(lambda case: case._frame(name), doc=holds)


class Frames(Stoppable, ABC):
    """The part of a `Case` that has tables as DataFrames, with the columns of the public interface. Java starts with the first."""

    path: Path
    options: Options

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.RLock()
        self._frames: dict[str, DataFrame] = {}

    @property
    @abstractmethod
    def found(self) -> Inventory: ...
    @abstractmethod
    def folder(self, name: str) -> Path: ...
    @property
    @abstractmethod
    def reads_here(self) -> bool: ...

    skipped = _table("skipped", "Ranges of commitlog files that are not records.")
    index = _table("index", "Entries of index files.")
    traces = _table("traces", "Contexts of message trace records.")
    configs = _table("configs", "Settings of brokers, topics and groups, from all sources.")
    offsets = _table("offsets", "Consumer offsets, delay offsets and the checkpoint.")
    admin = _table("admin", "Cells and fields of mqadmin outputs.")
    metrics = _table("metrics", "Host metrics and garbage collections.")
    network = _table("network", "Addresses, sockets and processes of hosts.")
    threads = _table("threads", "Threads in thread dumps, and what each was doing.")
    rows = _table("rows", "Business tables, transaction log tables and delivery ledgers.")
    sends = _table("sends", "Send ledgers.")

    @property
    def messages(self) -> DataFrame:
        """One row per commitlog record and file, replicas included."""
        from kit.formats.commitlog.schema import FIELDS
        from kit.spark.properties import as_map

        columns = [as_map() if name == "properties" else name for name in FIELDS if name != "body"]
        return self._frame("messages").select(*columns)

    @property
    def stored_messages(self) -> DataFrame:
        """`messages` as stored in the workspace: instead of the map of properties, columns for those often used
        (`kit.spark.properties.prop`).
        """
        return self._frame("messages").drop("body")

    @cached_property
    def records(self) -> DataFrame:
        """`stored_messages` with every record once: replicas and repeated copies left out."""
        from pyspark.sql import Window
        from pyspark.sql import functions as F  # noqa: N812

        copies = [i.file for i in self.found.of_kind("commitlog", "dledger") if i.replica_of]
        kept = self.stored_messages.where(~F.col("file").isin(copies)) if copies else self.stored_messages
        if self.found.overlapping:
            same = Window.partitionBy("offset_msg_id").orderBy("file")
            kept = kept.withColumn("_copy", F.row_number().over(same)).where(F.col("_copy") == 1).drop("_copy")
        return self._countable("messages", kept)

    @property
    def ops(self) -> DataFrame:
        """Op records, one row for each half message they end."""
        frame = self._frame("ops")
        return frame.dropDuplicates(["offset_msg_id", "half_queue_offset"]) if self.found.overlapping else frame

    @property
    def consumequeue(self) -> DataFrame:
        """Units of consume queues, each with the record it points to."""
        from kit.formats.queues import consumequeue, lost_paths

        frame = self._frame("consumequeue")
        lost = any(consumequeue.place(i.file) is None for i in self.found.of_kind("consumequeue", replicas=False))
        return lost_paths.placed(frame, self.records) if lost else frame

    @property
    def entries(self) -> DataFrame:
        """`logs` with two more columns: `events` (slugs of known texts) and `offset` (byte position of the first line)."""
        return self._frame("logs")

    @property
    def logs(self) -> DataFrame:
        return self.entries.drop(*HIDDEN)

    def event(self, slug: str) -> DataFrame:
        """Return the entries with a known text, with a column for each named group of its pattern."""
        from kit.spark import known_texts

        return known_texts.select(self.entries, slug)

    def read_messages(self, *, body: bool = False) -> DataFrame:
        """Return `messages` read from the commitlog itself, with decompressed bodies if asked for."""
        from kit.case.reading import big_tables

        stores = json.dumps(big_tables.stores(self.found, Unread()))
        reader = self.spark.read.format("rocketmq.commitlog").option("files", stores).option("body", str(body).lower())
        return self._cut(reader.load(), "store_timestamp")

    def _frame(self, name: str) -> DataFrame:
        with self._lock:
            kept = self._frames.get(name)
        if kept is None:
            from pyspark.sql.pandas.types import from_arrow_schema

            from kit.case import tables
            from kit.spark.sessions import parquet

            self.warm()
            spec = tables.specs()[name]
            folder = self.folder(name)
            frame = parquet(self.spark, folder, from_arrow_schema(spec.schema))
            kept = self._cut(frame, spec.time)
            if name != "messages":  # its times are shown as stored
                kept = self._countable(name, kept)
            with self._lock:
                self._frames[name] = kept
        return kept

    def _countable(self, name: str, frame: DataFrame) -> DataFrame:
        """Set times outside the range of nanoseconds to null: pandas, used in all analyses, would raise."""
        from kit.case import tables

        return tables.countable(name, self.folder(name), frame)

    def _cut(self, frame: DataFrame, column: str | None) -> DataFrame:
        from kit.case import tables

        return tables.between(frame, column, self.options.since, self.options.until)

    def warm_if_shared(self) -> None:
        """Start Spark in the background if it reads the evidence, on a cluster. Otherwise only check that Java is installed;
        Spark starts when somebody asks for a DataFrame. Raise `JavaMissing`.
        """
        if self.reads_here:
            sessions.require_java(self.options.master, self.options.remote)
        else:
            self.warm()

    def warm(self) -> None:
        """Start Spark in the background; what needs it waits. Raise `JavaMissing` if it cannot start."""
        from kit.evidence import files as evidence

        with self._lock:
            if self._spark is None:
                self._spark = sessions.begin(
                    self.options.master, self.options.remote, brief=lambda: evidence.weight(self.path) <= BRIEF
                )

    @property
    def spark(self) -> SparkSession:
        self.warm()
        assert self._spark is not None
        return self._spark.result()
