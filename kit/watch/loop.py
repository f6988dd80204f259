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

STEP: Final = 8 << 20
"""Most bytes of logs, and of stores, that one step reads: a burst of any size takes no more memory than that."""
NEAR: Final = 0.85
"""Disk usage from which a broker deletes files early (diskSpaceCleanForciblyRatio); at 0.90 it refuses messages."""


class WatchState(msgspec.Struct, forbid_unknown_fields=True):
    """What is kept between runs. `time`: of the last step that reached the present; `untold`: alerts not sent yet."""

    places: following.State = {}
    episodes: Episodes = msgspec.field(default_factory=Episodes)
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
    free: dict[str, int] = attrs.field(factory=dict)
    seconds: float = 0.0
    unread: dict[str, Refused] = attrs.field(factory=dict)
    """Files that could not be processed, by name."""


@attrs.define
class Watch:
    """A watch over folders; what was written before `since` (s since 1970, default now) is left out."""

    roots: Sequence[Path]
    state: WatchState = attrs.field(factory=WatchState)
    since: float = math.inf
    lang: Lang = "en"
    clock: Callable[[], float] = time.time
    disk: Callable[[Path], tuple[int, int, int]] = shutil.disk_usage
    """Folder → bytes of its disk: all, used, free."""
    options: Options = attrs.field(factory=lambda: Options(events=True))
    figures: Figures = attrs.field(factory=Figures)

    def step(self) -> list[dict[str, Any]]:
        """Read what is new and return its alerts, which `state` lists as unsent. Save `state` before sending them."""
        began, now, state, figures = time.monotonic(), self.clock(), self.state, self.figures
        # Until the first step has reached the present, what is older than asked for does not count.
        moment = Moment(now, state.time - episodes.LATE) if state.time else Moment(now, self.since, drops=True)
        read, since = figures.read, 0.0 if state.time else self.since
        state.places = following.step(self.roots, state.places, now, most=STEP, since=since)
        new = [sign for place in state.places.values() if place.is_new for sign in self._signs(place, moment)]
        new += self._disks(now)
        for sign in new:
            figures.signs[sign.name] += sign.count
        alerts = state.episodes.feed(new, now, self.lang)
        state.untold += alerts
        figures.seconds = time.monotonic() - began
        figures.behind = figures.read - read > STEP // 2
        if figures.behind:
            gc.collect()  # cycles hold whole columns, and are too few objects to be collected soon
        else:
            state.time = now
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
                yield from episodes.of_entries(batch, moment)
        except Exception as error:
            figures.unread.setdefault(place.name, refusal(place.name, error))

    def _disks(self, now: float) -> Iterator[Sign]:
        """Measure the disks of stores; yield a sign for each that is nearly full."""
        for root in sorted({each.root for each in self.state.places.values() if each.kind in STORES and not each.gone}):
            folder = self.roots[root]
            with contextlib.suppress(OSError):
                size, _, free = self.disk(folder)
                self.figures.free[str(folder)] = free
                if free <= size * (1 - NEAR):
                    ref = Ref(str(folder), text=f"{folder}: {100 * (1 - free / max(1, size)):.1f}%")
                    yield Sign(DISK_FULL, int(now), 1, ref, {"path": str(folder), "thread": None})


def new_rows(root: Path, place: Place, options: Options) -> Iterator[pa.RecordBatch]:
    """Yield the new records of a store, or the new entries of a log."""
    path = following.locate(root, place)
    if place.kind in STORES:
        file = File(place.name, path, place.at, place.at, place.base, place.entry_head)
        return segments.messages(file, place.begin, place.at, Wanted(RECORD_COLUMNS))
    piece = Piece(
        place.name, path, place.begin, place.at, source=place.source,
        encoding=place.encoding, seconds_twice=place.seconds_twice, line=place.first,
    )  # fmt: skip
    return map(plain, batches(piece, options))
