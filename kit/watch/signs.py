"""Log entries and records → the signs that causes declare (`kit.causes.alerts`), counted by second."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.causes.alerts import STAGE, Rule, rules
from kit.inventory.references import Ref
from kit.rocketmq.catalogue import EVENTS

SAVED: Final = "consumer-offset-saved"
"""What consumers print when they save an offset: no sign of anything, but `lag` needs it."""
LATE: Final = 120.0
"""How many seconds an entry's time may be before it is read; beyond that the time of reading counts."""
QUARTER: Final = 900
FARTHEST: Final = 14 * 3600
QUOTED: Final = (
    "file", "line", "message", "trace", "thread", "events", "physical_offset", "topic", "queue_id", "uniq_key"
)  # fmt: skip
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
    events = batch.column("events")
    table = pa.table({"sign": pc.list_flatten(events), "row": pc.list_parent_indices(events)})
    table = table.append_column("second", _seconds(batch.column("ts"), moment).take(table["row"]))
    for sign in pc.unique(table["sign"]).to_pylist():
        own = table.filter((pc.field("sign") == sign) & pc.field("second").is_valid())
        if sign == SAVED or any(rule.alert.needs_values for rule in watched().get(sign, ())):
            for row, second in zip(
                *(own[name].slice(0, VALUED).to_pylist() for name in ("row", "second")), strict=True
            ):
                entry = _row(batch, row)
                yield Sign(sign, second, 1, _line(entry), _values(sign, entry), frozenset(entry["events"]))
        elif sign in watched():
            for each in _by_second(own, "sign"):
                yield Sign(sign, each["second"], each["row_count"], _line(_row(batch, each["row_min"])))


def of_records(batch: pa.RecordBatch, moment: Moment) -> Iterator[Sign]:
    """Yield the stages of records as signs, those of each consumer group by themselves."""
    stages, groups = (pc.cast(batch.column(name), pa.string()) for name in ("stage", "consumer_group"))
    seconds = _seconds(batch.column("store_timestamp"), moment)
    table = pa.table({"stage": stages, "group": groups, "row": np.arange(batch.num_rows), "second": seconds})
    for each in _by_second(table.filter(pc.field("second").is_valid()), "stage", "group"):
        if (sign := f"{STAGE}{each['stage']}") in watched():
            record = _row(batch, each["row_min"])
            text = f"{record['topic']} queue {record['queue_id']} UNIQ_KEY={record['uniq_key']}"[:TEXT]
            ref = Ref(record["file"], physical_offset=record["physical_offset"], text=text)
            yield Sign(sign, each["second"], each["row_count"], ref, {"group": each["group"], "thread": None})


def _by_second(table: pa.Table, *names: str) -> list[dict[str, Any]]:
    """Return for each second of each of these: its first row (`row_min`), and how many there are (`row_count`)."""
    grouped = table.group_by([*names, "second"], use_threads=False)
    return grouped.aggregate([("row", "min"), ("row", "count")]).to_pylist()


def _seconds(times: pa.Array, moment: Moment) -> pa.Array:
    """Return the second of each row: its own time if plausible, else the present; null if the row does not count."""
    own, now = np.asarray(pc.fill_null(pc.cast(times, pa.int64()), -1)) // 1_000_000, moment.now
    # Applications print local time: a difference of whole quarters of an hour means another zone.
    zones = np.round((now - own) / QUARTER) * QUARTER
    here = np.where(np.abs(zones) <= FARTHEST, own + zones, own)
    here = np.where((here >= now - LATE) & (here <= now + 1), here, int(now))
    seconds = np.where((own >= moment.since) & (own <= now + 1), own, here).astype(np.int64)
    return pa.array(seconds, mask=(own >= 0) & (own < moment.since) & moment.drops)


def _row(batch: pa.RecordBatch, row: int) -> dict[str, Any]:
    """Return one entry or record without its time, which Python may not be able to hold."""
    return batch.select([name for name in QUOTED if name in batch.schema.names]).slice(row, 1).to_pylist()[0]


def _line(entry: dict[str, Any]) -> Ref:
    return Ref(entry["file"], line=entry["line"], text=(entry["message"] or "")[:TEXT])


def _values(sign: str, entry: dict[str, Any]) -> dict[str, str | None]:
    """Return the values of a known text in an entry, its thread and its file."""
    values: dict[str, str | None] = {"thread": entry["thread"], "file": entry["file"]}
    match = EVENTS[sign].compiled.search("\n".join(filter(None, (entry["message"], entry["trace"]))))
    for name in EVENTS[sign].groups:
        # In patterns with alternatives, `group_2` is the group of the second.
        plain = re.sub(r"_\d+$", "", name)
        values[plain] = values.get(plain) or (match[name] if match else None)
    return values
