"""The Spark data source `rocketmq.commitlog`: commit log and DLedger data files as the tables `messages` and `skipped`."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, Final

import numpy as np
import pyarrow as pa
from attrs import evolve, frozen
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)

from kit.facts import format as f
from kit.read import batches, records, walk
from kit.read.batches import Wanted
from kit.read.evidence import open_readonly
from kit.read.sources import ddl, files_of

CHUNK: Final = 64 << 20
"""Bytes of a file one task reads at most; files smaller than that share a task."""
BACK: Final = 8 << 20
"""How far before a split the walk begins: more than the largest message of a default broker."""
PAD: Final = 16 << 20
"""Zeros kept behind the last byte on disk, so that a record which ends in zeros is read whole."""
BATCH_ROWS: Final = 65_536
BATCH_BYTES: Final = 16 << 20
VOTES: Final = 64

SKIPPED: Final = pa.schema([("file", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("reason", pa.string())])
_NAME: Final = re.compile(rf"\d{{{f.FILE_NAME_DIGITS}}}")
_KINDS: Final = ("commitlog", "dledger")


@frozen
class File:
    """A file of the commit log: its name for users, where it is, and what its records say about it."""

    file: str
    path: str
    length: int
    used: int
    base: int
    head: int


@frozen
class Chunk(InputPartition):
    """What one task reads: ranges of files that begin and end at record borders once the kernel has moved them there."""

    ranges: tuple[tuple[File, int, int], ...]


def data_end(path: str) -> tuple[int, int]:
    """Return (length of the file, end of what is stored on disk): a sparse file ends with a hole that need not be read."""
    with open_readonly(path) as stream:
        length = os.fstat(stream.fileno()).st_size
        end = at = 0
        try:
            for _ in range(4096):
                at = os.lseek(stream.fileno(), os.lseek(stream.fileno(), at, os.SEEK_DATA), os.SEEK_HOLE)
                end = at
            return length, length
        except OSError as error:
            return length, min(end, length) if error.errno == errno.ENXIO else length


def view(file: File) -> records.Bytes:
    """Map the stored part of a file; nothing is read before it is touched."""
    if not file.used:
        return np.empty(0, np.uint8)
    with open_readonly(file.path) as stream:
        return np.memmap(stream, np.uint8, "r", shape=(file.used,))


def examine(file: str, path: str, base: int | None = None) -> File:
    """Work out the base of a file (its records win over `base`, that over its name) and whether it is DLedger's."""
    length, end = data_end(path)
    found = File(file, path, length, min(length, end + PAD), 0, 0)
    buf = view(found)
    votes, agreed, entries = records.layout(buf, len(buf), VOTES)
    if votes:
        return evolve(found, base=int(agreed), head=f.DLEDGER_HEADER if 2 * entries > votes else 0)
    name = PurePosixPath(file).name
    known = base if base is not None else (int(name) if _NAME.fullmatch(name) else 0)
    return evolve(found, base=known, head=0)


def plan(files: Sequence[File]) -> list[Chunk]:
    """Cut files into tasks of at most `CHUNK` bytes, at least some eight of them where there is enough to read."""
    most = max(8 << 20, min(CHUNK, sum(file.used for file in files) // 8 + 1))
    chunks: list[Chunk] = []
    held: list[tuple[File, int, int]] = []
    room = most
    for file in files:
        for start in range(0, max(file.used, 1 if file.length else 0), CHUNK):
            stop = min(start + CHUNK, file.used)
            if held and stop - start > room:
                chunks.append(Chunk(tuple(held)))
                held, room = [], most
            held.append((file, start, stop))
            room -= stop - start
    return [*chunks, Chunk(tuple(held))] if held else chunks


def tasks(files: Sequence[dict[str, Any]]) -> list[InputPartition]:
    """Return what the tasks read; there is always one, so that an empty table has its columns."""
    return [*plan([examine(str(item["file"]), str(item["path"]), item.get("base")) for item in files])] or [Chunk(())]


def spans(file: File, start: int, stop: int) -> Iterator[tuple[records.Bytes, np.ndarray, np.ndarray, np.ndarray, list[tuple[int, int, str]]]]:
    """Walk one range of a file; yield (bytes, record starts, sizes, marks, gaps as (start, end, reason)) piece by piece."""
    buf = view(file)
    at, limit = (int(walk.chunk_start(buf, split, BACK, file.base, file.head)) for split in (start, stop))
    starts, sizes = np.empty(BATCH_ROWS, np.int64), np.empty(BATCH_ROWS, np.int64)
    marks, gaps = np.empty(BATCH_ROWS, np.int32), np.empty((1024, 3), np.int64)
    while at < limit:
        found, lost, at = walk.walk(buf, at, limit, file.length, file.base, file.head, BATCH_BYTES, starts, sizes, marks, gaps)
        yield buf, starts[:found], sizes[:found], marks[:found], [(int(a), int(b), walk.REASONS[why]) for a, b, why in gaps[:lost]]
    if stop == file.used < file.length:
        none = starts[:0]
        yield buf, none, none, marks[:0], [(file.used, file.length, "zero_tail")]


def messages(file: File, start: int, stop: int, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    """Yield the records of one range of a file as Arrow batches."""
    for buf, starts, sizes, marks, _ in spans(file, start, stop):
        rows = batches.Rows(buf, starts, sizes, marks, file.base)
        rows.keep(wanted)
        if len(rows):
            yield from batches.batch(rows, wanted, file.file)


def skipped(file: File, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """Yield the ranges of a file that are no records, adjacent ones of one reason as one."""
    merged: list[tuple[int, int, str]] = []
    for *_, gaps in spans(file, start, stop):
        for gap in gaps:
            if merged and merged[-1][1] == gap[0] and merged[-1][2] == gap[2]:
                merged[-1] = (merged[-1][0], gap[1], gap[2])
            else:
                merged.append(gap)
    for first in range(0, len(merged), BATCH_ROWS):
        part = merged[first : first + BATCH_ROWS]
        begins, ends, reasons = zip(*part, strict=True)
        yield pa.RecordBatch.from_arrays([pa.repeat(file.file, len(part)), pa.array(begins), pa.array(ends), pa.array(reasons)], schema=SKIPPED)


class CommitLogDataSource(DataSource):
    """`spark.read.format("rocketmq.commitlog").load(path)`.

    Options: `table` (`messages` or `skipped`), `body` (`true`: decompressed bodies), `columns` (comma list), `files` (JSON
    list of {"file", "path", "base"}, instead of a path). Filters on topic, store_timestamp and physical_offset are pushed down.
    """

    @classmethod
    def name(cls) -> str:
        return "rocketmq.commitlog"

    def schema(self) -> str:
        fields = SKIPPED if self._skipped() else batches.schema(self._columns())
        return ddl(fields)

    def reader(self, schema: Any) -> CommitLogReader:
        return CommitLogReader(self.options, self._skipped(), Wanted(self._columns()))

    def _skipped(self) -> bool:
        table = self.options.get("table", "messages")
        if table not in ("messages", "skipped"):
            raise ValueError(f"table is messages or skipped, not {table!r}.")
        return table == "skipped"

    def _columns(self) -> tuple[str, ...]:
        body = str(self.options.get("body", "false")).lower() == "true"
        asked = tuple(name.strip() for name in (self.options.get("columns") or "").split(",") if name.strip())
        unknown = [name for name in asked if name not in batches.FIELDS]
        if unknown:
            raise ValueError(f"No such column: {', '.join(unknown)}.")
        return asked or tuple(name for name in batches.FIELDS if body or name != "body")


class CommitLogReader(DataSourceReader):
    """Reads the chunks; filters only spare work, Spark applies them again."""

    def __init__(self, options: Any, skipped: bool, wanted: Wanted) -> None:
        """Keep what was asked for."""
        self.options, self.skipped, self.wanted = options, skipped, wanted

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Narrow what is built by the filters that are understood, and hand all of them back."""
        if not self.skipped:
            for item in filters:
                self.wanted = narrow(self.wanted, item)
        return filters

    def partitions(self) -> Sequence[InputPartition]:
        return tasks(files_of(self.options, *_KINDS))

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        for file, start, stop in partition.ranges:
            yield from skipped(file, start, stop) if self.skipped else messages(file, start, stop, self.wanted)


def narrow(wanted: Wanted, item: Filter) -> Wanted:
    """Return `wanted` with one more filter, as far as it is understood; never stricter than the filter."""
    name = ".".join(getattr(item, "attribute", ()))
    value = getattr(item, "value", None)
    if name == "topic" and isinstance(item, (EqualTo, In)):
        topics = frozenset(v for v in (item.value if isinstance(item, In) else (value,)) if isinstance(v, str))
        return evolve(wanted, topics=topics if wanted.topics is None else wanted.topics & topics)
    field = {"physical_offset": "offsets", "store_timestamp": "times"}.get(name)
    if not field or not isinstance(item, (EqualTo, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual)):
        return wanted
    if isinstance(value, datetime):
        value = int((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp() * 1000)
    if not isinstance(value, int):
        return wanted
    low, high = getattr(wanted, field) or (-(2**63), 2**63 - 1)
    # Times have parts below a millisecond that the records have not.
    slack = 1 if field == "times" else 0
    if not isinstance(item, (LessThan, LessThanOrEqual)):
        low = max(low, value - slack)
    if not isinstance(item, (GreaterThan, GreaterThanOrEqual)):
        high = min(high, value + slack)
    return evolve(wanted, offsets=(low, high)) if field == "offsets" else evolve(wanted, times=(low, high))
