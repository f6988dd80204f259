"""The Spark data sources `rocketmq.commitlog` and `rocketmq.trace`: what of the commit log is read, in which columns,
cut into which tasks.

Nothing here imports a kernel: Spark asks for columns and tasks in processes of their own, and those should not load a
compiler.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, Final

import pyarrow as pa
from attrs import evolve, frozen
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)

from kit.evidence.unread import Unread
from kit.formats.commitlog.schema import FIELDS, SKIPPED, STORED, TRACES, File, Wanted, schema
from kit.rocketmq import names
from kit.spark.sources import Reader, Source, files_of

CHUNK: Final = 64 << 20
"""How many bytes of a file one task reads at most; smaller files share a task."""
SHARED: Final = 8 << 20
"""Up to how many bytes files share a task even if there is little to read."""
_KINDS: Final = ("commitlog", "dledger")


@frozen
class Chunk(InputPartition):
    """What one task reads: ranges of files; the kernel moves their ends to the borders of records."""

    ranges: tuple[tuple[File, int, int], ...]


def plan(files: Sequence[File]) -> list[Chunk]:
    """Cut files into tasks of at most `CHUNK` bytes: about eight or more of them if there is enough to read."""
    most = max(SHARED, min(CHUNK, sum(file.used for file in files) // 8 + 1))
    chunks: list[Chunk] = []
    group: list[tuple[File, int, int]] = []
    room = most
    for file in files:
        for start in range(0, max(file.used, 1 if file.length else 0), CHUNK):
            stop = min(start + CHUNK, file.used)
            if group and stop - start > room:
                chunks.append(Chunk(tuple(group)))
                group, room = [], most
            group.append((file, start, stop))
            room -= stop - start
    return [*chunks, Chunk(tuple(group))] if group else chunks


def tasks(files: Sequence[dict[str, Any]], unread: Unread) -> list[InputPartition]:
    """Return what the tasks read; there is always one, so that an empty table has its columns."""
    known = [file for item in files for file in unread.through(str(item["file"]), partial(_examined, item))]
    return [*plan(known)] or [Chunk(())]


def _examined(item: dict[str, Any]) -> list[File]:
    return [_known(item)]


def _known(item: dict[str, Any]) -> File:
    """Return a listed file; one that was not examined yet is."""
    if "head" in item:
        return File(**item)
    from kit.formats.commitlog.segments import examine

    return examine(str(item["file"]), str(item["path"]), item.get("base"))


class CommitLogDataSource(Source):
    """Records of commit log files as `messages`, or what is no record as `skipped` (docs/architecture.md).

    Name: `rocketmq.commitlog`.

    Options: the path given to `load`, or `files`, a JSON list of {"file", "path", "base"}; `table`: `messages` or
    `skipped`; `columns` (comma list): only these are built, which takes a third of the time for a few of them;
    `body=true`: one column more, the bodies, decompressed; `body_topics` (comma list): the body as stored, of records
    in these topics only; `unread`, a folder: files that could not be read are noted there, else in the log;
    `mode=FAILFAST`: such a file fails the query.

    Filters on `topic`, `store_timestamp` and `physical_offset` are pushed down.

    >>> spark.read.format("rocketmq.commitlog").option("columns", "topic,store_timestamp").load("store/") # doctest: +SKIP
    """

    format = "rocketmq.commitlog"

    def fields(self) -> pa.Schema:
        return SKIPPED if self._skipped() else schema(self._columns())

    def reader(self, schema: Any) -> Reader:
        return Reader(self) if self._skipped() else FilteredReader(self)

    def tasks(self) -> Sequence[InputPartition]:
        return tasks(files_of(self.options, *_KINDS), Unread.of(self.options))

    def rows(self, task: Chunk) -> Iterator[pa.RecordBatch]:
        from kit.formats.commitlog.segments import messages, skipped

        unread = Unread.of(self.options)
        read = skipped if self._skipped() else partial(messages, wanted=self.wanted)
        for file, start, stop in task.ranges:
            yield from unread.through(file.file, partial(read, file, start, stop))

    @cached_property
    def wanted(self) -> Wanted:
        """What is built of `messages`; a filter that is pushed down narrows it."""
        topics = _listed(self.options.get("body_topics"))
        return Wanted(self._columns(), body_topics=frozenset(topics) if topics else None)

    def _skipped(self) -> bool:
        table = self.options.get("table", "messages")
        if table not in ("messages", "skipped"):
            raise ValueError(f"table is messages or skipped, not {table!r}.")
        return table == "skipped"

    def _columns(self) -> tuple[str, ...]:
        body = str(self.options.get("body", "false")).lower() == "true" or bool(self.options.get("body_topics"))
        asked = _listed(self.options.get("columns"))
        unknown = [name for name in asked if name not in FIELDS and name not in STORED]
        if unknown:
            raise ValueError(f"No such column: {', '.join(unknown)}.")
        return asked or tuple(name for name in FIELDS if body or name != "body")


def _listed(option: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (option or "").split(",") if name.strip())


class FilteredReader(Reader):
    """Builds less of `messages` where a filter is understood. Filters only save work: Spark applies them again."""

    source: CommitLogDataSource

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Take note of the filters, and hand all of them back."""
        for item in filters:
            self.source.wanted = narrow(self.source.wanted, item)
        return filters


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
    elif field == "times" and isinstance(value, int):  # the embedded engine gives microseconds
        value //= 1000
    if not isinstance(value, int):
        return wanted
    low, high = getattr(wanted, field) or (-(2**63), 2**63 - 1)
    # A filter's time may have microseconds; the records have none.
    slack = 1 if field == "times" else 0
    if not isinstance(item, (LessThan, LessThanOrEqual)):
        low = max(low, value - slack)
    if not isinstance(item, (GreaterThan, GreaterThanOrEqual)):
        high = min(high, value + slack)
    return evolve(wanted, offsets=(low, high)) if field == "offsets" else evolve(wanted, times=(low, high))


class TraceDataSource(Source):
    """`spark.read.format("rocketmq.trace").load(path)`: one row per trace context.

    Options: `files` as for `rocketmq.commitlog`; `topics` (comma list) if traces are in topics of their own.
    """

    format = "rocketmq.trace"

    def fields(self) -> pa.Schema:
        return TRACES

    def tasks(self) -> Sequence[InputPartition]:
        return tasks(files_of(self.options, *_KINDS), Unread.of(self.options))

    def rows(self, task: Chunk) -> Iterator[pa.RecordBatch]:
        from kit.formats.commitlog.trace_contexts import trace_rows

        topics = frozenset((names.TRACE_TOPIC, *_listed(self.options.get("topics"))))
        unread = Unread.of(self.options)
        for file, start, stop in task.ranges:
            yield from unread.through(file.file, partial(trace_rows, file, start, stop, topics))
