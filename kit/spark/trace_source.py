"""The Spark data source `rocketmq.trace`: what clients wrote about their own sends and deliveries into the trace topic.

Nothing here needs a kernel: Spark asks for columns and tasks in processes of their own, and those should not load a
compiler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from kit.formats.commitlog.schema import TRACES
from kit.rocketmq import binary_format as f
from kit.spark import commitlog_source
from kit.spark.sources import ddl, files_of


class TraceDataSource(DataSource):
    """`spark.read.format("rocketmq.trace").load(path)`: one row a trace context.

    Options: `files` as for `rocketmq.commitlog`; `topics` (comma list) where traces are compressed in topics of their
    own.
    """

    @classmethod
    def name(cls) -> str:
        return "rocketmq.trace"

    def schema(self) -> str:
        return ddl(TRACES)

    def reader(self, schema: Any) -> TraceReader:
        return TraceReader(self.options)


class TraceReader(DataSourceReader):
    """Reads the chunks of the commit log."""

    def __init__(self, options: Any) -> None:
        """Keep what was asked for."""
        self.options = options
        named = (name.strip() for name in (options.get("topics") or "").split(","))
        self.topics = frozenset({f.TRACE_TOPIC, *named} - {""})

    def partitions(self) -> Sequence[InputPartition]:
        return commitlog_source.tasks(files_of(self.options, "commitlog", "dledger"))

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        from kit.formats.commitlog.trace_contexts import trace_rows

        for file, start, stop in partition.ranges:
            yield from trace_rows(file, start, stop, self.topics)
