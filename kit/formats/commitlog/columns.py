"""Kernels of the columns: the fields of records, their strings and properties, checksums.

Positions come from `kit.formats.commitlog.walk`, which has checked every length inside a record against the buffer.
"""

from __future__ import annotations

import zlib
from typing import Any, Final

import numpy as np
from numba import njit

from kit.formats.commitlog.records import _ONE, Bytes, be16, be32, be64
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
_BYTE, _LOW, _HIGH = np.uint64(255), np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


def name_hash(name: bytes) -> int:
    """Return the 64-bit FNV hash by which `properties` compares names."""
    hashed = 0
    for byte in name:
        hashed = ((hashed ^ byte) * int(_PRIME)) % (1 << 64)
    return hashed


def words(data: Bytes) -> np.ndarray:
    """Return the eight bytes from each byte on as one number: a view of `data`, or of a copy where it is shorter."""
    data = data if len(data) >= 8 else np.append(data, np.zeros(8, np.uint8))
    return np.ndarray(len(data) - 7, np.uint64, data, strides=(1,))


@njit(cache=True, nogil=True, inline="always")
def _word(words: Any, at: Any) -> Any:
    """Return the eight bytes from `at` on, zeros behind the last one."""
    last = np.uint64(len(words) - 1)
    return words[at] if at <= last else words[last] >> (at - last) * _EIGHT


@njit(cache=True, nogil=True, inline="always")
def _same(words: Any, one: Any, other: Any, size: Any) -> Any:
    """Return whether two texts of one size, at least 1, are the same."""
    left = np.uint64(size)
    while left > _EIGHT:
        if words[one] != words[other]:
            return False
        one, other, left = one + _EIGHT, other + _EIGHT, left - _EIGHT
    return (_word(words, one) ^ _word(words, other)) << (_EIGHT - left) * _EIGHT == 0


@njit(cache=True, nogil=True, inline="always")
def _hash(words: Any, at: Any, size: Any) -> Any:
    """Hash a text of at least one byte; its upper bits are as good as random."""
    left = hashed = np.uint64(size)
    while left > _EIGHT:
        hashed = (hashed ^ words[at]) * _MIX
        hashed ^= hashed >> np.uint64(32)
        at, left = at + _EIGHT, left - _EIGHT
    return (hashed ^ _word(words, at) << (_EIGHT - left) * _EIGHT) * _MIX


@njit(cache=True, nogil=True, inline="always")
def _copy(words: Any, at: Any, size: Any, out: Any, to: Any) -> Any:
    """Copy a text, and up to seven bytes behind it; return where it ends there."""
    end = to + np.uint64(size)
    while to < end:
        out[to] = _word(words, at)
        at, to = at + _EIGHT, to + _EIGHT
    return end


@njit(cache=True, nogil=True)
def properties(buf: Bytes, words: Any, at: Any, lengths: Any, names: Any, plain: int, numbered: Any, maps: Any) -> int:
    """Take property texts apart; return how many items they have.

    `names`: different hashes of well-known names (`name_hash`), whose different values are numbered; those of the
    first `plain` are not compared. `numbered`: codes (-1: none) of the texts, values and sizes of what they stand for,
    how many these are, a row for each name; and whether an item is malformed, without value or replaced by a later one
    (`string2messageProperties`). `maps`: the first item of each text, where each name and each value ends, these names
    and values one behind the other; no rows where nobody asks.
    """
    codes, values, sizes, counts, untidy = numbered
    firsts, ends, keys, contents = maps
    lookup = np.full(256, -1, np.int64)
    for name in range(len(names)):
        slot = np.int64(names[name] & np.uint64(255))
        while lookup[slot] >= 0:
            slot = (slot + 1) & 255
        lookup[slot] = name
    bits = np.uint64(4)
    while np.int64(1) << bits < 2 * len(at):
        bits += _ONE
    table, hashes = np.full((len(names), np.int64(1) << bits), -1, np.int32), np.empty(values.shape, np.uint64)
    # Properties mostly come in one order: where each name was last, its size with its end, its number; its value.
    before, seen = np.zeros((ITEMS + 1, 5), np.int64), np.zeros(ITEMS + 1, np.uint64)
    different = 0  # So many names of `before`, the first ones, are different.
    lasts = np.full(len(names), -1, np.int64)
    codes[:], ends[:, 0] = -1, 0
    total, key, content = 0, np.uint64(0), np.uint64(0)
    for row in range(len(at)):
        here = np.uint64(at[row])
        end = here + np.uint64(lengths[row])
        items = 0
        while here < end:
            first, size = here, np.uint64(before[items, 1])
            if size and here + size <= end and _same(words, here, np.uint64(before[items, 0]), size):
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
            here = value
            while here + _EIGHT <= end:
                rest = words[here] ^ (_LOW * np.uint64(ITEM_END))
                if (rest - _LOW) & ~rest & _HIGH != np.uint64(0):
                    break
                here += _EIGHT
            while here < end and buf[here] != ITEM_END:
                here += _ONE
            length = np.int64(here - value)
            here += _ONE
            if value - first < np.uint64(2) or length == 0 or buf[value - _ONE] != NAME_END:
                untidy[row] = True
                continue
            if items >= different:
                twice = items == ITEMS
                for item in range(items):
                    twice |= seen[item] == hashed
                untidy[row] |= twice
                different = items if twice else items + 1
            before[items, 0], before[items, 1], before[items, 2] = first, value - first, name
            before[items, 3], before[items, 4] = value, length
            seen[items] = hashed
            items = min(items + 1, ITEMS)
            total += 1
            if len(firsts):
                key = _copy(words, first, value - first - _ONE, keys, key)
                content = _copy(words, value, length, contents, content)
                ends[0, total], ends[1, total] = key, content
        if len(firsts):
            firsts[row + 1] = total
        for item in range(items - 1, -1, -1):
            name, value, length = before[item, 2], np.uint64(before[item, 3]), before[item, 4]
            if name < 0 or codes[name, row] >= 0:
                continue
            if name < plain:
                codes[name, row], values[name, row], sizes[name, row] = row, value, length
                continue
            code = lasts[name]
            if (
                code < 0
                or sizes[name, code] != length
                or not _same(words, value, np.uint64(values[name, code]), length)
            ):
                hashed = _hash(words, value, length)
                slot = np.int64(hashed >> (np.uint64(64) - bits))
                code = np.int64(table[name, slot])
                while code >= 0 and not (
                    hashes[name, code] == hashed
                    and sizes[name, code] == length
                    and _same(words, value, np.uint64(values[name, code]), length)
                ):
                    slot = (slot + 1) & (table.shape[1] - 1)
                    code = np.int64(table[name, slot])
                if code < 0:
                    code = counts[name]
                    counts[name] += 1
                    table[name, slot], hashes[name, code] = code, hashed
                    values[name, code], sizes[name, code] = value, length
            codes[name, row] = lasts[name] = code
    return total


CRC_TABLE: Final = np.array(
    [
        [~zlib.crc32(bytes([byte, *bytes(later)]), 0xFFFFFFFF) & 0xFFFFFFFF for byte in range(256)]
        for later in range(16)
    ],
    np.uint32,
)
"""Row k: what a byte contributes to the remainder k bytes later."""


@njit(cache=True, nogil=True)
def check_crc(words: Any, records: Any, table: Any) -> None:
    """Mark records whose body does not match its CRC (`UtilAll.crc32`: the lower 31 bits)."""
    for row in range(len(records)):
        one = records[row]
        at, crc = np.uint64(one.body), np.uint64(0xFFFFFFFF)
        end = at + np.uint64(one.body_size)
        while at + _SIXTEEN <= end:
            low, high = words[at], words[at + _EIGHT]
            # Only four bytes wait for the remainder: what the others contribute is looked up meanwhile.
            rest = np.uint64(0)
            for k in range(8):
                rest ^= table[7 - k, (high >> np.uint64(8 * k)) & _BYTE]
            for k in range(4, 8):
                rest ^= table[15 - k, (low >> np.uint64(8 * k)) & _BYTE]
            low ^= crc
            for k in range(4):
                rest ^= table[15 - k, (low >> np.uint64(8 * k)) & _BYTE]
            crc, at = rest, at + _SIXTEEN
        while at < end:
            crc, at = table[0, (crc ^ _word(words, at)) & _BYTE] ^ (crc >> _EIGHT), at + _ONE
        if one.body_size and np.int64(~crc & np.uint64(0x7FFFFFFF)) != one.body_crc:
            one.mark |= BAD_CRC


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
