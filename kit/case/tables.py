"""The tables of a case: their columns, their sources, and how they are stored as Parquet in the workspace.

What reads the evidence is in `kit.case.reading`.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F  # noqa: N812

from kit.evidence.files import Refused
from kit.evidence.unread import Unread
from kit.evidence.workspace import READING, Workspace, code_hash
from kit.formats.commitlog import schema
from kit.formats.logs import thread_dumps
from kit.formats.printed_times import EPOCH
from kit.formats.queues import consumequeue, index
from kit.formats.tables import business_tables as rows
from kit.formats.tables import configs, host_network, metrics, mqadmin
from kit.formats.values import NANO_FIRST_MS, NANO_LAST_MS
from kit.inventory import zones
from kit.inventory.inventory import TEXTS, Inventory
from kit.inventory.model import Item
from kit.spark.sessions import uri
from kit.spark.sources import KEPT, parquet_writer, places, row_groups

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@attrs.frozen
class Task:
    """Something to read. `name` identifies it (`kit.spark.sources.part_name`), None if it is read again each time."""

    read: Callable[[], Iterable[pa.RecordBatch]]
    name: str | None = None


THREADS: Final = min(8, os.cpu_count() or 2)

OPS: Final = pa.schema(
    [
        ("file", pa.string()),
        ("physical_offset", pa.int64()),
        ("offset_msg_id", pa.string()),
        ("queue_id", pa.int32()),
        ("store_timestamp", pa.timestamp("us", "UTC")),
        ("half_queue_offset", pa.int64()),
        ("tags", pa.string()),
    ]
)
"""One row for each half message that an op record ends: 5.x writes several into one body (`transactionOpMsgMaxSize`)."""


READS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("messages", "skipped", "ops", "traces"), ("commitlog", "dledger")),
    "consumequeue": ("consumequeue",),
    "index": ("index",),
    "logs": TEXTS,
    "configs": ("broker_conf", "store_json", "checkpoint", *TEXTS),
    "offsets": ("broker_conf", "store_json", "checkpoint"),
    "rows": ("rows",),
    "sends": ("sends",),
    "admin": TEXTS,
    "metrics": ("metrics", *TEXTS),
    "network": ("network",),
    "threads": ("thread_dump", "mqadmin", "log", "text"),
}
"""The kinds of files from which each table is read."""
BY_SPARK: Final = frozenset({"messages", "skipped", "ops", "traces", "consumequeue", "index", "logs"})
NEEDS: Final[dict[str, tuple[str, ...]]] = {"configs": ("logs",), "ops": ("messages",)}
"""Tables from which others are derived."""
DATED: Final = frozenset({"offsets", "admin"})
"""Tables in which a file's modification time is the time of its content."""


@attrs.frozen
class Spec:
    """A table: its columns, the times cut by `since` and `until`, and whether its times depend on zones."""

    schema: pa.Schema
    time: str | None = None
    zoned: bool = False


def specs() -> dict[str, Spec]:
    """Return every table of a case."""
    from kit.formats.logs import entries

    return {
        "messages": Spec(schema.stored(), "store_timestamp"),
        "skipped": Spec(schema.SKIPPED),
        "ops": Spec(OPS, "store_timestamp"),
        "traces": Spec(schema.TRACES, "time"),
        "consumequeue": Spec(consumequeue.SCHEMA),
        "index": Spec(index.ENTRIES),
        "logs": Spec(entries.Options(events=True).schema, "ts", zoned=True),
        "configs": Spec(configs.CONFIGS),
        "offsets": Spec(configs.OFFSETS),
        "rows": Spec(rows.ROWS, "time", zoned=True),
        "sends": Spec(rows.SENDS, "start", zoned=True),
        "admin": Spec(mqadmin.SCHEMA),
        "metrics": Spec(metrics.SCHEMA, "ts", zoned=True),
        "network": Spec(host_network.SCHEMA),
        "threads": Spec(thread_dumps.SCHEMA, "time", zoned=True),
    }


def key(name: str, found: Inventory, options: str, settled: Mapping[str, zones.Zone] | None) -> str:
    """Return the name of a table's folder: it changes exactly when the table's content does.

    `options`: their digest; `settled`: zones by file, None for a table whose times need no zone.
    """
    items = _items(name, found)
    said: list[Any] = [
        code_hash(*READING),
        [[i.file, i.sha256, i.kind, i.source, i.replica_of, i.detail] for i in items],
    ]
    if name in DATED:
        said.append([i.modified for i in items])
    if settled is not None:
        said += [options, [zone.zone if (zone := settled.get(i.file)) else None for i in items]]
    return f"{name}-{hashlib.sha256(json.dumps(said, default=str).encode()).hexdigest()[:12]}"


def _items(name: str, found: Inventory) -> tuple[Item, ...]:
    """Return the files a table is read from."""
    if name == "metrics":
        return found.of_metrics()
    return found.of_mqadmin() if name == "admin" else found.of_kind(*READS[name])


def write(
    place: Workspace,
    name: str,
    schema: pa.Schema,
    read: Callable[[Path], DataFrame | Sequence[Task]],
    go_on: Callable[[], None],
) -> Path:
    """Write a table unless it exists, or is in the cache for another evidence set; return its folder. An empty table has one
    file with its columns. `go_on` is called while it is read, and raises to stop.
    """
    with place.writing(name) as part:
        if part is not None and not place.adopt(name, part):
            fill(part, schema, read(part), go_on)
    folder = place.table(name)
    assert folder is not None
    return folder


def fill(part: Path, schema: pa.Schema, found: DataFrame | Sequence[Task], go_on: Callable[[], None]) -> None:
    """Write what was read into an empty folder as Parquet, at least one file."""
    if isinstance(found, Sequence):
        with ThreadPoolExecutor(THREADS) as pool:
            # The last files first: the inventory has just read them, so that they are still in memory.
            list(pool.map(lambda nt: _write_one(part, nt[0], schema, nt[1], go_on), reversed([*enumerate(found)])))
    elif found.columns == KEPT.names:
        found.collect()
    else:
        found.write.mode("append").parquet(uri(part))
    if not any(part.glob("*.parquet")):
        pq.write_table(schema.empty_table(), part / "part-empty.parquet")


def _write_one(folder: Path, number: int, schema: pa.Schema, task: Task, go_on: Callable[[], None]) -> None:
    path, none = places(folder, task.name or f"{number:05}")
    if path.exists() or none.exists():
        return
    writer: pq.ParquetWriter | None = None
    try:
        for group in row_groups(_fitting(task.read(), schema, folder, go_on)):
            writer = writer or parquet_writer(path, group.schema)
            writer.write_table(group)
    finally:
        if writer is not None:
            writer.close()
    if writer is None and task.name:
        none.touch()


def _fitting(
    read: Iterable[pa.RecordBatch], schema: pa.Schema, folder: Path, go_on: Callable[[], None]
) -> Iterator[pa.RecordBatch]:
    """Yield batches with the columns of their table; a batch with a value that does not fit is left out and noted."""
    for batch in read:
        go_on()
        try:
            rows = batch.cast(_coded_as(batch.schema, schema))
        except Exception as error:
            Unread(str(folder)).note(str(batch.column("file")[0]), error)
        else:
            yield rows


def _coded_as(given: pa.Schema, wanted: pa.Schema) -> pa.Schema:
    """Return `wanted`, dictionary-coded for the columns that are given so."""
    return pa.schema([given.field(f.name) if pa.types.is_dictionary(given.field(f.name).type) else f for f in wanted])


def changed(name: str, found: Inventory, unread: Unread) -> None:
    """Note the files of a table that were removed, or became shorter, after the inventory."""
    for item in _items(name, found):
        if item.replica_of is not None:
            continue
        try:
            left = Path(item.path).stat().st_size
        except OSError as error:
            unread.note(item.file, error)
        else:
            if left < item.bytes:
                unread.keep(Refused(item.file, "shrunk", f"{left:,} / {item.bytes:,}"))


def between(frame: DataFrame, column: str | None, since: dt.datetime | None, until: dt.datetime | None) -> DataFrame:
    """Drop rows before `since` or after `until`; rows without a time stay."""
    for limit, sign in ((since, 1), (until, -1)):
        if column is not None and limit is not None:
            time, bound = F.col(column), F.lit(limit)
            frame = frame.where(time.isNull() | ((time >= bound) if sign > 0 else (time <= bound)))
    return frame


def countable(name: str, folder: Path, frame: DataFrame) -> DataFrame:
    """Set times before 1678 or after 2261 to null in a table in `folder`; a table without any is returned unchanged."""
    columns = [field.name for field in specs()[name].schema if pa.types.is_timestamp(field.type)]
    first, last = (EPOCH + dt.timedelta(milliseconds=ms) for ms in (NANO_FIRST_MS, NANO_LAST_MS))
    for column in columns:
        if any(low < first or high > last for low, high in _bounds(folder, column)):
            frame = frame.withColumn(column, F.when(F.col(column).between(F.lit(first), F.lit(last)), F.col(column)))
    return frame


def _bounds(folder: Path, column: str) -> Iterator[tuple[dt.datetime, dt.datetime]]:
    """Yield the minimum and maximum time of each part of a table, from its files' statistics; nothing else is read."""
    for path in folder.glob("*.parquet"):
        said = pq.read_metadata(path)
        for group in map(said.row_group, range(said.num_row_groups)):
            for part in map(group.column, range(group.num_columns)):
                if part.path_in_schema == column and part.statistics is not None and part.statistics.has_min_max:
                    yield part.statistics.min, part.statistics.max
