"""Kernels of the columns: the fields of records, their strings and properties, checksums.

Positions come from `kit.formats.commitlog.walk`, which has checked every length inside a record against the buffer.
"""

from __future__ import annotations

import zlib
from typing import Any, Final

import numpy as np
from numba import njit

from kit.formats.commitlog.records import _ONE, _THREE, _TWO, Bytes, be16, be32, be64
from kit.formats.values import LAST_MS
from kit.rocketmq import binary_format as f

# Marks of a record beside those of the walk, and what users read in `problem`.
BAD_CRC, BAD_CODEC, BAD_TOPIC, BAD_PROPERTIES, BAD_TIME, BAD_HOST, BAD_TEXT, BAD_BODY, BIG_BODY = (
    1 << bit for bit in range(2, 11)
)
PROBLEMS: Final = (
    "physical_offset", "dledger_header", "crc", "body_codec", "topic", "properties", "timestamp", "host", "utf8", "body", "body_too_large",
)  # fmt: skip
"""What each bit of a mark stands for."""

STRINGS: Final = ("body", "topic", "properties", "born_host", "store_host")
_LONGS: Final = ("physical_offset", "queue_offset", "born_timestamp", "store_timestamp", "prepared_transaction_offset")
_INTS: Final = (
    "store_size", "queue_id", "flag", "sys_flag", "reconsume_times", "body_crc", "body_codec", "mark", "misplaced",
)  # fmt: skip
RECORD: Final = np.dtype([
    *((name, "i8") for name in (*_LONGS, *STRINGS)), *((name, "i4") for name in (*_INTS, *(f"{name}_size" for name in STRINGS))),
])  # fmt: skip
"""A record in memory: its numbers, and where its strings begin in the buffer."""
PLAIN, ZLIB, LZ4, ZSTD, UNKNOWN = range(5)


@njit(cache=True, nogil=True)
def headers(buf: Bytes, starts: Any, records: Any) -> None:
    """Read the fields of each record."""
    for row in range(len(starts)):
        at, one = starts[row], records[row]
        wide = be32(buf, at + 4) & 0xFFFFFFFF == f.MAGIC_V2
        one.body_crc = be32(buf, at + f.AT_BODY_CRC)
        one.queue_id = be32(buf, at + f.AT_QUEUE_ID)
        one.flag = be32(buf, at + f.AT_FLAG)
        one.queue_offset = be64(buf, at + f.AT_QUEUE_OFFSET)
        flags = be32(buf, at + f.AT_SYS_FLAG)
        one.sys_flag = flags
        one.born_timestamp = be64(buf, at + f.AT_BORN_TIMESTAMP)
        at += f.AT_BORN_HOST
        one.born_host, one.born_host_size = at, f.HOST_V6 if flags & f.BORN_HOST_V6 else f.HOST_V4
        at += one.born_host_size
        one.store_timestamp = be64(buf, at)
        at += 8
        one.store_host, one.store_host_size = at, f.HOST_V6 if flags & f.STORE_HOST_V6 else f.HOST_V4
        at += one.store_host_size
        one.reconsume_times = be32(buf, at)
        one.prepared_transaction_offset = be64(buf, at + 4)
        one.body, one.body_size = at + 16, be32(buf, at + 12)
        at += 16 + one.body_size
        one.topic_size = be16(buf, at) if wide else np.int64(buf[at])
        at += 2 if wide else 1
        one.topic = at
        at += one.topic_size
        one.properties, one.properties_size = at + 2, be16(buf, at)
        kind = codec(buf, one.body, one.body_size, flags)
        one.body_codec = kind if kind >= 0 else -1 - kind
        if kind < 0:
            one.mark |= BAD_CODEC
        if one.topic_size == 0:
            one.mark |= BAD_TOPIC
        if min(one.born_timestamp, one.store_timestamp) < 0 or max(one.born_timestamp, one.store_timestamp) > LAST_MS:
            one.mark |= BAD_TIME


@njit(cache=True, nogil=True)
def codec(buf: Bytes, at: int, size: int, flags: int) -> int:
    """Return the codec that flags claim, `-1 - codec` where the body does not begin so (`CompressorFactory`)."""
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


NAME_END, ITEM_END = 1, 2
ITEMS: Final = 64
"""A record with more properties than this has its text put together again: nobody compares so many names."""
_EIGHT, _SIXTEEN = np.uint64(8), np.uint64(16)
_PRIME, _MIX = np.uint64(0x100000001B3), np.uint64(0x9E3779B97F4A7C15)
_LOW, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


def name_hash(name: bytes) -> int:
    """Return the 64-bit FNV hash by which `properties` compares names."""
    hashed = 0
    for byte in name:
        hashed = ((hashed ^ byte) * int(_PRIME)) % (1 << 64)
    return hashed


@njit(cache=True, nogil=True, inline="always")
def _hash(buf: Bytes, at: Any, size: Any) -> Any:
    """Hash a string, eight bytes at a time; the last eight may have been among those before."""
    begin, hashed = np.uint64(at), np.uint64(size)
    if size < 8:
        for i in range(np.uint64(size)):
            hashed = (hashed ^ np.uint64(buf[begin + i])) * _MIX
    else:
        end = begin + np.uint64(size) - _EIGHT
        while begin < end:
            hashed = (hashed ^ np.uint64(be64(buf, begin))) * _MIX
            hashed ^= hashed >> np.uint64(32)
            begin += _EIGHT
        hashed = (hashed ^ np.uint64(be64(buf, end))) * _MIX
    return hashed ^ (hashed >> np.uint64(32))


@njit(cache=True, nogil=True, inline="always")
def _same(buf: Bytes, at: Any, other: Any, size: Any) -> Any:
    """Return whether two strings of one size are the same."""
    one, two, left = np.uint64(at), np.uint64(other), np.uint64(size)
    while left >= _EIGHT and be64(buf, one) == be64(buf, two):
        one, two, left = one + _EIGHT, two + _EIGHT, left - _EIGHT
    if left < _EIGHT and max(one, two) + _EIGHT <= np.uint64(len(buf)):
        return left == 0 or (be64(buf, one) ^ be64(buf, two)) >> ((_EIGHT - left) * _EIGHT) == 0
    while left > np.uint64(0) and buf[one] == buf[two]:
        one, two, left = one + _ONE, two + _ONE, left - _ONE
    return left == np.uint64(0)


@njit(cache=True, nogil=True)
def _number(buf: Bytes, at: Any, size: Any, table: Any, hashes: Any, values: Any, sizes: Any, count: Any) -> Any:
    """Return the number of a string among those seen: `count` for a new one, which is noted."""
    hashed = _hash(buf, at, size)
    slot = np.int64(hashed) & (len(table) - 1)
    while table[slot] >= 0:
        code = table[slot]
        if hashes[code] == hashed and sizes[code] == size and _same(buf, at, values[code], size):
            return code
        slot = (slot + 1) & (len(table) - 1)
    table[slot], hashes[count], values[count], sizes[count] = count, hashed, at, size
    return count


@njit(cache=True, nogil=True)
def _table(kinds: int, rows: int) -> Any:
    slots = 16
    while slots < 2 * rows:
        slots *= 2
    return np.full((kinds, slots), -1, np.int32)


@njit(cache=True, nogil=True)
def number(buf: Bytes, at: Any, lengths: Any, codes: Any, values: Any, sizes: Any) -> int:
    """Number different strings in their order; return how many there are. `values`, `sizes`: where they are."""
    table, hashes = _table(1, len(at)), np.empty(len(at), np.uint64)
    count, last = 0, -1
    for row in range(len(at)):
        if last < 0 or sizes[last] != lengths[row] or not _same(buf, at[row], values[last], lengths[row]):
            last = _number(buf, at[row], lengths[row], table[0], hashes, values, sizes, count)
            count += last == count
        codes[row] = last
    return count


@njit(cache=True, nogil=True, inline="always")
def _item_end(buf: Bytes, at: Any, end: Any) -> Any:
    """Return where the item ends whose value begins at `at`; eight bytes at a time while none can be the end."""
    while at + _EIGHT <= end:
        rest = np.uint64(be64(buf, at)) ^ (_LOW * np.uint64(ITEM_END))
        if (rest - _LOW) & ~rest & _HIGH != np.uint64(0):
            break
        at += _EIGHT
    while at < end and buf[at] != ITEM_END:
        at += _ONE
    return at


@njit(cache=True, nogil=True)
def properties(
    buf: Bytes, records: Any, names: Any, plain: int, codes: Any, values: Any, sizes: Any, counts: Any, untidy: Any
) -> None:
    """Number the different values of well-known properties, and note the records whose text does not say what counts.

    `names`: different hashes of the well-known names (`name_hash`); values of the first `plain` are not compared.
    A row for each name: `codes` (-1: none) of the records, `values` and `sizes` of what they stand for, `counts`.
    `untidy`: an item is malformed, without value or replaced by a later one (`string2messageProperties`).
    """
    lookup = np.full(256, -1, np.int64)
    for name in range(len(names)):
        slot = np.int64(names[name] & np.uint64(255))
        while lookup[slot] >= 0:
            slot = (slot + 1) & 255
        lookup[slot] = name
    tables, hashes = _table(len(names), len(records)), np.empty((len(names), len(records)), np.uint64)
    seen, lasts = np.zeros(ITEMS, np.uint64), np.full(len(names), -1, np.int64)
    # Properties mostly come in one order: where each name was last, its size with its end, its number; its value.
    before = np.zeros((ITEMS + 1, 5), np.int64)
    different = 0  # So many names of `before`, the first ones, are different.
    codes[:] = -1
    for row in range(len(records)):
        here = np.uint64(records[row].properties)
        end = here + np.uint64(records[row].properties_size)
        items = 0
        while here < end:
            first, size = here, np.uint64(before[items, 1])
            if size > _ONE and here + size <= end and _same(buf, here, before[items, 0], size):
                hashed, name, value = seen[items], before[items, 2], here + size
            else:
                hashed, different = np.uint64(0), min(different, items)
                while here < end and buf[here] != NAME_END and buf[here] != ITEM_END:
                    hashed = (hashed ^ np.uint64(buf[here])) * _PRIME
                    here += _ONE
                value = here + _ONE if here < end and buf[here] == NAME_END and here > first else here
                slot = np.int64(hashed & np.uint64(255))
                while lookup[slot] >= 0 and names[lookup[slot]] != hashed:
                    slot = (slot + 1) & 255
                name = lookup[slot]
            here = _item_end(buf, value, end)
            length = np.int64(here - value)
            here += _ONE
            if value - first < np.uint64(2) or length == 0 or items == ITEMS or buf[value - _ONE] != NAME_END:
                untidy[row] = True
                continue
            if items >= different:
                twice = False
                for item in range(items):
                    twice |= seen[item] == hashed
                untidy[row] |= twice
                different = items if twice else items + 1
            seen[items] = hashed
            before[items, 0], before[items, 1], before[items, 2] = first, value - first, name
            before[items, 3], before[items, 4] = value, length
            items += 1
        for item in range(items - 1, -1, -1):
            name, value, length = before[item, 2], before[item, 3], before[item, 4]
            if name < 0 or codes[name, row] >= 0:
                continue
            last = lasts[name]
            if name < plain:
                last = row
                values[name, row], sizes[name, row] = value, length
            elif last < 0 or sizes[name, last] != length or not _same(buf, value, values[name, last], length):
                last = _number(buf, value, length, tables[name], hashes[name], values[name], sizes[name], counts[name])
                counts[name] += last == counts[name]
            codes[name, row] = lasts[name] = last


@njit(cache=True, nogil=True)
def count(text: Bytes, byte: int) -> int:
    """Count a byte."""
    total = 0
    for at in range(len(text)):
        total += text[at] == byte
    return total


@njit(cache=True, nogil=True)
def split(text: Bytes, bounds: Any, firsts: Any, ends: Any, names: Bytes, values: Bytes) -> None:
    """Take tidy property texts apart, row by row between two `bounds`: copy the names one behind the other, and the
    values. `ends`: where each name and each value ends; `firsts`: the first item of each text.
    """
    item, name, value = 0, np.uint64(0), np.uint64(0)
    for row in range(len(bounds) - 1):
        at, end = np.uint64(bounds[row]), np.uint64(bounds[row + 1])
        while at < end:
            while at < end and text[at] != NAME_END:
                names[name] = text[at]
                at, name = at + _ONE, name + _ONE
            at += _ONE
            until = _item_end(text, at, end)
            while at < until:
                values[value] = text[at]
                at, value = at + _ONE, value + _ONE
            at, item = at + _ONE, item + 1
            ends[0, item], ends[1, item] = name, value
        firsts[row + 1] = item


_BYTE, _8, _16, _24 = np.uint32(255), np.uint32(8), np.uint32(16), np.uint32(24)
CRC_TABLE: Final = np.array(
    [
        [~zlib.crc32(bytes([byte, *bytes(later)]), 0xFFFFFFFF) & 0xFFFFFFFF for byte in range(256)]
        for later in range(16)
    ],
    np.uint32,
)
"""Row k: what a byte contributes to the remainder k bytes later."""


@njit(cache=True, nogil=True)
def check_crc(buf: Bytes, records: Any, table: Any) -> None:
    """Mark records whose body does not match its CRC (`UtilAll.crc32`: the lower 31 bits)."""
    for row in range(len(records)):
        one = records[row]
        at, crc = np.uint64(one.body), np.uint32(0xFFFFFFFF)
        end = at + np.uint64(one.body_size)
        while at + _SIXTEEN <= end:
            rest = table[15, (crc ^ buf[at]) & _BYTE] ^ table[14, ((crc >> _8) ^ buf[at + _ONE]) & _BYTE]
            rest ^= table[13, ((crc >> _16) ^ buf[at + _TWO]) & _BYTE] ^ table[12, (crc >> _24) ^ buf[at + _THREE]]
            for k in range(4, 16):
                rest ^= table[15 - k, buf[at + np.uint64(k)]]
            crc, at = rest, at + _SIXTEEN
        while at < end:
            crc, at = table[0, (crc ^ buf[at]) & _BYTE] ^ (crc >> _8), at + _ONE
        if one.body_size and (np.int64(crc) ^ 0xFFFFFFFF) & 0x7FFFFFFF != one.body_crc:
            one.mark |= BAD_CRC


@njit(cache=True, nogil=True)
def begins(buf: Bytes, records: Any, texts: Bytes, ends: Any, mask: Any) -> None:
    """Mark records whose plain body begins with one of the `texts` and is longer; `ends`: where each ends, from 0."""
    for row in range(len(records)):
        one = records[row]
        for text in range(len(ends) - 1):
            size = ends[text + 1] - ends[text]
            i = 0
            while i < min(size, one.body_size - 1) and buf[one.body + i] == texts[ends[text] + i]:
                i += 1
            mask[row] |= i == size and one.body_codec == PLAIN


@njit(cache=True, nogil=True)
def hex_ids(hosts: Bytes, bounds: Any, physical: Any, digits: Any, ids: Any) -> None:
    """Write each host and offset as digits; `digits`: the two of each byte. The hosts lie between two `bounds` each."""
    put = 0
    for row in range(len(physical)):
        for at in range(bounds[row], bounds[row + 1]):
            ids[put] = digits[hosts[at]]
            put += 1
        for bits in range(56, -1, -8):
            ids[put] = digits[(physical[row] >> bits) & 255]
            put += 1


@njit(cache=True, nogil=True)
def gather(buf: Bytes, at: Any, offsets: Any, data: Any) -> None:
    """Copy strings of the buffer one behind the other."""
    for row in range(len(at)):
        put, first = np.uint64(offsets[row]), np.uint64(at[row])
        for i in range(np.uint64(offsets[row + 1]) - put):
            data[put + i] = buf[first + i]
