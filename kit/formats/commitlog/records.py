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


@inlined
def be(buf: Bytes, at: int, size: int) -> Any:
    """Return the signed number of `size` bytes, the highest first, that begins at a position."""
    first = np.uint64(at)
    value = np.int64(np.int8(buf[first]))
    for i in range(1, size):
        value = value << 8 | np.int64(buf[first + np.uint64(i)])
    return value


@kernel
def measure(buf: Bytes, at: int, end: int) -> int:
    """Return the size of the record at `at` (`CommitLog.calMsgLength`), 0: none, `CUT`: it passes `end`."""
    if at < 0 or end - at < 8:
        return 0
    magic = be(buf, at + 4, 4) & 0xFFFFFFFF
    if magic not in (f.MAGIC_V1, f.MAGIC_V2):
        return 0
    size = be(buf, at, 4)
    if size < f.MIN_RECORD:
        return 0
    cut = CUT if at + size > end else 0
    if at + f.AT_BORN_TIMESTAMP > end:
        return cut
    flags = be(buf, at + f.AT_SYS_FLAG, 4)
    hosts = (f.HOST_V6 if flags & f.BORN_HOST_V6 else f.HOST_V4) + (f.HOST_V6 if flags & f.STORE_HOST_V6 else f.HOST_V4)
    used = 68 + hosts
    if at + used + 4 > end:
        return cut
    body = be(buf, at + used, 4)
    used += 4
    if body < 0 or body > size - used:
        return 0
    used += body
    wide = 2 if magic == f.MAGIC_V2 else 1
    if at + used + wide > end:
        return cut
    topic = be(buf, at + used, wide)  # a byte in Java too: 127 at most
    used += wide
    if topic < 0 or topic > size - used:
        return 0
    used += topic
    if at + used + 2 > end:
        return cut
    properties = be(buf, at + used, 2)
    used += 2
    if properties < 0 or used + properties != size:
        return 0
    return cut if cut else size


@kernel
def entry_fits(buf: Bytes, at: int, base: int, size: int) -> bool:
    """Return whether a DLedger entry header at `at` fits a record of `size` bytes (`DLedgerEntryCoder`)."""
    return (
        be(buf, at, 4) == f.DLEDGER_MAGIC
        and be(buf, at + f.DLEDGER_AT_SIZE, 4) == f.DLEDGER_HEADER + size
        and be(buf, at + f.DLEDGER_AT_POS, 8) == base + at
        and be(buf, at + f.DLEDGER_AT_BODY_SIZE, 4) == size
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
        if buf[at] == f.MAGIC_V1 >> 24 and be(buf, at, 4) & 0xFFFFFFFF in (f.MAGIC_V1, f.MAGIC_V2):
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
        base = be(buf, start + f.AT_PHYSICAL_OFFSET, 8) - start
        if base < 0:
            continue
        bases[seen] = base
        entries[seen] = start >= f.DLEDGER_HEADER and entry_fits(buf, start - f.DLEDGER_HEADER, base, be(buf, start, 4))
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


def sniff(head: Bytes | bytes) -> dict[str, Any] | None:
    """Return {"kind": "commitlog" | "dledger", "base": physical offset of the first byte}; None without records."""
    buf = np.frombuffer(head, np.uint8)
    seen, base, entries = layout(buf, 8)
    return {"kind": "dledger" if entries else "commitlog", "base": base} if seen else None
