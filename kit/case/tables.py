"""The tables of a case: their columns, what reads them from the evidence, and how they are kept as Parquet."""

from __future__ import annotations

import bisect
import contextlib
import datetime as dt
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import pyarrow as pa

from kit.evidence import disk
from kit.evidence.files import Damaged, Refused, Unread, beginning, notes, refusal
from kit.formats import thread_dumps
from kit.formats.commitlog import schema
from kit.formats.logs import source_code
from kit.formats.logs.schema import Options
from kit.formats.printed_times import NANO_FIRST_MS, NANO_LAST_MS, converter, datetime_of
from kit.formats.tables import business_tables as rows
from kit.formats.tables import configs, metrics, mqadmin
from kit.formats.values import batches, columns_of
from kit.inventory.inventory import Inventory
from kit.inventory.model import STORES, TEXTS, Item
from kit.inventory.zones import Zones
from kit.rocketmq import names
from kit.spark import embedded, parquet, sources
from kit.tables import frames

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Read = Callable[[], Iterable[pa.RecordBatch]]
Task = tuple[str, Read]
"""Something to read, by what identifies it: of a big table its bytes (`kit.spark.sources.part_name`), else a number."""
Files = Callable[[Inventory], tuple[Item, ...]]
MAX_OUTPUT: Final = 256 << 20
"""How many bytes of an application's output are searched for thread dumps (`kill -3`)."""
MAX_BYTES: Final = 64 << 20
"""How many bytes of a configuration file or an output are read: thousands of topics take a few megabytes."""
MOST_TASKS: Final = 16
"""Tasks at most, but for large tables on Apache Spark: the embedded engine begins all, a thousand took gigabytes."""
_SET_UP: Final = (
    "command in ('clusterList', 'getBrokerConfig', 'topicList', 'topicRoute') or name like '%brokerVersionDesc%'"
)
"""Cells of outputs that name addresses, releases, settings, topics: they hold before and after the output too."""


@attrs.frozen
class Spec:
    """A table: its columns, the files it is read from, the time cut by `since` and `until`.

    `zoned`: its times depend on zones; `dated`: a file's modification time is the time of its content; `lasting`: the
    condition of rows that say what is set up, which no window cuts; `source`: the data source of a big table, and its
    options. Another table is read a file at a time (`_small`). `apart`: the column that queries choose rows by.
    """

    schema: pa.Schema
    files: Files
    time: str | None = None
    zoned: bool = False
    dated: bool = False
    lasting: str = "false"
    source: type[sources.Source] | None = None
    options: Mapping[str, str] = {}
    apart: str | None = None


def _of(*kinds: str, replicas: bool = False) -> Files:
    return lambda inventory: inventory.of_kind(*kinds, replicas=replicas)


def _config_files(inventory: Inventory) -> tuple[Item, ...]:
    texts = inventory.of_kind("text", replicas=False)
    settings = (item for item in texts if item.detail.get("settings"))
    return (*inventory.of_kind("broker_conf", "store_json", replicas=False), *settings)


def _with_offsets(inventory: Inventory) -> tuple[Item, ...]:
    """Copies are read too: two equal files of different times show that nothing moved."""
    stored = inventory.of_kind("store_json", "checkpoint")
    items = (item for item in stored if item.kind == "checkpoint" or item.detail["name"] in configs.OFFSETS)
    dated = ("consumerOffset", "lmqConsumerOffset")
    return tuple(item for item in items if item.replica_of is None or item.detail.get("name") in dated)


def _may_dump(inventory: Inventory) -> tuple[Item, ...]:
    """Return the files that may hold thread dumps: dumps, running info files, the output of applications, a paste."""
    items = inventory.of_kind("thread_dump", "mqadmin", "log", "text", replicas=False)
    whole, most = ("thread_dump", "mqadmin"), {"app": MAX_OUTPUT, "text": MAX_OUTPUT}
    return tuple(i for i in items if i.kind in whole or i.bytes <= most.get(i.source or "", source_code.MOST))


@cache
def specs() -> dict[str, Spec]:
    copies_too = _of(*STORES, replicas=True)
    commitlog, logs = (partial(Spec, source=kind) for kind in (sources.CommitLogDataSource, sources.LogDataSource))
    mqadmin, tools = (partial(Inventory.of_outputs, kind=kind) for kind in ("mqadmin", "metrics"))
    # The body of an op record says which half messages it ends, that of the other which offset was corrected.
    wanted = {"body_topics": f"{names.OP_TOPIC},{names.OFFSET_MOVED_TOPIC}", "columns": ",".join(schema.STORED)}
    return {
        "messages": commitlog(schema.stored(), copies_too, "store_timestamp", options=wanted, apart="stage"),
        "skipped": commitlog(columns_of("skipped"), copies_too, options={"table": "skipped"}),
        "traces": Spec(columns_of("traces"), _of(*STORES), "time", source=sources.TraceDataSource),
        "consumequeue": Spec(columns_of("consumequeue"), _of("consumequeue"), source=sources.ConsumeQueueDataSource),
        "index": Spec(columns_of("index"), _of("index"), "timestamp", source=sources.IndexDataSource),
        "logs": logs(
            Options(events=True).schema, _of(*TEXTS), "ts", zoned=True, options={"events": "true"}, apart="known"
        ),
        "config_files": Spec(columns_of("config_files"), _config_files),
        "offsets": Spec(columns_of("offsets"), _with_offsets, "time", dated=True),
        "rows": Spec(columns_of("rows"), _of("rows"), "time", zoned=True),
        "sends": Spec(columns_of("sends"), _of("sends"), "start", zoned=True),
        "admin": Spec(columns_of("admin"), mqadmin, "time", zoned=True, dated=True, lasting=_SET_UP),
        "metrics": Spec(columns_of("metrics"), tools, "ts", zoned=True),
        "network": Spec(columns_of("network"), _of("network")),
        "threads": Spec(columns_of("threads"), _may_dump, "time", zoned=True),
    }


# --- reading ----------------------------------------------------------------------------------------------------------


def tasks(
    name: str, items: Sequence[Item], zones: Zones, options: dict[str, str], only: Mapping[str, int] | None
) -> list[Task]:
    """Return the tasks that read a table. `options`: of its data source (`kit.spark.sources`), `unread` among them;
    `only`: the files that have any rows, and from which byte on, if that is known.
    """
    spec, unread = specs()[name], Unread(options["unread"])
    changed(items, unread)
    if spec.source is None:
        # Metrics come from the broker's host, whose zone may differ from that of its logs.
        broker = options.get("tz_broker") if name == "metrics" else None
        read = [(item.file, partial(_read, name, item, broker or zones.get(item.file))) for item in items]
        return [(f"{number:05}", partial(unread.through, *each)) for number, each in enumerate(read)]
    options = {
        **spec.options,
        **options,
        # A declared zone is in the options and holds for every file.
        "files": json.dumps(sources.listed(items, {} if "tz_app" in options else zones, only)),
        "digests": json.dumps({i.path: i.content for i in items if i.content}),
    }
    source = spec.source(options)
    return [(sources.part_name(options, each), partial(source.rows, each)) for each in source.partitions()]


def _read(name: str, item: Item, zone: str | None) -> Iterator[pa.RecordBatch]:
    return batches(({"file": item.file, **row} for row in _small(name, item, zone)), specs()[name].schema)


def _small(name: str, item: Item, zone: str | None) -> Iterable[dict[str, Any]]:
    if name in ("rows", "sends"):
        return rows.read(Path(item.path), item.detail, converter(zone)) if item.detail.get("role") else ()
    if name == "admin":
        return _outputs(item, converter(zone))
    if name == "threads":
        raw = beginning(item.path, MAX_OUTPUT)
        dumped = b"Full thread dump" in raw or (item.kind == "mqadmin" and b" TID: " in raw)
        dumped = dumped or bool(thread_dumps.HEADS["head"].search(raw[: source_code.MOST]))
        return thread_dumps.read(raw, converter(zone)) if dumped else ()
    if name == "network":
        return metrics.network(beginning(item.path, MAX_BYTES).decode("utf-8", "backslashreplace"))
    if name == "metrics":
        return metrics.read(item.path, converter(zone))
    try:
        if name == "config_files":
            return configs.configs(item.file, beginning(item.path, MAX_BYTES), item.detail, item.kind)
        offsets = configs.offsets(item.file, beginning(item.path, MAX_BYTES), item.detail, item.kind)
        return [{**row, "time": item.modified} for row in offsets]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if item.kind == "store_json":
            raise Damaged(str(error)) from None
        raise


def _outputs(item: Item, zone: Callable[[int], int]) -> Iterator[dict[str, Any]]:
    """Yield the fields of mqadmin outputs; what `date` printed above one is its time, else that of its own file."""
    raw, own = beginning(item.path, MAX_BYTES), item.kind == "mqadmin"
    lines = enumerate(raw.decode("utf-8", "replace").split("\n"), 1)
    dates = {n: at for n, line in lines if (text := metrics.time_of(line)) and (at := metrics.moment(text, zone))}
    above = sorted(dates)
    for line, *field in (mqadmin.parse if own else mqadmin.parse_quoted)(raw):
        before = bisect.bisect(above, line)
        time = datetime_of(dates[above[before - 1]] / 1000) if before else item.modified if own else None
        yield dict(zip(columns_of("admin").names[1:], (line, *field, time), strict=True))


# --- writing ----------------------------------------------------------------------------------------------------------

PART: Final = "part=p"
"""How the folder of a part begins: Spark's own form for a column that tells parts apart."""


def write(spark: SparkSession, table: str, parts: Mapping[str, Read], folder: Path) -> None:
    """Write parts of a table into a folder as Parquet, by one query of the session: each by the task that reads it."""
    shared_out = specs()[table].source is not None and not embedded.runs()
    tasks = len(parts) if shared_out else min(len(parts), MOST_TASKS)
    numbers = spark.createDataFrame([(number,) for number in range(len(parts))], "task int").repartition(tasks)
    work = partial(_written, tuple(parts.items()), specs()[table], folder)
    numbers.mapInArrow(work, "part string").collect()


def _written(
    parts: Sequence[tuple[str, Read]], spec: Spec, folder: Path, numbers: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Write some of the parts where the engine runs it, and yield their names; a batch with a value that does not fit
    is noted, not written. A part without rows has a file too, and is not read again either.
    """
    for number in chain.from_iterable(asked.column(0).to_pylist() for asked in numbers):
        name, read = parts[number]
        (folder / name).mkdir(exist_ok=True)
        with disk.replacing(folder / name / "rows.parquet") as path:
            parquet.write(path, spec.schema, _fitting(read(), spec.schema, Unread(str(folder))), spec.apart)
        yield pa.RecordBatch.from_pydict({"part": [name]})


def _fitting(batches: Iterable[pa.RecordBatch], schema: pa.Schema, unread: Unread) -> Iterator[pa.RecordBatch]:
    for batch in filter(len, batches):
        try:
            columns = [_coded(batch.column(field.name), field.type) for field in schema]
        except Exception as error:
            unread.keep(refusal(str(batch.column("file")[0]), error))
        else:
            yield pa.RecordBatch.from_arrays(columns, schema.names)


def _coded(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return a column as this type, or dictionary-coded as it is. Raise `pa.ArrowInvalid`."""
    coded = pa.types.is_dictionary(column.type) and column.type.value_type == kind
    return column if coded else column.cast(kind)


def link_known(cases: Path, table: str, folder: Path, wanted: set[str]) -> None:
    """Link the wanted parts that the cache has already, named after the bytes and the code that reads them
    (`kit.spark.sources.part_name`): of evidence with one more file only that file is read.
    """
    for known in sorted(cases.glob(f"*/tables/{table}-*/{PART}*")):
        part = folder / known.name
        if known.name in wanted and not part.exists() and not notes(known.parent):
            try:
                shutil.copytree(known, part, copy_function=os.link)
            except OSError:  # cleaned in the meantime, or a file system without links: it is read again
                shutil.rmtree(part, ignore_errors=True)


def changed(items: Iterable[Item], unread: Unread) -> None:
    """Note the files that became shorter after the inventory: a log that did just ends. Of others its reading tells."""
    for item in (each for each in items if each.replica_of is None):
        with contextlib.suppress(OSError):
            if (left := Path(item.path).stat().st_size) < item.bytes:
                unread.keep(Refused(item.file, "shrunk", f"{left:,} / {item.bytes:,}"))


# --- as queries see them ----------------------------------------------------------------------------------------------

HIDDEN: Final = ("events", "known", "offset")
"""Columns of `entries` that `logs` does not show."""
FILES: Final = frames.schema(
    "file string, number int, kind string, source string, bytes bigint, base bigint, first timestamp, last timestamp, "
    "zone string, modified timestamp, replica_of string, overlaps boolean, sha256 string, role string"
)
"""The files of the evidence as a table: `number` is short for a file's name while a large table is made; `base` is the
physical offset of the first byte of a commit log file;
`overlaps`: some of its records may be in another file; `role`: what a table of rows is (business, deliveries, …).
"""
LIMITS: Final = frames.schema("since timestamp, until timestamp")
"""One row: what the user wants to see, null where nothing limits it."""
READ_AS: Final = {
    **dict.fromkeys(("stored_messages", "messages_within", "messages", "message_bodies"), "messages"),
    **dict.fromkeys(("all_entries", "entries", "logs"), "logs"),
    "queue_units": "consumequeue",
    **{f"all_{name}": name for name in ("admin", "offsets", "rows", "sends")},
}
"""Forms of what was read, by the names queries use."""
WHOLE: Final = tuple(name for name in READ_AS if name.startswith(("all_", "stored_")))
"""Those with all rows, whatever their times."""
BRONZE: Final = (
    "skipped", "traces", "index", "config_files", "offsets", "rows", "sends", "admin", "metrics", "network", "threads",
    "files", "limits", *READ_AS,
)  # fmt: skip
"""What was read, by the names queries use."""
AS_MAP: Final = f"""case when {schema.TEXT} <> '' then str_to_map({schema.TEXT}, '\\u0002', '\\u0001') else cast(map() as map<string,string>) end"""
"""The properties of a record, one text in what is stored, as a map."""
AS_MESSAGES: Final = [f"{AS_MAP} as properties" if n == "properties" else n for n in schema.FIELDS if n != "body"]
"""The columns of `messages`."""


def countable(columns: pa.Schema) -> list[str]:
    """Return the columns with null for times before 1678 or after 2261, which pandas cannot hold."""
    first, last = NANO_FIRST_MS * 1000, NANO_LAST_MS * 1000
    return [
        f"case when unix_micros(`{field.name}`) between {first} and {last} then `{field.name}` end as `{field.name}`"
        if pa.types.is_timestamp(field.type)
        else f"`{field.name}`"
        for field in columns
    ]


def undated(inventory: Inventory, original: bool) -> list[str]:
    """Return the files that no window cuts, since nothing tells when they were written: they print no time, nor does
    their modification time tell it (`original`: those of the evidence do).
    """
    timed = {item.file for item in inventory.items if item.first is not None}
    if original:
        own = ("mqadmin", "store_json")
        timed |= {item.file for item in inventory.items if item.kind in own and item.modified is not None}
    read = {item.file for spec in specs().values() if spec.zoned or spec.dated for item in spec.files(inventory)}
    return sorted(read - timed)


def within(column: str | None, since: dt.datetime | None, until: dt.datetime | None) -> str:
    """Return the condition that a time lies between two others, both included; rows without a time stay."""
    limits = [(sign, at) for sign, at in ((">=", since), ("<=", until)) if at is not None]
    if column is None or not limits:
        return "true"
    inside = [f"{column} {sign} timestamp_micros({int(at.timestamp() * 1_000_000)})" for sign, at in limits]
    return f"{column} is null or ({' and '.join(inside)})"
