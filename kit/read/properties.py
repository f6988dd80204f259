"""Split the properties of records into an Arrow map: a numba kernel that looks for the separators eight bytes at a time."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from kit.facts import format as f
from kit.read.columns import BAD_PROPERTIES, KEYS, PROPS, PROPS_LEN, SLACK, UNIQ_LEN
from kit.read.records import Bytes
from kit.read.words import CONTROL, HIGH, LOW, TWOS, keep, load64, low_byte, store64, zero_bytes

_WORD_KEYS: Final = np.uint64(int.from_bytes(b"KEYS", "little"))
_WORD_TAGS: Final = np.uint64(int.from_bytes(b"TAGS", "little"))
_WORD_UNIQ: Final = np.uint64(int.from_bytes(b"UNIQ_KEY", "little"))
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_ZERO: Final = np.uint64(0)


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
def _items(
    src: Bytes, at: int, end: int, count: int, name_ends: Any, names: Any, value_ends: Any, values: Any, stale: Any, slots: Any, mask: int, spots: Any
) -> tuple[int, int, bool, Any]:
    """Split one record's properties `src[at:end]`, behind which 8 more bytes can be loaded.

    Return (items so far, how many of them were replaced, whether an item is none, all bytes or-ed). `spots` takes position
    and length of KEYS, TAGS and UNIQ_KEY.
    """
    name_put, value_put = np.int64(name_ends[count]), np.int64(value_ends[count])
    every = _ZERO
    dead = 0
    wrong = False
    while at < end:
        # The name: up to 0x01. Copied word by word while looking for the end.
        start, put = at, name_put
        first = mixed = seen = _ZERO
        while True:
            word = load64(src, at)
            stop = zero_bytes(word & CONTROL)
            if stop:
                stop = zero_bytes(word ^ LOW) | zero_bytes(word ^ TWOS)
            size = low_byte(stop) if stop else 8
            if size > end - at:
                size = end - at
            if size < 8:
                word = keep(word, size)
            store64(names, put, word)
            if at == start:
                first = word
            seen |= word
            mixed = (mixed ^ word) * _MIX
            at += size
            put += size
            if size < 8 or at >= end:
                break
        name_size = at - start
        if at >= end or src[at] == f.PROPERTY_SEPARATOR:
            wrong = wrong or name_size > 0
            at += 1
            continue
        # The value: up to 0x02, whatever is in it.
        at += 1
        start, put = at, value_put
        while at < end:
            word = load64(src, at)
            stop = zero_bytes(word & CONTROL)
            if stop:
                stop = zero_bytes(word ^ TWOS)
            size = low_byte(stop) if stop else 8
            if size > end - at:
                size = end - at
            if size < 8:
                word = keep(word, size)
            store64(values, put, word)
            seen |= word
            at += size
            put += size
            if size < 8:
                break
        value_size = at - start
        at += 1
        if name_size == 0:
            wrong = True
            continue
        if value_size == 0:
            continue
        every |= seen
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
    return count, dead, wrong, every


@njit(cache=True, nogil=True)
def split(buf: Bytes, where: Any, marks: Any, maps: Any, name_ends: Any, names: Any, value_ends: Any, values: Any, stale: Any) -> tuple[int, bool]:
    """Split the properties of each record into names and values; return (how many, whether all are ASCII).

    `maps`, `name_ends`, `value_ends` are Arrow offsets, `stale` is a byte an item. An item is split at its first 0x01, one
    without a value is left out, and of two with one name the later counts (`MessageDecoder.string2messageProperties` 4.9.1+).
    Also notes where KEYS, TAGS and UNIQ_KEY are.
    """
    slots = np.zeros(16384, np.int64)
    scratch = np.zeros(32768 + SLACK, np.uint8)
    count = np.int64(0)
    every = _ZERO
    maps[0] = name_ends[0] = value_ends[0] = 0
    for row in range(len(where)):
        at, size = where[row, PROPS], where[row, PROPS_LEN]
        begin = count
        mask = np.int64(31)
        while mask < size // 4 and mask < 16383:
            mask = 2 * mask + 1
        for i in range(mask + 1):
            slots[i] = 0
        spots = where[row, KEYS : UNIQ_LEN + 1]
        spots[1] = spots[3] = spots[5] = -1
        if at + size + 8 <= len(buf):
            count, dead, wrong, seen = _items(buf, at, at + size, count, name_ends, names, value_ends, values, stale, slots, mask, spots)
        else:
            # The last bytes of the file: nothing may be loaded behind them.
            scratch[:size] = buf[at : at + size]
            count, dead, wrong, seen = _items(scratch, 0, size, count, name_ends, names, value_ends, values, stale, slots, mask, spots)
            for i in range(0, 6, 2):
                spots[i] += at
        every |= seen
        if wrong:
            marks[row] |= BAD_PROPERTIES
        if dead:
            count = _drop_stale(stale, begin, count, name_ends, names, value_ends, values)
        maps[row + 1] = count
    return count, every & HIGH == _ZERO
