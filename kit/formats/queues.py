"""Consume queue files, whose units point to records, and index files, in which hashes of keys do (`store/index`)."""

import io
import os
import re
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

import numpy as np
import pyarrow as pa

from kit.evidence.files import Damaged, beginning
from kit.formats.printed_times import NANO_LAST_MS
from kit.formats.values import TIMESTAMP, columns_of
from kit.rocketmq import binary_format as f
from kit.rocketmq import names

UNIT: Final = np.dtype([("physical_offset", ">i8"), ("size", ">i4"), ("tags_code", ">i8")])
_PLACE: Final = re.compile(r"(?:^|/)consumequeue/([^/]+)/([0-9]{1,10})/([0-9]{20})$")
_MOST_OFFSET: Final = 1 << 56
_MS: Final = (10**12, 10**13)
"""2001 to 2286 in milliseconds: what a time in a unit can be."""
_EXT_ADDRESS: Final = -(2**63) + (1 << 48)
"""An address in the extension file is Long.MIN_VALUE + position (`ConsumeQueueExt.decorate`)."""
SCHEMA: Final = columns_of("consumequeue")
BATCH_ROWS: Final = 65_536


def place(file: str) -> tuple[str, int, int] | None:
    """Return (topic, queue id, offset of the first byte) from a path; None if it is not RocketMQ's."""
    match = _PLACE.search(str(PurePosixPath(file.replace("!/", "/"))))
    offset = f.first_offset(match[3]) if match else None
    if match is None or offset is None or int(match[2]) >= 1 << 31:
        return None
    return match[1], int(match[2]), offset


def is_queue(head: bytes) -> bool:
    """Return whether a file is a queue, by its first bytes."""
    used = _ordered(_units(np.frombuffer(head, np.uint8)))
    if used is None:
        return False
    code = used["tags_code"].astype(np.int64)
    return bool(((np.abs(code) <= 2**31) | ((code > _MS[0]) & (code < _MS[1])) | (code < _EXT_ADDRESS)).all())


def _units(buf: np.ndarray) -> np.ndarray:
    return buf[: len(buf) // UNIT.itemsize * UNIT.itemsize].view(UNIT)


def _ordered(units: np.ndarray) -> np.ndarray | None:
    """Return the used units; None if their values cannot be offsets and sizes of records in store order."""
    filler = (units["physical_offset"] == 0) & (units["size"] == f.CQ_PREFILL_SIZE)
    units = units[~filler] if filler.any() else units
    used = units["size"] != 0
    count = int(used.sum())
    # Used units first, then nothing but zeros.
    if not used[:count].all() or units["physical_offset"][count:].any() or units["tags_code"][count:].any():
        return None
    units = units[:count]
    offsets = units["physical_offset"]
    fits = (offsets >= 0) & (offsets < _MOST_OFFSET) & (units["size"] >= f.MIN_RECORD)
    good = fits.all() and (np.diff(offsets) > 0).all()
    return units if good and (count or filler.any()) else None


def units(file: str, path: str) -> Iterator[pa.RecordBatch]:
    """Yield the used units of a file, without filler and unused space.

    `problem`: `size` or `offset` if a unit cannot point to a record, `order` if it points before its predecessor.
    """
    unknown = None, None, f.first_offset(PurePosixPath(file.replace("\\", "/")).name)
    topic, queue_id, base = place(file) or unknown
    table = _units(np.frombuffer(beginning(path), np.uint8))
    last = np.int64(-1)
    for first in range(0, len(table), BATCH_ROWS):
        part = table[first : first + BATCH_ROWS]
        offset, size, code = (part[name].astype(np.int64) for name in ("physical_offset", "size", "tags_code"))
        used = ((size != 0) | (offset != 0)) & ~((size == f.CQ_PREFILL_SIZE) & (offset == 0))
        if not used.any():
            continue
        rows = np.flatnonzero(used)
        offset, size, code = offset[rows], size[rows], code[rows]
        before = np.concatenate(([last], offset[:-1]))
        last = offset[-1]
        problem = np.select([size < f.MIN_RECORD, offset < 0, offset <= before], ["size", "offset", "order"], "")
        logical = rows + first + (base or 0) // UNIT.itemsize
        due = (code > 0) & (code <= NANO_LAST_MS) & (topic == names.SCHEDULE_TOPIC)
        same = zip((file, topic, queue_id), SCHEMA.types, strict=False)
        columns = [
            *(pa.repeat(pa.scalar(value, of), len(rows)) for value, of in same),
            pa.array(logical, mask=np.full(len(rows), base is None)),
            pa.array(offset),
            pa.array(size.astype(np.int32)),
            pa.array(code),
            pa.array(np.where(due, code, 0) * 1000, mask=~due).cast(TIMESTAMP),
            pa.array(problem, mask=problem == "").cast(pa.string()),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def used(stream: io.FileIO) -> int:
    """Return how many units are used in a queue file that is still being written, by bisection."""
    unit, handle = UNIT.itemsize, stream.fileno()
    units = range(os.fstat(handle).st_size // unit)
    return bisect_left(units, True, key=lambda n: not any(os.pread(handle, unit, n * unit)))


# --- indexes ----------------------------------------------------------------------------------------------------------

INDEX_HEAD: Final = np.dtype([
    ("begin_timestamp", ">i8"), ("end_timestamp", ">i8"), ("begin_physical_offset", ">i8"),
    ("end_physical_offset", ">i8"), ("slots_used", ">i4"), ("index_count", ">i4"),
])  # fmt: skip
INDEX_ENTRY: Final = np.dtype([("key_hash", ">i4"), ("physical_offset", ">i8"), ("time_diff", ">i4"), ("prev", ">i4")])
ENTRIES: Final = columns_of("index")
_RATIO: Final = 4
"""Entries a slot in a default file; brokers with other sizes usually keep it."""


def header(head: bytes | np.ndarray) -> dict[str, int] | None:
    """Return the 40-byte header; None if its values cannot be those of an index file."""
    buf = np.frombuffer(head, np.uint8)
    if len(buf) < f.INDEX_HEADER:
        return None
    row = buf[: f.INDEX_HEADER].view(INDEX_HEAD)[0]
    facts = {name: int(row[name]) for name in INDEX_HEAD.names or ()}
    begin, end = facts["begin_timestamp"], facts["end_timestamp"]
    if list(facts.values()) == [0, 0, 0, 0, 0, 1]:
        return facts  # without entries
    good = (
        _MS[0] < begin < _MS[1]
        # The broker's clock may have stepped back in between, but not by years.
        and abs(end - begin) < 10 * 365 * 86_400_000
        and 0 <= facts["begin_physical_offset"] <= facts["end_physical_offset"] < _MOST_OFFSET
        and facts["index_count"] > 1
        and 0 < facts["slots_used"] < facts["index_count"]
    )
    return facts if good else None


def is_index(head: bytes | np.ndarray, size: int) -> bool:
    return header(head) is not None and (size - f.INDEX_HEADER) % 4 == 0


def slots(buf: np.ndarray, facts: dict[str, int]) -> int | None:
    """Return the number of hash slots: the default, or that of the size; None if neither fits the first entry."""
    by_size = (len(buf) - f.INDEX_HEADER) // (f.INDEX_SLOT + _RATIO * f.INDEX_ENTRY)
    return next((count for count in (f.INDEX_SLOTS, by_size) if _fits(buf, facts, count)), None)


def _fits(buf: np.ndarray, facts: dict[str, int], count: int) -> bool:
    first = f.INDEX_HEADER + count * f.INDEX_SLOT
    if count <= 0 or first + 2 * f.INDEX_ENTRY > len(buf):
        return False
    entry = buf[first + f.INDEX_ENTRY : first + 2 * f.INDEX_ENTRY].view(INDEX_ENTRY)[0]
    hashed, offset, _, before = (int(entry[name]) for name in INDEX_ENTRY.names or ())
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
    table = buf[start : start + used * f.INDEX_ENTRY].view(INDEX_ENTRY)
    for first in range(0, used, BATCH_ROWS):
        part = table[first : first + BATCH_ROWS]
        hashes, offset, seconds = (part[name].astype(np.int64) for name in ("key_hash", "physical_offset", "time_diff"))
        columns = [
            pa.repeat(pa.scalar(file, pa.string()), len(part)),
            pa.array(hashes.astype(np.int32)),
            pa.array(offset),
            pa.array((facts["begin_timestamp"] + seconds * 1000) * 1000).cast(TIMESTAMP),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=ENTRIES)
