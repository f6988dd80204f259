"""The Spark data sources `rocketmq.consumequeue` and `rocketmq.index`: whole files, several a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from kit.evidence.unread import Unread
from kit.formats.queues import consumequeue, index
from kit.spark.sources import Files, Source, files_of, share


class ConsumeQueueDataSource(Source):
    """`spark.read.format("rocketmq.consumequeue").load(path)`: one row per unit. Option `files` as for
    `rocketmq.commitlog`.
    """

    format = "rocketmq.consumequeue"

    def fields(self) -> pa.Schema:
        return consumequeue.SCHEMA

    def tasks(self) -> Sequence[InputPartition]:
        return share(files_of(self.options, "consumequeue"), Unread.of(self.options))

    def rows(self, task: Files) -> Iterator[pa.RecordBatch]:
        unread = Unread.of(self.options)
        for file, path in task.items:
            yield from unread.through(file, partial(consumequeue.units, file, path))


class IndexDataSource(Source):
    """`spark.read.format("rocketmq.index").load(path)`: one row per entry. Option `files` as for
    `rocketmq.commitlog`.
    """

    format = "rocketmq.index"

    def fields(self) -> pa.Schema:
        return index.ENTRIES

    def tasks(self) -> Sequence[InputPartition]:
        return share(files_of(self.options, "index"), Unread.of(self.options))

    def rows(self, task: Files) -> Iterator[pa.RecordBatch]:
        unread = Unread.of(self.options)
        for file, path in task.items:
            yield from unread.through(file, partial(index.entries, file, path))
