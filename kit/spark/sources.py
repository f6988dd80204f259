"""Helpers of the Spark data sources: which files to read, how to distribute them over tasks, and their columns as SQL."""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib
import json
import os
import secrets
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from attrs import frozen
from pyspark.sql.datasource import DataSource, InputPartition

from kit.evidence.unread import Unread
from kit.evidence.workspace import READING, code_hash
from kit.formats.arrow_types import STRING_MAP, TIMESTAMP
from kit.formats.commitlog.schema import PROMOTED_COLUMNS, TEXT, promoted
from kit.rocketmq import names

_SQL: Final = {
    pa.string(): "string",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.bool_(): "boolean",
    pa.binary(): "binary",
    TIMESTAMP: "timestamp",
    STRING_MAP: "map<string,string>",
}
_SHARE: Final = 32 << 20
_PLACES: Final = ("path", "files", "pieces", "keep", "unread", "mode", "digests")
"""Options that say where something is, not what to read."""
_SOURCES: Final = (
    ("commitlog_source", "CommitLogDataSource"),
    ("log_source", "LogDataSource"),
    ("queue_sources", "ConsumeQueueDataSource"),
    ("queue_sources", "IndexDataSource"),
    ("trace_source", "TraceDataSource"),
)


@frozen
class Files(InputPartition):
    """The files that one task reads, as (name for users, plain path)."""

    items: tuple[tuple[str, str], ...]


KEPT: Final = pa.schema([("path", pa.string()), ("rows", pa.int64())])
"""What a task returns about the file it wrote, with option `keep`."""


NEAR: Final = (
    "line",
    "offset",
    "physical_offset",
    "store_size",
    "body_size",
    "born_timestamp",
    "store_timestamp",
    "ts",
)
"""Numbers and times that are close to the one before: stored as differences."""
DIFFERENT: Final = ("offset_msg_id", "uniq_key", "keys", TEXT, "properties.key_value.value", "body")
"""Texts that rarely repeat: a dictionary would cost much and gain nothing."""
_SOUGHT: Final = frozenset(map(promoted, (names.REAL_TOPIC, names.TRAN_MSG, names.DELAY)))
UNSOUGHT: Final = frozenset(PROMOTED_COLUMNS) - _SOUGHT | {
    *("born_host", "store_host", TEXT, "body", "body_codec", "keys", "tags"),
    *("ts_text", "message", "trace"),
}
"""Columns that no condition compares, or whose values are all over each part: minimum and maximum would only take time."""
AT_ONCE: Final = 1 << 12
"""How many rows are encoded at once: each round costs as much as some hundred rows, and a dictionary that does not
pay is given up between rounds.
"""


def parquet_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Return the writer of one part of a table. Columns may be dictionary-encoded or plain: the file is the same.

    Numbers get no dictionary: plain and compressed they take half the time and hardly more space.
    """
    leaves = _leaves(schema)
    near = {name: "DELTA_BINARY_PACKED" for name in NEAR if name in schema.names}
    return pq.ParquetWriter(
        path,
        schema,
        compression="snappy",
        store_schema=False,
        use_dictionary=[name for name, kind in leaves.items() if kind == "BYTE_ARRAY" and name not in DIFFERENT],
        column_encoding=near or None,
        write_statistics=[name for name in leaves if name not in UNSOUGHT and "." not in name],
        write_batch_size=AT_ONCE,
    )


def row_groups(found: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the row groups of a part. Records are grouped by stage, so that a question about half messages reads no
    other records; everything else stays in order.
    """
    held: dict[str | None, list[pa.RecordBatch]] = {}
    for batch in found:
        if not batch.num_rows:
            continue
        if "stage" not in batch.schema.names:
            yield pa.Table.from_batches([batch])
            continue
        # The reader has grouped the records of each batch by stage.
        stage = batch["stage"].dictionary_encode()
        starts = np.flatnonzero(np.diff(stage.indices.to_numpy(), prepend=-1)).tolist()
        for start, end in pairwise([*starts, batch.num_rows]):
            held.setdefault(stage[start].as_py(), []).append(batch.slice(start, end - start))
    yield from (pa.Table.from_batches(each).unify_dictionaries() for each in held.values())


def _leaves(schema: pa.Schema) -> dict[str, str]:
    """Return the columns by their Parquet path, with their physical types."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema, store_schema=False):
        pass
    found = pq.read_metadata(pa.BufferReader(sink.getvalue())).schema
    return {found.column(n).path: found.column(n).physical_type for n in range(len(found))}


def part_name(options: Any, task: InputPartition) -> str:
    """Return a name for what a task reads: the same bytes read by the same code have the same name, wherever they are.

    Option `digests` (JSON {path: SHA-256}) has the digests of the files; a file that is not listed is named by its
    path.
    """
    digests = json.loads(options.get("digests") or "{}")
    said = sorted((key, value) for key, value in options.items() if key.lower() not in _PLACES)
    read = [code_hash(*READING), said, _by_content(attrs.asdict(task), digests)]  # type: ignore[arg-type]
    return hashlib.sha256(json.dumps(read, default=str).encode()).hexdigest()[:24]


def _by_content(value: Any, digests: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _by_content(each, digests) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_by_content(each, digests) for each in value]
    return digests.get(value, value) if isinstance(value, str) else value


def places(folder: Path, name: str) -> tuple[Path, Path]:
    """Return the path of a task's rows, and of the marker that it found none."""
    return folder / f"part-{name}.parquet", folder / f".part-{name}.none"


def kept(folder: str, name: str, found: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Write a task's rows as one Parquet file into `folder`, and yield its path and row count (nothing where there
    are no rows).

    The rows never pass through the JVM. A part that exists under the task's name is not read again, and a file
    appears complete or not at all.
    """
    path, none = places(Path(folder), name)
    if path.exists():
        rows = pq.read_metadata(path).num_rows
        yield pa.RecordBatch.from_pylist([{"path": str(path), "rows": rows}], schema=KEPT)
    if path.exists() or none.exists():
        return
    # Workers on different hosts may have the same process and thread number.
    part = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}-{secrets.token_hex(4)}.part")
    writer: pq.ParquetWriter | None = None
    rows = 0
    try:
        for group in row_groups(found):
            writer = writer or parquet_writer(part, group.schema)
            writer.write_table(group)
            rows += group.num_rows
        if writer is not None:
            writer.close()
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    if writer is None:
        none.touch()
    else:
        yield pa.RecordBatch.from_pylist([{"path": str(path), "rows": rows}], schema=KEPT)


def from_worker(found: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what a task reads, and take the modules that are loaded by then out of the garbage collector's sight.

    PySpark's daemon collects behind every task, and going through the objects of NumPy, Arrow and the kernels costs a
    worker as much time as reading 20 MB.
    """
    yield from found
    _freeze_once()


@functools.cache
def _freeze_once() -> None:
    gc.freeze()


def ddl(schema: pa.Schema) -> str:
    """Return an Arrow schema as Spark's SQL text."""
    return ", ".join(f"`{field.name}` {_SQL[_plain(field.type)]}" for field in schema)


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
    held: list[tuple[str, str]] = []
    room = _SHARE
    for item in files:
        try:
            size = Path(item["path"]).stat().st_size
        except OSError as error:
            unread.note(str(item["file"]), error)
            continue
        if held and size > room:
            tasks.append(Files(tuple(held)))
            held, room = [], _SHARE
        held.append((str(item["file"]), str(item["path"])))
        room -= size
    return [*tasks, Files(tuple(held))]


def data_sources() -> list[type[DataSource]]:
    """Return the Spark data sources of the kit, to be registered in a session."""
    return [getattr(importlib.import_module(f"kit.spark.{module}"), name) for module, name in _SOURCES]
