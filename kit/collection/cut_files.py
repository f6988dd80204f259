"""Write parts of files: commitlog records and queue units at their own positions, ranges of texts.

A commitlog file keeps its name and every kept record its position, byte for byte; a range left out becomes the filler RocketMQ itself writes at
the end of a file (`CommitLog.BLANK_MAGIC_CODE`, in DLedger files that of `MmapFileList`), with a hole after its eight bytes. So offsets, message ids
and references stay valid, the file consists of filler and records only, and it takes no more disk than its records.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import attrs
import numpy as np

from kit.evidence.files import open_readonly
from kit.formats.commitlog.segments import examine, spans
from kit.formats.queues import consumequeue
from kit.rocketmq import binary_format as f

_CHUNK: Final = 4 << 20
_HEADER: Final = 8
_MOST: Final = (1 << 31) - 1
"""A filler's length is an int32; after a longer range a new file begins, named as in RocketMQ."""

Longs = np.ndarray[tuple[int], np.dtype[np.int64]]


@attrs.frozen
class Part:
    """What was written of one file: records (or units, entries, rows) kept and before, and their bytes."""

    kept: int
    of: int
    bytes: int


def commitlog(file: str, path: str, base: int | None, offsets: Longs, target: Path) -> Part:
    """Write the records of a commitlog file that begin at these physical offsets (sorted) to `target`; no file without such records.

    A record in the wrong place (with another offset) is kept only right after a kept one: otherwise nothing could find it again.
    """
    known = examine(file, path, base)
    pieces = [
        (starts.copy(), sizes.copy(), marks.copy()) for _, starts, sizes, marks, *_ in spans(known, 0, known.used)
    ]
    empty = np.empty(0, np.int64)
    starts, sizes, marks = (
        (np.concatenate(column) if column else empty for column in zip(*pieces, strict=True))
        if pieces
        else (empty, empty, empty)
    )
    keep = np.isin(starts + known.base, offsets)
    begins, ends = starts - known.head, starts + sizes
    for i in np.flatnonzero(keep & (marks != 0)).tolist():
        keep[i] = i > 0 and bool(keep[i - 1]) and int(ends[i - 1]) == int(begins[i])
    runs = _joined(begins[keep], ends[keep])
    if runs:
        with open_readonly(path) as source:
            _write(source, runs, known.base, bool(known.head), target)
    return Part(int(keep.sum()), int(starts.size), int((ends - begins)[keep].sum()))


def _joined(begins: Longs, ends: Longs) -> list[tuple[int, int]]:
    """Join ranges that are closer than a filler's header; what is between them is kept."""
    if not begins.size:
        return []
    apart = np.flatnonzero(begins[1:] - ends[:-1] >= _HEADER)
    return list(
        zip(begins[np.append(0, apart + 1)].tolist(), ends[np.append(apart, begins.size - 1)].tolist(), strict=True)
    )


def _write(source: io.BufferedReader, runs: list[tuple[int, int]], base: int, dledger: bool, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    out = None
    zero = at = 0
    try:
        for begin, end in runs:
            if out is not None and begin - at > _MOST:
                out.close()
                out = None
            if out is None:
                far = begin > _MOST or at > 0
                zero = at = begin if far else 0
                out = (target.with_name(f"{base + begin:0{f.FILE_NAME_DIGITS}}") if far else target).open("xb")
            if 0 < begin - at < _HEADER:  # only before the first record: it cannot be filler
                copy(source, at, begin, out)
            elif begin > at:
                size = begin - at
                out.write(
                    struct.pack(">ii", f.DLEDGER_BLANK, size) if dledger else struct.pack(">iI", size, f.MAGIC_BLANK)
                )
                out.seek(begin - zero)
            copy(source, begin, end, out)
            at = end
    finally:
        if out is not None:
            out.close()


def copy(source: io.BufferedReader, start: int, end: int, out: io.BufferedWriter) -> None:
    """Append the bytes [start, end) of a file."""
    source.seek(start)
    while start < end and (data := source.read(min(_CHUNK, end - start))):
        out.write(data)
        start += len(data)


def ranges(path: str, wanted: Iterable[tuple[int, int]], target: Path) -> int:
    """Write the byte ranges of a file one after another; return the bytes written. No file without ranges."""
    total = 0
    parts = list(wanted)
    if parts:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open_readonly(path) as source, target.open("xb") as out:
            for start, end in parts:
                copy(source, start, end, out)
            total = out.tell()
    return total


def copy_whole(path: str, size: int, target: Path) -> int:
    """Copy a file; return its bytes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with open_readonly(path) as source, target.open("xb") as out:
        copy(source, 0, size, out)
        return out.tell()


def queue(file: str, path: str, offsets: Longs, target: Path) -> Part:
    """Write a plain consume queue with the units that point to these physical offsets, at their positions; the others become `fillPreBlank`'s."""
    with open_readonly(path) as source:
        raw = np.frombuffer(source.read(), np.uint8)
    units = raw[: raw.size // f.CQ_UNIT * f.CQ_UNIT].view(consumequeue.PLAIN).copy()
    used = (units["size"] != 0) & (units["size"] != f.CQ_PREFILL_SIZE)
    keep = used & np.isin(units["physical_offset"].astype(np.int64), offsets)
    count = int(keep.sum())
    if count:
        units = units[: int(np.flatnonzero(keep)[-1]) + 1]
        units[~keep[: units.size]] = np.array((0, f.CQ_PREFILL_SIZE, 0), consumequeue.PLAIN)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as out:
            out.write(units.tobytes())
    return Part(count, int(used.sum()), count * f.CQ_UNIT)
