"""The tables of a case: their columns, their sources, and how they are stored as Parquet in the workspace.

What reads the evidence is in `kit.case.reading`.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import pyarrow as pa

from kit.evidence.files import Refused
from kit.evidence.unread import Unread, notes
from kit.evidence.workspace import DONE, READING, code_hash
from kit.formats.commitlog import schema
from kit.formats.logs import thread_dumps
from kit.formats.queues import consumequeue, index
from kit.formats.tables import business_tables as rows
from kit.formats.tables import configs, host_network, metrics, mqadmin
from kit.formats.values import NANO_FIRST_MS, NANO_LAST_MS
from kit.inventory import zones
from kit.inventory.inventory import TEXTS, Inventory
from kit.inventory.model import STORES, Item
from kit.spark.sessions import uri
from kit.spark.sources import ddl
from kit.tables import frames

if TYPE_CHECKING:
    from kit.case.case import Case


@attrs.frozen
class Task:
    """Something to read. `name` identifies it (`kit.spark.sources.part_name`), None if it is read again each time."""

    read: Callable[[], Iterable[pa.RecordBatch]]
    name: str | None = None


Files = Callable[[Inventory], tuple[Item, ...]]
MAX_OUTPUT: Final = 256 << 20
"""How many bytes of an application's output are searched for thread dumps (`kill -3`)."""


@attrs.frozen
class Spec:
    """A table: its columns, the files it is read from, the time cut by `since` and `until`.

    `zoned`: its times depend on zones; `dated`: a file's modification time is the time of its content.
    """

    schema: pa.Schema
    files: Files
    time: str | None = None
    zoned: bool = False
    dated: bool = False


def _of(*kinds: str, replicas: bool = False) -> Files:
    return lambda inventory: inventory.of_kind(*kinds, replicas=replicas)


def _config_files(inventory: Inventory) -> tuple[Item, ...]:
    texts = inventory.of_kind("text", replicas=False)
    settings = (item for item in texts if item.detail.get("settings"))
    return (*inventory.of_kind("broker_conf", "store_json", replicas=False), *settings)


def _with_offsets(inventory: Inventory) -> tuple[Item, ...]:
    """Copies are read too: two equal files of different times show that nothing moved."""
    items = inventory.of_kind("store_json", "checkpoint")
    dated = ("consumerOffset", "lmqConsumerOffset")
    return tuple(item for item in items if item.replica_of is None or item.detail.get("name") in dated)


def _may_dump(inventory: Inventory) -> tuple[Item, ...]:
    """Return the files that may hold thread dumps: dumps, running info files, the output of applications."""
    items = inventory.of_kind("thread_dump", "mqadmin", "log", "text", replicas=False)
    whole = ("thread_dump", "mqadmin")
    return tuple(i for i in items if i.kind in whole or (i.source in ("app", "text") and i.bytes <= MAX_OUTPUT))


@cache
def specs() -> dict[str, Spec]:
    """Return every table of a case."""
    from kit.formats.logs.schema import Options

    copies_too = _of(*STORES, replicas=True)
    return {
        "messages": Spec(schema.stored(), copies_too, "store_timestamp"),
        "skipped": Spec(schema.SKIPPED, copies_too),
        "traces": Spec(schema.TRACES, _of(*STORES), "time"),
        "consumequeue": Spec(consumequeue.SCHEMA, _of("consumequeue")),
        "index": Spec(index.ENTRIES, _of("index")),
        "logs": Spec(Options(events=True).schema, _of(*TEXTS), "ts", zoned=True),
        "config_files": Spec(configs.CONFIGS, _config_files),
        "offsets": Spec(configs.OFFSETS, _with_offsets, dated=True),
        "rows": Spec(rows.ROWS, _of("rows"), "time", zoned=True),
        "sends": Spec(rows.SENDS, _of("sends"), "start", zoned=True),
        "admin": Spec(mqadmin.SCHEMA, Inventory.of_mqadmin, dated=True),
        "metrics": Spec(metrics.SCHEMA, Inventory.of_metrics, "ts", zoned=True),
        "network": Spec(host_network.SCHEMA, _of("network")),
        "threads": Spec(thread_dumps.SCHEMA, _may_dump, "time", zoned=True),
    }


def key(name: str, inventory: Inventory, options: str, settled: zones.Zones | None) -> str:
    """Return the name of a table's folder: it changes exactly when the table's content does.

    `options`: their digest; `settled`: zones by file, None for a table whose times need no zone.
    """
    spec = specs()[name]
    items = spec.files(inventory)
    parts: list[Any] = [
        code_hash(*READING),
        [[i.file, i.sha256, i.kind, i.source, i.replica_of, i.detail] for i in items],
    ]
    if spec.dated:
        parts.append([i.modified for i in items])
    if settled is not None:
        parts += [options, [settled.get(i.file) for i in items]]
    return f"{name}-{hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:12]}"


def write(case: Case, table: str, folder: Path, tasks: Sequence[Task]) -> None:
    """Write what the tasks read of a table into a folder as Parquet, one part a task, by queries of the session.

    A part that is in the folder already is not read again. On this machine records and logs are written by a query for
    each part, as many at once as there are cores. One query of all parts sorts every row into its own, which costs more
    than reading it where parts are large, and the embedded engine reads all of them at once: 5.6 GB for 2 GB of logs, 1
    GB apart.
    """
    schema = specs()[table].schema
    named = [(f"{PART}{task.name or f'{number:05}'}", task.read) for number, task in enumerate(tasks)]
    if not case.shared:
        _link_known(case.workspace.folder.parent, table, folder, {f"{PART}{task.name}" for task in tasks if task.name})
    missing = [(name, read) for name, read in named if not (folder / name).exists()]

    def query(parts: Sequence[tuple[str, Callable[[], Iterable[pa.RecordBatch]]]]) -> None:
        case.check_cancelled()
        numbered = [(number,) for number in range(len(parts))]
        numbers = case.session.createDataFrame(numbered, "task int").repartition(len(parts))
        rows = numbers.mapInArrow(_Reader(tuple(parts), schema, str(folder)), f"part string, {ddl(schema)}")
        if len(parts) == 1:
            rows.drop("part").write.mode("append").parquet(uri(folder / parts[0][0]))
        else:
            rows.write.mode("append").partitionBy("part").parquet(uri(folder))

    if table in ("messages", "logs") and not case.shared:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(query, [[part] for part in missing]))
    elif missing:
        query(missing)
    for name, _ in missing:  # a part without rows is not read again either
        (folder / name).mkdir(exist_ok=True)


def _link_known(cases: Path, table: str, folder: Path, wanted: set[str]) -> None:
    """Link the wanted parts that the cache has already: of evidence with one more file only that file is read.

    A part is named after the bytes it is read from and the code that reads them (`kit.spark.sources.part_name`).
    """
    for done in sorted(cases.glob(f"*/tables/{table}-*/{DONE}")) if wanted else ():
        for part in wanted.intersection(path.name for path in done.parent.iterdir()) if not notes(done.parent) else ():
            if not (folder / part).exists():
                try:
                    shutil.copytree(done.parent / part, folder / part, copy_function=os.link)
                except OSError:  # cleaned in the meantime, or a file system without links: it is read again
                    shutil.rmtree(folder / part, ignore_errors=True)


PART: Final = "part=p"
"""How the folder of a part begins: Spark's own form for a column that tells parts apart."""


@attrs.frozen
class _Reader:
    """Reads some of the tasks where the engine runs it; a batch with a value that does not fit is noted, not read."""

    tasks: tuple[tuple[str, Callable[[], Iterable[pa.RecordBatch]]], ...]
    schema: pa.Schema
    folder: str

    def __call__(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for asked in numbers:
            for number in asked.column(0).to_pylist():
                name, read = self.tasks[number]
                for batch in read():
                    if batch.num_rows:
                        yield from self._fitting(name.removeprefix("part="), batch)

    def _fitting(self, name: str, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        try:
            columns = [rows.column(field.name).cast(field.type) for field in self.schema]
        except Exception as error:
            Unread(self.folder).note(str(rows.column("file")[0]), error)
        else:
            fields = [pa.field("part", pa.string()), *self.schema]
            yield pa.RecordBatch.from_arrays([pa.repeat(name, rows.num_rows), *columns], schema=pa.schema(fields))


def changed(items: Iterable[Item], unread: Unread) -> None:
    """Note the files that were removed, or became shorter, after the inventory."""
    for item in items:
        if item.replica_of is not None:
            continue
        try:
            left = Path(item.path).stat().st_size
        except OSError as error:
            unread.note(item.file, error)
        else:
            if left < item.bytes:
                unread.keep(Refused(item.file, "shrunk", f"{left:,} / {item.bytes:,}"))


# --- as queries see them ----------------------------------------------------------------------------------------------

HIDDEN: Final = ("events", "offset")
"""Columns of `entries` that `logs` does not show."""
FILES: Final = frames.schema(
    "file string, kind string, source string, bytes bigint, base bigint, first timestamp, last timestamp, "
    "zone string, modified timestamp, replica_of string, overlaps boolean, sha256 string"
)
"""The files of the evidence as a table: `base` is the physical offset of the first byte of a commit log file;
`overlaps`: some of its records may be in another file.
"""
LIMITS: Final = frames.schema("since timestamp, until timestamp")
"""One row: what the user wants to see, null where nothing limits it."""
READ_AS: Final = {
    **dict.fromkeys(("stored_messages", "messages_within", "messages", "message_bodies"), "messages"),
    **dict.fromkeys(("all_entries", "entries", "logs"), "logs"),
    "queue_units": "consumequeue",
}
"""Forms of what was read, by the names queries use. `stored_messages` and `all_entries`: whatever their times."""
BRONZE: Final = (
    "skipped", "traces", "index", "config_files", "offsets", "rows", "sends", "admin", "metrics", "network", "threads",
    "files", "limits", *READ_AS,
)  # fmt: skip
"""What was read, by the names queries use."""


AS_MAP: Final = f"""case when {schema.TEXT} <> '' then str_to_map({schema.TEXT}, '\\u0002', '\\u0001') else cast(map() as map<string,string>) end"""
"""The properties of a record, one text in what is stored, as a map."""


def as_messages() -> list[str]:
    """Return the columns of `messages`."""
    return [f"{AS_MAP} as properties" if name == "properties" else name for name in schema.FIELDS if name != "body"]


def countable(columns: pa.Schema) -> list[str]:
    """Return the columns with null for times before 1678 or after 2261, which pandas cannot hold."""
    first, last = NANO_FIRST_MS * 1000, NANO_LAST_MS * 1000
    return [
        f"case when unix_micros(`{field.name}`) between {first} and {last} then `{field.name}` end as `{field.name}`"
        if pa.types.is_timestamp(field.type)
        else f"`{field.name}`"
        for field in columns
    ]


def within(column: str | None, since: dt.datetime | None, until: dt.datetime | None) -> str:
    """Return the condition that a time lies between two others, both included; rows without a time stay."""
    limits = [(sign, at) for sign, at in ((">=", since), ("<=", until)) if at is not None]
    if column is None or not limits:
        return "true"
    inside = [f"{column} {sign} timestamp_micros({int(at.timestamp() * 1_000_000)})" for sign, at in limits]
    return f"{column} is null or ({' and '.join(inside)})"
