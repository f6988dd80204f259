"""The tables of one evidence set, each built on first use and then kept in the workspace."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import attrs

from kit.case.frames import Frames
from kit.case.options import Options
from kit.case.progress import Progress
from kit.evidence import disk
from kit.evidence import workspace as ws
from kit.evidence.files import Refused, readable_again
from kit.evidence.unread import notes
from kit.i18n import Lang
from kit.inventory import inventory as inv
from kit.inventory import quotes
from kit.spark import sessions
from kit.tables.facts import Facts

if TYPE_CHECKING:
    from kit.evidence.failure import Failure
    from kit.inventory.zones import Zone

_TABLE_OF: Final[Mapping[str, str]] = {"records": "stored_messages", "messages": "stored_messages"}


class Case(Frames):
    """One evidence set: its files, its tables as Parquet (`folder`) and as DataFrames (`Frames`). Figures count `records`, not `messages`."""

    def __init__(self, path: Path, workspace: Path | None, lang: Lang, options: Options) -> None:
        super().__init__()
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
        self._base = workspace
        self._building: dict[str, threading.Lock] = {}
        self._broken: dict[str, Exception] = {}
        self._held: list[IO[str]] = []
        self._noted: set[Refused] = set()
        self.failures: list[Failure] = []
        """Faults of the kit while this case was examined or shown."""

    def __repr__(self) -> str:
        """Say what evidence this is and what can be asked."""
        kinds = Counter(item.source or item.kind for item in self.found.items)
        held = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(6))
        return f"{self.name}: {len(self.found.items)} files ({held}{', …' if len(kinds) > 6 else ''})\nAsk: case.sql('select …'), case.facts(table), case.query(table), kit.triage(case), kit.trace(case, id)."

    # --- files of the evidence ---------------------------------------------------------------------------------------------------

    def uses(self, folder: Path) -> None:
        """Keep every process from cleaning a cache folder as long as this case exists."""
        self._held.append(disk.hold(folder))

    @cached_property
    def found(self) -> inv.Inventory:
        """The inventory from the files alone: floating times have no zone yet."""
        if self.eager and not inv.looked_at(self.path, self._base):
            # The inventory needs no Java; the first table will report that it is missing.
            with contextlib.suppress(sessions.JavaMissing):
                self.warm()
        self.uses(inv.spool(self.path, self._base))
        found = inv.take(self.path, self._base, hashes=self.hashes, shared=self._shared)
        for declared in self.options.rows:
            found = inv.with_columns(found, declared)
        return found

    @cached_property
    def zones(self) -> Mapping[str, Zone]:
        """The zone in which each floating file is read, and how it was found."""
        from kit.case.reading import zones

        return zones.by_file(self)

    @cached_property
    def inventory(self) -> inv.Inventory:
        """Every file, with the zone of its times."""
        from kit.case.reading import zones

        return attrs.evolve(self.found, items=tuple(zones.zoned(self, item) for item in self.found.items))

    @cached_property
    def local_files(self) -> frozenset[str]:
        """The files whose times are in the local time of a host whose zone is not known: with a warning, and joined with nothing."""
        from kit.inventory import zones

        return frozenset(item.file for item in self.inventory.items if zones.unknown(item))

    @cached_property
    def clock(self) -> str | None:
        """`local` if no time of the evidence has a known zone, else None: UTC."""
        known = (item for item in self.inventory.items if item.file not in self.local_files)
        stored = self.found.of_kind("commitlog", "dledger", "consumequeue")
        return "local" if self.local_files and not stored and all(item.first is None for item in known) else None

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

    def has(self, table: str) -> bool:
        """Return whether a table has any row."""
        return self.facts.has(table)

    def unread(self) -> list[Refused]:
        """Return the files that could not be read, completely or from some place on, among those read so far."""
        from kit.case import tables

        refusals = set(self.found.refused) | self._noted
        for name, spec in tables.specs().items():
            key = tables.key(name, self.found, self.options.digest(), self.zones if spec.zoned else None)
            folder = self.workspace.table(key)
            refusals |= set(notes(folder)) if folder is not None else set()
        return sorted(refusals, key=lambda r: (r.file, r.reason))

    # --- tables ----------------------------------------------------------------------------------------------------------

    def folder(self, name: str) -> Path:
        """Return the Parquet folder of a bronze table; built if absent."""
        from kit.case import tables
        from kit.case.reading import read

        spec = tables.specs()[name]
        with self._lock:
            lock = self._building.setdefault(name, threading.Lock())
        with lock:
            if name in self._broken:  # it would only fail again, once for every cause that needs it
                raise self._broken[name]
            try:

                def write(part: Path) -> None:
                    tables.write(self.session, part, spec.schema, read.tasks(self, name, spec, part), self.go_on)

                return self.write_table(self.table_key(name), write)
            except Exception as error:
                self.go_on()  # a cancelled job fails too
                self._broken[name] = error
                raise

    def write_table(self, name: str, write: Callable[[Path], None]) -> Path:
        """Return the folder of a table in the workspace, complete; `write` fills an empty folder if it is absent."""
        with self.workspace.writing(name) as part:
            if part is not None:
                write(part)
        folder = self.workspace.table(name)
        assert folder is not None
        return folder

    def table_key(self, name: str) -> str:
        """Return the name of a bronze table's folder: it changes exactly when the table's content does."""
        from kit.case import tables

        if name in ("files", "limits"):
            return f"{self.found.content_key}-{self.options.digest()}"
        stored = {
            "queue_units": "consumequeue",
            "stored_messages": "messages",
            "messages_within": "messages",
            "message_bodies": "messages",
            "all_entries": "logs",
            "entries": "logs",
        }.get(name, name)
        spec = tables.specs()[stored]
        key = tables.key(stored, self.found, self.options.digest(), self.zones if spec.zoned else None)
        return key if stored == name else f"{name}-{key}-{self.options.digest()}"

    def results_folder(self) -> Path:
        folder = self.workspace.folder / "facts"
        folder.mkdir(mode=0o777 if self._shared else 0o700, exist_ok=True)
        return folder

    def has_read_messages(self) -> bool:
        """Return whether the table of messages is in the workspace."""
        return self.workspace.table(self.table_key("messages")) is not None

    def files_with(self, name: str) -> frozenset[str] | None:
        """Return the commit log files that have rows for `skipped` or `traces`, as far as the table of messages can tell; None without it."""
        if not self.has_read_messages():
            return None
        asked = {row["file"] for row in self.tables.rows(f"files_with_{name}")}
        return frozenset(asked)

    def build(self, *names: str) -> None:
        """Build several tables at once."""
        from kit.case import tables

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(self.folder, names or tables.specs()))

    # --- facts -----------------------------------------------------------------------------------------------------------------------

    @cached_property
    def facts(self) -> Facts:
        """What the causes look at; `facts("known_texts")` is a gold table as a small frame."""
        return Facts(self)

    def has_rows(self, table: str) -> bool:
        return bool(self.tables.frame(_TABLE_OF.get(table, table)).limit(1).count())

    def line(self, file: str, line: int) -> str:
        """Return one line of a text file unchanged, without its end; the first is 1. Raise `KeyError`, `IndexError`."""
        return self.lines([(file, line)])[0]

    def lines(self, places: Iterable[tuple[str, int]]) -> list[str]:
        return quotes.lines(self.found, places)

    def first_with(self, file: str, text: str) -> int | None:
        return quotes.first_with(self.found, file, text)

    def raw(self, file: str, most: int) -> bytes:
        return quotes.raw(self.found, file, most)

    def record(self, file: str, physical_offset: int, columns: tuple[str, ...]) -> dict[str, Any]:
        log = self.facts.once(f"commitlog {file}", lambda: quotes.commitlog(self.found, file))
        return quotes.record(log, physical_offset, columns)
