"""Fill columns from records: numba kernels that write Arrow buffers. No Python object per record.

Positions come from `kit.formats.commitlog.walk`, which has checked every length inside a record against the buffer.
Words of 8 bytes are loaded only where they lie inside the buffer, and stored only into buffers with `SLACK` bytes to
spare.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from kit.formats.commitlog.records import MAGIC_V2, Bytes, be16, be32, be64
from kit.formats.commitlog.simd import FOLDS, HIGH, copy32, fetch, fold, keep, load64, signs32, store64
from kit.rocketmq import binary_format as f

SLACK: Final = 32
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

# Columns of `where`: positions and lengths inside the buffer.
(
    BODY,
    BODY_LEN,
    TOPIC,
    TOPIC_LEN,
    PROPS,
    PROPS_LEN,
    BORN,
    BORN_LEN,
    STORE,
    STORE_LEN,
    KEYS,
    KEYS_LEN,
    TAGS,
    TAGS_LEN,
    UNIQ,
    UNIQ_LEN,
) = range(16)
WIDTH: Final = 16
# Columns of `longs` and `ints`.
QUEUE_OFFSET, BORN_TIME, STORE_TIME, PREPARED = range(4)
QUEUE_ID, FLAG, SYS_FLAG, RECONSUME, CRC, CODEC, FIRST = range(7)
PLAIN, ZLIB, LZ4, ZSTD, UNKNOWN = range(5)
LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, the last instant Python and Spark both can show."""

AHEAD: Final = 4
FETCHED: Final = 1024
"""How many records ahead a body is prefetched, and how many bytes of it: the near caches have lost it by then."""
_ZERO: Final = np.uint64(0)
_BODY_SIZE_V4: Final = f.AT_BORN_HOST + f.HOST_V4 + 8 + f.HOST_V4 + 12
"""Where the body's size is in a record with two IPv4 addresses."""


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


CRC_TABLE: Final = _crc_table()


def _power(exponent: int) -> np.uint64:
    """Return x to this power modulo the polynomial of CRC-32, the highest coefficient in the lowest bit."""
    value = 0x80000000
    for _ in range(exponent):
        value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)
    return np.uint64(value << 32)


# What sixteen bytes contribute to the remainder sixteen bytes later. The product of two reflected words is one bit
# short.
_FIRST, _SECOND = _power(191), _power(127)


@njit(cache=True, nogil=True)
def headers(buf: Bytes, starts: Any, longs: Any, ints: Any, where: Any, marks: Any) -> None:
    """Read the fixed fields of each record and where its strings are."""
    rows = len(starts)
    for row in range(rows):
        if row + 2 * AHEAD < rows:
            fetch(buf, starts[row + 2 * AHEAD])
            fetch(buf, starts[row + 2 * AHEAD] + 64)
        if row + AHEAD < rows:
            # The topic is behind the body; where addresses are longer, this fetches a line too early.
            behind = starts[row + AHEAD]
            fetch(buf, behind + _BODY_SIZE_V4 + 4 + be32(buf, behind + _BODY_SIZE_V4))
        at = starts[row]
        wide = be32(buf, at + 4) & 0xFFFFFFFF == MAGIC_V2
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
        # It is behind the header, in memory that is being read; later it would have to be fetched again.
        ints[FIRST, row] = buf[at] if body else -1
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
    """Return the codec its flags claim for a body, `-1 - codec` where the body does not begin like one
    (`CompressorFactory`).
    """
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


@njit(cache=True, nogil=True, inline="always")
def _slices(table: Any, word: Any, base: int) -> Any:
    byte = np.uint64(255)
    near = table[base + 7, word & byte] ^ table[base + 6, (word >> np.uint64(8)) & byte]
    near ^= table[base + 5, (word >> np.uint64(16)) & byte] ^ table[base + 4, (word >> np.uint64(24)) & byte]
    far = table[base + 3, (word >> np.uint64(32)) & byte] ^ table[base + 2, (word >> np.uint64(40)) & byte]
    far ^= table[base + 1, (word >> np.uint64(48)) & byte] ^ table[base, word >> np.uint64(56)]
    return near ^ far


@njit(cache=True, nogil=True)
def check_crc(buf: Bytes, where: Any, ints: Any, table: Any, marks: Any) -> None:
    """Mark records whose body does not match its CRC (`UtilAll.crc32`: the lower 31 bits)."""
    rows = where.shape[1]
    for row in range(rows):
        if row + AHEAD < rows:
            first = where[BODY, row + AHEAD]
            for ahead in range(first, first + min(where[BODY_LEN, row + AHEAD], FETCHED), 64):
                fetch(buf, ahead)
        size = where[BODY_LEN, row]
        if size == 0:
            continue
        at = where[BODY, row]
        end = at + size
        crc = np.uint32(0xFFFFFFFF)
        if FOLDS and size >= 32:
            first, second = load64(buf, at) ^ np.uint64(0xFFFFFFFF), load64(buf, at + 8)
            blocks = (size - 16) >> 4
            first, second = fold(buf, at + 16, blocks, first, second, _FIRST, _SECOND)
            at += 16 + 16 * blocks
            crc = _slices(table, first, 8) ^ _slices(table, second, 0)
        # Sixteen bytes at a time: their contributions do not depend on each other.
        while at + 16 <= end:
            crc = _slices(table, load64(buf, at) ^ np.uint64(crc), 8) ^ _slices(table, load64(buf, at + 8), 0)
            at += 16
        if at + 8 <= end:
            crc = _slices(table, load64(buf, at) ^ np.uint64(crc), 0)
            at += 8
        while at < end:
            crc = table[0, (np.uint64(crc) ^ np.uint64(buf[at])) & np.uint64(255)] ^ np.uint32(
                np.uint64(crc) >> np.uint64(8)
            )
            at += 1
        if (np.int64(crc) ^ 0xFFFFFFFF) & 0x7FFFFFFF != np.int64(ints[CRC, row]):
            marks[row] |= BAD_CRC


@njit(cache=True, nogil=True)
def begins(buf: Bytes, where: Any, ints: Any, data: Any, ends: Any, mask: Any) -> None:
    """Mark records whose body is stored plainly, begins with one of the texts in `data` and is longer; `ends`: where each text ends, from 0."""
    for row in range(where.shape[1]):
        if mask[row] or ints[CODEC, row] != PLAIN:
            continue
        at, size = where[BODY, row], where[BODY_LEN, row]
        for text in range(len(ends) - 1):
            first, length = ends[text], ends[text + 1] - ends[text]
            if size <= length or ints[FIRST, row] != data[first]:
                continue
            i = 1
            while i < length and buf[at + i] == data[first + i]:
                i += 1
            if i == length:
                mask[row] = True
                break


@njit(cache=True, nogil=True)
def gather(buf: Bytes, where: Any, column: int, offsets: Any, data: Any) -> bool:
    """Copy one string of each record, one after the other (length -1: none); return whether everything is ASCII.
    `data` needs `SLACK`.
    """
    end = len(buf)
    put = np.int64(0)
    seen = signs = _ZERO
    offsets[0] = 0
    for row in range(where.shape[1]):
        at = where[column, row]
        left = where[column + 1, row]
        while left >= 32 and at + 32 <= end:
            signs |= signs32(buf, at)
            copy32(data, put, buf, at)
            at += 32
            put += 32
            left -= 32
        while left >= 8:
            word = load64(buf, at)
            seen |= word
            store64(data, put, word)
            at += 8
            put += 8
            left -= 8
        if left > 0:
            if at + 8 <= end:
                word = keep(load64(buf, at), left)
                seen |= word
                store64(data, put, word)
                put += left
            else:
                for i in range(left):
                    seen |= np.uint64(buf[at + i])
                    data[put] = buf[at + i]
                    put += 1
        offsets[row + 1] = put
    return seen & HIGH | signs == _ZERO
