"""The tables of one evidence set, each built on first use and then kept in the workspace."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import attrs

from kit.case.memoize import once
from kit.case.options import Options
from kit.case.progress import Progress, Stoppable
from kit.evidence import disk
from kit.evidence import workspace as ws
from kit.evidence.files import Refused, readable_again
from kit.evidence.unread import Unread, notes, take_notes
from kit.i18n import Lang
from kit.inventory import inventory as inv
from kit.inventory.references import Ref
from kit.spark import sessions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kit.case.failure import Failure
    from kit.inventory.zones import Zone

HIDDEN: Final = ("events", "offset")
"""Columns of `entries` that `logs` does not show."""

BRIEF: Final = 4 << 30
"""Size of evidence, in bytes, below which a JVM's optimising compiler does not pay off."""


def _table(name: str, holds: str) -> Any:
    return property(lambda case: case._frame(name), doc=holds)


class Case(Stoppable):
    """One evidence set. Tables are Spark DataFrames with the columns of the public interface; figures count `records`, not `messages`."""

    def __init__(self, path: Path, workspace: Path | None, lang: Lang, options: Options) -> None:
        super().__init__()
        self.path = path
        self.name = str(path)
        """The user's name for it: for evidence on object storage the URI, not the path of the copy."""
        self.lang = lang
        self.options = options
        self.memo: dict[str, Any] = {}
        """Results that causes compute once and share."""
        self.progress = Progress()
        """The listener while tables are built and causes examined."""
        self.eager = True
        """Whether a cluster is requested on the first look at evidence: its workers read the tables next."""
        self.hashes = True
        """Whether the SHA-256 of large commit log files is wanted: it costs a reading of them."""
        self._base = workspace
        self._lock = threading.RLock()
        self._frames: dict[str, DataFrame] = {}
        self._building: dict[str, threading.Lock] = {}
        self._broken: dict[str, Exception] = {}
        self._held: list[IO[str]] = []
        self._builds_messages = False
        self._noted: set[Refused] = set()
        self._exported: Path | None = None
        self.failures: list[Failure] = []
        """Faults of the kit while this case was examined or shown."""

    # --- what there is ---------------------------------------------------------------------------------------------------

    def uses(self, folder: Path) -> None:
        """Keep every process from cleaning a cache folder as long as this case exists."""
        self._held.append(disk.hold(folder))

    @cached_property
    def found(self) -> inv.Inventory:
        """The inventory from the files alone: floating times have no zone yet."""
        if self.eager and not inv.looked_at(self.path, self._base):
            # The inventory needs no Java; the first table will report that it is missing.
            with contextlib.suppress(sessions.JavaMissing):
                self.warm_if_shared()
        self.uses(inv.spool(self.path, self._base))
        found = inv.take(self.path, self._base, hashes=self.hashes, shared=self._shared)
        for said in self.options.rows:
            found = inv.with_columns(found, said)
        return found

    @cached_property
    def zones(self) -> Mapping[str, Zone]:
        """The zone in which each floating file is read, and how it was found."""
        from kit.case.reading import zones

        return zones.settled(self, from_table=self._builds_messages)

    @cached_property
    def inventory(self) -> inv.Inventory:
        """Every file, with the zone of its times."""
        from kit.case.reading import zones

        return attrs.evolve(self.found, items=tuple(zones.zoned(self, item) for item in self.found.items))

    @cached_property
    def workspace(self) -> ws.Workspace:
        place = ws.Workspace.for_evidence(self.path, self._base, self.found.content_key, shared=self._shared)
        place.forget_passing(self._readable_again)
        return place

    def _readable_again(self, refused: Refused) -> bool:
        item = self.found.get(refused.file)
        return item is not None and readable_again(refused, item.path, item.bytes)

    @property
    def _shared(self) -> bool:
        """Whether workers on other machines, perhaps as another user, read and write the workspace."""
        return not sessions.is_local(self.options.master, self.options.remote)

    @property
    def reads_here(self) -> bool:
        """Whether this process reads the evidence; on a cluster its workers do."""
        return not self._shared

    def has(self, table: str) -> bool:
        """Return whether a table has any row."""
        import pyarrow.dataset as ds

        folder = self.folder(TABLE_OF.get(table, table))
        return once(self, f"has {table}", lambda: bool(ds.dataset(folder, format="parquet").count_rows() > 0))

    def has_source(self, source: str) -> bool:
        """Return whether there is a log of this source (`store`, `transaction`, `client`, …)."""
        return any(item.source == source for item in self.found.items)

    def unread(self) -> list[Refused]:
        """Return the files that could not be read, completely or from some place on, among those read so far."""
        from kit.case import tables

        said = set(self.found.refused) | self._noted
        for name, spec in tables.specs().items():
            key = tables.key(name, self.found, self.options.digest(), self.zones if spec.zoned else None)
            folder = self.workspace.table(key)
            said |= set(notes(folder)) if folder is not None else set()
        return sorted(said, key=lambda r: (r.file, r.reason))

    # --- tables ----------------------------------------------------------------------------------------------------------

    skipped = _table("skipped", "Ranges of commitlog files that are not records.")
    index = _table("index", "Entries of index files.")
    traces = _table("traces", "Contexts of message trace records.")
    configs = _table("configs", "Settings of brokers, topics and groups, from all sources.")
    offsets = _table("offsets", "Consumer offsets, delay offsets and the checkpoint.")
    admin = _table("admin", "Cells and fields of mqadmin outputs.")
    metrics = _table("metrics", "Host metrics and garbage collections.")
    network = _table("network", "Addresses, sockets and processes of hosts.")
    threads = _table("threads", "Threads in thread dumps, and what each was doing.")
    rows = _table("rows", "Business tables, transaction log tables and delivery ledgers.")
    sends = _table("sends", "Send ledgers.")

    @property
    def messages(self) -> DataFrame:
        """One row per commitlog record and file, replicas included."""
        from kit.formats.commitlog.schema import FIELDS
        from kit.spark.properties import as_map

        columns = [as_map() if name == "properties" else name for name in FIELDS if name != "body"]
        return self._frame("messages").select(*columns)

    @property
    def stored_messages(self) -> DataFrame:
        """`messages` as stored in the workspace: instead of the map of properties, columns for those often used
        (`kit.spark.properties.prop`).
        """
        return self._frame("messages").drop("body")

    @cached_property
    def records(self) -> DataFrame:
        """`stored_messages` with every record once: replicas and repeated copies left out."""
        from pyspark.sql import Window
        from pyspark.sql import functions as F  # noqa: N812

        copies = [i.file for i in self.found.of_kind("commitlog", "dledger") if i.replica_of]
        kept = self.stored_messages.where(~F.col("file").isin(copies)) if copies else self.stored_messages
        if self.found.overlapping:
            same = Window.partitionBy("offset_msg_id").orderBy("file")
            kept = kept.withColumn("_copy", F.row_number().over(same)).where(F.col("_copy") == 1).drop("_copy")
        return self._countable("messages", kept)

    @property
    def ops(self) -> DataFrame:
        """Op records, one row for each half message they end."""
        frame = self._frame("ops")
        return frame.dropDuplicates(["offset_msg_id", "half_queue_offset"]) if self.found.overlapping else frame

    @property
    def consumequeue(self) -> DataFrame:
        """Units of consume queues, each with the record it points to."""
        from kit.formats.queues import consumequeue, lost_paths

        frame = self._frame("consumequeue")
        lost = any(consumequeue.place(i.file) is None for i in self.found.of_kind("consumequeue", replicas=False))
        return lost_paths.placed(frame, self.records) if lost else frame

    @property
    def entries(self) -> DataFrame:
        """`logs` with two more columns: `events` (slugs of known texts) and `offset` (byte position of the first line)."""
        return self._frame("logs")

    @property
    def logs(self) -> DataFrame:
        return self.entries.drop(*HIDDEN)

    def event(self, slug: str) -> DataFrame:
        """Return the entries with a known text, with a column for each named group of its pattern."""
        from kit.spark import known_texts

        return known_texts.select(self.entries, slug)

    def read_messages(self, *, body: bool = False) -> DataFrame:
        """Return `messages` read from the commitlog itself, with decompressed bodies if asked for."""
        from kit.case.reading import big_tables

        stores = json.dumps(big_tables.stores(self.found, Unread()))
        reader = self.spark.read.format("rocketmq.commitlog").option("files", stores).option("body", str(body).lower())
        return self._cut(reader.load(), "store_timestamp")

    def folder(self, name: str) -> Path:
        """Return the Parquet folder of a table, built if absent, for readers without Spark."""
        from kit.case import tables
        from kit.case.reading import read

        spec = tables.specs()[name]
        with self._lock:
            lock = self._building.setdefault(name, threading.Lock())
        with lock:
            if name in self._broken:  # it would only fail again, once for every cause that needs it
                raise self._broken[name]
            try:
                key = tables.key(name, self.found, self.options.digest(), self.zones if spec.zoned else None)
                return tables.write(self.workspace, key, spec.schema, partial(read.table, self, name, spec), self.go_on)
            except Exception as error:
                self.go_on()  # a cancelled job fails too
                self._broken[name] = error
                raise

    def export(self, folder: Path) -> None:
        """Write all `messages` as Parquet into an empty folder: read again in their public form, since the workspace has no map of properties."""
        from kit.case import tables
        from kit.case.reading import read
        from kit.formats.commitlog import schema

        columns = schema.schema(tuple(name for name in schema.FIELDS if name != "body"))
        rows = read.table(self, "messages", tables.Spec(columns), folder, public=True)
        tables.fill(folder, columns, rows, self.go_on)
        self._noted |= set(take_notes(folder))
        self._exported = folder

    def written_records(self) -> Path | None:
        """Return where all records are as Parquet already: the table of messages, or an export of it; None if nowhere."""
        from kit.case import tables

        table = self.workspace.table(tables.key("messages", self.found, self.options.digest(), None))
        return table or (self._exported if self._exported and self._exported.exists() else None)

    def build(self, *names: str) -> None:
        """Build several tables at once."""
        from kit.case import tables

        self._builds_messages |= "messages" in names or not names
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(self.folder, names or tuple(tables.specs())))

    def _frame(self, name: str) -> DataFrame:
        with self._lock:
            kept = self._frames.get(name)
        if kept is None:
            from pyspark.sql.pandas.types import from_arrow_schema

            from kit.case import tables
            from kit.spark.sessions import parquet

            self.warm()
            spec = tables.specs()[name]
            folder = self.folder(name)
            frame = parquet(self.spark, folder, from_arrow_schema(spec.schema))
            kept = self._cut(frame, spec.time)
            if name != "messages":  # its times are shown as stored
                kept = self._countable(name, kept)
            with self._lock:
                self._frames[name] = kept
        return kept

    def _countable(self, name: str, frame: DataFrame) -> DataFrame:
        """Set times outside the range of nanoseconds to null: pandas, used in all analyses, would raise."""
        from kit.case import tables

        return tables.countable(name, self.folder(name), frame)

    def _cut(self, frame: DataFrame, column: str | None) -> DataFrame:
        from kit.case import tables

        return tables.between(frame, column, self.options.since, self.options.until)

    # --- Spark -----------------------------------------------------------------------------------------------------------

    def warm_if_shared(self) -> None:
        """Start Spark in the background if it reads the evidence, on a cluster. Otherwise only check that Java is installed;
        Spark starts when somebody asks for a DataFrame. Raise `JavaMissing`.
        """
        if self.reads_here:
            sessions.require_java(self.options.master, self.options.remote)
        else:
            self.warm()

    def warm(self) -> None:
        """Start Spark in the background; what needs it waits. Raise `JavaMissing` if it cannot start."""
        from kit.evidence import files as evidence

        with self._lock:
            if self._spark is None:
                self._spark = sessions.begin(
                    self.options.master, self.options.remote, brief=lambda: evidence.weight(self.path) <= BRIEF
                )

    @property
    def spark(self) -> SparkSession:
        self.warm()
        assert self._spark is not None
        return self._spark.result()

    # --- what it says ----------------------------------------------------------------------------------------------------

    def line(self, file: str, line: int) -> str:
        """Return one line of a text file unchanged, without its end; the first is 1. Raise `KeyError`, `IndexError`."""
        return self.lines([(file, line)])[0]

    def ref(self, file: str, line: int) -> Ref:
        """Return a reference to a line, with the line quoted. Raise as `line` does."""
        return Ref(file, self.line(file, line), line=line)

    def refs(self, places: Iterable[tuple[str, int]]) -> tuple[Ref, ...]:
        """Return references to several lines, given as (file, line), in their order; each file is read once. Raise as `line` does."""
        wanted = list(places)
        return tuple(Ref(file, text, line=line) for (file, line), text in zip(wanted, self.lines(wanted), strict=True))

    def lines(self, places: Iterable[tuple[str, int]]) -> list[str]:
        """Return several lines, each file read once."""
        from kit.inventory import quotes

        return quotes.lines(self.found, places)


TABLE_OF: Final[Mapping[str, str]] = {"records": "messages", "entries": "logs"}
