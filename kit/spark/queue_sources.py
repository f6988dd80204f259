"""The Spark data sources `rocketmq.consumequeue` and `rocketmq.index`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from kit.evidence.unread import Unread
from kit.formats.queues import consumequeue, index
from kit.spark.sources import Files, Source, files_of, share


class ConsumeQueueDataSource(Source):
    """`spark.read.format("rocketmq.consumequeue").load(path)`: one row per unit. Option `files` as for
    `rocketmq.commitlog`.
    """

    @classmethod
    def name(cls) -> str:
        return "rocketmq.consumequeue"

    def fields(self) -> pa.Schema:
        return consumequeue.SCHEMA

    def reader(self, schema: Any) -> ConsumeQueueReader:
        return ConsumeQueueReader(self.options)


class ConsumeQueueReader(DataSourceReader):
    """Reads whole files, several per task."""

    def __init__(self, options: Any) -> None:
        """Keep what was asked for."""
        self.options = options

    def partitions(self) -> Sequence[InputPartition]:
        return share(files_of(self.options, "consumequeue"), Unread.of(self.options))

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        task: Files = partition
        unread = Unread.of(self.options)
        for file, path in task.items:
            yield from unread.through(file, partial(consumequeue.units, file, path))


class IndexDataSource(Source):
    """`spark.read.format("rocketmq.index").load(path)`: one row per entry, or one per file with option `table` =
    `headers`.

    Option `files` as for `rocketmq.commitlog`.
    """

    @classmethod
    def name(cls) -> str:
        return "rocketmq.index"

    def fields(self) -> pa.Schema:
        return index.HEADERS if self.options.get("table") == "headers" else index.ENTRIES

    def reader(self, schema: Any) -> IndexReader:
        return IndexReader(self.options)


class IndexReader(DataSourceReader):
    """Reads whole files, several per task."""

    def __init__(self, options: Any) -> None:
        """Keep what was asked for."""
        self.options = options

    def partitions(self) -> Sequence[InputPartition]:
        return share(files_of(self.options, "index"), Unread.of(self.options))

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        task: Files = partition
        rows = index.headers if self.options.get("table") == "headers" else index.entries
        unread = Unread.of(self.options)
        for file, path in task.items:
            yield from unread.through(file, partial(rows, file, path))
