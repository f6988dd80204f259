"""One step of the watch: read what is new in the files, return alerts."""

import contextlib
import gc
import math
import shutil
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
from kit.formats.commitlog import segments
from kit.formats.commitlog.schema import File, Wanted
from kit.formats.logs.entries import batches
from kit.formats.logs.schema import Options, Piece
from kit.i18n import Lang
from kit.inventory.model import Ref
from kit.spark.sources import plain
from kit.watch import episodes, following
from kit.watch.episodes import RECORD_COLUMNS, Episodes, Moment, Sign
from kit.watch.following import STORES, Place
from kit.watch.lag import Followed, Lags

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
SHOWN: Final = 86_400.0
"""Most seconds until a disk is full that are worth a figure."""


class WatchState(msgspec.Struct, forbid_unknown_fields=True):
    """What is kept between runs. `time`: of the last step that reached the present; `untold`: alerts not sent yet."""

    places: following.State = {}
    episodes: Episodes = msgspec.field(default_factory=Episodes)
    lags: dict[str, dict[str, Followed]] = {}
    time: float = 0.0
    untold: list[dict[str, Any]] = []


@attrs.define
class Figures:
    """Counters since the start, for the terminal and for metrics. `behind`: the last step did not reach the present."""

    entries: int = 0
    read: int = 0
    behind: bool = False
    signs: Counter[str] = attrs.field(factory=Counter)
    stages: Counter[str] = attrs.field(factory=Counter)
    lag: dict[tuple[str, str], int] = attrs.field(factory=dict)
    free: dict[str, int] = attrs.field(factory=dict)
    full_in: float | None = None
    seconds: float = 0.0
    unread: dict[str, Refused] = attrs.field(factory=dict)
    """Files that could not be processed, by name."""


@attrs.define
class Watch:
    """A watch over folders; what was written before `since` (s since 1970, default now) is left out."""

    roots: Sequence[Path]
    kept: WatchState = attrs.field(factory=WatchState)
    since: float = math.inf
    lang: Lang = "en"
    clock: Callable[[], float] = time.time
    disk: Callable[[Path], tuple[int, int, int]] = shutil.disk_usage
    """Folder → bytes of its disk: all, used, free."""
    options: Options = attrs.field(factory=lambda: Options(events=True))
    figures: Figures = attrs.field(factory=Figures)
    lags: list[Lags] = attrs.field(init=False)
    _free: dict[int, list[tuple[float, int]]] = attrs.field(init=False, factory=dict)
    """By root: times and free bytes of its disk."""

    def __attrs_post_init__(self) -> None:
        self.lags = [Lags(root, self.kept.lags.setdefault(str(root), {})) for root in self.roots]

    def step(self) -> list[dict[str, Any]]:
        """Read what is new and return its alerts, which `kept` lists as unsent. Save `kept` before sending them."""
        began, now, kept, figures = time.monotonic(), self.clock(), self.kept, self.figures
        # Until the first step has reached the present, what is older than asked for does not count.
        moment = Moment(now, kept.time - episodes.LATE) if kept.time else Moment(now, self.since, drops=True)
        read, since = figures.read, 0.0 if kept.time else self.since
        kept.places = following.step(self.roots, kept.places, now, most=STEP, since=since)
        new = [sign for place in kept.places.values() if place.is_new for sign in self._signs(place, moment)]
        for lags in self.lags:
            lags.look()
            new += lags.signs(now)
            figures.lag |= lags.present()
        new += self._disks(now)
        for sign in new:
            figures.signs[sign.name] += sign.count
        alerts = kept.episodes.feed(new, now, self.lang, figures.full_in)
        kept.untold += alerts
        figures.seconds = time.monotonic() - began
        figures.behind = figures.read - read > STEP // 2
        if figures.behind:
            gc.collect()  # cycles hold whole columns, and are too few objects to be collected soon
        else:
            kept.time = now
        pa.default_memory_pool().release_unused()
        return alerts

    def _signs(self, place: Place, moment: Moment) -> Iterator[Sign]:
        """Read what is new in a file and yield its signs; an error ends this file only."""
        figures = self.figures
        figures.read += place.at - place.begin
        try:
            for batch in new_rows(self.roots[place.root], place, self.options):
                if place.kind in STORES:
                    stages = pc.value_counts(pc.cast(batch["stage"], pa.string())).to_pylist()
                    figures.stages.update({str(each["values"]): each["counts"] for each in stages})
                    yield from episodes.of_records(batch, moment)
                    continue
                figures.entries += batch.num_rows
                for sign in episodes.of_entries(batch, moment):
                    if sign.name == episodes.SAVED:
                        self.lags[place.root].printed(sign)
                    else:
                        yield sign
        except Exception as error:
            figures.unread.setdefault(place.name, refusal(place.name, error))

    def _disks(self, now: float) -> Iterator[Sign]:
        """Measure the disks of stores; yield a sign for each that is nearly full, or will be soon."""
        ends = [SHOWN]
        for root in sorted({each.root for each in self.kept.places.values() if each.kind in STORES and not each.gone}):
            folder = self.roots[root]
            with contextlib.suppress(OSError):
                size, _, free = self.disk(folder)
                self.figures.free[str(folder)] = free
                times = self._free[root] = [each for each in self._free.get(root, ()) if each[0] > now - RATE - 1]
                times.append((now, free))
                began, before = times[0]
                rate = (before - free) / (now - began) if now - began >= RATE / 2 else 0.0
                ends.append(max(0.0, free - size * (1 - REFUSES)) / rate if rate > 0 else math.inf)
                if free <= size * (1 - NEAR) or ends[-1] < SOON:
                    ref = Ref(str(folder), text=f"{folder}: {100 * (1 - free / max(1, size)):.1f}%")
                    yield Sign(DISK_FULL, int(now), 1, ref, {"path": str(folder), "thread": None})
        self.figures.full_in = min(ends) if min(ends) < SHOWN else None


def new_rows(root: Path, place: Place, options: Options) -> Iterator[pa.RecordBatch]:
    """Yield the new records of a store, or the new entries of a log."""
    path = following.locate(root, place)
    if place.kind in STORES:
        file = File(place.name, path, place.at, place.at, place.base, place.entry_head)
        return segments.messages(file, place.begin, place.at, WANTED)
    piece = Piece(
        place.name, path, place.begin, place.at, source=place.source,
        encoding=place.encoding, seconds_twice=place.seconds_twice, line=place.first,
    )  # fmt: skip
    return map(plain, batches(piece, options))
