"""One evidence set: its files, its tables, built on first use and kept in the workspace, and their session."""

import contextlib
import datetime as dt
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import IO, Any

import attrs
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kit.case import tables
from kit.case.options import Options, instant, window
from kit.case.progress import Progress
from kit.evidence import disk, machine
from kit.evidence import workspace as ws
from kit.evidence.failure import Failure
from kit.evidence.files import Refused, notes
from kit.evidence.remote import fetch, is_remote, without_credentials
from kit.formats import printed_times
from kit.i18n import LANGS, Clock, Lang, labels
from kit.inventory import inventory as inv
from kit.inventory import zones
from kit.inventory.model import STORES
from kit.inventory.zones import Zones
from kit.spark import sessions, sources
from kit.tables.facts import Facts, Once
from kit.tables.queries import catalogue
from kit.tables.runner import Tables, local


def _table(name: str, holds: str) -> Any:
    return property(lambda case: case.tables.frame(name), doc=holds)


class Case:
    """One evidence set: its files, its tables as Parquet (`folder`) and as DataFrames; figures count `records`."""

    def __init__(self, path: Path, workspace: Path | None, lang: Lang, options: Options) -> None:
        self.path = path
        self.name = str(path)
        """The user's name for it: for evidence on object storage the URI, not the path of the copy."""
        self.lang = lang
        self.options = options
        self.run: str | None = None
        """The run whose results this case shows; None for results that are kept (`kit.causes.results`)."""
        self.progress = Progress()
        """The listener while tables are built and causes examined."""
        self.eager = True
        """Whether a cluster is requested on the first look at evidence: its workers read the tables next."""
        self.hashes = True
        """Whether the SHA-256 of large commit log files is wanted: it costs a reading of them."""
        self._stopping = threading.Event()
        self._spark: SparkSession | None = None
        self._base = workspace
        self._once = Once(self.check_cancelled)
        self._held: list[IO[str]] = []
        self.failures: list[Failure] = []
        """Faults of the kit while this case was examined or shown."""

    def __repr__(self) -> str:
        """Say what evidence this is and what can be asked."""
        kinds = Counter(item.source or item.kind for item in self.unzoned.items)
        contents = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(6))
        return f"{self.name}: {len(self.unzoned.items)} files ({contents}{', …' if len(kinds) > 6 else ''})\nAsk: case.sql('select …'), case.facts(table), case.query(table), kit.triage(case), kit.trace(case, id)."

    # --- files of the evidence ----------------------------------------------------------------------------------------

    def uses(self, folder: Path) -> None:
        """Keep every process from cleaning a cache folder as long as this case exists."""
        self._held.append(disk.hold(folder))

    @cached_property
    def unzoned(self) -> inv.Inventory:
        """The inventory from the files alone: floating times have no zone yet."""
        spool = inv.spool(self.path, self._base)
        if self.eager and not inv.looked_at(spool):
            # The inventory needs no Java; the first table will report that it is missing.
            with contextlib.suppress(sessions.JavaMissing):
                self.warm()
        self.uses(spool)
        inventory = inv.take(self.path, self._base, hashes=self.hashes, shared=self.shared)
        for declared in self.options.rows:
            inventory = inv.with_columns(inventory, declared)
        return inventory

    @property
    def zones(self) -> Zones:
        """The zone in which each floating file is read. What makes `messages`, which is asked, must not ask for zones."""
        return self._once.get("zones", self._settled_zones)

    def _settled_zones(self) -> Zones:
        key = f"zones-{ws.code_hash(*ws.READING)}-{self.options.digest()}"
        settled: Zones | None = self.workspace.read_json(key)
        if settled is None:
            items, declared = self.unzoned.items, (self.options.tz_app, self.options.tz_broker)
            try:
                settled = zones.settle(items, self._moments, *declared)
            except Exception:  # whoever needs the table of messages gets the error again
                self.check_cancelled()
                return zones.settle(items, lambda names: (), *declared)
            self.workspace.write_json(key, settled)
        return settled

    def _moments(self, names: set[str]) -> list[tuple[str, int]]:
        """Return when the records with these ids or keys were born and stored. Raise whatever the engine raises."""
        stored = names and self.unzoned.of_kind(*STORES)
        rows = self.facts.answers("moments", names="\x02".join(sorted(names))) if stored else []
        return [(row["name"], row["at"]) for row in rows]

    @cached_property
    def inventory(self) -> inv.Inventory:
        """Every file, with the zone of its times."""
        items = (zones.zoned(item, self.zones, self.options.tz_broker) for item in self.unzoned.items)
        return attrs.evolve(self.unzoned, items=tuple(items))

    @cached_property
    def local_files(self) -> frozenset[str]:
        """The files with local times of a host whose zone is not known: with a warning, and joined with nothing."""
        tables = {item.file for item in self.inventory.of_kind(*zones.ROWS)}
        without = {file for file, zone in self.zones.items() if zone is None and file in tables}
        return frozenset(without | zones.local(self.inventory.items))

    @cached_property
    def clock(self) -> Clock:
        """`local` if no time of the evidence has a known zone; the zone that all files share; else None: UTC."""
        known = (item for item in self.inventory.items if item.file not in self.local_files)
        stored = self.unzoned.of_kind("commitlog", "dledger", "consumequeue")
        if self.local_files:
            return "local" if not stored and all(item.first is None for item in known) else None
        written = {item.zone for item in self.inventory.items if item.zone}
        return printed_times.tzinfo(written.pop()) if len(written) == 1 else None

    @cached_property
    def workspace(self) -> ws.Workspace:
        return ws.Workspace.for_evidence(self.path, self._base, self.unzoned.content_key, shared=self.shared)

    @property
    def shared(self) -> bool:
        """Whether workers on other machines, perhaps as another user, read and write the workspace."""
        return not sessions.is_local(self.options.master, self.options.remote)

    def has(self, table: str) -> bool:
        """Return whether a table has any row, whatever the times of its records."""
        stored = "stored_messages" if table in ("records", "messages") else table
        return bool(self.tables.frame(stored).limit(1).count())

    def unread(self) -> list[Refused]:
        """Return the files that could not be read, completely or from some place on, among those read so far."""
        refusals = set(self.unzoned.refused)
        for name in tables.specs():
            folder = self.workspace.table(self._stored_as(name))
            refusals |= set(notes(folder)) if folder is not None else set()
        return sorted(refusals, key=lambda r: (r.file, r.reason))

    # --- tables -------------------------------------------------------------------------------------------------------

    messages = _table("messages", "One row per commitlog record and file, replicas included.")
    records = _table("records", "Every record once: replicas and repeated copies left out.")
    logs = _table("logs", "Log entries, continuation lines folded.")
    skipped = _table("skipped", "Ranges of commitlog files that are not records.")
    consumequeue = _table("consumequeue", "Units of consume queues, each with the record it points to.")
    index = _table("index", "Entries of index files.")
    traces = _table("traces", "Contexts of message trace records.")
    configs = _table("configs", "Settings of brokers, topics and groups, from all sources.")
    offsets = _table("offsets", "Consumer offsets, delay offsets and the checkpoint.")
    metrics = _table("metrics", "Host metrics and garbage collections.")
    rows = _table("rows", "Business tables, transaction log tables and delivery ledgers.")
    sends = _table("sends", "Send ledgers.")

    def folder(self, name: str) -> Path:
        """Return the Parquet folder of a bronze table; built if absent."""
        write = partial(self._write, name)
        return self._once.get(f"table {name}", lambda: self.write_table(self._stored_as(name), write))

    def _write(self, name: str, folder: Path) -> None:
        """Write a table, one part a task. A part that is in the folder already is not read again.

        On this machine records and logs are written by a query for each part, as many at once as there are cores: of
        one query the embedded engine begins all tasks at once, and two tasks of many parts each wait for the longer
        one.
        """
        spec = tables.specs()[name]
        zones = self.zones if spec.zoned else {}
        declared = {zone: getattr(self.options, zone) for zone in ("tz_broker", "tz_app")} if spec.zoned else {}
        options = {zone: value for zone, value in declared.items() if value} | {"unread": str(folder.resolve())}
        only = None
        if name in ("skipped", "traces") and self.has_read("messages"):  # which shows the files that have any
            only = {row["file"]: row.get("start", 0) for row in self.facts.rows(f"files_with_{name}")}
        every = tables.tasks(name, spec.files(self.unzoned), zones, options, only)
        parts = {f"{tables.PART}{part}": read for part, read in every}
        if spec.source is not None and not self.shared:
            tables.link_known(self.workspace.folder.parent, name, folder, set(parts))
        missing = {part: read for part, read in parts.items() if not (folder / part).exists()}

        def write(some: dict[str, tables.Read]) -> None:
            self.check_cancelled()
            tables.write(self.session, name, some, folder)

        if name in ("messages", "logs") and not self.shared:
            with ThreadPoolExecutor(machine.cores()) as pool:
                list(pool.map(write, [{part: read} for part, read in missing.items()]))
        elif missing:
            write(missing)

    def write_table(self, name: str, write: Callable[[Path], None]) -> Path:
        """Return the folder of a table in the workspace, complete; `write` fills an empty folder if it is absent."""
        with self.workspace.writing(name) as part:
            if part is not None:
                write(part)
        folder = self.workspace.table(name)
        assert folder is not None
        return folder

    def table_key(self, name: str) -> str:
        """Return what changes exactly when the rows of a bronze table do, as queries see it."""
        if name in ("files", "limits"):
            return f"{self.unzoned.content_key}-{self.options.digest()}"
        read = tables.READ_AS.get(name, name)
        cut = tables.specs()[read].time and name not in tables.WHOLE
        return f"{name}-{self._stored_as(read)}" + (f"-{self.options.digest()}" if cut else "")

    def _stored_as(self, name: str) -> str:
        """Return the name of the folder of a table as read: it changes exactly when the table's content does."""
        spec = tables.specs()[name]
        items = spec.files(self.unzoned)
        known = [[i.file, i.sha256, i.kind, i.source, i.replica_of, i.detail] for i in items]
        parts: list[Any] = [ws.code_hash(*ws.READING), known]
        if spec.dated:
            parts.append([i.modified for i in items])
        if spec.zoned:
            parts += [self.options.digest(), [self.zones.get(i.file) for i in items]]
        return f"{name}-{hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:12]}"

    def results_folder(self) -> Path:
        folder = self.workspace.folder / "facts"
        folder.mkdir(mode=0o777 if self.shared else 0o700, exist_ok=True)
        return folder

    def has_read(self, name: str) -> bool:
        """Return whether a table as read (`messages`, `logs`) is in the workspace."""
        return self.workspace.table(self._stored_as(name)) is not None

    # --- facts --------------------------------------------------------------------------------------------------------

    @cached_property
    def facts(self) -> Facts:
        """What the causes look at; `facts("known_texts")` is a gold table as a small frame."""
        return Facts(self)

    def line(self, file: str, line: int) -> str:
        """Return one line of a text file unchanged, without its end; the first is 1. Raise `KeyError`, `IndexError`."""
        return self.facts.lines([(file, line)])[0]

    @cached_property
    def tables(self) -> Tables:
        """Every table, by name, as view, frame and facts."""
        return Tables(self)

    def sql(self, text: str, /, **values: Any) -> DataFrame:
        """Return the answer to a query over bronze, silver and gold tables; `values` are bound to `:name` in it."""
        return self.tables.sql(text, **values)

    def query(self, name: str) -> str:
        """Return the text behind a silver or gold table. Raise `KeyError`."""
        return catalogue()[name].text

    # --- what the runner of queries needs -----------------------------------------------------------------------------

    def bronze_names(self) -> tuple[str, ...]:
        return tables.BRONZE

    def bronze(self, name: str) -> DataFrame:
        """Return one of `BRONZE`, read from the workspace; it is written there first if absent."""
        if name == "files":
            items = sorted(self.inventory.items, key=lambda item: item.file)
            listed = [{name: getattr(item, name, None) for name in tables.FILES.names} for item in items]
            for number, (each, item) in enumerate(zip(listed, items, strict=True)):
                each |= {"number": number, "overlaps": self.unzoned.overlapping, "role": item.detail.get("role")}
            return local(self.session, pa.Table.from_pylist(listed, schema=tables.FILES))
        if name == "limits":
            row = {"since": self.options.since, "until": self.options.until}
            return local(self.session, pa.Table.from_pylist([row], schema=tables.LIMITS))
        if name == "message_bodies":  # not stored: read from the commit log itself
            stores = json.dumps(sources.listed(self.unzoned.of_kind(*STORES)))
            reader = self.session.read.format("rocketmq.commitlog").options(files=stores, body="true")
            return reader.load().where(self._within("messages"))
        read = tables.READ_AS.get(name, name)
        spec = tables.specs()[read]
        if spec.files(self.unzoned):
            rows = sessions.parquet(self.session, self.folder(read), from_arrow_schema(spec.schema))
        else:  # Apache Spark leaves out of its plans what it knows to be empty
            rows = local(self.session, spec.schema.empty_table())
        if name == "stored_messages":
            return rows
        columns = tables.AS_MESSAGES if name == "messages" else tables.countable(spec.schema)
        rows = rows.selectExpr(*columns)
        rows = rows if name in tables.WHOLE else rows.where(self._within(read))
        return rows.drop(*tables.HIDDEN) if name == "logs" else rows

    def _within(self, read: str) -> str:
        """Return the condition that a row of a table as read is within the window."""
        spec = tables.specs()[read]
        since, until = self.options.since, self.options.until
        if not (since or until) or (spec.dated and not self._original):
            return "true"
        return f"{tables.within(spec.time, since, until)} or {spec.lasting}"

    @property
    def _original(self) -> bool:
        """Whether files have the modification times that they had where they were written."""
        return bool(self.facts.rows("file_times")[0]["original"])

    @property
    def undated(self) -> list[str]:
        """The files that `since` and `until` cannot cut; none without them."""
        cut = self.options.since or self.options.until
        return tables.undated(self.unzoned, self._original) if cut else []

    # --- the session --------------------------------------------------------------------------------------------------

    def warm(self) -> None:
        """Start the session in the background; what needs it waits, and gets its error. Raise `JavaMissing` at once."""
        sessions.require_java(self.options.master, self.options.remote)

        def start() -> None:
            with contextlib.suppress(Exception):
                _ = self.session

        threading.Thread(target=start, name="spark-start", daemon=True).start()

    @property
    def session(self) -> SparkSession:
        """The session of this case; tables become its views when they are asked for."""
        self._spark = self._once.get("session", lambda: sessions.session(self.options.master, self.options.remote))
        return self._spark

    @property
    def spark(self) -> SparkSession:
        """The session of this case, with every bronze, silver and gold table as a temp view."""
        self.tables.offer()
        return self.session

    # --- stopping -----------------------------------------------------------------------------------------------------

    def cancel(self) -> None:
        """Stop the current work, queries and other threads; the session stays usable, the case after `resume`."""
        self._stopping.set()
        if self._spark is not None:
            with contextlib.suppress(Exception):
                sessions.cancel(self._spark)

    def check_cancelled(self) -> None:
        """Raise `KeyboardInterrupt` after `cancel`: threads call this between two pieces of work."""
        if self._stopping.is_set():
            raise KeyboardInterrupt

    def resume(self) -> None:
        """Allow work again after `cancel`."""
        self._stopping.clear()

    @contextlib.contextmanager
    def noting(self, what: str) -> Iterator[None]:
        """Keep an error of the block in `failures`. Raise it where the case is cancelled, or Java or space lacks."""
        try:
            yield
        except Exception as error:
            self.check_cancelled()
            if isinstance(error, sessions.JavaMissing) or disk.is_full(error):
                raise
            self.failures.append(Failure.of(what, error))


def open_case(
    evidence: str | Path,
    workspace: str | Path | None = None,
    *,
    lang: Lang = "en",
    tz_broker: str | None = None,
    tz_app: str | None = None,
    since: str | dt.datetime | None = None,
    until: str | dt.datetime | None = None,
    rows: Iterable[str] = (),
    master: str | None = None,
    remote: str | None = None,
) -> Case:
    """Open evidence: a folder, an archive, one file, or a URI of object storage. Nothing is read until it is used.

    `workspace`: folder of the cache (default: the user's); `tz_broker`, `tz_app`: zones of times that have none, as an
    IANA name or `+08:00`; `since`, `until`: ISO times that cut every table with times (docs/tables.md); `rows`:
    `FILE:key=COLUMN,…` for tables whose columns are recognised wrongly; `master`, `remote`: a Spark cluster. Raise
    `FileNotFoundError`, `ValueError` (no such language, an invalid zone or time), `WorkspaceInside`.
    """
    if lang not in LANGS:
        raise ValueError(f"lang: {lang!r} is not one of {', '.join(map(repr, LANGS))}")
    shared = not sessions.is_local(master, remote)
    if workspace is None and shared:
        raise ValueError(labels("case")["opening"]["no_workspace"].render(lang))
    ws.usable(Path(workspace) if workspace is not None else ws.default_base(), lang, shared=shared)
    elsewhere = str(evidence) if is_remote(str(evidence)) else None
    path = fetch(elsewhere, workspace) if elsewhere else Path(evidence)
    # A shell makes "" of an unset variable; it does not mean the current folder.
    if not path.exists() or str(evidence) == "":
        raise FileNotFoundError(2, "No such file or folder", str(evidence))
    base = ws.base(workspace, path)
    for zone in (tz_broker, tz_app):
        printed_times.converter(zone)
    options = Options(tz_broker, tz_app, instant(since), instant(until), tuple(sorted(rows)), master, remote)
    window(options.since, options.until)
    case = Case(path, Path(workspace) if workspace is not None else None, lang, options)
    if elsewhere:
        case.name = without_credentials(elsewhere)
        case.uses(next(folder for folder in path.resolve().parents if folder.parent == base / "remote"))
    return case
