"""How each table of a case is built and kept as Parquet in the workspace.

Records, logs, queues and indexes are read by the kit's Spark data sources, on whatever cluster the session has; the
small files by `kit.case.small_tables`.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from kit.evidence.files import Refused
from kit.evidence.unread import Unread
from kit.evidence.workspace import READING, Workspace, code_hash
from kit.formats.commitlog import schema
from kit.formats.logs import thread_dumps
from kit.formats.logs.log_file import LogFile
from kit.formats.printed_times import EPOCH
from kit.formats.printed_times import zone as zone_minutes
from kit.formats.queues import consumequeue, index
from kit.formats.tables import business_tables as rows
from kit.formats.tables import configs, host_network, metrics, mqadmin
from kit.formats.values import NANO_FIRST_MS, NANO_LAST_MS
from kit.inventory import zones
from kit.inventory.inventory import TEXTS, Inventory, as_log_files
from kit.rocketmq import names
from kit.spark import log_source
from kit.spark.sessions import parquet, uri
from kit.spark.sources import KEPT, data_sources, parquet_writer, part_name, places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Adopt = Callable[[Collection[str]], None]


@attrs.frozen
class Task:
    """Something to read. `name` says what (`kit.spark.sources.part_name`), None for what is read anew each time."""

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
"""One row for each half message an op record ends: 5.x writes several into one body (`transactionOpMsgMaxSize`)."""


READS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("messages", "skipped", "ops", "traces"), ("commitlog", "dledger")),
    "consumequeue": ("consumequeue",),
    "index": ("index",),
    "logs": TEXTS,
    "configs": ("broker_conf", "store_json", "checkpoint", *TEXTS),
    "offsets": ("broker_conf", "store_json", "checkpoint"),
    "rows": ("rows",),
    "sends": ("sends",),
    "admin": ("mqadmin",),
    "metrics": ("metrics",),
    "network": ("network",),
    "threads": ("thread_dump", "mqadmin", "log", "text"),
}
"""Kinds of files each table is read from."""
BY_SPARK: Final = frozenset({"messages", "skipped", "ops", "traces", "consumequeue", "index", "logs"})
NEEDS: Final[dict[str, tuple[str, ...]]] = {"configs": ("logs",), "ops": ("messages",)}
"""Tables that others are worked out from."""
DATED: Final = frozenset({"offsets", "admin"})
"""Tables in which the time of change of a file says when something was so."""


@attrs.frozen
class Spec:
    """A table: its columns, the times that `since` and `until` cut, and whether its times depend on zones."""

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
    """Return the name of a table's folder: whatever changes its content changes the name, and nothing else does.

    `options`: their digest; `settled`: zones by file, None for a table whose times need none.
    """
    items = [i for i in found.items if i.kind in READS[name]]
    said: list[Any] = [
        code_hash(*READING),
        [[i.file, i.sha256, i.kind, i.source, i.replica_of, i.detail] for i in items],
    ]
    if name in DATED:
        said.append([i.modified for i in items])
    if settled is not None:
        said += [options, [zone.zone if (zone := settled.get(i.file)) else None for i in items]]
    return f"{name}-{hashlib.sha256(json.dumps(said, default=str).encode()).hexdigest()[:12]}"


def write(
    place: Workspace,
    name: str,
    schema: pa.Schema,
    read: Callable[[Path], DataFrame | Sequence[Task]],
    go_on: Callable[[], None],
) -> Path:
    """Write a table unless it is there, or in the cache for another evidence; return its folder. An empty table has one
    file with its columns. `go_on` is asked while it is read, and raises to end that.
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
            list(pool.map(lambda nt: _write_one(part, nt[0], schema, nt[1], go_on), enumerate(found)))
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
        for batch in task.read():
            go_on()
            if batch.num_rows and (rows := _fitting(batch, schema, folder)) is not None:
                writer = writer or parquet_writer(path, rows.schema)
                writer.write_batch(rows)
    finally:
        if writer is not None:
            writer.close()
    if writer is None and task.name:
        none.touch()


def _fitting(batch: pa.RecordBatch, schema: pa.Schema, folder: Path) -> pa.RecordBatch | None:
    """Return a batch in the columns of its table; one with a value that has no place there ends the reading of its file."""
    try:
        return batch.cast(_coded_as(batch.schema, schema))
    except Exception as error:
        Unread(str(folder)).note(str(batch.column("file")[0]), error)
        return None


def _coded_as(given: pa.Schema, wanted: pa.Schema) -> pa.Schema:
    """Return `wanted` with the columns dictionary-coded that are given so."""
    return pa.schema([given.field(f.name) if pa.types.is_dictionary(given.field(f.name).type) else f for f in wanted])


def changed(name: str, found: Inventory, unread: Unread) -> None:
    """Note the files of a table that were removed, or became shorter, after the evidence was looked at."""
    for item in found.of_kind(*READS[name], replicas=False):
        try:
            left = Path(item.path).stat().st_size
        except OSError as error:
            unread.note(item.file, error)
        else:
            if left < item.bytes:
                unread.keep(Refused(item.file, "shrunk", f"{left:,} / {item.bytes:,}"))


def _once(read: Callable[..., Any], *arguments: Any) -> list[Any]:
    return [read(*arguments)]


def stores(found: Inventory, unread: Unread, *, replicas: bool = True) -> list[dict[str, Any]]:
    """Return the commitlog files as the readers take them, examined once here instead of in each task."""
    items = found.of_kind("commitlog", "dledger", replicas=replicas)
    if not items:  # kernels take a moment to load
        return []
    from kit.formats.commitlog.segments import examine

    return [
        attrs.asdict(file)
        for item in items
        for file in unread.through(item.file, partial(_once, examine, item.file, str(item.path), item.base))
    ]


def frame(spark: SparkSession, name: str, found: Inventory, options: dict[str, Any], part: Path) -> DataFrame:
    """Return a table of `BY_SPARK` as the data sources read it; the big ones are written into `part` by the tasks that
    read them.

    `options` as for `tasks`.
    """
    if name == "ops":
        copies = [i.file for i in found.of_kind("commitlog", "dledger") if i.replica_of]
        messages = parquet(spark, options["messages"], from_arrow_schema(specs()["messages"].schema))
        return ended(messages.where(~F.col("file").isin(copies)))
    source, said = _source(name, found, options, part)
    if name not in ("messages", "skipped", "logs"):
        return spark.read.format(source).options(**said).load()
    _planned(source, said, options)
    return spark.read.format(source).options(**said, keep=str(part.resolve())).load()


def here(name: str, found: Inventory, options: dict[str, Any], part: Path) -> list[Task]:
    """Return the same tasks for this process, whose threads read as fast as Spark's Python workers, and need no start."""
    if name == "ops":
        copies = [i.file for i in found.of_kind("commitlog", "dledger") if i.replica_of]
        return [Task(partial(_ended_here, options["messages"], copies))]
    source, said = _source(name, found, options, part)
    return _planned(source, said, options)


def _planned(source: str, said: dict[str, str], options: dict[str, Any]) -> list[Task]:
    """Return the tasks of a data source; what other evidence in the cache has read of the same bytes is linked (`adopt`)."""
    kind = next(each for each in data_sources() if each.name() == source)
    reader: Any = kind(said).reader(None)  # type: ignore[arg-type]
    planned = [Task(partial(reader.read, each), part_name(said, each)) for each in reader.partitions()]
    if adopt := options.get("adopt"):
        adopt([task.name for task in planned])
    return planned


def _source(name: str, found: Inventory, options: dict[str, Any], part: Path) -> tuple[str, dict[str, str]]:
    """Return the data source of a table and its options; files that cannot be read are noted in `part`."""
    unread = Unread(str(part.resolve()))
    source, said = _asked(name, found, options, unread)
    digests = {str(item.path): item.sha256 for item in found.items if item.kind in READS[name] and item.sha256}
    return source, {**said, "unread": str(unread.folder), "digests": json.dumps(digests)}


def _asked(name: str, found: Inventory, options: dict[str, Any], unread: Unread) -> tuple[str, dict[str, str]]:
    if name == "messages":
        # Op records say in their bodies which half messages they end.
        listed = {"files": json.dumps(stores(found, unread))}
        if options.get("public"):
            return "rocketmq.commitlog", listed
        return "rocketmq.commitlog", listed | {"body_topics": names.OP_TOPIC, "columns": ",".join(schema.STORED)}
    if name == "skipped":
        return "rocketmq.commitlog", {"files": json.dumps(stores(found, unread)), "table": "skipped"}
    if name == "traces":
        return "rocketmq.trace", {"files": json.dumps(stores(found, unread, replicas=False))}
    if name in ("consumequeue", "index"):
        return f"rocketmq.{name}", {
            "files": json.dumps([{"file": i.file, "path": i.path} for i in found.of_kind(name, replicas=False)])
        }
    if name == "logs":
        files = [_with_zone(file, options) for file in as_log_files(found)]
        zoned = {zone: options[zone] for zone in ("tz_broker", "tz_app") if options.get(zone)}
        return "rocketmq.log", {"events": "true", "pieces": json.dumps(log_source.plan(files, unread)), **zoned}
    raise KeyError(name)


def between(frame: DataFrame, column: str | None, since: dt.datetime | None, until: dt.datetime | None) -> DataFrame:
    """Leave out what is before `since` or after `until`; rows without a time stay."""
    for limit, sign in ((since, 1), (until, -1)):
        if column is not None and limit is not None:
            time, bound = F.col(column), F.lit(limit)
            frame = frame.where(time.isNull() | ((time >= bound) if sign > 0 else (time <= bound)))
    return frame


def times(name: str) -> list[str]:
    """Return the columns of a table that hold times."""
    return [field.name for field in specs()[name].schema if pa.types.is_timestamp(field.type)]


def countable(folder: Path, frame: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Set the times of a table in `folder` that are before 1678 or after 2261 to null; one without any stays as it is."""
    first, last = (EPOCH + dt.timedelta(milliseconds=ms) for ms in (NANO_FIRST_MS, NANO_LAST_MS))
    for column in columns:
        if any(low < first or high > last for low, high in _bounds(folder, column)):
            frame = frame.withColumn(column, F.when(F.col(column).between(F.lit(first), F.lit(last)), F.col(column)))
    return frame


def _bounds(folder: Path, column: str) -> Iterator[tuple[dt.datetime, dt.datetime]]:
    """Yield the least and greatest time of each part of a table, as its files say; nothing else of them is read."""
    for path in folder.glob("*.parquet"):
        said = pq.read_metadata(path)
        for group in map(said.row_group, range(said.num_row_groups)):
            for part in map(group.column, range(group.num_columns)):
                if part.path_in_schema == column and part.statistics is not None and part.statistics.has_min_max:
                    yield part.statistics.min, part.statistics.max


def ended(ops: DataFrame) -> DataFrame:
    """Return one row for each queue offset in the bodies of op records: `17` in 4.x, `17,18,` from 5.1.0; null where it
    is no number.
    """
    said = F.explode(F.split(F.rtrim(F.col("body").cast("string"), F.lit(",")), ","))
    rows = ops.where(F.col("topic") == names.OP_TOPIC).withColumn("said", said)
    number = F.when(F.col("said").rlike(r"^\d{1,18}$"), F.col("said")).cast("long")
    return rows.withColumn("half_queue_offset", number).select(*OPS.names)


def _ended_here(messages: Path, copies: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield what `ended` returns, without Spark."""
    wanted = (ds.field("topic") == names.OP_TOPIC) & ~ds.field("file").isin(pa.array(copies, pa.string()))
    columns = [name for name in OPS.names if name != "half_queue_offset"]
    for batch in ds.dataset(messages, format="parquet").to_batches([*columns, "body"], filter=wanted):
        text = pa.array(
            [None if b is None else b.decode("ascii", "replace") for b in batch["body"].to_pylist()], pa.string()
        )
        said = pc.split_pattern(pc.utf8_rtrim(text, ","), ",")
        listed = pc.list_flatten(said)
        number = pc.if_else(pc.match_substring_regex(listed, r"^[0-9]{1,18}$"), listed, None).cast(pa.int64())
        rows = batch.select(columns).take(pc.list_parent_indices(said))
        yield pa.RecordBatch.from_arrays(
            [number if name == "half_queue_offset" else rows[name] for name in OPS.names], schema=OPS
        )


def _with_zone(file: LogFile, options: dict[str, Any]) -> LogFile:
    """Give a text file the zone settled for it; a declared one is in the options of all."""
    if not options.get("tz_app"):
        known = zone_minutes(options["zones"].get(file.file))
        file.zone_minutes = known if isinstance(known, int) else None
    return file
