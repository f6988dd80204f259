"""Log entries and records → the signs that causes declare (`kit.causes.alerts`), counted by second."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.causes.alerts import STAGE, Rule, rules
from kit.formats.logs import known_texts
from kit.inventory.references import Ref

SAVED: Final = "consumer-offset-saved"
"""What consumers print when they save an offset: no sign of anything, but `lag` needs it."""
LATE: Final = 120.0
"""How many seconds an entry's time may be before it is read; beyond that the time of reading counts."""
QUARTER: Final = 900
FARTHEST: Final = 14 * 3600
VALUED: Final = 2_000
"""Most entries of one sign and batch whose values are read; further entries are ignored."""
ENTRY_COLUMNS: Final = ("file", "line", "message", "thread", "events", "second")
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
class Moment:
    """When entries are read: those since `since` count at their own times; `drops`: older ones do not count."""

    now: float
    since: float
    drops: bool = False


@cache
def watched() -> dict[str, tuple[Rule, ...]]:
    """Return the rules of each sign, also of those that others require."""
    by_sign: dict[str, tuple[Rule, ...]] = {SAVED: ()}
    for rule in rules():
        for sign in filter(None, (rule.alert.sign, rule.alert.also)):
            by_sign[sign] = (*by_sign.get(sign, ()), rule)
    return by_sign


def of_entries(batch: pa.RecordBatch, moment: Moment) -> Iterator[Sign]:
    """Yield the signs in log entries with the column `events`."""
    for texts in known_texts.printed(_timed(batch, "ts", moment), ENTRY_COLUMNS):
        for sign in filter(watched().__contains__, pc.unique(texts["event"]).to_pylist()):
            own = pa.table(texts.select([*ENTRY_COLUMNS, "values"])).filter(pc.equal(texts["event"], sign))
            if sign == SAVED or any(rule.alert.needs_values for rule in watched()[sign]):
                for row in own.slice(0, VALUED).to_pylist():
                    values = {"thread": row["thread"], "file": row["file"], **_plain(row["values"] or ())}
                    yield Sign(sign, row["second"], 1, _line(row), values, frozenset(row["events"]))
            else:
                for row, count in _by_second(own):
                    yield Sign(sign, row["second"], count, _line(row))


def of_records(batch: pa.RecordBatch, moment: Moment) -> Iterator[Sign]:
    """Yield the stages of records as signs, those of each consumer group by themselves."""
    for row, count in _by_second(pa.table(_timed(batch, "store_timestamp", moment)), "stage", "consumer_group"):
        if (sign := f"{STAGE}{row['stage']}") in watched():
            text = f"{row['topic']} queue {row['queue_id']} UNIQ_KEY={row['uniq_key']}"[:TEXT]
            ref = Ref(row["file"], physical_offset=row["physical_offset"], text=text)
            yield Sign(sign, row["second"], count, ref, {"group": row["consumer_group"], "thread": None})


def _by_second(table: pa.Table, *names: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the first row of each second of each of these, and how many there are."""
    keys = {name: pc.cast(table[name], pa.string()) for name in names}
    numbered = pa.table({**keys, "second": table["second"], "row": np.arange(len(table))})
    grouped = numbered.group_by([*names, "second"], use_threads=False).aggregate([("row", "min"), ("row", "count")])
    yield from zip(table.take(grouped["row_min"]).to_pylist(), grouped["row_count"].to_pylist(), strict=True)


def _timed(batch: pa.RecordBatch, time: str, moment: Moment) -> pa.RecordBatch:
    """Return the rows that count with their `second`: of their own time if plausible, else of the present. Times are
    left out: Python may not be able to hold them.
    """
    own, now = np.asarray(pc.fill_null(pc.cast(batch[time], pa.int64()), -1)) // 1_000_000, moment.now
    # Applications print local time: a difference of whole quarters of an hour means another zone.
    zones = np.round((now - own) / QUARTER) * QUARTER
    here = np.where(np.abs(zones) <= FARTHEST, own + zones, own)
    here = np.where((here >= now - LATE) & (here <= now + 1), here, int(now))
    seconds = np.where((own >= moment.since) & (own <= now + 1), own, here).astype(np.int64)
    counts = ~((own >= 0) & (own < moment.since) & moment.drops)
    return batch.drop_columns([time]).append_column("second", pa.array(seconds)).filter(pa.array(counts))


def _plain(values: Iterable[tuple[str, str | None]]) -> dict[str, str | None]:
    """Return values by name: in patterns with alternatives, `group_2` is the group of the second."""
    plain: dict[str, str | None] = {}
    for name, value in values:
        alike = re.sub(r"_\d+$", "", name)
        plain[alike] = plain.get(alike) or value
    return plain


def _line(entry: dict[str, Any]) -> Ref:
    return Ref(entry["file"], line=entry["line"], text=(entry["message"] or "")[:TEXT])
