"""When the messages with given ids or keys were born and stored, from the commit log. Zones are inferred from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.evidence.unread import QUIET, Unread
from kit.formats.commitlog import segments
from kit.formats.commitlog.batches import Wanted
from kit.spark import commitlog_source

_COLUMNS: Final = ("uniq_key", "offset_msg_id", "keys", "born_timestamp", "store_timestamp")
_MOST: Final = 40
"""How many copies of one message have their times kept: a message in a loop has thousands."""


def of(stores: Sequence[dict[str, Any]], names: Collection[str]) -> dict[str, tuple[int, ...]]:
    """Return name → times in ms of the records that carry it as UNIQ_KEY, offset id or (whole) KEYS."""
    if not stores or not names:
        return {}
    wanted = pa.array(sorted(names), pa.string())
    found: dict[str, set[int]] = defaultdict(set)
    quiet = Unread(mode=QUIET)

    def read(chunk: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        kept: list[tuple[np.ndarray, np.ndarray]] = []
        for file, start, stop in chunk.ranges:
            for batch in quiet.through(file.file, partial(segments.messages, file, start, stop, Wanted(_COLUMNS))):
                kept += _named(batch, wanted)
        return kept

    with ThreadPoolExecutor(2) as pool:
        for pairs in pool.map(read, commitlog_source.tasks(stores, quiet)):
            _keep(found, wanted, pairs)
    return {name: tuple(sorted(times)) for name, times in found.items()}


def in_table(messages: Path, copies: Sequence[str], names: Collection[str]) -> dict[str, tuple[int, ...]]:
    """Return what `of` does from the table of messages, without the files that are `copies`."""
    if not names:
        return {}
    wanted = pa.array(sorted(names), pa.string())
    columns = {name: ds.field(name) for name in _COLUMNS}
    kept = ~ds.field("file").isin(pa.array(copies, pa.string())) if copies else None
    found: dict[str, set[int]] = defaultdict(set)
    coded = ds.ParquetFileFormat(dictionary_columns=["file"])
    for batch in ds.dataset(messages, format=coded).to_batches(columns, filter=kept):
        _keep(found, wanted, _named(batch, wanted))
    return {name: tuple(sorted(times)) for name, times in found.items()}


def _named(batch: pa.RecordBatch, wanted: pa.Array) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (index among the wanted names, ms) of the records that carry one, for each kind of name and of time."""
    times = [batch[t].cast(pa.int64()).fill_null(0).to_numpy() // 1000 for t in _COLUMNS[3:]]
    for name in _COLUMNS[:3]:
        which = pc.index_in(batch[name], value_set=wanted).fill_null(-1).to_numpy()
        rows = _first(which)
        yield from ((which[rows], time[rows]) for time in times)


def _keep(found: dict[str, set[int]], wanted: pa.Array, pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> None:
    for which, times in pairs:
        for name, time in zip(which.tolist(), times.tolist(), strict=True):
            if time and len(found[wanted[name].as_py()]) < _MOST:
                found[wanted[name].as_py()].add(time)


def _first(which: np.ndarray) -> np.ndarray:
    """Return the rows that carry a name, at most the first `_MOST` for each name."""
    rows = np.flatnonzero(which >= 0)
    rows = rows[np.argsort(which[rows], kind="stable")]
    names = which[rows]
    begins = np.flatnonzero(np.concatenate(([True], names[1:] != names[:-1]))) if len(names) else np.empty(0, np.int64)
    rank = np.arange(len(names)) - np.repeat(begins, np.diff(np.append(begins, len(names))))
    return rows[rank < _MOST]
