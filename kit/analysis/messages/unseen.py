"""Stretches of a commit log that the evidence does not hold: files that were not copied between others that were, and damage.

A record that lay there cannot be found, which says nothing about whether it was stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import attrs
import pandas as pd
import pyarrow.dataset as ds

from kit.case import datasets, scan
from kit.case.memoize import per_case

if TYPE_CHECKING:
    from kit.case.case import Case

LEAST: Final = 4096
"""Bytes of damage that count: a page of memory, which can hold several records."""


@attrs.frozen
class Stretch:
    """Bytes `start` to `end` (physical offsets) of the log of `store_host`, written between `after` and `before`: ms since 1970, infinite where nothing shows it."""

    store_host: str
    start: int
    end: int
    after: float
    before: float


@per_case
def stretches(case: Case) -> list[Stretch]:
    """Return what is missing between the first and the last record of each broker's log, in order of broker and offset."""
    asked = [("physical_offset", "min"), ("store_timestamp", "min"), ("store_timestamp", "max")]
    rows = scan.extremes(case, ["store_host", "file"], asked).to_pandas().astype({"store_host": object, "file": object})
    rows = rows.dropna(subset=["store_host", "physical_offset_min", "store_timestamp_min"])
    found: list[Stretch] = []
    for host, mine in rows.groupby("store_host", sort=True):
        found += [*_between(case, str(host), mine), *_within(case, str(host), mine)]
    return sorted(found, key=lambda s: (s.store_host, s.start))


def _between(case: Case, host: str, files: pd.DataFrame) -> Iterator[Stretch]:
    """Yield the files that are missing; copies of one file cover each other."""
    items = {item.file: item for item in case.inventory.items if item.base is not None}
    columns = (files[name] for name in ("file", "store_timestamp_min", "store_timestamp_max"))
    known = [
        (items[file].base or 0, items[file].bytes, _ms(a), _ms(b))
        for file, a, b in zip(*columns, strict=True)
        if file in items
    ]
    end, latest = math.inf, -math.inf
    for base, size, first, last in sorted(known):
        if base > end:
            yield Stretch(host, int(end), base, latest, first)
        end = base + size if math.isinf(end) else max(end, base + size)
        latest = max(latest, last)


def _within(case: Case, host: str, files: pd.DataFrame) -> Iterator[Stretch]:
    """Yield damage of at least `LEAST` bytes inside files."""
    bases = {item.file: item.base or 0 for item in case.inventory.items}
    mine = ds.field("file").isin(files["file"].tolist()) & (ds.field("reason") == "corrupt")
    gaps = [
        (row["file"], bases.get(row["file"], 0) + row["start"], bases.get(row["file"], 0) + row["end"])
        for row in datasets.rows(case, "skipped", where=mine & (ds.field("end") - ds.field("start") >= LEAST))
    ]
    if not gaps:
        return
    of_files = ds.field("file").isin(sorted({file for file, *_ in gaps})) & (ds.field("store_host") == host)
    records = scan.table(case, "messages", ["physical_offset", "store_timestamp"], of_files).to_pandas()
    records = records.dropna().sort_values("physical_offset")
    times = records["store_timestamp"]
    for _, start, end in gaps:
        at = records["physical_offset"].searchsorted([start, end])
        yield Stretch(
            host,
            start,
            end,
            _ms(times.iloc[at[0] - 1]) if at[0] else -math.inf,
            _ms(times.iloc[at[1]]) if at[1] < len(times) else math.inf,
        )


def _ms(at: pd.Timestamp) -> float:
    return at.timestamp() * 1000
