"""The numba kernel for text: line ends, folding into entries, gathering into Arrow buffers."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
from numba import njit

from kit.formats.commitlog.simd import ONE, load64, low_bit, match32, store64
from kit.formats.logs.fields import NONE
from kit.formats.logs.words import KERNEL, in_trace

CAP: Final = 1 << 20
"""Bytes of a message (or a trace) that are kept; of a longer one the start and the end, the cut noted between them."""
TAIL: Final = 128 << 10
"""Bytes kept of the end of a longer one: RocketMQ prints a message first and what happened to it behind it."""


TRACEBACK: Final = np.frombuffer(b"Traceback (most recent call last):", np.uint8)
"""Above the frames of an exception in Python; the exception itself is the first line behind them that is not indented."""
RPC: Final = np.frombuffer(b"of RPC that terminated with:", np.uint8)
"""The end of the first line of a failed gRPC call in Python (grpc/_channel.py, grpc/aio/_call.py); status and details follow, indented."""


@njit("boolean(uint8[::1],int64,int64,Array(uint8, 1, 'C', readonly=True))", **KERNEL)
def _begins(buf, s, e, text):  # type: ignore[no-untyped-def]
    if s < 0 or e - s < text.size:
        return False
    same = 0
    while same < text.size and buf[s + same] == text[same]:
        same += 1
    return same == text.size


@njit("int64(uint8[::1],int64[::1],int64[::1],int64[::1],boolean,int64[::1])", **KERNEL)
def fold(buf, starts, ends, kinds, single, heads):  # type: ignore[no-untyped-def]
    """Fill `heads` with the line that starts each entry; return how many.

    A line without a prefix continues the entry above it. Where no line above has one, or in a file of single lines,
    it is an entry of its own, unless it is a line of a stack trace behind another line.
    """
    count = 0
    seen = False
    python = 0  # 1 below `Traceback (most recent call last):`, 2 below the exception at its end
    for i in range(starts.size):
        if kinds[i] > NONE:
            seen = True
            heads[count] = i
            count += 1
        elif not seen or single:
            s, e = starts[i], ends[i]
            indented = s < e and (buf[s] == 32 or buf[s] == 9)
            below = python > 0 and (indented or python == 1)
            if not indented:
                python = 1 if _begins(buf, s, e, TRACEBACK) else 2 if below or _begins(buf, e - RPC.size, e, RPC) else 0
            # What follows an empty line has nothing above it that it could belong to.
            above = count > 0 and ends[i - 1] > starts[i - 1]
            if not (above and (below or in_trace(buf, s, e))):
                heads[count] = i
                count += 1
    return count


@njit("void(uint8[::1],int64[:],int64[:],int32[::1],uint8[::1])", cache=True, nogil=True)
def _copy(buf, starts, ends, offsets, out):  # type: ignore[no-untyped-def]
    """Copy ranges one after the other, eight bytes at a time. `out` needs room for eight more: what is written too far
    is overwritten by the next range.
    """
    for i in range(starts.size):
        s, o = starts[i], int(offsets[i])
        size = offsets[i + 1] - o
        if s + size + 8 <= buf.size:
            for j in range(0, size, 8):
                store64(out, o + j, load64(buf, s + j))
        else:
            for j in range(size):
                out[o + j] = buf[s + j]


@njit("int64(int64[:],int64[:],int32[::1])", cache=True, nogil=True)
def _measure(starts, ends, offsets):  # type: ignore[no-untyped-def]
    size = np.int64(0)
    for i in range(starts.size):
        # Nothing starts at -1.
        if starts[i] >= 0 and ends[i] > starts[i]:
            size += ends[i] - starts[i]
        offsets[i + 1] = size
    return size


@njit(
    "int64(uint8[::1],int64[::1],int64[::1],int64[::1],int64[::1],int64[::1],int64[::1],int32[::1],uint8[::1],boolean)",
    cache=True,
)
def _traces(buf, starts, ends, first, last, more0, more1, offsets, out, write):  # type: ignore[no-untyped-def]
    """Join the lines first..last of each entry (and the bytes more0..more1 before them) with LF; without `write` only measure."""
    o = 0
    for i in range(first.size):
        stop = last[i]
        while stop > first[i] and ends[stop - 1] <= starts[stop - 1]:
            stop -= 1
        if more0[i] >= 0:
            if write:
                for j in range(more0[i], more1[i]):
                    out[o + j - more0[i]] = buf[j]
            o += more1[i] - more0[i]
        for k in range(first[i], stop):
            if k > first[i] or more0[i] >= 0:
                if write:
                    out[o] = 10
                o += 1
            if write:
                for j in range(starts[k], ends[k]):
                    out[o + j - starts[k]] = buf[j]
            o += ends[k] - starts[k]
        offsets[i + 1] = o
    return o


def gather(buf: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Arrow offsets and data of the byte ranges starts..ends (empty where starts < 0)."""
    offsets = np.zeros(starts.size + 1, np.int32)
    size = _measure(starts, ends, offsets)
    out = np.empty(size + 8, np.uint8)
    _copy(buf, starts, ends, offsets, out)
    return offsets, out[:size]


def join(
    buf: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    more0: np.ndarray,
    more1: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return Arrow offsets and data of the lines first..last-1 of each entry joined with LF, empty lines at the end left out."""
    offsets = np.zeros(first.size + 1, np.int32)
    size = _traces(buf, starts, ends, first, last, more0, more1, offsets, np.empty(0, np.uint8), False)
    out = np.empty(size, np.uint8)
    _traces(buf, starts, ends, first, last, more0, more1, offsets, out, True)
    return offsets, out


@njit("int64(uint8[::1],int32[::1],int32[::1],uint8[::1],boolean)", cache=True, nogil=True)
def _repair(data, offsets, out_offsets, out, write):  # type: ignore[no-untyped-def]
    """Copy strings with every byte that is not valid UTF-8 written as `\\xNN`; without `write` only measure."""
    o = 0
    for k in range(offsets.size - 1):
        i = offsets[k]
        e = offsets[k + 1]
        while i < e:
            c = data[i]
            n = 0
            if c < 0x80:
                n = 1
            elif 0xC2 <= c <= 0xDF:
                n = 2
            elif 0xE0 <= c <= 0xEF:
                n = 3
            elif 0xF0 <= c <= 0xF4:
                n = 4
            if n > 1:
                if i + n > e:
                    n = 0
                else:
                    for j in range(1, n):
                        if data[i + j] & 0xC0 != 0x80:
                            n = 0
                            break
                if n >= 3:
                    d = data[i + 1]
                    if (
                        (c == 0xE0 and d < 0xA0)
                        or (c == 0xED and d > 0x9F)
                        or (c == 0xF0 and d < 0x90)
                        or (c == 0xF4 and d > 0x8F)
                    ):
                        n = 0
            if n:
                if write:
                    for j in range(n):
                        out[o + j] = data[i + j]
                o += n
                i += n
            else:
                if write:
                    out[o] = 92
                    out[o + 1] = 120
                    for j in range(2):
                        h = (c >> 4) if j == 0 else (c & 15)
                        out[o + 2 + j] = h + (48 if h < 10 else 87)
                o += 4
                i += 1
        out_offsets[k + 1] = o
    return o


def strings(
    offsets: np.ndarray, data: np.ndarray, encoding: str | None = None, nulls: np.ndarray | None = None
) -> pa.Array:
    """Return an Arrow string array; bytes that do not fit the encoding (UTF-8) become `\\xNN`. `nulls` marks missing values."""
    n = offsets.size - 1
    mask = None if nulls is None else pa.py_buffer(np.packbits(~nulls, bitorder="little"))
    if encoding and data.size and int(data.max()) >= 0x80:
        raw = pa.BinaryArray.from_buffers(pa.binary(), n, [mask, pa.py_buffer(offsets), pa.py_buffer(data)])
        return pa.array(
            [None if v is None else v.decode(encoding, "backslashreplace") for v in raw.to_pylist()], pa.string()
        )
    raw = pa.BinaryArray.from_buffers(pa.binary(), n, [mask, pa.py_buffer(offsets), pa.py_buffer(data)])
    try:
        return raw.cast(pa.string())
    except pa.ArrowInvalid:
        fixed = np.zeros(n + 1, np.int32)
        out = np.empty(_repair(data, offsets, fixed, np.empty(0, np.uint8), False), np.uint8)
        _repair(data, offsets, fixed, out, True)
        return pa.StringArray.from_buffers(n, pa.py_buffer(fixed), pa.py_buffer(out), mask)


@njit("int64(uint8[::1])", cache=True, nogil=True)
def count_lf(buf):  # type: ignore[no-untyped-def]
    """Return how many line feeds are in `buf`."""
    count = 0
    for byte in buf:
        count += byte == 10
    return count


@njit("void(uint8[::1],int64[::1],int64[::1])", cache=True, nogil=True)
def _lines(buf, starts, ends):  # type: ignore[no-untyped-def]
    """Fill in where each line starts and ends; both have room for one more than there are line feeds."""
    count = 0
    starts[0] = 0
    at = 0
    while at < buf.size:
        bits = np.uint64(buf[at] == 10)
        size = 1
        if at + 32 <= buf.size:
            bits, size = match32(buf, at, np.uint8(10)), 32
        while bits:
            feed = at + low_bit(bits)
            bits &= bits - ONE
            ends[count] = feed - (feed > starts[count] and buf[feed - 1] == 13)
            count += 1
            starts[count] = feed + 1
        at += size
    ends[count] = buf.size - (buf.size > starts[count] and buf[buf.size - 1] == 13)


def lines(buf: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return starts and ends of the lines in `buf`; the LF and a CR before it belong to none."""
    count = count_lf(buf) + 1
    starts, ends = np.empty(count, np.int64), np.empty(count, np.int64)
    _lines(buf, starts, ends)
    return (starts[:-1], ends[:-1]) if starts[-1] == buf.size else (starts, ends)


def clipped(head: np.ndarray, tail: np.ndarray, size: int) -> np.ndarray:
    """Return the start and the end of a text of `size` bytes with a note of the cut between them; no UTF-8 character is
    cut in two.
    """
    head, tail = _whole(head, last=True), _whole(tail, last=False)
    note = f"…[{size - head.size - tail.size} bytes cut]…".encode()
    return np.concatenate([head, np.frombuffer(note, np.uint8), tail])


def _whole(data: np.ndarray, *, last: bool) -> np.ndarray:
    """Return `data` without a UTF-8 character cut in two at its end (`last`) or start."""
    if last:
        for back in range(1, min(4, data.size) + 1):
            c = int(data[-back])
            if c < 0x80:
                break
            if c >= 0xC0:
                return data[:-back] if back < (2 if c < 0xE0 else 3 if c < 0xF0 else 4) else data
        return data
    skip = 0
    while skip < min(3, data.size) and data[skip] & 0xC0 == 0x80:
        skip += 1
    return data[skip:]
