"""Log entries and records → the signs that causes declare (`kit.causes.alerts`), counted by second."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.causes.alerts import STAGE, Rule, rules
from kit.inventory.references import Ref
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


@attrs.frozen
class Sign:
    """`count` occurrences of a sign in one second (`at`, since 1970), the first of them at `ref`.

    `values` of the one entry if a rule needs them; `beside`: other known texts in that entry.
    """

    name: str
    at: int
    count: int
    ref: Ref
    values: dict[str, str | None] = attrs.field(factory=dict)
    beside: frozenset[str] = frozenset()


@attrs.frozen
class Behind:
    """Catching up: entries from `since` on count at their own times; `drops`: older ones are ignored."""

    since: float
    drops: bool = False


@cache
def watched() -> dict[str, tuple[Rule, ...]]:
    """Return the rules of each sign, also of those that others require."""
    by_sign: dict[str, tuple[Rule, ...]] = {}
    for rule in rules():
        for sign in filter(None, (rule.alert.sign, rule.alert.also)):
            by_sign[sign] = (*by_sign.get(sign, ()), rule)
    return by_sign


def of_entries(batch: pa.RecordBatch, now: float, behind: Behind | None = None) -> Iterator[Sign]:
    """Yield the signs in log entries with the column `events`. `behind`: None if they are being written now."""
    events = batch.column("events")
    slugs = events.flatten()
    parents = np.repeat(np.arange(batch.num_rows), np.diff(events.offsets.to_numpy()))
    seconds, counts_at_all = _seconds(batch.column("ts"), now, behind)
    for slug in pc.unique(slugs).to_pylist():
        rows = parents[pc.equal(slugs, slug).to_numpy(zero_copy_only=False)]
        rows = rows[counts_at_all[rows]]
        if any(rule.alert.needs_values for rule in watched().get(slug, ())):
            yield from (_one(batch, slug, int(row), int(seconds[row])) for row in rows[:VALUED])
        elif slug in watched():
            for second, first, count in _by_second(rows, seconds):
                yield Sign(slug, second, count, _line(batch, first))


def of_records(batch: pa.RecordBatch, now: float, behind: Behind | None = None) -> Iterator[Sign]:
    """Yield the stages of records as signs, those of each consumer group by themselves."""
    seconds, counts_at_all = _seconds(batch.column("store_timestamp"), now, behind)
    stages, groups = (pc.cast(batch.column(name), pa.string()).to_pylist() for name in ("stage", "consumer_group"))
    rows: dict[tuple[str, str | None], list[int]] = {}
    for row, (stage, group) in enumerate(zip(stages, groups, strict=True)):
        if counts_at_all[row] and f"{STAGE}{stage}" in watched():
            rows.setdefault((f"{STAGE}{stage}", group), []).append(row)
    for (sign, group), each in rows.items():
        for second, first, count in _by_second(np.array(each), seconds):
            yield Sign(sign, second, count, _record(batch, first), {"group": group, "thread": None})


def _seconds(times: pa.Array, now: float, behind: Behind | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the second of each row (its own time if plausible, else the present), and whether the row counts."""
    own = np.asarray(pc.fill_null(pc.cast(times, pa.int64()), -1)) // 1_000_000
    everything = np.ones(len(own), bool)
    if behind is not None:
        fits = (own >= behind.since) & (own <= now + 1)
        return np.where(fits, own, int(now)), (own < 0) | (own >= behind.since) if behind.drops else everything
    # Applications print local time: a difference of whole quarters of an hour means another zone.
    zones = np.round((now - own) / QUARTER) * QUARTER
    own = np.where(np.abs(zones) <= FARTHEST, own + zones, own).astype(np.int64)
    fits = (own >= now - LATE) & (own <= now + 1)
    return np.where(fits, own, int(now)), everything


def _by_second(rows: np.ndarray, seconds: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """Yield (second, first row in it, rows in it)."""
    different, first, counts = np.unique(seconds[rows], return_index=True, return_counts=True)
    for second, index, count in zip(different.tolist(), first.tolist(), counts.tolist(), strict=True):
        yield second, int(rows[index]), count


def _line(batch: pa.RecordBatch, row: int) -> Ref:
    file, line, text = (batch.column(name)[row].as_py() for name in ("file", "line", "message"))
    return Ref(file, line=line, text=(text or "")[:TEXT])


def _record(batch: pa.RecordBatch, row: int) -> Ref:
    names = ("file", "physical_offset", "topic", "queue_id", "uniq_key")
    file, offset, topic, queue, uniq_key = (batch.column(name)[row].as_py() for name in names)
    return Ref(file, physical_offset=offset, text=f"{topic} queue {queue} UNIQ_KEY={uniq_key}"[:TEXT])


def _one(batch: pa.RecordBatch, slug: str, row: int, second: int) -> Sign:
    """Return the sign in one entry with the values of its text."""
    message, trace, thread, file = (batch.column(name)[row].as_py() for name in ("message", "trace", "thread", "file"))
    values: dict[str, str | None] = {"thread": thread, "file": file}
    match = EVENTS[slug].compiled.search("\n".join(filter(None, (message, trace)))) if slug in EVENTS else None
    for name in EVENTS[slug].groups if slug in EVENTS else ():
        # In patterns with alternatives, `group_2` is the group of the second.
        plain = re.sub(r"_\d+$", "", name)
        values[plain] = values.get(plain) or (match[name] if match else None)
    return Sign(slug, second, 1, _line(batch, row), values, frozenset(batch.column("events")[row].as_py()))
