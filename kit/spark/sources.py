"""The Spark data sources `rocketmq.*`: which files are read, in which parts by which tasks, and their rows as Arrow.

Nothing here imports a kernel before something is read: processes that Spark asks for columns load no compiler.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Final, Self, TypeVar

import attrs
import pyarrow as pa
from pyspark.sql import datasource as ds
from pyspark.sql.pandas.types import from_arrow_type

from kit.evidence.files import Unread, open_raw
from kit.evidence.workspace import READING, code_hash
from kit.formats import queues
from kit.formats.commitlog.schema import FIELDS, SKIPPED, STORED, Wanted, schema
from kit.formats.logs.schema import Options, Piece
from kit.formats.printed_times import zone
from kit.formats.values import columns_of
from kit.inventory.model import STORES, TEXTS, Item
from kit.spark import embedded

CHUNK: Final = 64 << 20
"""How many bytes of a file one task reads at most."""
SHARED: Final = 24 << 20
"""Up to how many bytes small files share a task."""
_PLACES: Final = ("path", "files", "unread", "digests")
"""Options that say where something is, not what to read."""
Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)


@attrs.frozen
class Task(ds.InputPartition):
    """What one task reads: files, or parts of them, each with its file's name for users."""

    parts: tuple[tuple[str, Any], ...]


class Source(ds.DataSource, ds.DataSourceReader):
    """A format of the kit, and its reader: its columns as Arrow (`fields`), the parts of a file, the rows of a part.

    Options of each: the path given to `load`, or `files` (JSON, see `listed`); `unread`, a folder: files that could not
    be read are noted there, else in the log.
    """

    format: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    """The kinds of files that are read below a path."""
    copies: ClassVar[bool] = True
    """Whether replicas are read too."""

    @classmethod
    def name(cls) -> str:
        return cls.format

    def fields(self) -> pa.Schema:
        return columns_of(self.kinds[0])

    def parts(self, file: dict[str, Any]) -> Iterable[tuple[Any, int]]:
        """Yield what is read of one of the listed files, each with its size in bytes: by default the whole."""
        return [((file["file"], file["path"]), Path(file["path"]).stat().st_size)]

    def batches(self, part: Any) -> Iterable[pa.RecordBatch]:
        """Yield rows; they may be dictionary-coded, which is cheaper to hand on and which Spark cannot take."""
        raise NotImplementedError

    def schema(self) -> Any:
        """Return the columns: an Arrow schema for the embedded engine, which loses maps and zones in SQL text; that for
        Apache Spark, which takes nothing else.
        """
        return plain_schema(self.fields()) if embedded.runs() else ddl(self.fields())

    def reader(self, schema: Any) -> Self:
        """Return a reader of its own: filters that are pushed down hold for one query."""
        return copy(self)

    def partitions(self) -> list[Task]:  # type: ignore[override]
        """Return what the tasks read; there is always one, so that an empty table has its columns."""
        unread = Unread(self.options.get("unread"))
        tasks: list[Task] = []
        group: list[tuple[str, Any]] = []
        room = SHARED
        for file in self._files():
            for part, size in unread.through(file["file"], partial(self.parts, file)):
                if group and size > room:
                    tasks.append(Task(tuple(group)))
                    group, room = [], SHARED
                group.append((file["file"], part))
                room -= size
        return [*tasks, Task(tuple(group))] if group or not tasks else tasks

    def rows(self, task: Task) -> Iterator[pa.RecordBatch]:
        unread = Unread(self.options.get("unread"))
        for file, part in task.parts:
            yield from unread.through(file, partial(self.batches, part))

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        return map(plain, self.rows(partition))

    def _files(self) -> list[dict[str, Any]]:
        if given := self.options.get("files"):
            return list(json.loads(given))
        if not (path := self.options.get("path")):
            raise ValueError("Say what to read: load(path), or option files = JSON list of {file, path}.")
        from kit.inventory.inventory import take

        return listed(take(path).of_kind(*self.kinds, replicas=self.copies))


def listed(
    items: Iterable[Item], zones: Mapping[str, str | None] | None = None, only: Mapping[str, int] | None = None
) -> list[dict[str, Any]]:
    """Return files for option `files`: the name users see, the plain path, and what is known of a file's content.

    `zones`: of the times of a text that have none, by file; `only`: the files that are read, and from which byte on.
    """
    files = []
    for item in (item for item in items if only is None or item.file in only):
        east = zone((zones or {}).get(item.file))
        known = {name: item.detail.get(name) for name in ("base", "encoding", "seconds_twice")}
        minutes = east if isinstance(east, int) else None  # else an IANA name, or none
        known |= {"source": item.source, "zone_minutes": minutes, "start": (only or {}).get(item.file, 0)}
        files.append({"file": item.file, "path": item.path, **known})
    return files


def part_name(options: Mapping[str, str], task: Task) -> str:
    """Return a name for what a task reads: the same bytes read by the same code have the same name, wherever they are.

    Option `digests` is JSON {path: SHA-256}; a file that is not listed is named by its path.
    """
    digests = json.loads(options.get("digests") or "{}")
    wanted = sorted((key, value) for key, value in options.items() if key.lower() not in _PLACES)
    parts = attrs.asdict(
        task, value_serializer=lambda _, __, value: digests.get(value, value) if isinstance(value, str) else value
    )
    read = json.dumps([code_hash(*READING), wanted, parts], default=str)
    return hashlib.sha256(read.encode()).hexdigest()[:24]


# --- records of commit logs -------------------------------------------------------------------------------------------


class CommitLogDataSource(Source):
    """Records of commit log files as `messages`, or what is no record as `skipped` (docs/architecture.md).

    Options: the path given to `load`, or `files`, a JSON list of {"file", "path", "base", "start"} (`start`: the byte
    from which on a file is read); `table`: `messages` or `skipped`; `columns` (comma list): only these are built, which
    takes a third of the time for a few of them; `body=true`: one column more, the bodies, decompressed; `body_topics`
    (comma list): the body as stored, of records in these topics only.

    Filters on `topic`, `store_timestamp` and `physical_offset` are pushed down on the embedded engine.
    """

    format = "rocketmq.commitlog"
    kinds = STORES

    def fields(self) -> pa.Schema:
        return SKIPPED if self._skipped() else schema(self._columns())

    def pushFilters(self, filters: list[ds.Filter]) -> Iterable[ds.Filter]:  # noqa: N802
        """Build less of `messages` where a filter is understood; hand all of them back, for the engine to apply.

        Apache Spark (4.2) asks once for all queries of a DataFrame: what one filters by would hold for the next.
        """
        for item in filters if embedded.runs() else ():
            self.wanted = narrow(self.wanted, item)
        return filters

    def parts(self, file: dict[str, Any]) -> Iterator[tuple[Any, int]]:
        """Yield ranges of at most `CHUNK` bytes; the kernel moves their ends to the borders of records."""
        from kit.formats.commitlog.segments import examine

        known = examine(file["file"], file["path"], file.get("base"))
        first = file.get("start", 0)
        for start in range(first - first % CHUNK, max(known.used, 1 if known.length else 0), CHUNK):
            start, stop = max(start, first), min(start + CHUNK, known.used)
            yield (known, start, stop), stop - start

    def batches(self, part: Any) -> Iterator[pa.RecordBatch]:
        from kit.formats.commitlog.segments import messages, skipped

        file, start, stop = part
        return skipped(file, start, stop) if self._skipped() else messages(file, start, stop, self.wanted)

    @cached_property
    def wanted(self) -> Wanted:
        """What is built of `messages`; a filter that is pushed down narrows it."""
        topics = _names(self.options.get("body_topics"))
        return Wanted(self._columns(), body_topics=frozenset(topics) if topics else None)

    def _skipped(self) -> bool:
        table = self.options.get("table", "messages")
        if table not in ("messages", "skipped"):
            raise ValueError(f"table is messages or skipped, not {table!r}.")
        return table == "skipped"

    def _columns(self) -> tuple[str, ...]:
        body = str(self.options.get("body", "false")).lower() == "true" or bool(self.options.get("body_topics"))
        asked = _names(self.options.get("columns"))
        unknown = [name for name in asked if name not in FIELDS and name not in STORED]
        if unknown:
            raise ValueError(f"No such column: {', '.join(unknown)}.")
        return asked or tuple(name for name in FIELDS if body or name != "body")


def _names(option: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (option or "").split(",") if name.strip())


def narrow(wanted: Wanted, item: ds.Filter) -> Wanted:
    """Return `wanted` with one more filter, as far as it is understood; never stricter than the filter."""
    name = ".".join(getattr(item, "attribute", ()))
    value = getattr(item, "value", None)
    if name == "topic" and isinstance(item, (ds.EqualTo, ds.In)):
        topics = frozenset(v for v in (item.value if isinstance(item, ds.In) else (value,)) if isinstance(v, str))
        return attrs.evolve(wanted, topics=topics if wanted.topics is None else wanted.topics & topics)
    least = isinstance(item, (ds.EqualTo, ds.GreaterThan, ds.GreaterThanOrEqual))
    most = isinstance(item, (ds.EqualTo, ds.LessThan, ds.LessThanOrEqual))
    if name not in ("physical_offset", "store_timestamp") or not (least or most) or not isinstance(value, int):
        return wanted
    slack = 0
    if name == "store_timestamp":
        value, slack = value // 1000, 1  # in microseconds, which the records do not have
    low, high = wanted.limits.get(name, (-(2**63), 2**63 - 1))
    limits = max(low, value - slack) if least else low, min(high, value + slack) if most else high
    return attrs.evolve(wanted, limits={**wanted.limits, name: limits})


class TraceDataSource(CommitLogDataSource):
    """`rocketmq.trace`: one row per trace context. Option `files` as for `rocketmq.commitlog`."""

    format = "rocketmq.trace"

    def fields(self) -> pa.Schema:
        return columns_of("traces")

    def batches(self, part: Any) -> Iterator[pa.RecordBatch]:
        from kit.formats.traces import trace_rows

        file, start, stop = part
        return trace_rows(file, start, stop)


# --- entries of logs --------------------------------------------------------------------------------------------------


class LogDataSource(Source):
    """Text logs of brokers, clients and applications as `logs` (docs/architecture.md).

    Options: the path given to `load`, or `files`, a JSON list of {"file", "path", "source", "encoding", …} as of
    `Piece`; `tz_broker`, `tz_app` (IANA name or `+08:00`): declared zones; `events=true`: two more columns, `events`
    (slugs of the known texts in the entry) and `offset` (byte position of its first line).

    Partitions: 64 MiB of a big file each, at entry starts; small files share one. Memory stays at a few windows of 8
    MiB; a message or trace over 1 MiB keeps its start and its end with `…[N bytes cut]…` between them.
    """

    format = "rocketmq.log"
    kinds = TEXTS
    copies = False

    @property
    def wanted(self) -> Options:
        """What applies to all files."""
        tz_broker, tz_app = (zone(self.options.get(name)) for name in ("tz_broker", "tz_app"))
        return Options(tz_broker, tz_app, self.options.get("events", "false").lower() == "true")

    def fields(self) -> pa.Schema:
        return self.wanted.schema

    def parts(self, file: dict[str, Any]) -> Iterator[tuple[Any, int]]:
        known = {name: file[name] for name in ("file", "path", *_KNOWN) if file.get(name) is not None}
        return ((piece, piece.end - piece.start) for piece in pieces(Piece(**known)))

    def batches(self, part: Any) -> Iterator[pa.RecordBatch]:
        from kit.formats.logs import entries

        return entries.batches(part, self.wanted)


_KNOWN: Final = ("source", "encoding", "zone_minutes", "seconds_twice")
"""What the inventory knows of a log."""


def pieces(file: Piece, chunk: int | None = None) -> Iterator[Piece]:
    """Yield the stretches of a whole file, with the number of line feeds before each."""
    from kit.formats.logs.entries import count_lines
    from kit.inventory.sniff import SAMPLE, sniff

    chunk, size = chunk or CHUNK, Path(file.path).stat().st_size
    with open_raw(file.path) as opened:
        known = {} if file.source else sniff(opened.read(SAMPLE), file.file) or {"source": "text"}
        one = attrs.evolve(file, end=size, **{name: value for name, value in known.items() if name in _KNOWN})
        if size <= chunk or one.source == "mqadmin":
            yield one
            return
        before = 0
        for start in range(0, size, chunk):
            if start:
                before += count_lines(opened, max(start - chunk - 1, 0), start - 1)
            yield attrs.evolve(one, start=start, end=min(size, start + chunk), before=before)


# --- consume queues and indexes ---------------------------------------------------------------------------------------


class ConsumeQueueDataSource(Source):
    """`rocketmq.consumequeue`: one row per unit. Option `files` as for `rocketmq.commitlog`."""

    format = "rocketmq.consumequeue"
    kinds = ("consumequeue",)

    def batches(self, part: Any) -> Iterator[pa.RecordBatch]:
        return queues.units(*part)


class IndexDataSource(Source):
    """`rocketmq.index`: one row per entry. Option `files` as for `rocketmq.commitlog`."""

    format = "rocketmq.index"
    kinds = ("index",)

    def batches(self, part: Any) -> Iterator[pa.RecordBatch]:
        return queues.entries(*part)


ALL: Final = (CommitLogDataSource, TraceDataSource, LogDataSource, ConsumeQueueDataSource, IndexDataSource)


# --- the types that both engines share --------------------------------------------------------------------------------


def ddl(schema: pa.Schema) -> str:
    """Return an Arrow schema as Spark's SQL text."""
    fields = plain_schema(schema)
    return ", ".join(f"`{field.name}` {from_arrow_type(field.type).simpleString()}" for field in fields)


def plain(rows: Rows) -> Rows:
    """Return rows with the plain types that both engines share: no views, no dictionaries, times in UTC."""
    return rows.cast(plain_schema(rows.schema))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(field.name, _plain(field.type)) for field in schema])


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC")
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_plain(kind.key_type), _plain(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(each.name, _plain(each.type)) for each in kind])
    return kind
