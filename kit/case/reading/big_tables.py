"""The tables of records, logs, queues and indexes: read by the kit's Spark data sources, on whatever cluster the
session has, or by the threads of this process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from kit.case.reading import known_records
from kit.case.tables import OPS, READS, Task, specs
from kit.evidence.unread import Unread
from kit.formats.commitlog import schema
from kit.formats.logs.log_file import LogFile
from kit.formats.printed_times import zone as zone_minutes
from kit.inventory.inventory import Inventory, as_log_files
from kit.rocketmq import names
from kit.spark import log_source
from kit.spark.sessions import parquet
from kit.spark.sources import data_sources, part_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_NEEDED: Final = {"skipped": known_records.for_skipped, "traces": known_records.for_traces}


def _once(read: Callable[..., Any], *arguments: Any) -> list[Any]:
    return [read(*arguments)]


def stores(found: Inventory, unread: Unread, *, replicas: bool = True) -> list[dict[str, Any]]:
    """Return the commit log files in the form the readers take, examined once here instead of in every task."""
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
    """Return a table of `BY_SPARK` as the data sources read it; the big ones are written into `part` by the tasks
    that read them.

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
    """Return the same tasks for the threads of this process: they read as fast as Spark's Python workers and have
    nothing to start.
    """
    if name == "ops":
        copies = [i.file for i in found.of_kind("commitlog", "dledger") if i.replica_of]
        return [Task(partial(_ended_here, options["messages"], copies))]
    source, said = _source(name, found, options, part)
    needed = _NEEDED[name](options["records"]) if name in _NEEDED and options.get("records") else None
    return _planned(source, said, options, needed)


def _planned(
    source: str, said: dict[str, str], options: dict[str, Any], needed: known_records.Needed | None = None
) -> list[Task]:
    """Return the tasks of a data source. Parts that were read from the same bytes for other evidence are linked from
    the cache (`adopt`). Stretches of the commit log that are not `needed` are left out.
    """
    kind = next(each for each in data_sources() if each.name() == source)
    reader: Any = kind(said).reader(None)  # type: ignore[arg-type]
    parts = reader.partitions()
    if needed:
        parts = [attrs.evolve(each, ranges=tuple(at for at in each.ranges if needed(*at))) for each in parts]
        parts = [each for each in parts if each.ranges]
    # Columns that are dictionary-coded already are cheaper to write.
    read = getattr(reader, "rows", reader.read)
    planned = [Task(partial(read, each), part_name(said, each)) for each in parts]
    if adopt := options.get("adopt"):
        adopt([task.name for task in planned])
    return planned


def _source(name: str, found: Inventory, options: dict[str, Any], part: Path) -> tuple[str, dict[str, str]]:
    """Return the data source of a table and its options; files that cannot be read are noted in `part`."""
    unread = Unread(str(part.resolve()))
    source, said = _asked(name, found, options, unread)
    digests = {str(item.path): item.content for item in found.items if item.kind in READS[name] and item.content}
    return source, {**said, "unread": str(unread.folder), "digests": json.dumps(digests)}


def _asked(name: str, found: Inventory, options: dict[str, Any], unread: Unread) -> tuple[str, dict[str, str]]:
    if name == "messages":
        # The body of an op record says which half messages it ends.
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


def ended(ops: DataFrame) -> DataFrame:
    """Return one row for each queue offset in the bodies of op records: `17` in 4.x, `17,18,` from 5.1.0; null where
    it is no number.
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
    """Give a text file the zone that was settled for it; a declared zone is in the options and holds for every file."""
    if not options.get("tz_app"):
        known = zone_minutes(options["zones"].get(file.file))
        file.zone_minutes = known if isinstance(known, int) else None
    return file
