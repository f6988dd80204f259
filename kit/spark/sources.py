"""What the Spark data sources share: a base, the files to read, their distribution over tasks, plain columns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final, TypeVar

import attrs
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_type

from kit.evidence.workspace import READING, code_hash
from kit.spark import embedded

_PLACES: Final = ("path", "files", "pieces", "unread", "mode", "digests")
"""Options that say where something is, not what to read."""
T = TypeVar("T")
Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)


def part_name(options: Any, task: InputPartition) -> str:
    """Return a name for what a task reads: the same bytes read by the same code have the same name, wherever they are.

    Option `digests` (JSON {path: SHA-256}) has the digests of the files; a file that is not listed is named by its
    path.
    """
    digests = json.loads(options.get("digests") or "{}")
    parts = sorted((key, value) for key, value in options.items() if key.lower() not in _PLACES)
    read = [code_hash(*READING), parts, _by_content(attrs.asdict(task), digests)]  # type: ignore[arg-type]
    return hashlib.sha256(json.dumps(read, default=str).encode()).hexdigest()[:24]


def _by_content(value: Any, digests: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _by_content(each, digests) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_by_content(each, digests) for each in value]
    return digests.get(value, value) if isinstance(value, str) else value


class Source(DataSource):
    """A format of the kit: its columns as Arrow (`fields`), what its tasks read, and the rows of a task.

    `rows` may be dictionary-coded, which is cheaper to hand on and which Spark cannot take.
    """

    format: ClassVar[str]

    @classmethod
    def name(cls) -> str:
        return cls.format

    def fields(self) -> pa.Schema:
        raise NotImplementedError

    def tasks(self) -> Sequence[InputPartition]:
        raise NotImplementedError

    def rows(self, task: Any) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError

    def schema(self) -> Any:
        """Return the columns as SQL text: Apache Spark, which asks in processes of its own, takes no Arrow schema. The
        embedded engine does, and in its SQL text has no map and loses zones.
        """
        return plain_schema(self.fields()) if embedded.runs() else ddl(self.fields())

    def reader(self, schema: Any) -> Reader:
        return Reader(self)


class Reader(DataSourceReader):
    """Reads a source task by task."""

    def __init__(self, source: Source) -> None:
        """Keep what is read."""
        self.source = source

    def partitions(self) -> Sequence[InputPartition]:
        return self.source.tasks()

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        # Of a source without any task Spark asks for the whole, as None.
        return iter(()) if partition is None else map(plain, self.source.rows(partition))


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


def files_of(options: Any, *kinds: str) -> list[dict[str, Any]]:
    """Return the files that a data source was given: those in option `files`, else those of these kinds in the evidence
    at `path`.

    Each is {"file": name for users, "path": plain path, "base": physical offset of the first byte or None}.
    """
    listed = options.get("files")
    if listed:
        return list(json.loads(listed))
    path = options.get("path")
    if not path:
        raise ValueError("Say what to read: load(path), or option files = JSON list of {file, path}.")
    from kit.inventory.inventory import take

    return [
        {"file": item.file, "path": str(item.path), "base": getattr(item, "base", None)}
        for item in take(path, workspace=None).of_kind(*kinds)
    ]


def packed(sized: Iterable[tuple[T, int]], most: int) -> Iterator[list[T]]:
    """Yield groups of what is to be read, in its order, of at most `most` bytes if they are not one alone."""
    group: list[T] = []
    room = most
    for item, size in sized:
        if group and size > room:
            yield group
            group, room = [], most
        group.append(item)
        room -= size
    if group:
        yield group
