"""What the Spark data sources share: a base, the files to read, their distribution over tasks, columns as SQL."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import attrs
import pyarrow as pa
from attrs import frozen
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_type

from kit.evidence.unread import Unread
from kit.evidence.workspace import READING, code_hash

_SHARE: Final = 32 << 20
_PLACES: Final = ("path", "files", "pieces", "unread", "mode", "digests")
"""Options that say where something is, not what to read."""
_SOURCES: Final = (
    ("commitlog_source", "CommitLogDataSource"),
    ("log_source", "LogDataSource"),
    ("queue_sources", "ConsumeQueueDataSource"),
    ("queue_sources", "IndexDataSource"),
    ("commitlog_source", "TraceDataSource"),
)


@frozen
class Files(InputPartition):
    """The files that one task reads, as (name for users, plain path)."""

    items: tuple[tuple[str, str], ...]


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
        """Return the columns as SQL text: Apache Spark takes no Arrow schema."""
        return ddl(self.fields())

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


class Embedded(DataSource):
    """A source for the embedded engine, which takes an Arrow schema: its SQL text has no map and loses zones."""

    def schema(self) -> Any:
        return pa.schema([field.with_type(_plain(field.type)) for field in self.fields()])  # type: ignore[attr-defined]


def ddl(schema: pa.Schema) -> str:
    """Return an Arrow schema as Spark's SQL text."""
    return ", ".join(f"`{field.name}` {from_arrow_type(_plain(field.type)).simpleString()}" for field in schema)


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_map(kind):
        return pa.map_(_plain(kind.key_type), _plain(kind.item_type))
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch without dictionaries: Spark's JVM takes no batch that has its own."""
    if all(field.type == _plain(field.type) for field in batch.schema):
        return batch
    fields = [field.with_type(_plain(field.type)) for field in batch.schema]
    return pa.RecordBatch.from_arrays([batch.column(f.name).cast(f.type) for f in fields], schema=pa.schema(fields))


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


def share(files: Sequence[dict[str, Any]], unread: Unread) -> list[InputPartition]:
    """Distribute whole files over tasks of about 32 MiB. There is always one task, so that an empty table has its
    columns.
    """
    tasks: list[InputPartition] = []
    group: list[tuple[str, str]] = []
    room = _SHARE
    for item in files:
        try:
            size = Path(item["path"]).stat().st_size
        except OSError as error:
            unread.note(str(item["file"]), error)
            continue
        if group and size > room:
            tasks.append(Files(tuple(group)))
            group, room = [], _SHARE
        group.append((str(item["file"]), str(item["path"])))
        room -= size
    return [*tasks, Files(tuple(group))]


def data_sources(*, embedded: bool = False) -> list[type[DataSource]]:
    """Return the data sources of the kit, to be registered in a session of Apache Spark or of the embedded engine."""
    kinds = [getattr(importlib.import_module(f"kit.spark.{module}"), name) for module, name in _SOURCES]
    return [type(kind.__name__, (Embedded, kind), {"__doc__": kind.__doc__}) for kind in kinds] if embedded else kinds
