"""One step of the watch: read what is new in the files, return alerts. Driven by the command, by Spark, or by a test's clock."""

from __future__ import annotations

import gc
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kit.causes.alerts import DISK_FULL
from kit.evidence.files import Refused, refusal
from kit.formats.commitlog.schema import Wanted
from kit.formats.logs.schema import Options
from kit.i18n import Lang
from kit.inventory.following import LOGS, STORES, Follower, Stretch
from kit.inventory.following import State as Places
from kit.watch import signs
from kit.watch.episodes import Episodes, note
from kit.watch.lag import Followed, Lags
from kit.watch.signs import RECORD_COLUMNS, Behind, Ref, Sign

STEP: Final = 8 << 20
"""Most bytes of logs, and of stores, that one step reads: a burst of any size takes no more memory than that."""
COLLECT: Final = 1 << 20
"""After a step that read more, cycles are collected at once: they hold whole columns, and too few objects to be collected soon."""
WANTED: Final = Wanted(RECORD_COLUMNS)
REFUSES: Final = 0.90
"""Disk usage from which a broker refuses messages (store/DefaultMessageStore.CleanCommitLogService)."""
NEAR: Final = 0.85
"""Disk usage from which it deletes files early (diskSpaceCleanForciblyRatio)."""
SOON: Final = 1800.0
"""A disk that will be full within this many seconds is reported."""
RATE: Final = 60.0
"""Seconds over which the growth of disk usage is measured."""

Disk = Callable[[Path], tuple[int, int]]
"""Folder → (bytes of its disk, bytes free)."""


def disk_of(path: Path) -> tuple[int, int]:
    found = os.statvfs(path)
    return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize


class Kept(msgspec.Struct):
    """The state of a watch between runs. `time`: of the last step that reached the present; `untold`: alerts not sent when the process ended."""

    logs: Places = {}
    stores: Places = {}
    steps: int = 0
    episodes: Episodes = msgspec.field(default_factory=Episodes)
    lags: dict[str, dict[str, Followed]] = {}
    time: float = 0.0
    untold: list[dict[str, Any]] = []


@attrs.define
class Figures:
    """Counters since the start, for the terminal and for metrics."""

    entries: int = 0
    records: int = 0
    read: int = 0
    behind: bool = False
    signs: Counter[str] = attrs.field(factory=Counter)
    stages: Counter[str] = attrs.field(factory=Counter)
    lag: dict[tuple[str, str], int] = attrs.field(factory=dict)
    free: dict[str, int] = attrs.field(factory=dict)
    full_in: float | None = None
    seconds: float = 0.0
    skipped: Counter[str] = attrs.field(factory=Counter)
    """Bytes that are no lines (zeros, a line longer than a step), by file."""
    unread: dict[str, Refused] = attrs.field(factory=dict)
    """Files that could not be processed, by name."""


@attrs.define
class Watch:
    """A watch over some folders. `start`: `latest`, or `earliest` to read existing files as well, from `since` on."""

    roots: Sequence[Path]
    kept: Kept = attrs.field(factory=Kept)
    start: str = "latest"
    since: float = 0.0
    lang: Lang = "en"
    clock: Callable[[], float] = time.time
    disk: Disk = disk_of
    options: Options = attrs.field(factory=lambda: Options(events=True))
    figures: Figures = attrs.field(factory=Figures)
    lags: list[Lags] = attrs.field(init=False)
    _logs: Follower = attrs.field(init=False)
    _stores: Follower = attrs.field(init=False)
    _free: dict[int, list[tuple[float, int]]] = attrs.field(init=False, factory=dict)
    """By root: times and free bytes of its disk."""
    _catching_up: bool = attrs.field(init=False, default=True)

    def __attrs_post_init__(self) -> None:
        self._logs, self._stores = (
            Follower(self.roots, kinds, self.start, self.since, STEP, self.clock) for kinds in (LOGS, STORES)
        )
        self.lags = [Lags(root, self.kept.lags.setdefault(str(root), {})) for root in self.roots]

    def step(self) -> list[dict[str, Any]]:
        """Read what is new and return its alerts. `kept` is updated; save it before sending them."""
        began, now, read = time.monotonic(), self.clock(), self.figures.read
        first = not self.kept.steps
        kept = self.kept
        kept.logs = self._logs.step(kept.logs, first=first)
        kept.stores = self._stores.step(kept.stores, first=first)
        kept.steps += 1
        found: list[Sign] = []
        self.figures.skipped = Counter(self._logs.skipped | self._stores.skipped)
        for each in self._logs.stretches(kept.logs):
            for batch in self._read(each, log_entries(each, self.options)):
                found += self.of_entries(batch, each.place.root)
        for each in self._stores.stretches(kept.stores):
            for batch in self._read(each, messages(each)):
                found += self.of_records(batch)
        alerts = self.tell([*found, *self.measured()], now)
        self.figures.seconds = time.monotonic() - began
        self.figures.behind = self.figures.read - read > STEP // 2
        if self.figures.read - read > COLLECT:
            gc.collect()
        pa.default_memory_pool().release_unused()
        self._catching_up = self._catching_up and self.figures.behind
        if not self._catching_up:
            kept.time = now
        return alerts

    def of_entries(self, batch: pa.RecordBatch, root: int = 0) -> list[Sign]:
        """Count log entries, take the offsets in them, and return their signs."""
        self.figures.entries += batch.num_rows
        self.lags[root].printed(batch)
        return list(signs.of_entries(batch, self.clock(), self._behind))

    def of_records(self, batch: pa.RecordBatch) -> list[Sign]:
        self.figures.records += batch.num_rows
        for each in pc.value_counts(pc.cast(batch.column("stage"), pa.string())).to_pylist():
            self.figures.stages[str(each["values"])] += each["counts"]
        return list(signs.of_records(batch, self.clock(), self._behind))

    def measured(self) -> list[Sign]:
        """Return the signs that are not in a single entry: lag, and disks that fill up."""
        now = self.clock()
        found: list[Sign] = []
        for lags in self.lags:
            lags.look()
            found += lags.signs(now)
            self.figures.lag |= lags.present()
        return [*found, *self._disks(now)]

    def tell(self, found: Sequence[Sign], now: float) -> list[dict[str, Any]]:
        """Feed signs to the episodes; return the alerts, which `kept` lists as unsent."""
        for sign in found:
            self.figures.signs[sign.name] += sign.count
        full_in = self.figures.full_in
        alerts = [note(ring, self.lang, full_in) for ring in self.kept.episodes.feed(found, now)]
        self.kept.untold += alerts
        return alerts

    @property
    def _behind(self) -> Behind | None:
        """Return the time from which entries count at their own times, None once the present is reached."""
        if not self._catching_up:
            return None
        if self.start == "earliest" and not self.kept.time:
            return Behind(self.since, drops=True)
        return Behind(self.kept.time - signs.LATE) if self.kept.time else None

    def _read(self, stretch: Stretch, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches; an error in one file ends that file only."""
        self.figures.read += stretch.place.at - stretch.place.begin
        try:
            yield from batches
        except Exception as error:
            self.figures.unread.setdefault(stretch.place.name, refusal(stretch.place.name, error))

    def _disks(self, now: float) -> list[Sign]:
        """Measure the disks of stores; return a sign for each that is nearly full, or will be soon."""
        found: list[Sign] = []
        ends: list[float] = []
        stores = {place.root for place in self.kept.stores.values() if not place.gone}
        for root in sorted(stores):
            folder = self.roots[root]
            try:
                size, free = self.disk(folder)
            except OSError:
                continue
            self.figures.free[str(folder)] = free
            left = free - size * (1 - REFUSES)
            seen = [each for each in self._free.get(root, ()) if each[0] > now - RATE - 1]
            self._free[root] = [*seen, (now, free)]
            began, before = self._free[root][0]
            rate = (before - free) / (now - began) if now - began >= RATE / 2 else 0.0
            in_seconds = max(0.0, left) / rate if rate > 0 else None
            if in_seconds is not None:
                ends.append(in_seconds)
            soon = in_seconds is not None and in_seconds < SOON
            if size and (1 - free / size >= NEAR or soon):
                text = f"{folder}: {100 * (1 - free / size):.1f}%"
                found.append(
                    Sign(DISK_FULL, int(now), 1, Ref(str(folder), text=text), {"path": str(folder), "thread": None})
                )
        self.figures.full_in = min((each for each in ends if each < 86_400), default=None)
        return found


def log_entries(stretch: Stretch, options: Options) -> Iterator[pa.RecordBatch]:
    """Yield the entries of a stretch of a log."""
    from kit.formats.logs.entries import batches
    from kit.formats.logs.schema import Piece
    from kit.spark.sources import plain

    place, source = stretch.place, stretch.source
    piece = Piece(
        place.name, stretch.path(), place.begin, place.at, source=source, encoding=stretch.encoding,
        seconds_twice=stretch.seconds_twice, line=place.first,
    )  # fmt: skip
    yield from map(plain, batches(piece, options))


def messages(stretch: Stretch, wanted: Wanted = WANTED) -> Iterator[pa.RecordBatch]:
    """Yield the records of a stretch of a commit log."""
    from kit.formats.commitlog import segments
    from kit.formats.commitlog.schema import File

    place = stretch.place
    file = File(place.name, stretch.path(), place.at, place.at, stretch.base, stretch.entry_head)
    yield from segments.messages(file, place.begin, place.at, wanted)
