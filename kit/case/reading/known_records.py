"""Finds the stretches of the commit log that hold nothing for a table, from the table of messages, so that they need
not be read again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.formats.commitlog.schema import TRACED, File

Needed = Callable[[File, int, int], bool]
"""Says whether a stretch of a file, `[start, stop)` in bytes, has to be read."""
_NONE: Final = np.empty((0, 2), np.int64)


def for_skipped(messages: Path) -> Needed:
    """Return a test for stretches that hold anything but an unbroken run of records."""
    runs: dict[str, list[np.ndarray]] = defaultdict(lambda: [_NONE])
    for file, rows in _by_file(messages, ["physical_offset", "store_size"]):
        begins, sizes = (rows[column].to_numpy() for column in ("physical_offset", "store_size"))
        ends = begins + sizes
        first, last = begins.min(), ends.max()
        # If the sizes of the records add up to the whole span, there is no gap: no need to sort them.
        dense = sizes.sum(dtype=np.int64) == last - first
        runs[file].append(np.array([[first, last]]) if dense else _joined(np.stack([begins, ends], axis=1)))
    whole = {file: _joined(np.concatenate(found)) for file, found in runs.items()}

    def needed(file: File, start: int, stop: int) -> bool:
        begins, ends = whole.get(file.file, _NONE).T
        at = int(np.searchsorted(begins, file.base + start, side="right")) - 1
        return at < 0 or bool(ends[at] < file.base + stop) or stop == file.used < file.length

    return needed


def for_traces(messages: Path) -> Needed:
    """Return a test for stretches that hold a message trace of a client."""
    places: dict[str, list[np.ndarray]] = defaultdict(list)
    for file, rows in _by_file(messages, ["physical_offset"], TRACED):
        places[file].append(rows["physical_offset"].to_numpy())

    def needed(file: File, start: int, stop: int) -> bool:
        first, last = file.base + start, file.base + stop
        return any(bool(((at >= first) & (at <= last)).any()) for at in places.get(file.file, ()))

    return needed


def _by_file(messages: Path, columns: list[str], mark: str | None = None) -> Iterator[tuple[str, pa.Table]]:
    """Yield (file, columns of its records) for each part of the table. `mark`: a boolean column; only records for
    which it is true.
    """
    coded = ds.ParquetFileFormat(dictionary_columns=["file"])
    where = ds.field(mark) if mark else None
    for part in ds.dataset(messages, format=coded).get_fragments():
        rows = part.to_table(columns=[*columns, "file"], filter=where)
        files = rows["file"].unique().to_pylist()
        for file in files:
            yield file, rows if len(files) == 1 else rows.filter(pc.equal(rows["file"], file))


def _joined(runs: np.ndarray) -> np.ndarray:
    """Return runs (rows of begin and end) in order, with touching ones merged."""
    runs = runs[np.argsort(runs[:, 0], kind="stable")]
    first = np.ones(len(runs), bool)
    first[1:] = runs[1:, 0] != runs[:-1, 1]
    last = np.roll(first, -1)
    return np.stack([runs[first, 0], runs[last, 1]], axis=1)
