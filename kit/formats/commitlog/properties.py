"""Split the properties of records into an Arrow map: a numba kernel that looks for the separators 32 bytes at a time."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from kit.formats.commitlog.columns import BAD_PROPERTIES, KEYS, PROPS, PROPS_LEN, SLACK, UNIQ_LEN
from kit.formats.commitlog.records import Bytes
from kit.formats.commitlog.simd import ONE, copy32, keep, load64, low_bit, match32, signs32
from kit.rocketmq import binary_format as f

_WORD_KEYS: Final = np.uint64(int.from_bytes(b"KEYS", "little"))
_WORD_TAGS: Final = np.uint64(int.from_bytes(b"TAGS", "little"))
_WORD_UNIQ: Final = np.uint64(int.from_bytes(b"UNIQ_KEY", "little"))
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_ZERO: Final = np.uint64(0)
NAME_END, ITEM_END = np.uint8(f.NAME_VALUE_SEPARATOR), np.uint8(f.PROPERTY_SEPARATOR)


@njit(cache=True, nogil=True)
def _drop_stale(stale: Any, begin: int, count: int, name_ends: Any, names: Any, value_ends: Any, values: Any) -> int:
    """Remove the replaced items from the last record; return the new number of items."""
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
def separators(src: Bytes, at: int, end: int, found: Any) -> tuple[int, bool]:
    """List where 0x01 and 0x02 are in `src[at:end]`, behind which 32 more bytes can be loaded, then `end` twice; return how many, and whether all is ASCII."""
    count = 0
    signs = _ZERO
    for block in range(at, end, 32):
        bits = match32(src, block, NAME_END) | match32(src, block, ITEM_END)
        high = signs32(src, block)
        if end - block < 32:
            inside = (ONE << np.uint64(end - block)) - ONE
            bits, high = bits & inside, high & inside
        signs |= high
        while bits:
            found[count] = block + low_bit(bits)
            bits &= bits - ONE
            count += 1
    found[count] = found[count + 1] = end
    return count, signs == _ZERO


@njit(cache=True, nogil=True)
def _items(
    src: Bytes,
    at: int,
    end: int,
    cuts: Any,
    count: int,
    name_ends: Any,
    names: Any,
    value_ends: Any,
    values: Any,
    stale: Any,
    slots: Any,
    mask: int,
    spots: Any,
) -> tuple[int, int, bool]:
    """Take one record's properties `src[at:end]` apart at `cuts` (as `separators` lists them).

    Return (items so far, how many of them were replaced, whether an item is invalid). `spots` takes position and
    length of KEYS, TAGS and UNIQ_KEY. All ends are known before the first copy, so that no copy waits for the one
    before.
    """
    name_put, value_put = np.int64(name_ends[count]), np.int64(value_ends[count])
    dead = 0
    wrong = False
    cut = 0
    while at < end:
        # The name: up to 0x01.
        name_end = cuts[cut]
        cut += 1
        name_size = name_end - at
        if name_end >= end or src[name_end] == ITEM_END:
            wrong = wrong or name_size > 0
            at = name_end + 1
            continue
        # The value: up to 0x02, whatever is in it.
        while cuts[cut] < end and src[cuts[cut]] == NAME_END:
            cut += 1
        name, start, value_end = at, name_end + 1, cuts[cut]
        cut += 1
        value_size = value_end - start
        at = value_end + 1
        if name_size == 0:
            wrong = True
            continue
        if value_size <= 0:
            continue
        for i in range(0, name_size, 32):
            copy32(names, name_put + i, src, name + i)
        for i in range(0, value_size, 32):
            copy32(values, value_put + i, src, start + i)
        first = load64(src, name)
        last = load64(src, max(name, name_end - 8))
        if name_size < 8:
            first = last = keep(first, name_size)
        mixed = ((first * _MIX) ^ last ^ np.uint64(name_size)) * _MIX
        slot = np.int64(mixed >> np.uint64(40)) & mask
        while slots[slot]:
            other = slots[slot] - 1
            if name_ends[other + 1] - name_ends[other] == name_size:
                i = 0
                while i < name_size and names[name_ends[other] + i] == names[name_put + i]:
                    i += 1
                if i == name_size:
                    stale[other] = 1
                    dead += 1
                    break
            slot = (slot + 1) & mask
        slots[slot] = count + 1
        stale[count] = 0
        count += 1
        name_put += name_size
        value_put += value_size
        name_ends[count] = name_put
        value_ends[count] = value_put
        if name_size == 4:
            if first == _WORD_KEYS:
                spots[0], spots[1] = start, value_size
            elif first == _WORD_TAGS:
                spots[2], spots[3] = start, value_size
        elif name_size == 8 and first == _WORD_UNIQ:
            spots[4], spots[5] = start, value_size
    return count, dead, wrong


@njit(cache=True, nogil=True)
def split(
    buf: Bytes, where: Any, marks: Any, maps: Any, name_ends: Any, names: Any, value_ends: Any, values: Any, stale: Any
) -> tuple[int, bool]:
    """Split the properties of each record into names and values; return (how many, whether all are ASCII).

    `maps`, `name_ends`, `value_ends` are Arrow offsets, `stale` is a byte an item. An item is split at its first
    0x01, one without a value is left out, and of two with one name the later counts
    (`MessageDecoder.string2messageProperties` 4.9.1+). Also notes where KEYS, TAGS and UNIQ_KEY are.
    """
    slots = np.zeros(16384, np.int64)
    scratch = np.zeros(32768 + SLACK, np.uint8)
    cuts = np.zeros(32768 + 2, np.int64)
    count = np.int64(0)
    all_ascii = True
    maps[0] = name_ends[0] = value_ends[0] = 0
    for row in range(where.shape[1]):
        at, size = where[PROPS, row], where[PROPS_LEN, row]
        begin = count
        mask = np.int64(31)
        while mask < size // 4 and mask < 16383:
            mask = 2 * mask + 1
        for i in range(mask + 1):
            slots[i] = 0
        spots = where[KEYS : UNIQ_LEN + 1, row]
        spots[1] = spots[3] = spots[5] = -1
        source, first = buf, at
        if at + size + 32 > len(buf):
            # The last bytes of the file: nothing may be loaded behind them.
            scratch[:size] = buf[at : at + size]
            source, first = scratch, 0
        _, ascii_only = separators(source, first, first + size, cuts)
        all_ascii &= ascii_only
        count, dead, wrong = _items(
            source, first, first + size, cuts, count, name_ends, names, value_ends, values, stale, slots, mask, spots
        )
        for i in range(0, 6, 2):
            spots[i] += at - first
        if wrong:
            marks[row] |= BAD_PROPERTIES
        if dead:
            count = _drop_stale(stale, begin, count, name_ends, names, value_ends, values)
        maps[row + 1] = count
    return count, all_ascii
