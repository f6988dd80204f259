"""Log entries and records → the signs that causes declare (`kit.causes.alerts`), counted by second."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

import attrs
import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.causes.alerts import STAGE, Rule, rules
from kit.rocketmq.catalogue import EVENTS

LATE: Final = 120.0
"""How many seconds an entry's time may be before it is read; beyond that the time of reading counts."""
QUARTER: Final = 900
FARTHEST: Final = 14 * 3600
VALUED: Final = 2_000
"""Most entries of one sign and batch whose values are read; further entries are ignored."""
RECORD_COLUMNS: Final = (
    "file", "physical_offset", "store_timestamp", "topic", "queue_id", "queue_offset", "uniq_key", "stage", "consumer_group",
)  # fmt: skip
TEXT: Final = 300
"""Most characters kept of an entry."""


class Ref(msgspec.Struct, frozen=True):
    """Where a sign was seen: a line of a log, or a record of a commitlog."""

    file: str
    line: int | None = None
    physical_offset: int | None = None
    text: str = ""

    def as_dict(self) -> dict[str, Any]:
        place = {"line": self.line} if self.line is not None else {"physical_offset": self.physical_offset}
        return {"file": self.file, **place, "text": self.text}


@attrs.frozen
class Sign:
    """`count` occurrences of a sign in one second (`at`, since 1970), the first of them at `ref`. `values` of the one
    entry if a rule needs them; `beside`: other known texts in that entry.
    """

    name: str
    at: int
    count: int
    ref: Ref
    values: dict[str, str | None] = attrs.field(factory=dict)
    beside: frozenset[str] = frozenset()


@attrs.frozen
class Behind:
    """Catching up on entries written earlier: from `since` on they count at their own times; `drops`: older ones are ignored."""

    since: float
    drops: bool = False


@cache
def watched() -> dict[str, tuple[Rule, ...]]:
    """Return the rules of each sign."""
    found: dict[str, tuple[Rule, ...]] = {}
    for rule in rules():
        found[rule.alert.sign] = (*found.get(rule.alert.sign, ()), rule)
        if rule.alert.also:
            found.setdefault(rule.alert.also, ())
    return found


@cache
def valued() -> frozenset[str]:
    """Return the signs whose entries are examined one by one."""
    every = rules()
    return frozenset(
        {r.alert.sign for r in every if r.alert.needs_values} | {r.alert.also for r in every if r.alert.also}
    )


def of_entries(batch: pa.RecordBatch, now: float, behind: Behind | None = None) -> Iterator[Sign]:
    """Yield the signs in log entries with the column `events`. `behind`: None if they are being written now."""
    events = batch.column("events")
    slugs = events.flatten()
    if not len(slugs):
        return
    parents = np.repeat(np.arange(batch.num_rows), np.diff(events.offsets.to_numpy()))
    seconds, counts_at_all = _seconds(batch.column("ts"), now, behind)
    for slug in pc.unique(slugs).to_pylist():
        if slug not in watched():
            continue
        rows = parents[pc.equal(slugs, slug).to_numpy(zero_copy_only=False)]
        rows = rows[counts_at_all[rows]]
        if slug in valued():
            yield from (_one(batch, slug, int(row), int(seconds[row])) for row in rows[:VALUED])
            continue
        for second, first, count in _by_second(rows, seconds):
            yield Sign(slug, second, count, _line(batch, first))


def of_records(batch: pa.RecordBatch, now: float, behind: Behind | None = None) -> Iterator[Sign]:
    """Yield the stages of records as signs."""
    stage = pc.cast(batch.column("stage"), pa.string())
    groups = pc.cast(batch.column("consumer_group"), pa.string())
    seconds, counts_at_all = _seconds(batch.column("store_timestamp"), now, behind)
    for name in pc.unique(stage).to_pylist():
        sign = f"{STAGE}{name}"
        if sign not in watched():
            continue
        rows = np.flatnonzero(pc.equal(stage, name).to_numpy(zero_copy_only=False) & counts_at_all)
        by_group: dict[str | None, list[int]] = {}
        for row, group in zip(rows.tolist(), groups.take(pa.array(rows)).to_pylist(), strict=True):
            by_group.setdefault(group, []).append(row)
        for group, mine in by_group.items():
            for second, first, count in _by_second(np.array(mine), seconds):
                yield Sign(sign, second, count, _record(batch, first), {"group": group, "thread": None})


def _seconds(times: pa.Array, now: float, behind: Behind | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the second of each row, and whether the row counts: its own time if plausible, else the present."""
    return _counting(np.asarray(pc.fill_null(pc.cast(times, pa.int64()), -1)) // 1_000_000, now, behind)


def _counting(own: np.ndarray, now: float, behind: Behind | None) -> tuple[np.ndarray, np.ndarray]:
    everything = np.ones(len(own), bool)
    if behind is not None:
        fits = (own >= behind.since) & (own <= now + 1)
        return np.where(fits, own, int(now)), (own < 0) | (own >= behind.since) if behind.drops else everything
    # Applications print local time: a difference of whole quarters of an hour means another zone.
    zones = np.round((now - own) / QUARTER) * QUARTER
    own = np.where(np.abs(zones) <= FARTHEST, own + zones, own).astype(np.int64)
    fits = (own >= now - LATE) & (own <= now + 1)
    return np.where(fits, own, int(now)), everything


def _by_second(rows: np.ndarray, seconds: np.ndarray) -> Iterable[tuple[int, int, int]]:
    """Yield (second, first row in it, rows in it)."""
    if not len(rows):
        return
    different, first, counts = np.unique(seconds[rows], return_index=True, return_counts=True)
    for second, index, count in zip(different.tolist(), first.tolist(), counts.tolist(), strict=True):
        yield second, int(rows[index]), count


def _line(batch: pa.RecordBatch, row: int) -> Ref:
    return Ref(
        batch.column("file")[row].as_py(),
        line=batch.column("line")[row].as_py(),
        text=(batch.column("message")[row].as_py() or "")[:TEXT],
    )


def _record(batch: pa.RecordBatch, row: int) -> Ref:
    names = ("file", "physical_offset", "topic", "queue_id", "uniq_key")
    return _ref_of_record({name: batch.column(name)[row].as_py() for name in names})


def _ref_of_record(said: Mapping[str, Any]) -> Ref:
    text = f"{said['topic']} queue {said['queue_id']} UNIQ_KEY={said['uniq_key']}"
    return Ref(said["file"], physical_offset=said["physical_offset"], text=text[:TEXT])


def _one(batch: pa.RecordBatch, slug: str, row: int, second: int) -> Sign:
    """Return the sign in one entry with the values of its text."""
    text = "\n".join(filter(None, (batch.column(name)[row].as_py() for name in ("message", "trace"))))
    values: dict[str, str | None] = {
        "thread": batch.column("thread")[row].as_py(),
        "file": batch.column("file")[row].as_py(),
    }
    found = EVENTS[slug].compiled.search(text) if slug in EVENTS else None
    for name, value in (found.groupdict() if found else {}).items():
        # In patterns with alternatives, `group_2` is the group of the second.
        plain = name.rstrip("0123456789").rstrip("_") if name[-1].isdigit() and "_" in name else name
        values[plain] = values.get(plain) or value
    for name in EVENTS[slug].groups if slug in EVENTS else ():
        values.setdefault(name, None)
    return Sign(slug, second, 1, _line(batch, row), values, frozenset(batch.column("events")[row].as_py()))
