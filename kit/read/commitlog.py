"""The Spark data source `rocketmq.commitlog`: what of the commit log is read, in which columns, cut into which tasks.

Nothing here needs a kernel: Spark asks for columns and tasks in processes of their own, and those should not load a compiler.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

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

from kit.read.evidence import open_readonly
from kit.read.sources import KEPT, STRING_MAP, TIMESTAMP, ddl, files_of, kept

FIELDS: Final[dict[str, pa.DataType]] = {
    "file": pa.string(),
    "physical_offset": pa.int64(),
    "store_size": pa.int32(),
    "topic": pa.string(),
    "queue_id": pa.int32(),
    "queue_offset": pa.int64(),
    "flag": pa.int32(),
    "sys_flag": pa.int32(),
    "born_timestamp": TIMESTAMP,
    "born_host": pa.string(),
    "store_timestamp": TIMESTAMP,
    "store_host": pa.string(),
    "reconsume_times": pa.int32(),
    "prepared_transaction_offset": pa.int64(),
    "body_crc": pa.int32(),
    "body_size": pa.int32(),
    "body_codec": pa.string(),
    "body": pa.binary(),
    "properties": STRING_MAP,
    "offset_msg_id": pa.string(),
    "uniq_key": pa.string(),
    "keys": pa.string(),
    "tags": pa.string(),
    "problem": pa.string(),
}
"""Columns of `messages` in the order users see; `body` is there only when asked for."""

SKIPPED: Final = pa.schema([("file", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("reason", pa.string())])
CHUNK: Final = 64 << 20
"""Bytes of a file one task reads at most; files smaller than that share a task."""
PAD: Final = 16 << 20
"""Zeros kept behind the last byte on disk, so that a record which ends in zeros is read whole."""
_KINDS: Final = ("commitlog", "dledger")


@frozen
class Wanted:
    """What of the records is asked for: columns, and filters that every row must pass (times in ms, ends included).

    `body_topics`: only records of these topics have their body, as stored; others have null (None: every record has it, unpacked).
    """

    columns: tuple[str, ...]
    topics: frozenset[str] | None = None
    offsets: tuple[int, int] | None = None
    times: tuple[int, int] | None = None
    body_topics: frozenset[str] | None = None


def schema(names: tuple[str, ...]) -> pa.Schema:
    """Return the Arrow schema of these columns."""
    return pa.schema([pa.field(name, FIELDS[name]) for name in names])


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
    return [*plan([_known(item) for item in files])] or [Chunk(())]


def _known(item: dict[str, Any]) -> File:
    """Return a listed file; one that was not examined yet is."""
    if "head" in item:
        return File(**item)
    from kit.read.segments import examine

    return examine(str(item["file"]), str(item["path"]), item.get("base"))


class CommitLogDataSource(DataSource):
    """`spark.read.format("rocketmq.commitlog").load(path)`.

    Options: `table` (`messages` or `skipped`), `body` (`true`: decompressed bodies), `body_topics` (comma list: the body as stored, for
    records of these topics only), `columns` (comma list), `files` (JSON
    list of {"file", "path", "base"}, instead of a path), `keep` (a folder: each task
    writes its rows there as Parquet and yields path and rows). Filters on topic, store_timestamp and physical_offset are pushed down.
    """

    @classmethod
    def name(cls) -> str:
        return "rocketmq.commitlog"

    def schema(self) -> str:
        fields = KEPT if self.options.get("keep") else SKIPPED if self._skipped() else schema(self._columns())
        return ddl(fields)

    def reader(self, schema: Any) -> CommitLogReader:
        topics = _listed(self.options.get("body_topics"))
        return CommitLogReader(self.options, self._skipped(), Wanted(self._columns(), body_topics=frozenset(topics) if topics else None))

    def _skipped(self) -> bool:
        table = self.options.get("table", "messages")
        if table not in ("messages", "skipped"):
            raise ValueError(f"table is messages or skipped, not {table!r}.")
        return table == "skipped"

    def _columns(self) -> tuple[str, ...]:
        body = str(self.options.get("body", "false")).lower() == "true" or bool(self.options.get("body_topics"))
        asked = _listed(self.options.get("columns"))
        unknown = [name for name in asked if name not in FIELDS]
        if unknown:
            raise ValueError(f"No such column: {', '.join(unknown)}.")
        return asked or tuple(name for name in FIELDS if body or name != "body")


def _listed(option: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (option or "").split(",") if name.strip())


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
        folder = self.options.get("keep")
        return kept(folder, repr(partition.ranges), self._read(partition)) if folder else self._read(partition)

    def _read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        from kit.read.segments import messages, skipped

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
