"""Kernels of the columns: the fields of records, their strings and properties, checksums.

Positions come from `kit.formats.commitlog.walk`, which has checked every length inside a record against the buffer.
"""

import zlib
from typing import Any, Final, NamedTuple, Self

import numpy as np

from kit.formats.commitlog.records import Bytes, be, inlined, kernel
from kit.formats.values import LAST_MS
from kit.rocketmq import binary_format as f

# Marks of a record beside those of the walk, and what users read in `problem`.
BAD_CRC, BAD_CODEC, BAD_TOPIC, BAD_PROPERTIES, BAD_TIME, BAD_HOST, BAD_TEXT, BAD_BODY, BIG_BODY = (
    1 << bit for bit in range(2, 11)
)
PROBLEMS: Final = (
    "physical_offset", "dledger_header", "crc", "body_codec", "topic", "properties", "timestamp", "host", "utf8",
    "body", "body_too_large",
)  # fmt: skip
"""What each bit of a mark stands for."""

STRINGS: Final = ("body", "topic", "properties", "born_host", "store_host")
_LONGS: Final = ("physical_offset", "queue_offset", "born_timestamp", "store_timestamp", "prepared_transaction_offset")
_INTS: Final = ("store_size", "queue_id", "flag", "sys_flag", "reconsume_times", "body_crc", "body_codec", "mark")
RECORD: Final = np.dtype([
    *((name, "i8") for name in (*_LONGS, *STRINGS)), *((name, "i4") for name in (*_INTS, *(f"{name}_size" for name in STRINGS))),
    ("misplaced", "?"),
])  # fmt: skip
"""A record in memory: its numbers, and where its strings begin in the buffer."""
NUMBERED: Final = ("topic", "born_host", "store_host")
"""Strings of which few are different."""
PLAIN, ZLIB, LZ4, ZSTD, UNKNOWN = range(5)

NAME_END, ITEM_END = 1, 2
_BUCKETS: Final = 12
"""Bits of a hash by which different values of a column are found."""
ITEMS: Final = 64
"""A record with more properties than this has its text put together again: nobody compares so many names."""
_ONE, _FOUR, _EIGHT, _SIXTEEN = np.uint64(1), np.uint64(4), np.uint64(8), np.uint64(16)
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


@inlined
def _word(words: Any, at: Any) -> Any:
    """Return the eight bytes from `at` on, zeros behind the last one."""
    last = np.uint64(len(words) - 1)
    return words[at] if at <= last else words[last] >> (at - last) * _EIGHT


@inlined
def _rest(words: Any, at: Any, size: Any) -> Any:
    """Return the last bytes of a text, eight at most, as one number: 0 for none."""
    return _word(words, at) << (_EIGHT - size) * _EIGHT if size else np.uint64(0)


@inlined
def _same(words: Any, one: Any, other: Any, size: Any) -> Any:
    """Return whether two texts of one size are the same."""
    left = np.uint64(size)
    while left > _EIGHT:
        if words[one] != words[other]:
            return False
        one, other, left = one + _EIGHT, other + _EIGHT, left - _EIGHT
    return _rest(words, one, left) == _rest(words, other, left)


@inlined
def _hash(words: Any, at: Any, size: Any) -> Any:
    """Hash a text; its upper bits are as good as random."""
    left = hashed = np.uint64(size)
    while left > _EIGHT:
        hashed = (hashed ^ words[at]) * _MIX
        hashed ^= hashed >> np.uint64(32)
        at, left = at + _EIGHT, left - _EIGHT
    return (hashed ^ _rest(words, at, left)) * _MIX


@inlined
def _copy(words: Any, at: Any, size: Any, out: Any, to: Any) -> Any:
    """Copy a text, and up to seven bytes behind it; return where it ends there."""
    end = to + np.uint64(size)
    while to < end:
        out[to] = _word(words, at)
        at, to = at + _EIGHT, to + _EIGHT
    return end


VALUE: Final = np.dtype([("at", "i8"), ("hash", "u8"), ("size", "i4"), ("other", "i4")])
"""One of the different texts of a column: where it begins, its hash, its size, another one whose hash begins alike."""


class Texts(NamedTuple):
    """Columns of texts whose different values are numbered: the number of each text (-1: none), the values, how many
    these are, the last one of each begin of a hash, the number given last: each has a row for each column; and which
    texts of properties are untidy: with an item that is malformed, without value or replaced by a later one.
    """

    codes: np.ndarray
    values: np.ndarray
    counts: np.ndarray
    heads: np.ndarray
    lasts: np.ndarray
    untidy: np.ndarray

    @classmethod
    def room(cls, columns: int, rows: int) -> Self:
        codes, values = np.full((columns, rows), -1, np.int32), np.empty((columns, rows), VALUE)
        heads, lasts = np.full((columns, 1 << _BUCKETS), -1, np.int32), np.full(columns, -1)
        return cls(codes, values, np.zeros(columns, np.int64), heads, lasts, np.zeros(rows, bool))

    def take(self, rows: np.ndarray) -> Self:
        return self._replace(codes=np.take(self.codes, rows, axis=1), untidy=self.untidy[rows])


@inlined
def _number(words: Any, at: Any, size: Any, column: int, row: int, texts: Any) -> None:
    """Give a text its number; most are the same as the last one of their column."""
    codes, values, counts, heads, lasts, _ = texts
    code = lasts[column]
    if code < 0 or values[column, code].size != size or not _same(words, at, np.uint64(values[column, code].at), size):
        hashed = _hash(words, at, size)
        head = np.int64(hashed >> np.uint64(64 - _BUCKETS))
        code = np.int64(heads[column, head])
        while code >= 0 and not (
            values[column, code].hash == hashed
            and values[column, code].size == size
            and _same(words, at, np.uint64(values[column, code].at), size)
        ):
            code = np.int64(values[column, code].other)
        if code < 0:
            code = counts[column]
            one = values[column, code]
            one.at, one.hash, one.size, one.other = at, hashed, size, heads[column, head]
            counts[column], heads[column, head] = code + 1, code
        lasts[column] = code
    codes[column, row] = code


@kernel
def headers(buf: Bytes, words: Any, starts: Any, records: Any, texts: Any) -> None:
    """Read the fields of each record, and number its strings of `NUMBERED`, the first ones, as many as `texts`."""
    for row in range(len(starts)):
        start, one = starts[row], records[row]
        one.body_crc = be(buf, start + f.AT_BODY_CRC, 4)
        one.queue_id = be(buf, start + f.AT_QUEUE_ID, 4)
        one.flag = be(buf, start + f.AT_FLAG, 4)
        one.queue_offset = be(buf, start + f.AT_QUEUE_OFFSET, 8)
        one.sys_flag = flags = be(buf, start + f.AT_SYS_FLAG, 4)
        one.born_timestamp = be(buf, start + f.AT_BORN_TIMESTAMP, 8)
        at = start + f.AT_BORN_HOST
        one.born_host, one.born_host_size = at, f.HOST_V6 if flags & f.BORN_HOST_V6 else f.HOST_V4
        at += one.born_host_size
        one.store_timestamp = be(buf, at, 8)
        at += 8
        one.store_host, one.store_host_size = at, f.HOST_V6 if flags & f.STORE_HOST_V6 else f.HOST_V4
        at += one.store_host_size
        one.reconsume_times = be(buf, at, 4)
        one.prepared_transaction_offset = be(buf, at + 4, 8)
        one.body, one.body_size = at + 16, be(buf, at + 12, 4)
        at += 16 + one.body_size
        wide = 2 if be(buf, start + 4, 4) & 0xFFFFFFFF == f.MAGIC_V2 else 1
        one.topic, one.topic_size = at + wide, be(buf, at, wide)
        at += wide + one.topic_size
        one.properties, one.properties_size = at + 2, be(buf, at, 2)
        kind = codec(buf, one.body, one.body_size, flags)
        one.body_codec = kind if kind >= 0 else -1 - kind
        if kind < 0:
            one.mark |= BAD_CODEC
        if one.topic_size == 0:
            one.mark |= BAD_TOPIC
        if min(one.born_timestamp, one.store_timestamp) < 0 or max(one.born_timestamp, one.store_timestamp) > LAST_MS:
            one.mark |= BAD_TIME
        _number(words, np.uint64(one.topic), np.int64(one.topic_size), 0, row, texts)
        if len(texts.codes) > 1:
            _number(words, np.uint64(one.born_host), np.int64(one.born_host_size), 1, row, texts)
            _number(words, np.uint64(one.store_host), np.int64(one.store_host_size), 2, row, texts)


@kernel
def codec(buf: Bytes, at: int, size: int, flags: int) -> int:
    """Return the codec that flags claim, `-1 - codec` where the body does not begin so (`CompressorFactory`)."""
    if not flags & f.COMPRESSED:
        return PLAIN
    kind = (flags & f.COMPRESSION_MASK) >> f.COMPRESSION_SHIFT
    if kind == 0 or kind == 3:
        good = size >= 2 and buf[at] & 15 == 8 and (np.int64(buf[at]) * 256 + np.int64(buf[at + 1])) % 31 == 0
        return ZLIB if good else -1 - ZLIB
    if kind == 1:
        return LZ4 if size >= 4 and be(buf, at, 4) == 0x04224D18 else -1 - LZ4
    if kind == 2:
        return ZSTD if size >= 4 and be(buf, at, 4) == 0x28B52FFD else -1 - ZSTD
    return -1 - UNKNOWN


ITEM: Final = np.dtype([*((name, "u8") for name in ("at", "size", "hash", "value")), ("length", "i8"), ("name", "i8")])
"""A property: its name with what ends it, the hash and the number of its name, its value."""


@kernel
def properties(words: Any, at: Any, sizes: Any, names: Any, plain: int, texts: Any, room: Any) -> int:
    """Take property texts apart (`string2messageProperties`); return how many items they have.

    `names`: different hashes of well-known names (`name_hash`), a column of `texts` each; the values of the first
    `plain` are not compared. `room`: for `ITEM`s; for maps the first item of each text, where each name and each value
    ends, these names and values one behind the other: no rows where nobody asks.
    """
    before, firsts, ends, keys, contents = room
    # Properties mostly come in one order: what each was last. So many of these, the first ones, have different names.
    different = 0
    ends[:, 0] = 0
    total, key, content = 0, np.uint64(0), np.uint64(0)
    for row in range(len(at)):
        here = np.uint64(at[row])
        end = here + np.uint64(sizes[row])
        items = 0
        while here < end:
            one, first = before[items], here
            hashed, name, value = one.hash, one.name, here + one.size
            if one.size == 0 or value > end or not _same(words, here, one.at, one.size):
                hashed, different = np.uint64(0), min(different, items)
                byte = _word(words, here) & _BYTE
                while here < end and byte != NAME_END and byte != ITEM_END:
                    hashed, here = (hashed ^ byte) * _PRIME, here + _ONE
                    byte = _word(words, here) & _BYTE
                value = here + _ONE if here < end and byte == NAME_END and here > first else here
                name = len(names) - 1
                while name >= 0 and names[name] != hashed:
                    name -= 1
            here = value
            while here < end:
                rest = _word(words, here) ^ (_LOW * np.uint64(ITEM_END))
                ended = (rest - _LOW) & ~rest & _HIGH  # The lowest bit is that of the first byte that ends an item.
                if ended:
                    here += (((ended - _ONE) & ~ended & _LOW) * _LOW >> np.uint64(56)) - _ONE
                    break
                here += _EIGHT
            here = min(here, end)
            length = np.int64(here - value)
            here += _ONE
            if value - first < np.uint64(2) or length == 0 or _word(words, value - _ONE) & _BYTE != NAME_END:
                texts.untidy[row] = True
                continue
            if items >= different:
                twice = items == ITEMS
                for item in range(items):
                    twice |= before[item].hash == hashed
                texts.untidy[row] |= twice
                different = items if twice else items + 1
            one.at, one.size, one.value, one.length = first, value - first, value, length
            one.hash, one.name = hashed, name
            items = min(items + 1, ITEMS)
            total += 1
            if len(firsts):
                key = _copy(words, first, value - first - _ONE, keys, key)
                content = _copy(words, value, length, contents, content)
                ends[0, total], ends[1, total] = key, content
        if len(firsts):
            firsts[row + 1] = total
        for item in range(items - 1, -1, -1):
            one = before[item]
            if one.name < 0 or texts.codes[one.name, row] >= 0:
                continue
            if one.name < plain:
                place = texts.values[one.name, row]
                texts.codes[one.name, row], place.at, place.size = row, one.value, one.length
            else:
                _number(words, one.value, one.length, one.name, row, texts)
    return total


CRC_TABLE: Final = np.array(
    [~zlib.crc32(bytes([byte, *bytes(later)]), 0xFFFFFFFF) & 0xFFFFFFFF for later in range(16) for byte in range(256)],
    np.uint32,
).reshape(16, 256)
"""Row k: what a byte contributes to the remainder k bytes later."""


@kernel
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
            left = min(end - at, _EIGHT)
            mixed, crc = _word(words, at) ^ crc, crc >> left * _EIGHT if left < _FOUR else np.uint64(0)
            for k in range(left):
                crc ^= table[left - _ONE - k, (mixed >> k * _EIGHT) & _BYTE]
            at += left
        if one.body_size and np.int64(~crc & np.uint64(0x7FFFFFFF)) != one.body_crc:
            one.mark |= BAD_CRC


@kernel
def hex_ids(hosts: Bytes, bounds: Any, codes: Any, physical: Any, digits: Any, ids: Any) -> None:
    """Write each host and offset as digits; `digits`: the two of each byte. A host lies between two `bounds`."""
    put = np.uint64(0)
    for row in range(len(physical)):
        host, offset = np.uint64(codes[row]), np.uint64(physical[row])
        for at in range(np.uint64(bounds[host]), np.uint64(bounds[host + _ONE])):
            ids[put] = digits[hosts[at]]
            put += _ONE
        for bits in range(7, -1, -1):
            ids[put] = digits[offset >> np.uint64(8 * bits) & _BYTE]
            put += _ONE
