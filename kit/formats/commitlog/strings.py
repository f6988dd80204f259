"""Texts that the commit log holds in binary (addresses, offset ids), and UTF-8 decoding as Java does it: numba
kernels over Arrow buffers.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from numba import njit

from kit.formats.arrow_types import space
from kit.formats.commitlog.records import Bytes, be32
from kit.formats.commitlog.simd import ONE, load64, signs32, store64

HOST_TEXT: Final = 56
"""Longest address: `[` eight groups of four `]:` and ten digits."""
_LOWER: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_NONE: Final = np.iinfo(np.int64).min


@njit(cache=True, nogil=True)
def _decimal(data: Any, put: int, value: int) -> int:
    if value < 0:
        data[put] = 45
        put += 1
        value = -value
    digits = 1
    limit = 10
    while value >= limit:
        limit *= 10
        digits += 1
    for i in range(digits):
        data[put + digits - 1 - i] = 48 + value % 10
        value //= 10
    return put + digits


@njit(cache=True, nogil=True)
def _address(buf: Bytes, at: int, size: int, data: Any, put: int) -> int:
    mapped = size == 16
    if mapped:
        for i in range(10):
            mapped = mapped and buf[at + i] == 0
        mapped = mapped and buf[at + 10] == 255 and buf[at + 11] == 255
    if size == 4 or mapped:
        at += size - 4
        for i in range(4):
            if i:
                data[put] = 46
                put += 1
            put = _decimal(data, put, np.int64(buf[at + i]))
        return put
    data[put] = 91
    put += 1
    for i in range(8):
        if i:
            data[put] = 58
            put += 1
        group = np.int64(buf[at + 2 * i]) * 256 + np.int64(buf[at + 2 * i + 1])
        shift = 12
        while shift and not group >> shift:
            shift -= 4
        while shift >= 0:
            data[put] = _LOWER[(group >> shift) & 15]
            put += 1
            shift -= 4
    data[put] = 93
    return put + 1


@njit(cache=True, nogil=True)
def hosts(buf: Bytes, where: Any, offsets: Any, data: Any, marks: Any, bad: int) -> None:
    """Write addresses as Java prints them (`10.0.0.1:10911`, `[fd20:0:0:0:0:0:0:1]:10911`); mark invalid ports with
    `bad`.

    `where`: positions, lengths. An IPv4 address inside an IPv6 one is an IPv4 address to Java. `data` needs
    `HOST_TEXT` bytes a row.
    """
    put = np.int64(0)
    offsets[0] = 0
    for row in range(where.shape[1]):
        at, size = where[0, row], where[1, row]
        port = be32(buf, at + size - 4)
        if port < 0 or port > 65535:
            marks[row] |= bad
        put = _address(buf, at, size - 4, data, put)
        data[put] = 58
        put = _decimal(data, put + 1, port)
        offsets[row + 1] = put


@njit(cache=True, nogil=True)
def _hex32(value: int) -> Any:
    """Return the lower 32 bits of a number as eight upper-case hex digits, the first in the lowest byte."""
    word = np.uint64(value & 0xFFFFFFFF)
    # Swap ever smaller halves until every digit has a byte of its own, the highest digit in the lowest byte.
    word = ((word & np.uint64(0xFFFF)) << np.uint64(32)) | (word >> np.uint64(16))
    word = ((word & np.uint64(0x000000FF000000FF)) << np.uint64(16)) | (
        (word & np.uint64(0x0000FF000000FF00)) >> np.uint64(8)
    )
    word = ((word & np.uint64(0x000F000F000F000F)) << np.uint64(8)) | (
        (word & np.uint64(0x00F000F000F000F0)) >> np.uint64(4)
    )
    letters = ((word + np.uint64(0x0606060606060606)) >> np.uint64(4)) & np.uint64(0x0101010101010101)
    return word + np.uint64(0x3030303030303030) + letters * np.uint64(7)


@njit(cache=True, nogil=True)
def offset_ids(buf: Bytes, where: Any, column: int, physical: Any, offsets: Any, data: Any) -> None:
    """Write offset message ids (`MessageDecoder.createMessageId`): store host and physical offset in hex. `data`
    needs 56 bytes a row.
    """
    put = np.int64(0)
    offsets[0] = 0
    # Most records have the address of the one before, and the upper half of its offset.
    words, digits = np.full(6, _NONE, np.int64), np.empty(6, np.uint64)
    for row in range(where.shape[1]):
        at, size = where[column, row], where[column + 1, row]
        value = physical[row]
        for i in range(size // 4 + 1):
            word = be32(buf, at + 4 * i) if 4 * i < size else value >> 32
            if word != words[i]:
                words[i], digits[i] = word, _hex32(word)
            store64(data, put, digits[i])
            put += 8
        store64(data, put, _hex32(value))
        put += 8
        offsets[row + 1] = put


_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_TURN: Final = np.uint64(32)


@njit(cache=True, nogil=True)
def _hash(offsets: Any, data: Any, into: Any) -> None:
    for row in range(len(into)):
        hashed = into[row] ^ (np.uint64(offsets[row + 1] - offsets[row]) * _MIX)
        for at in range(offsets[row], offsets[row + 1], 8):
            if at + 8 <= offsets[row + 1]:
                word = load64(data, at)
            else:
                word = np.uint64(0)
                for i in range(at, offsets[row + 1]):
                    word = (word << np.uint64(8)) | np.uint64(data[i])
            hashed = (hashed ^ word) * _MIX
            hashed ^= hashed >> _TURN
        into[row] = (hashed ^ (hashed >> _TURN)) * _MIX


def hashed(column: pa.Array, seed: np.ndarray | None = None) -> np.ndarray:
    """Return 64 bits for each text of a column, equal for equal texts (null counts as an empty one); with `seed`, the
    hashes of another column, of both together. Among a hundred million distinct texts a collision has a probability
    of 1 in 3,000.
    """
    plain = column.cast(pa.string()).fill_null("")
    offsets = np.frombuffer(plain.buffers()[1], np.int32)[plain.offset : plain.offset + len(plain) + 1]
    data = np.frombuffer(plain.buffers()[2] or b"", np.uint8)
    into = np.zeros(len(plain), np.uint64) if seed is None else seed.copy()
    _hash(offsets, data, into)
    return into


@njit(cache=True, nogil=True)
def is_ascii(data: Any, size: int) -> bool:
    """Return whether the first bytes of `data`, behind which 32 more can be loaded, are all ASCII."""
    signs = np.uint64(0)
    for block in range(0, size - 31, 32):
        signs |= signs32(data, block)
    return not (signs or signs32(data, size & ~31) & ((ONE << np.uint64(size & 31)) - ONE))


@njit(cache=True, nogil=True)
def _character(data: Any, at: int, end: int) -> tuple[int, bool]:
    """Return the length of the UTF-8 character at `at`, or of the longest beginning of one, and whether it is whole."""
    lead = np.int64(data[at])
    if lead < 0x80:
        return 1, True
    if lead < 0xC2 or lead > 0xF4:
        return 1, False
    size = 2 if lead < 0xE0 else (3 if lead < 0xF0 else 4)
    low = 0xA0 if lead == 0xE0 else (0x90 if lead == 0xF0 else 0x80)
    high = 0x9F if lead == 0xED else (0x8F if lead == 0xF4 else 0xBF)
    for i in range(1, size):
        if at + i >= end or data[at + i] < low or data[at + i] > high:
            return i, False
        low, high = 0x80, 0xBF
    return size, True


@njit(cache=True, nogil=True)
def find_broken(offsets: Any, data: Any, broken: Any) -> int:
    """Flag strings that are not valid UTF-8; return how many bytes they would need with U+FFFD in place of what is
    broken.
    """
    need = np.int64(0)
    for row in range(len(broken)):
        at, end = np.int64(offsets[row]), np.int64(offsets[row + 1])
        while at < end:
            size, whole = _character(data, at, end)
            if not whole:
                broken[row] = 1
            need += size if whole else 3
            at += size
    return need


@njit(cache=True, nogil=True)
def repair(offsets: Any, data: Any, clean_offsets: Any, clean: Any) -> None:
    """Copy strings with U+FFFD for each broken sequence, as `new String(bytes, UTF_8)` does."""
    put = np.int64(0)
    clean_offsets[0] = 0
    for row in range(len(offsets) - 1):
        at, end = np.int64(offsets[row]), np.int64(offsets[row + 1])
        while at < end:
            size, whole = _character(data, at, end)
            if whole:
                for i in range(size):
                    clean[put + i] = data[at + i]
                put += size
            else:
                clean[put], clean[put + 1], clean[put + 2] = 0xEF, 0xBF, 0xBD
                put += 3
            at += size
        clean_offsets[row + 1] = put


def array(offsets: np.ndarray, data: np.ndarray, absent: np.ndarray | None = None) -> pa.Array:
    """Return texts that are valid UTF-8 as an Arrow array; those that are `absent` are null."""
    validity = None
    if absent is not None and absent.any():
        validity = pa.py_buffer(np.packbits(~absent, bitorder="little"))
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, [validity, pa.py_buffer(offsets), pa.py_buffer(data)])


def valid(offsets: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the strings as valid UTF-8, and which of them were not (None if all were)."""
    broken = np.zeros(len(offsets) - 1, np.uint8)
    need = find_broken(offsets, data, broken)
    if not broken.any():
        return offsets, data, None
    clean_offsets, clean = np.empty_like(offsets), space(need, np.uint8)
    repair(offsets, data, clean_offsets, clean)
    return clean_offsets, clean, broken.astype(bool)


def decoded(offsets: np.ndarray, data: np.ndarray) -> tuple[pa.Array, np.ndarray | None]:
    """Return texts as an Arrow array, and which were not UTF-8 (None if all were). `data` needs 32 bytes more."""
    size = int(offsets[-1])
    offsets, data, broken = (offsets, data, None) if is_ascii(data, size) else valid(offsets, data)
    return array(offsets, data[: int(offsets[-1])]), broken
