"""The Spark data source `rocketmq.trace`: what clients wrote about their own sends and deliveries to the trace topic.

Nothing here imports a kernel: Spark asks for columns and tasks in processes of their own, and those should not load a
compiler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from kit.evidence.unread import Unread
from kit.formats.commitlog.schema import TRACES
from kit.rocketmq import names
from kit.spark import commitlog_source
from kit.spark.sources import Source, files_of


class TraceDataSource(Source):
    """`spark.read.format("rocketmq.trace").load(path)`: one row per trace context.

    Options: `files` as for `rocketmq.commitlog`; `topics` (comma list) if traces are in topics of their own.
    """

    @classmethod
    def name(cls) -> str:
        return "rocketmq.trace"

    def fields(self) -> pa.Schema:
        return TRACES

    def reader(self, schema: Any) -> TraceReader:
        return TraceReader(self.options)


class TraceReader(DataSourceReader):
    """Reads the chunks of the commit log."""

    def __init__(self, options: Any) -> None:
        """Keep what was asked for."""
        self.options = options
        named = (name.strip() for name in (options.get("topics") or "").split(","))
        self.topics = frozenset({names.TRACE_TOPIC, *named} - {""})

    def partitions(self) -> Sequence[InputPartition]:
        return commitlog_source.tasks(files_of(self.options, "commitlog", "dledger"), Unread.of(self.options))

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        from kit.formats.commitlog.trace_contexts import trace_rows

        unread = Unread.of(self.options)
        for file, start, stop in partition.ranges:
            yield from unread.through(file.file, partial(trace_rows, file, start, stop, self.topics))
