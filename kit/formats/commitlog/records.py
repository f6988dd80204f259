"""Recognises records of the commit log: numba kernels that read numbers, check lengths and search for records.

Every read is bounds-checked by hand: whatever a length field claims, nothing outside the buffer is touched.
"""

from collections import Counter
from typing import Any, Final

import numpy as np
from numba import njit

from kit.rocketmq import binary_format as f

CUT: Final = -1
"""Result of `measure`: a record begins here, and the file ends inside it."""

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
_OPTIONS: Final[Any] = {"cache": True, "nogil": True, "_nrt": False}
kernel: Final = njit(**_OPTIONS)
"""Compiles a kernel: no lock of the interpreter, and no counting of references to arrays, for which each use of one
would take longer than the work on a record. It allocates nothing, therefore.
"""
inlined: Final = njit(inline="always", **_OPTIONS)
"""The same for a part of kernels."""

# Positions are unsigned where bytes are read: numba would ask of each signed one whether it counts from the end.
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@inlined
def be16(buf: Bytes, at: int) -> int:
    first = np.uint64(at)
    value: Any = (np.int64(buf[first]) << 8) | np.int64(buf[first + _ONE])
    return value - ((value & 0x8000) << 1)


@inlined
def be32(buf: Bytes, at: int) -> int:
    first = np.uint64(at)
    value = np.uint32(buf[first]) << np.uint32(24) | np.uint32(buf[first + _ONE]) << np.uint32(16)
    value |= np.uint32(buf[first + _TWO]) << np.uint32(8) | np.uint32(buf[first + _THREE])
    return np.int64(np.int32(value))  # type: ignore[return-value]


@inlined
def be64(buf: Bytes, at: int) -> int:
    first = np.uint64(at)
    value = np.uint64(0)
    for i in range(8):
        value = (value << np.uint64(8)) | np.uint64(buf[first + np.uint64(i)])
    return np.int64(value)  # type: ignore[return-value]


@kernel
def measure(buf: Bytes, at: int, end: int) -> int:
    """Return the size of the record at `at` (`CommitLog.calMsgLength`), 0: none, `CUT`: it passes `end`."""
    if at < 0 or end - at < 8:
        return 0
    magic = be32(buf, at + 4) & 0xFFFFFFFF
    if magic != f.MAGIC_V1 and magic != f.MAGIC_V2:
        return 0
    size = be32(buf, at)
    if size < f.MIN_RECORD:
        return 0
    cut = CUT if at + size > end else 0
    if at + f.AT_BORN_TIMESTAMP > end:
        return cut
    flags = be32(buf, at + f.AT_SYS_FLAG)
    hosts = (f.HOST_V6 if flags & f.BORN_HOST_V6 else f.HOST_V4) + (f.HOST_V6 if flags & f.STORE_HOST_V6 else f.HOST_V4)
    used = 68 + hosts
    if at + used + 4 > end:
        return cut
    body = be32(buf, at + used)
    used += 4
    if body < 0 or body > size - used:
        return 0
    used += body
    wide = 2 if magic == f.MAGIC_V2 else 1
    if at + used + wide > end:
        return cut
    topic: Any = be16(buf, at + used) if wide == 2 else np.int64(buf[at + used])
    used += wide
    if topic < 0 or (wide == 1 and topic > 127) or topic > size - used:
        return 0
    used += topic
    if at + used + 2 > end:
        return cut
    properties = be16(buf, at + used)
    used += 2
    if properties < 0 or used + properties != size:
        return 0
    return cut if cut else size


@kernel
def entry_fits(buf: Bytes, at: int, base: int, size: int) -> bool:
    """Return whether a DLedger entry header at `at` fits a record of `size` bytes (`DLedgerEntryCoder`)."""
    return (
        be32(buf, at) == f.DLEDGER_MAGIC
        and be32(buf, at + f.DLEDGER_AT_SIZE) == f.DLEDGER_HEADER + size
        and be64(buf, at + f.DLEDGER_AT_POS) == base + at
        and be32(buf, at + f.DLEDGER_AT_BODY_SIZE) == size
    )


@kernel
def is_zero(buf: Bytes, start: int, end: int) -> bool:
    """Return whether all bytes of a range are zero."""
    at = start
    while at < end:
        stop = min(at + 4096, end)
        seen = np.uint8(0)
        for i in range(at, stop):
            seen |= buf[i]
        if seen:
            return False
        at = stop
    return True


@kernel
def content_end(buf: Bytes, start: int, end: int) -> int:
    """Return the position behind the last byte that is not zero, `start` if absent."""
    at = end
    while at > start and is_zero(buf, max(start, at - 4096), at):
        at = max(start, at - 4096)
    while at > start and buf[at - 1] == 0:
        at -= 1
    return at


@kernel
def next_magic(buf: Bytes, start: int, end: int) -> int:
    """Return the first position from `start` whose next four bytes are a record's magic, `end` if none."""
    at = start
    while at < end - 3:
        if at & 4095 == 0 and at + 4096 <= end and is_zero(buf, at, at + 4096):
            at += 4096
            continue
        if (
            buf[at] == 0xDA
            and buf[at + 1] == 0xA3
            and buf[at + 2] == 0x20
            and (buf[at + 3] == 0xA7 or buf[at + 3] == 0xAB)
        ):
            return at
        at += 1
    return end


@kernel
def _search(buf: Bytes, end: int, bases: Any, entries: Any) -> int:
    """Note of the first records in `[0, end)` where the file begins by their own physical offset, and whether they are
    in DLedger entries, until the arrays are full; return how many there are.
    """
    seen = at = 0
    while seen < len(bases):
        magic = next_magic(buf, at, end)
        if magic >= end:
            break
        start, at = magic - 4, magic + 1
        size: Any = measure(buf, start, end)
        if size == 0 or start + f.AT_SYS_FLAG > end:
            continue
        base = be64(buf, start + f.AT_PHYSICAL_OFFSET) - start
        if base < 0:
            continue
        bases[seen] = base
        entries[seen] = start >= f.DLEDGER_HEADER and entry_fits(buf, start - f.DLEDGER_HEADER, base, be32(buf, start))
        seen += 1
        at = max(at, start + size)
    return seen


def layout(buf: Bytes, most: int) -> tuple[int, int, int]:
    """Return (how many records, `most` at most, say where their file begins; the physical offset of its first byte that
    most of them agree on; how many of these are in DLedger entries).
    """
    bases, entries = np.empty(most, np.int64), np.empty(most, np.bool_)
    seen = _search(buf, len(buf), bases, entries)
    base = Counter(bases[:seen].tolist()).most_common(1)[0][0] if seen else 0
    return seen, base, int(entries[:seen][bases[:seen] == base].sum())


def filler(head: Bytes | bytes) -> int:
    """Return how many bytes of filler a file begins with, as those cut to a few records do, 0 for none.

    A commit log's (`CommitLog.BLANK_MAGIC_CODE`) or a DLedger file's (`MmapFileList`).
    """
    if len(head) < 16:
        return 0
    first, second = int.from_bytes(bytes(head[:4]), "big", signed=True), int.from_bytes(bytes(head[4:8]), "big")
    if second == f.MAGIC_BLANK:
        return first if first >= 8 else 0
    return second if first == f.DLEDGER_BLANK and 8 <= second < 1 << 31 and not any(head[8:16]) else 0


def sniff(head: Bytes | bytes) -> dict[str, Any] | None:
    """Return {"kind": "commitlog" | "dledger", "base": physical offset of the first byte}; None without records."""
    buf = np.frombuffer(head, np.uint8)
    seen, base, entries = layout(buf, 8)
    return {"kind": "dledger" if entries else "commitlog", "base": base} if seen else None
