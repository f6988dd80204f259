"""One step of the watch: read what is new in the files, return alerts."""

from __future__ import annotations

import gc
import math
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
from kit.inventory import following
from kit.inventory.following import STORES, Place
from kit.inventory.references import Ref
from kit.watch import signs
from kit.watch.episodes import Episodes, note
from kit.watch.lag import Followed, Lags
from kit.watch.signs import RECORD_COLUMNS, Behind, Sign

STEP: Final = 8 << 20
"""Most bytes of logs, and of stores, that one step reads: a burst of any size takes no more memory than that."""
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
    """The state of a watch between runs.

    `begun`: its first step was made; `time`: of the last step that reached the present; `untold`: alerts not sent
    when the process ended.
    """

    places: following.State = {}
    begun: bool = False
    episodes: Episodes = msgspec.field(default_factory=Episodes)
    lags: dict[str, dict[str, Followed]] = {}
    time: float = 0.0
    untold: list[dict[str, Any]] = []


@attrs.define
class Figures:
    """Counters since the start, for the terminal and for metrics. `behind`: the last step did not reach the present."""

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
    """A watch over folders; what was written before `since` (s since 1970, default now) is left out."""

    roots: Sequence[Path]
    kept: Kept = attrs.field(factory=Kept)
    since: float = math.inf
    lang: Lang = "en"
    clock: Callable[[], float] = time.time
    disk: Disk = disk_of
    options: Options = attrs.field(factory=lambda: Options(events=True))
    figures: Figures = attrs.field(factory=Figures)
    lags: list[Lags] = attrs.field(init=False)
    _free: dict[int, list[tuple[float, int]]] = attrs.field(init=False, factory=dict)
    """By root: times and free bytes of its disk."""
    _catching_up: bool = attrs.field(init=False, default=True)

    def __attrs_post_init__(self) -> None:
        self.lags = [Lags(root, self.kept.lags.setdefault(str(root), {})) for root in self.roots]

    def step(self) -> list[dict[str, Any]]:
        """Read what is new and return its alerts, which `kept` lists as unsent. Save `kept` before sending them."""
        began, now, kept, figures = time.monotonic(), self.clock(), self.kept, self.figures
        read, since = figures.read, 0.0 if kept.begun else self.since
        kept.places = following.step(self.roots, kept.places, now, most=STEP, since=since)
        kept.begun = True
        new = [sign for place in kept.places.values() if place.is_new for sign in self._signs(place, now)]
        for lags in self.lags:
            lags.look()
            new += lags.signs(now)
            figures.lag |= lags.present()
        new += self._disks(now)
        for sign in new:
            figures.signs[sign.name] += sign.count
        alerts = [note(ring, self.lang, figures.full_in) for ring in kept.episodes.feed(new, now)]
        kept.untold += alerts
        figures.skipped = Counter({place.name: place.skipped for place in kept.places.values() if place.skipped})
        figures.seconds = time.monotonic() - began
        figures.behind = figures.read - read > STEP // 2
        if figures.behind:
            gc.collect()  # cycles hold whole columns, and are too few objects to be collected soon
        pa.default_memory_pool().release_unused()
        self._catching_up = self._catching_up and figures.behind
        if not self._catching_up:
            kept.time = now
        return alerts

    def _signs(self, place: Place, now: float) -> Iterator[Sign]:
        """Read what is new in a file and yield its signs; an error ends this file only."""
        figures, behind = self.figures, self._behind
        figures.read += place.at - place.begin
        try:
            if place.kind in STORES:
                for batch in messages(self.roots[place.root], place):
                    figures.records += batch.num_rows
                    for each in pc.value_counts(pc.cast(batch.column("stage"), pa.string())).to_pylist():
                        figures.stages[str(each["values"])] += each["counts"]
                    yield from signs.of_records(batch, now, behind)
                return
            for batch in log_entries(self.roots[place.root], place, self.options):
                figures.entries += batch.num_rows
                self.lags[place.root].printed(batch)
                yield from signs.of_entries(batch, now, behind)
        except Exception as error:
            figures.unread.setdefault(place.name, refusal(place.name, error))

    @property
    def _behind(self) -> Behind | None:
        """Return the time from which entries count at their own times, None once the present is reached."""
        if not self._catching_up:
            return None
        if self.kept.time:
            return Behind(self.kept.time - signs.LATE)
        return Behind(self.since, drops=True) if self.since < math.inf else None

    def _disks(self, now: float) -> list[Sign]:
        """Measure the disks of stores; return a sign for each that is nearly full, or will be soon."""
        found: list[Sign] = []
        ends: list[float] = []
        stores = {place.root for place in self.kept.places.values() if place.kind in STORES and not place.gone}
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


def log_entries(root: Path, place: Place, options: Options) -> Iterator[pa.RecordBatch]:
    """Yield the new entries of a log."""
    from kit.formats.logs.entries import batches
    from kit.formats.logs.schema import Piece
    from kit.spark.sources import plain

    piece = Piece(
        place.name, following.locate(root, place), place.begin, place.at, source=place.source,
        encoding=place.encoding, seconds_twice=place.seconds_twice, line=place.first,
    )  # fmt: skip
    yield from map(plain, batches(piece, options))


def messages(root: Path, place: Place, wanted: Wanted = WANTED) -> Iterator[pa.RecordBatch]:
    """Yield the new records of a store."""
    from kit.formats.commitlog import segments
    from kit.formats.commitlog.schema import File

    file = File(place.name, following.locate(root, place), place.at, place.at, place.base, place.entry_head)
    yield from segments.messages(file, place.begin, place.at, wanted)
