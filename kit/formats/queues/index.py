"""Index files: hashes of keys that point to records (`store/index/IndexFile`)."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa

from kit.evidence.files import Damaged, beginning
from kit.formats.values import TIMESTAMP, columns_of
from kit.rocketmq import binary_format as f

HEAD: Final = np.dtype([
    ("begin_timestamp", ">i8"), ("end_timestamp", ">i8"), ("begin_physical_offset", ">i8"),
    ("end_physical_offset", ">i8"), ("slots_used", ">i4"), ("index_count", ">i4"),
])  # fmt: skip
ENTRY: Final = np.dtype([("key_hash", ">i4"), ("physical_offset", ">i8"), ("time_diff", ">i4"), ("prev", ">i4")])
_MOST_MS: Final = 10**13
ENTRIES: Final = columns_of("index")
BATCH_ENTRIES: Final = 65_536
_RATIO: Final = 4
"""Entries a slot in a default file; brokers with other sizes usually keep it."""


def header(head: bytes | np.ndarray) -> dict[str, int] | None:
    """Return the 40-byte header; None if its values cannot be those of an index file."""
    buf = np.frombuffer(head, np.uint8)
    if len(buf) < f.INDEX_HEADER:
        return None
    row = buf[: f.INDEX_HEADER].view(HEAD)[0]
    facts = {name: int(row[name]) for name in HEAD.names or ()}
    begin, end = facts["begin_timestamp"], facts["end_timestamp"]
    if list(facts.values()) == [0, 0, 0, 0, 0, 1]:
        return facts  # without entries
    good = (
        10**12 < begin < _MOST_MS
        # The broker's clock may have stepped back in between, but not by years.
        and abs(end - begin) < 10 * 365 * 86_400_000
        and 0 <= facts["begin_physical_offset"] <= facts["end_physical_offset"] < 1 << 56
        and facts["index_count"] > 1
        and 0 < facts["slots_used"] < facts["index_count"]
    )
    return facts if good else None


def sniff(head: bytes | np.ndarray, size: int) -> dict[str, Any] | None:
    """Return {"kind": "index"} if first bytes and size are an index's, else None."""
    return {"kind": "index"} if header(head) and (size - f.INDEX_HEADER) % 4 == 0 else None


def slots(buf: np.ndarray, facts: dict[str, int]) -> int | None:
    """Return the number of hash slots: the default, or that of the size; None if neither fits the first entry."""
    by_size = (len(buf) - f.INDEX_HEADER) // (f.INDEX_SLOT + _RATIO * f.INDEX_ENTRY)
    return next((count for count in (f.INDEX_SLOTS, by_size) if _fits(buf, facts, count)), None)


def _fits(buf: np.ndarray, facts: dict[str, int], count: int) -> bool:
    first = f.INDEX_HEADER + count * f.INDEX_SLOT
    if count <= 0 or first + 2 * f.INDEX_ENTRY > len(buf):
        return False
    entry = buf[first + f.INDEX_ENTRY : first + 2 * f.INDEX_ENTRY].view(ENTRY)[0]
    hashed, offset, _, before = (int(entry[name]) for name in ENTRY.names or ())
    if offset != facts["begin_physical_offset"] or before or hashed < 0:
        return False
    at = f.INDEX_HEADER + hashed % count * f.INDEX_SLOT
    return 0 < int(buf[at : at + f.INDEX_SLOT].view(">i4")[0]) < facts["index_count"]


def entries(file: str, path: str) -> Iterator[pa.RecordBatch]:
    """Yield the entries. Raise `Damaged` for an impossible header or number of slots."""
    buf = np.frombuffer(beginning(path), np.uint8)
    facts = header(buf)
    if facts is None:
        raise Damaged("header")
    if facts["index_count"] == 1:
        return
    count = slots(buf, facts)
    if count is None:
        raise Damaged("slots")
    start = f.INDEX_HEADER + count * f.INDEX_SLOT + f.INDEX_ENTRY
    used = max(0, min(facts["index_count"] - 1, (len(buf) - start) // f.INDEX_ENTRY))
    table = buf[start : start + used * f.INDEX_ENTRY].view(ENTRY)
    for first in range(0, used, BATCH_ENTRIES):
        part = table[first : first + BATCH_ENTRIES]
        hashes, offset, seconds = (part[name].astype(np.int64) for name in ("key_hash", "physical_offset", "time_diff"))
        columns = [
            pa.repeat(pa.scalar(file, pa.string()), len(part)),
            pa.array(hashes.astype(np.int32)),
            pa.array(offset),
            pa.array((facts["begin_timestamp"] + seconds * 1000) * 1000).cast(TIMESTAMP),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=ENTRIES)
