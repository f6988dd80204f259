"""The Spark data sources `rocketmq.consumequeue` and `rocketmq.index`: whole files, several a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

import pyarrow as pa
from attrs import frozen
from pyspark.sql.datasource import InputPartition

from kit.evidence.unread import Unread
from kit.formats.queues import consumequeue, index
from kit.spark.sources import Source, files_of, packed

SHARE: Final = 32 << 20
"""How many bytes of files share a task."""


@frozen
class Files(InputPartition):
    """The files that one task reads, as (name for users, plain path)."""

    items: tuple[tuple[str, str], ...]


class WholeFiles(Source):
    """A format whose files of a `kind` are read as a whole."""

    kind: ClassVar[str]

    def read(self, file: str, path: str) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError

    def tasks(self) -> Sequence[InputPartition]:
        """Return what the tasks read; there is always one, so that an empty table has its columns."""
        unread = Unread.of(self.options)
        sized: list[tuple[tuple[str, str], int]] = []
        for item in files_of(self.options, self.kind):
            try:
                sized.append(((str(item["file"]), str(item["path"])), Path(item["path"]).stat().st_size))
            except OSError as error:
                unread.note(str(item["file"]), error)
        return [Files(tuple(group)) for group in packed(sized, SHARE)] or [Files(())]

    def rows(self, task: Files) -> Iterator[pa.RecordBatch]:
        unread = Unread.of(self.options)
        for file, path in task.items:
            yield from unread.through(file, partial(self.read, file, path))


class ConsumeQueueDataSource(WholeFiles):
    """`spark.read.format("rocketmq.consumequeue").load(path)`: one row per unit. Option `files` as for
    `rocketmq.commitlog`.
    """

    format = "rocketmq.consumequeue"
    kind = "consumequeue"

    def fields(self) -> pa.Schema:
        return consumequeue.SCHEMA

    def read(self, file: str, path: str) -> Iterator[pa.RecordBatch]:
        return consumequeue.units(file, path)


class IndexDataSource(WholeFiles):
    """`spark.read.format("rocketmq.index").load(path)`: one row per entry. Option `files` as for
    `rocketmq.commitlog`.
    """

    format = "rocketmq.index"
    kind = "index"

    def fields(self) -> pa.Schema:
        return index.ENTRIES

    def read(self, file: str, path: str) -> Iterator[pa.RecordBatch]:
        return index.entries(file, path)
