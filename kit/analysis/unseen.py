"""Stretches of a commit log that the evidence does not hold: files that were not copied between others that were, and damage.

A record that lay there cannot be found, which says nothing about whether it was stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
import pandas as pd
import pyarrow.dataset as ds

from kit.case import datasets, scan
from kit.case.memoize import per_case

if TYPE_CHECKING:
    from kit.case.case import Case

PAGE: Final = 4096
"""Bytes of memory that a crash loses at once; damage of that size can hold several records."""


@attrs.frozen
class Stretch:
    """Bytes `start` to `end` (physical offsets) of the log of `store_host`, written between `after` and `before`: ms since 1970, infinite where nothing shows it."""

    store_host: str
    start: int
    end: int
    after: float
    before: float

    @property
    def large(self) -> bool:
        return self.end - self.start >= PAGE


@per_case
def stretches(case: Case) -> list[Stretch]:
    """Return what is missing between the first and the last record of each broker's log, in order of broker and offset."""
    if not case.has("messages") or (_adjoining(case) and not _damage(case)):
        return []
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


def _adjoining(case: Case) -> bool:
    """Return whether the commit log files of each folder follow each other, so that nobody has to look at their records."""
    folders: dict[str, list[tuple[int, int]]] = {}
    for item in case.found.of_kind("commitlog", "dledger"):
        if item.base is not None:
            folders.setdefault(str(PurePosixPath(item.file).parent), []).append((item.base, item.base + item.bytes))
    return all(a[1] == b[0] for spans in folders.values() for a, b in pairwise(sorted(spans)))


@per_case
def _damage(case: Case) -> list[dict[str, Any]]:
    return datasets.rows(case, "skipped", where=ds.field("reason") == "corrupt")


def _within(case: Case, host: str, files: pd.DataFrame) -> Iterator[Stretch]:
    """Yield the damage inside files."""
    bases = {item.file: item.base or 0 for item in case.inventory.items}
    mine = set(files["file"])
    gaps = [(row["file"], row["start"], row["end"]) for row in _damage(case) if row["file"] in mine]
    if not gaps:
        return
    of_files = scan.one_of("file", sorted({file for file, *_ in gaps})) & (ds.field("store_host") == host)
    records = scan.table(case, "messages", ["physical_offset", "store_timestamp"], of_files).to_pandas()
    records = records.dropna().sort_values("physical_offset")
    offsets, times = records["physical_offset"].to_numpy(), records["store_timestamp"]
    for file, start, end in gaps:
        low, high = np.searchsorted(offsets, (bases[file] + start, bases[file] + end))
        after = _ms(times.iloc[low - 1]) if low else -math.inf
        yield Stretch(
            host,
            bases[file] + start,
            bases[file] + end,
            after,
            _ms(times.iloc[high]) if high < len(times) else math.inf,
        )


def may_hold(found: Sequence[Stretch], begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return for each span (ms since 1970) whether something written in it may lie in one of the stretches."""
    ordered = sorted(found, key=lambda each: each.after)
    latest = np.maximum.accumulate([-math.inf, *(each.before for each in ordered)])
    return latest[np.searchsorted([each.after for each in ordered], end, side="right")] >= begin


def _ms(at: pd.Timestamp) -> float:
    return at.timestamp() * 1000
