"""Fill columns from records: numba kernels that write Arrow buffers. No Python object per record.

Positions come from `kit.read.walk`, which has checked every length inside a record against the buffer. Words of 8 bytes are
loaded only where they lie inside the buffer, and stored only into buffers with `SLACK` bytes to spare.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from kit.facts import format as f
from kit.read.records import MAGIC_V2, Bytes, be16, be32, be64
from kit.read.words import HIGH, LOW, TWOS, keep, load64, low_byte, store64, zero_bytes

SLACK: Final = 16
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
BODY, BODY_LEN, TOPIC, TOPIC_LEN, PROPS, PROPS_LEN, BORN, BORN_LEN, STORE, STORE_LEN, KEYS, KEYS_LEN, TAGS, TAGS_LEN, UNIQ, UNIQ_LEN = range(16)
WIDTH: Final = 16
# Columns of `longs` and `ints`.
QUEUE_OFFSET, BORN_TIME, STORE_TIME, PREPARED = range(4)
QUEUE_ID, FLAG, SYS_FLAG, RECONSUME, CRC, CODEC = range(6)
PLAIN, ZLIB, LZ4, ZSTD, UNKNOWN = range(5)
LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, the last instant Python and Spark both can show."""

_WORD_KEYS: Final = np.uint64(int.from_bytes(b"KEYS", "little"))
_WORD_TAGS: Final = np.uint64(int.from_bytes(b"TAGS", "little"))
_WORD_UNIQ: Final = np.uint64(int.from_bytes(b"UNIQ_KEY", "little"))
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_ZERO: Final = np.uint64(0)
_SHIFT: Final = np.uint64(32)


def _crc_table() -> np.ndarray:
    table = np.zeros((8, 256), np.uint32)
    for i in range(256):
        value = i
        for _ in range(8):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)
        table[0, i] = value
    for k in range(1, 8):
        table[k] = (table[k - 1] >> 8) ^ table[0][table[k - 1] & 0xFF]
    return table


CRC_TABLE: Final = _crc_table()


@njit(cache=True, nogil=True)
def headers(buf: Bytes, starts: Any, longs: Any, ints: Any, where: Any, marks: Any) -> None:
    """Read the fixed fields of each record and where its strings are."""
    for row in range(len(starts)):
        at = starts[row]
        wide = be32(buf, at + 4) & 0xFFFFFFFF == MAGIC_V2
        ints[row, CRC] = be32(buf, at + f.AT_BODY_CRC)
        ints[row, QUEUE_ID] = be32(buf, at + f.AT_QUEUE_ID)
        ints[row, FLAG] = be32(buf, at + f.AT_FLAG)
        longs[row, QUEUE_OFFSET] = be64(buf, at + f.AT_QUEUE_OFFSET)
        flags = be32(buf, at + f.AT_SYS_FLAG)
        ints[row, SYS_FLAG] = flags
        longs[row, BORN_TIME] = be64(buf, at + f.AT_BORN_TIMESTAMP)
        at += f.AT_BORN_HOST
        size = f.HOST_V6 if flags & f.BORN_HOST_V6 else f.HOST_V4
        where[row, BORN], where[row, BORN_LEN] = at, size
        at += size
        longs[row, STORE_TIME] = be64(buf, at)
        at += 8
        size = f.HOST_V6 if flags & f.STORE_HOST_V6 else f.HOST_V4
        where[row, STORE], where[row, STORE_LEN] = at, size
        at += size
        ints[row, RECONSUME] = be32(buf, at)
        longs[row, PREPARED] = be64(buf, at + 4)
        body = be32(buf, at + 12)
        at += 16
        where[row, BODY], where[row, BODY_LEN] = at, body
        ints[row, CODEC] = codec(buf, at, body, flags)
        if ints[row, CODEC] < 0:
            ints[row, CODEC] = -1 - ints[row, CODEC]
            marks[row] |= BAD_CODEC
        at += body
        size = be16(buf, at) if wide else np.int64(buf[at])
        at += 2 if wide else 1
        where[row, TOPIC], where[row, TOPIC_LEN] = at, size
        if size == 0:
            marks[row] |= BAD_TOPIC
        at += size
        where[row, PROPS], where[row, PROPS_LEN] = at + 2, be16(buf, at)
        for k in range(BORN_TIME, STORE_TIME + 1):
            if longs[row, k] < 0 or longs[row, k] > LAST_MS:
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


@njit(cache=True, nogil=True)
def check_crc(buf: Bytes, where: Any, ints: Any, table: Any, marks: Any) -> None:
    """Mark records whose body is not what its CRC says (`UtilAll.crc32`: the lower 31 bits)."""
    for row in range(len(where)):
        size = where[row, BODY_LEN]
        if size == 0:
            continue
        at = where[row, BODY]
        end = at + size
        crc = np.uint32(0xFFFFFFFF)
        while at + 8 <= end:
            word = load64(buf, at) ^ np.uint64(crc)
            crc = (
                table[7, word & np.uint64(255)]
                ^ table[6, (word >> np.uint64(8)) & np.uint64(255)]
                ^ table[5, (word >> np.uint64(16)) & np.uint64(255)]
                ^ table[4, (word >> np.uint64(24)) & np.uint64(255)]
                ^ table[3, (word >> np.uint64(32)) & np.uint64(255)]
                ^ table[2, (word >> np.uint64(40)) & np.uint64(255)]
                ^ table[1, (word >> np.uint64(48)) & np.uint64(255)]
                ^ table[0, word >> np.uint64(56)]
            )
            at += 8
        while at < end:
            crc = table[0, (np.uint64(crc) ^ np.uint64(buf[at])) & np.uint64(255)] ^ np.uint32(np.uint64(crc) >> np.uint64(8))
            at += 1
        if (np.int64(crc) ^ 0xFFFFFFFF) & 0x7FFFFFFF != np.int64(ints[row, CRC]):
            marks[row] |= BAD_CRC


@njit(cache=True, nogil=True)
def gather(buf: Bytes, where: Any, column: int, offsets: Any, data: Any) -> bool:
    """Copy one string of each record behind each other (length -1: none); say whether all of it is ASCII. `data` needs `SLACK`."""
    end = len(buf)
    put = np.int64(0)
    seen = _ZERO
    offsets[0] = 0
    for row in range(len(where)):
        at = where[row, column]
        left = where[row, column + 1]
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
    return seen & HIGH == _ZERO


@njit(cache=True, nogil=True)
def _token(buf: Bytes, at: int, end: int, any_separator: bool, data: Any, put: int) -> tuple[Any, Any, Any, Any]:
    """Copy bytes up to a separator (or only 0x02) or `end`; return (length, first word, hash, all bytes or-ed)."""
    start = at
    first = seen = mixed = _ZERO
    limit = len(buf)
    while at < end:
        if at + 8 <= limit:
            word = load64(buf, at)
        else:
            word = _ZERO
            for i in range(limit - at):
                word |= np.uint64(buf[at + i]) << np.uint64(8 * i)
        stop = zero_bytes(word ^ TWOS)
        if any_separator:
            stop |= zero_bytes(word ^ LOW)
        size = low_byte(stop) if stop else 8
        size = min(size, end - at)
        if size < 8:
            word = keep(word, size)
        store64(data, put + at - start, word)
        if at == start:
            first = word
        seen |= word
        mixed = (mixed ^ word) * _MIX
        mixed ^= mixed >> _SHIFT
        at += size
        if size < 8:
            break
    return at - start, first, mixed, seen


@njit(cache=True, nogil=True)
def _drop_stale(stale: Any, begin: int, count: int, name_ends: Any, names: Any, value_ends: Any, values: Any) -> int:
    """Close the holes that replaced items leave in the last record; return the new number of items."""
    kept = begin
    name_at, value_at = name_ends[begin], value_ends[begin]
    name_put, value_put = name_at, value_at
    for item in range(begin, count):
        name_end, value_end = name_ends[item + 1], value_ends[item + 1]
        if not stale[item]:
            for i in range(name_at, name_end):
                names[name_put] = names[i]
                name_put += 1
            for i in range(value_at, value_end):
                values[value_put] = values[i]
                value_put += 1
            kept += 1
            name_ends[kept], value_ends[kept] = name_put, value_put
        name_at, value_at = name_end, value_end
    return kept


@njit(cache=True, nogil=True)
def split(buf: Bytes, where: Any, marks: Any, maps: Any, name_ends: Any, names: Any, value_ends: Any, values: Any, stale: Any) -> tuple[int, bool]:
    """Split the properties of each record into names and values; return (how many, whether all are ASCII).

    `maps`, `name_ends`, `value_ends` are Arrow offsets, `stale` is a byte an item. An item is split at its first 0x01, one without a value is left out,
    and of two with one name the later counts (`MessageDecoder.string2messageProperties` 4.9.1+). Also notes where KEYS, TAGS
    and UNIQ_KEY are.
    """
    slots = np.zeros(16384, np.int64)
    count = np.int64(0)
    name_put = np.int64(0)
    value_put = np.int64(0)
    every = _ZERO
    maps[0] = name_ends[0] = value_ends[0] = 0
    for row in range(len(where)):
        where[row, KEYS_LEN] = where[row, TAGS_LEN] = where[row, UNIQ_LEN] = -1
        at = where[row, PROPS]
        end = at + where[row, PROPS_LEN]
        begin = count
        mask = np.int64(63)
        while mask < where[row, PROPS_LEN] // 4 and mask < 16383:
            mask = 2 * mask + 1
        slots[: mask + 1] = 0
        dead = 0
        while at < end:
            size, first, mixed, seen = _token(buf, at, end, True, names, name_put)
            at += size
            if at >= end or buf[at] == f.PROPERTY_SEPARATOR:
                at += 1
                if size:
                    marks[row] |= BAD_PROPERTIES
                continue
            at += 1
            length, _, _, seen_value = _token(buf, at, end, False, values, value_put)
            value_at = at
            at += length + 1
            if size == 0:
                marks[row] |= BAD_PROPERTIES
                continue
            if length == 0:
                continue
            every |= seen | seen_value
            slot = np.int64(mixed >> np.uint64(40)) & mask
            while slots[slot]:
                other = slots[slot] - 1
                if name_ends[other + 1] - name_ends[other] == size:
                    same = True
                    for i in range(size):
                        if names[name_ends[other] + i] != names[name_put + i]:
                            same = False
                            break
                    if same:
                        stale[other] = 1
                        dead += 1
                        break
                slot = (slot + 1) & mask
            slots[slot] = count + 1
            stale[count] = 0
            count += 1
            name_put += size
            value_put += length
            name_ends[count] = name_put
            value_ends[count] = value_put
            if size == 4 and first == _WORD_KEYS:
                where[row, KEYS], where[row, KEYS_LEN] = value_at, length
            elif size == 4 and first == _WORD_TAGS:
                where[row, TAGS], where[row, TAGS_LEN] = value_at, length
            elif size == 8 and first == _WORD_UNIQ:
                where[row, UNIQ], where[row, UNIQ_LEN] = value_at, length
        if dead:
            count = _drop_stale(stale, begin, count, name_ends, names, value_ends, values)
            name_put, value_put = np.int64(name_ends[count]), np.int64(value_ends[count])
        maps[row + 1] = count
    return count, every & HIGH == _ZERO
