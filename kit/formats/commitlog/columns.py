"""Kernels of the columns: the fixed fields of records, where their strings and properties are, checksums. No Python object per record.

Positions come from `kit.formats.commitlog.walk`, which has checked every length inside a record against the buffer.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from kit.formats.commitlog.records import Bytes, be16, be32, be64
from kit.rocketmq import binary_format as f

# Marks of a record beside those of the walk, and what users read in `problem`.
BAD_CRC: Final = 4
BAD_CODEC: Final = 8
BAD_TOPIC: Final = 16
BAD_PROPERTIES: Final = 32
BAD_TIME: Final = 64
BAD_HOST: Final = 128
BAD_TEXT: Final = 256
BAD_BODY: Final = 512
BIG_BODY: Final = 1024
PROBLEMS: Final = {
    1: "physical_offset",
    2: "dledger_header",
    BAD_CRC: "crc",
    BAD_CODEC: "body_codec",
    BAD_TOPIC: "topic",
    BAD_PROPERTIES: "properties",
    BAD_TIME: "timestamp",
    BAD_HOST: "host",
    BAD_TEXT: "utf8",
    BAD_BODY: "body",
    BIG_BODY: "body_too_large",
}

# Rows of `where`: positions inside the buffer, each followed by the length.
BODY, BODY_LEN, TOPIC, TOPIC_LEN, PROPS, PROPS_LEN, BORN, BORN_LEN, STORE, STORE_LEN = range(10)
WIDTH: Final = 10
# Rows of `longs` and `ints`.
QUEUE_OFFSET, BORN_TIME, STORE_TIME, PREPARED = range(4)
QUEUE_ID, FLAG, SYS_FLAG, RECONSUME, CRC, CODEC = range(6)
PLAIN, ZLIB, LZ4, ZSTD, UNKNOWN = range(5)
LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, the last instant Python and Spark both can show."""

NAME_END, ITEM_END = 1, 2
ITEMS: Final = 64
"""A record with more properties than this has its text put together again: nobody compares so many names."""


@njit(cache=True, nogil=True)
def headers(buf: Bytes, starts: Any, longs: Any, ints: Any, where: Any, marks: Any) -> None:
    """Read the fixed fields of each record and where its strings are."""
    for row in range(len(starts)):
        at = starts[row]
        wide = be32(buf, at + 4) & 0xFFFFFFFF == f.MAGIC_V2
        ints[CRC, row] = be32(buf, at + f.AT_BODY_CRC)
        ints[QUEUE_ID, row] = be32(buf, at + f.AT_QUEUE_ID)
        ints[FLAG, row] = be32(buf, at + f.AT_FLAG)
        longs[QUEUE_OFFSET, row] = be64(buf, at + f.AT_QUEUE_OFFSET)
        flags = be32(buf, at + f.AT_SYS_FLAG)
        ints[SYS_FLAG, row] = flags
        longs[BORN_TIME, row] = be64(buf, at + f.AT_BORN_TIMESTAMP)
        at += f.AT_BORN_HOST
        size = f.HOST_V6 if flags & f.BORN_HOST_V6 else f.HOST_V4
        where[BORN, row], where[BORN_LEN, row] = at, size
        at += size
        longs[STORE_TIME, row] = be64(buf, at)
        at += 8
        size = f.HOST_V6 if flags & f.STORE_HOST_V6 else f.HOST_V4
        where[STORE, row], where[STORE_LEN, row] = at, size
        at += size
        ints[RECONSUME, row] = be32(buf, at)
        longs[PREPARED, row] = be64(buf, at + 4)
        body = be32(buf, at + 12)
        at += 16
        where[BODY, row], where[BODY_LEN, row] = at, body
        ints[CODEC, row] = codec(buf, at, body, flags)
        if ints[CODEC, row] < 0:
            ints[CODEC, row] = -1 - ints[CODEC, row]
            marks[row] |= BAD_CODEC
        at += body
        size = be16(buf, at) if wide else np.int64(buf[at])
        at += 2 if wide else 1
        where[TOPIC, row], where[TOPIC_LEN, row] = at, size
        if size == 0:
            marks[row] |= BAD_TOPIC
        at += size
        where[PROPS, row], where[PROPS_LEN, row] = at + 2, be16(buf, at)
        for k in range(BORN_TIME, STORE_TIME + 1):
            if longs[k, row] < 0 or longs[k, row] > LAST_MS:
                marks[row] |= BAD_TIME


@njit(cache=True, nogil=True)
def codec(buf: Bytes, at: int, size: int, flags: int) -> int:
    """Return the codec its flags claim for a body, `-1 - codec` where the body does not begin like one (`CompressorFactory`)."""
    if not flags & f.COMPRESSED:
        return PLAIN
    kind = (flags & f.COMPRESSION_MASK) >> f.COMPRESSION_SHIFT
    if kind == 0 or kind == 3:
        good = size >= 2 and buf[at] & 15 == 8 and (np.int64(buf[at]) * 256 + np.int64(buf[at + 1])) % 31 == 0
        return ZLIB if good else -1 - ZLIB
    if kind == 1:
        return LZ4 if size >= 4 and be32(buf, at) == 0x04224D18 else -1 - LZ4
    if kind == 2:
        return ZSTD if size >= 4 and be32(buf, at) == 0x28B52FFD else -1 - ZSTD
    return -1 - UNKNOWN


_ONE, _EIGHT = np.uint64(1), np.uint64(8)
_PRIME: Final = np.uint64(0x100000001B3)


def name_hash(name: bytes) -> int:
    """Return the 64-bit FNV hash by which `properties` compares names."""
    hashed = 0
    for byte in name:
        hashed = ((hashed ^ byte) * int(_PRIME)) % (1 << 64)
    return hashed


_LOW, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


@njit(cache=True, nogil=True, inline="always")
def _holds(word: Any, byte: Any) -> bool:
    """Return whether one of the eight bytes of a word is `byte` (or, rarely, only looks so)."""
    rest = np.uint64(word) ^ (_LOW * np.uint64(byte))
    return (rest - _LOW) & ~rest & _HIGH != np.uint64(0)


@njit(cache=True, nogil=True, inline="always")
def _item_end(buf: Bytes, at: Any, end: Any) -> Any:
    """Return where the item ends whose value begins at `at`."""
    while at + _EIGHT <= end and not _holds(be64(buf, at), ITEM_END):
        at += _EIGHT
    while at < end and buf[at] != ITEM_END:
        at += _ONE
    return at


@njit(cache=True, nogil=True)
def properties(buf: Bytes, where: Any, names: Any, at: Any, sizes: Any, untidy: Any) -> None:
    """Note where the values of well-known properties are, and the records whose text does not say what counts.

    `names`: hashes of the well-known names (`name_hash`, all different); `at` (from where the properties begin), `sizes`: a row for each of them, a column for
    each record (size -1: none). `untidy`: whether an item is malformed, has no value or may be replaced by a later one of its name
    (`MessageDecoder.string2messageProperties`).
    """
    table = np.full(256, -1, np.int64)
    for name in range(len(names)):
        slot = np.int64(names[name] & np.uint64(255))
        while table[slot] >= 0:
            slot = (slot + 1) & 255
        table[slot] = name
    seen = np.empty(ITEMS, np.uint64)
    sizes[:] = -1
    for row in range(where.shape[1]):
        begin = here = np.uint64(where[PROPS, row])
        end = here + np.uint64(where[PROPS_LEN, row])
        items = 0
        while here < end:
            first, hashed = here, np.uint64(0)
            while here < end and buf[here] != NAME_END and buf[here] != ITEM_END:
                hashed = (hashed ^ np.uint64(buf[here])) * _PRIME
                here += _ONE
            value = here
            if here < end and buf[here] == NAME_END:
                value = here + _ONE
            named = value > here and here > first
            here = _item_end(buf, value, end)
            size = here - value
            here += _ONE
            if not named or size == 0 or items == ITEMS:
                untidy[row] = True
                continue
            for item in range(items):
                untidy[row] |= seen[item] == hashed
            seen[items] = hashed
            items += 1
            slot = np.int64(hashed & np.uint64(255))
            while table[slot] >= 0:
                if names[table[slot]] == hashed:
                    at[table[slot], row], sizes[table[slot], row] = value - begin, size
                    break
                slot = (slot + 1) & 255


def _crc_table() -> np.ndarray:
    table = np.zeros((16, 256), np.uint32)
    for i in range(256):
        value = i
        for _ in range(8):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)
        table[0, i] = value
    for k in range(1, 16):
        table[k] = (table[k - 1] >> 8) ^ table[0][table[k - 1] & 0xFF]
    return table


_BYTE, _8, _16, _24 = np.uint32(255), np.uint32(8), np.uint32(16), np.uint32(24)
CRC_TABLE: Final = _crc_table()
"""Row k: what a byte contributes to the remainder k bytes later."""


@njit(cache=True, nogil=True)
def check_crc(buf: Bytes, where: Any, ints: Any, table: Any, marks: Any) -> None:
    """Mark records whose body does not match its CRC (`UtilAll.crc32`: the lower 31 bits)."""
    for row in range(where.shape[1]):
        if where[BODY_LEN, row] == 0:
            continue
        body = buf[where[BODY, row] : where[BODY, row] + where[BODY_LEN, row]]
        whole = len(body) & ~15
        crc = np.uint32(0xFFFFFFFF)
        for at in range(0, whole, 16):
            rest = table[15, (crc ^ body[at]) & _BYTE] ^ table[14, ((crc >> _8) ^ body[at + 1]) & _BYTE]
            rest ^= table[13, ((crc >> _16) ^ body[at + 2]) & _BYTE] ^ table[12, (crc >> _24) ^ body[at + 3]]
            for k in range(4, 16):
                rest ^= table[15 - k, body[at + k]]
            crc = rest
        for at in range(whole, len(body)):
            crc = table[0, (crc ^ body[at]) & _BYTE] ^ (crc >> _8)
        if (np.int64(crc) ^ 0xFFFFFFFF) & 0x7FFFFFFF != np.int64(ints[CRC, row]):
            marks[row] |= BAD_CRC


@njit(cache=True, nogil=True)
def begins(buf: Bytes, where: Any, ints: Any, texts: Bytes, ends: Any, mask: Any) -> None:
    """Mark records whose body is stored plainly, begins with one of the `texts` and is longer; `ends`: where each text ends, from 0."""
    for row in range(where.shape[1]):
        if mask[row] or ints[CODEC, row] != PLAIN:
            continue
        for text in range(len(ends) - 1):
            size = ends[text + 1] - ends[text]
            i = 0
            while i < min(size, where[BODY_LEN, row] - 1) and buf[where[BODY, row] + i] == texts[ends[text] + i]:
                i += 1
            mask[row] |= i == size


@njit(cache=True, nogil=True)
def gather(buf: Bytes, at: Any, offsets: Any, data: Any) -> None:
    """Copy strings of the buffer one behind the other."""
    for row in range(len(at)):
        put, first = np.uint64(offsets[row]), np.uint64(at[row])
        for i in range(np.uint64(offsets[row + 1]) - put):
            data[put + i] = buf[first + i]
