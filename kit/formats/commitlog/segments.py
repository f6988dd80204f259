"""Ranges of commit log files → Arrow batches of records, or the ranges that are no records."""

import io
import mmap
import os
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

import numpy as np
import pyarrow as pa
from attrs import evolve

from kit.evidence.files import Shrunk, open_raw, stretches
from kit.formats import values
from kit.formats.commitlog import batches, records, walk
from kit.formats.commitlog.schema import PAD, SKIPPED, File, Wanted
from kit.rocketmq import binary_format as f

BACK: Final = (4 << 20) + (256 << 10)
"""How many bytes before a split the walk to it begins: a little more than the largest message of a default broker."""
WINDOW: Final = 8 << 20
"""How many bytes are read at once: what the kernels go through again and again stays in the processor's caches."""
NEAR: Final = 256 << 10
"""How many bytes more are read first, for the record that a window ends in."""
BATCH_ROWS: Final = 65_536
BATCH_BYTES: Final = 16 << 20
CHUNK: Final = 1 << 20
VOTES: Final = 64
FIRST: Final = 16 << 20
"""How many bytes of a file usually hold `VOTES` records."""


# --- bytes of a file in memory, at the positions they have in the file ------------------------------------------------
# A process that touches a mapped file where it was just truncated is killed (SIGBUS). Bytes that were read stay.


def read(file: io.FileIO, buf: records.Bytes, start: int, stop: int, first: int = 0) -> None:
    """Read the bytes from `start` to `stop` to the same places of `buf`, which begins at `first`. Raise `Shrunk`."""
    into = buf.data
    while start < stop:
        count = os.preadv(file.fileno(), [into[start - first : min(start + CHUNK, stop) - first]], start)
        if not count:
            raise Shrunk(os.fstat(file.fileno()).st_size, stop)
        start += count


def mapped(file: io.FileIO, size: int) -> records.Bytes:
    """Map a file that is too large for memory; nothing is read before it is touched. Raise `Shrunk`."""
    left = os.fstat(file.fileno()).st_size
    if left < size:
        raise Shrunk(left, size)
    # As if it could be written to (nothing does, and it would not reach the file): for arrays that cannot, each kernel
    # would have to be compiled once more, which takes a minute.
    flags = mmap.MAP_PRIVATE | getattr(mmap, "MAP_NORESERVE", 0)
    return np.frombuffer(mmap.mmap(file.fileno(), size, flags=flags), np.uint8)


# --- records ----------------------------------------------------------------------------------------------------------


def examine(file: str, path: str, base: int | None = None) -> File:
    """Work out the base of a file (its records win over `base`, that over its name) and whether it is DLedger's."""
    with open_raw(path) as stream:
        length = os.fstat(stream.fileno()).st_size
        end = max((end for _, end in stretches(stream.fileno())), default=0)  # a sparse file ends with a hole
        whole = File(file, path, length, min(length, end + PAD), 0, 0)
        buf = np.empty(min(whole.used, FIRST), np.uint8)
        read(stream, buf, 0, len(buf))
        votes, agreed, entries = records.layout(buf, VOTES)
        if votes < VOTES and len(buf) < whole.used:
            votes, agreed, entries = records.layout(mapped(stream, whole.used), VOTES)
    if votes:
        return evolve(whole, base=agreed, head=f.DLEDGER_HEADER if 2 * entries > votes else 0)
    name = PurePosixPath(file).name
    return evolve(whole, base=base if base is not None else f.first_offset(name) or 0, head=0)


def spans(
    file: File, start: int, stop: int
) -> Iterator[tuple[records.Bytes, np.ndarray, np.ndarray, np.ndarray, list[tuple[int, int, str]], int]]:
    """Walk one range of a file; yield (bytes, record starts, sizes, marks, gaps as (start, end, reason), physical
    offset of the first byte) piece by piece. Starts count from that byte, gaps from the file's; bytes hold till the next.
    """
    room, (starts, sizes, marks, gaps) = np.empty(WINDOW + BACK, np.uint8), places()
    with open_raw(file.path) as stream:
        at, limit = _border(stream, file, start, room), _border(stream, file, stop, room)
        buf, begin, end, until, reach = room[:0], at, at, at, NEAR
        while at < limit:
            if at == until:
                begin, end = at, min(at + WINDOW + reach, file.used)
                until = limit if end == file.used else min(at + WINDOW, limit)
                buf = room[: end - begin]
                read(stream, buf, begin, end, begin)
            count, lost, behind = walk.walk(
                buf, at - begin, until - begin, file.length - begin, file.base + begin, file.head, BATCH_BYTES,
                starts, sizes, marks, gaps,
            )  # fmt: skip
            if lost and end < file.used:
                # This may be a record that ends beyond the window, and the next record may be far away.
                if reach == NEAR:
                    reach, until = BACK, at
                else:
                    begin, end, until, buf = 0, file.used, limit, mapped(stream, file.used)
                continue
            lacking = [(int(a) + begin, int(b) + begin, walk.REASONS[why]) for a, b, why in gaps[:lost]]
            yield buf, starts[:count], sizes[:count], marks[:count], lacking, file.base + begin
            at = behind + begin
            until = max(until, at)
        if stop == file.used < file.length:
            none = starts[:0]
            yield buf, none, none, marks[:0], [(file.used, file.length, "zero_tail")], file.base + begin


def places() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return room for the records (starts, sizes, marks) and the gaps that a walk finds."""
    starts, sizes = np.empty((2, BATCH_ROWS), np.int64)
    return starts, sizes, np.empty(BATCH_ROWS, np.int32), np.empty((1024, 3), np.int64)


def _border(stream: io.FileIO, file: File, split: int, room: records.Bytes) -> int:
    """Return where the first record at or behind `split` begins: the same for the ranges on both sides."""
    if not 0 < split < file.used:
        return max(0, min(split, file.used))
    # One byte more: a walk that begins at the first byte of the file assumes that a record begins there.
    begin, end = max(0, split - BACK - 1), min(split + NEAR, file.used)
    buf = room[: end - begin]
    read(stream, buf, begin, end, begin)
    start, whole = walk.chunk_start(buf, split - begin, BACK, file.base + begin, file.head)
    if whole or end == file.used:
        return begin + int(start)
    return int(walk.chunk_start(mapped(stream, file.used), split, BACK, file.base, file.head)[0])


def messages(file: File, start: int, stop: int, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    for buf, starts, sizes, marks, _, base in spans(file, start, stop):
        rows = batches.Rows(buf, starts, sizes, marks, base, wanted)
        rows.keep()
        if len(rows):
            yield from batches.batch(rows, file.file)


def skipped(file: File, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """Yield the ranges of a file that are not records; adjacent ranges with the same reason are merged."""
    merged: list[tuple[int, int, str]] = []
    for *_, gaps, _ in spans(file, start, stop):
        for gap in gaps:
            if merged and merged[-1][1] == gap[0] and merged[-1][2] == gap[2]:
                merged[-1] = (merged[-1][0], gap[1], gap[2])
            else:
                merged.append(gap)
    yield from values.batches((dict(zip(SKIPPED.names, (file.file, *gap), strict=True)) for gap in merged), SKIPPED)
