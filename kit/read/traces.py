"""The Spark data source `rocketmq.trace`: what clients wrote about their own sends and deliveries into the trace topic.

Nothing here needs a kernel: Spark asks for columns and tasks in processes of their own, and those should not load a compiler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from kit.facts import format as f
from kit.read import commitlog
from kit.read.sources import TIMESTAMP, ddl, files_of

SCHEMA: Final = pa.schema(
    [
        ("file", pa.string()),
        ("physical_offset", pa.int64()),
        ("type", pa.string()),
        ("time", TIMESTAMP),
        ("region", pa.string()),
        ("group", pa.string()),
        ("topic", pa.string()),
        ("msg_id", pa.string()),
        ("offset_msg_id", pa.string()),
        ("tags", pa.string()),
        ("keys", pa.string()),
        ("store_host", pa.string()),
        ("client_host", pa.string()),
        ("body_length", pa.int32()),
        ("cost_ms", pa.int64()),
        ("msg_type", pa.int32()),
        ("success", pa.bool_()),
        ("request_id", pa.string()),
        ("retry_times", pa.int32()),
        ("context_code", pa.int32()),
        ("transaction_id", pa.string()),
        ("state", pa.string()),
        ("from_check", pa.bool_()),
        ("problem", pa.string()),
    ]
)
"""One row a context. `msg_type`: 0 normal, 1 half, 2 commit, 3 delay, 4 order. `problem`: `fields`, `body` or null."""


class TraceDataSource(DataSource):
    """`spark.read.format("rocketmq.trace").load(path)`: one row a trace context.

    Options: `files` as for `rocketmq.commitlog`; `topics` (comma list) where traces are compressed in topics of their own.
    """

    @classmethod
    def name(cls) -> str:
        return "rocketmq.trace"

    def schema(self) -> str:
        return ddl(SCHEMA)

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
        return commitlog.tasks(files_of(self.options, "commitlog", "dledger"))

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        from kit.read.contexts import trace_rows

        for file, start, stop in partition.ranges:
            yield from trace_rows(file, start, stop, self.topics)
