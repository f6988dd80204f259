"""One row per stretch of a broker's commit log that the evidence does not hold, between its first and its last record: files that were not
copied between others that were, and damage. store_host, start, end (physical offsets), after, before (store times of the neighbouring
records, null where nothing shows them); in order of broker and offset. At most as many rows as files and `damage_neighbours`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import PurePosixPath
from typing import Any, Final

import pandas as pd
import pyarrow as pa

READS: Final = ("store_extent", "damage_neighbours")
SCHEMA: Final = pa.schema(
    [
        ("store_host", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("after", pa.timestamp("us", "UTC")),
        ("before", pa.timestamp("us", "UTC")),
    ]
)


def fold(case: Any) -> pd.DataFrame:
    rows = []
    damage = case.fact_rows("damage_neighbours")
    if damage or not _adjoining(case):
        copies = {item.file for item in case.found.items if item.replica_of}
        extents = [
            row
            for row in case.fact_rows("store_extent")
            if row["file"] not in copies and row["store_host"] is not None and row["first"] is not None
        ]
        extents.sort(key=lambda row: row["store_host"])
        rows = [{name: row[name] for name in SCHEMA.names} for row in damage]
        for host, files in groupby(extents, key=lambda row: str(row["store_host"])):
            rows += _between(case, host, list(files))
    frame = pd.DataFrame(rows, columns=SCHEMA.names)
    for name in ("after", "before"):
        frame[name] = pd.to_datetime(frame[name], utc=True)
    return frame.sort_values(["store_host", "start", "end"], ignore_index=True)


def _between(case: Any, host: str, files: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the files that are missing; copies of one file cover each other."""
    items = {item.file: item for item in case.found.items if item.base is not None}
    known = [
        (items[row["file"]].base, items[row["file"]].bytes, row["first"], row["last"])
        for row in files
        if row["file"] in items
    ]
    end: int | None = None
    latest: dt.datetime | None = None
    for base, size, first, last in sorted(known):
        if end is not None and base > end:
            yield {"store_host": host, "start": end, "end": base, "after": latest, "before": first}
        end = base + size if end is None else max(end, base + size)
        latest = last if latest is None else max(latest, last)


def _adjoining(case: Any) -> bool:
    """Return whether the commit log files of each folder follow each other: then none is missing, whoever wrote them."""
    folders: dict[str, list[tuple[int, int]]] = {}
    for item in case.found.of_kind("commitlog", "dledger"):
        if item.base is not None:
            folders.setdefault(str(PurePosixPath(item.file).parent), []).append((item.base, item.base + item.bytes))
    return all(a[1] == b[0] for spans in folders.values() for a, b in pairwise(sorted(spans)))
