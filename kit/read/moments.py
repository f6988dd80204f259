"""When the messages with given ids or keys were born and stored, from the commitlog: what zones are inferred from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kit.read import commitlog
from kit.read.batches import Wanted

_COLUMNS: Final = ("uniq_key", "offset_msg_id", "keys", "born_timestamp", "store_timestamp")
_MOST: Final = 40
"""Copies of one message whose times are kept: a looping one has thousands."""


def of(stores: Sequence[dict[str, Any]], names: Collection[str]) -> dict[str, tuple[int, ...]]:
    """Return name → times in ms of the records that carry it as UNIQ_KEY, offset id or (whole) KEYS."""
    if not stores or not names:
        return {}
    wanted = pa.array(sorted(names), pa.string())
    found: dict[str, set[int]] = defaultdict(set)

    def read(chunk: Any) -> list[pa.RecordBatch]:
        kept = []
        for file, start, stop in chunk.ranges:
            for batch in commitlog.messages(file, start, stop, Wanted(_COLUMNS)):
                named = [pc.is_in(batch[name], value_set=wanted) for name in _COLUMNS[:3]]
                kept.append(batch.filter(pc.or_(pc.or_(named[0], named[1]), named[2])))
        return kept

    with ThreadPoolExecutor(2) as pool:
        for batches in pool.map(read, commitlog.tasks(stores)):
            for batch in batches:
                for row in batch.to_pylist():
                    times = {int(row[t].timestamp() * 1000) for t in ("born_timestamp", "store_timestamp") if row[t] is not None}
                    for name in _COLUMNS[:3]:
                        if row[name] is not None and len(found[row[name]]) < _MOST:
                            found[row[name]] |= times
    return {name: tuple(sorted(times)) for name, times in found.items()}
