"""Properties without a map: the text as a whole, and the values of well-known names as columns of their own. Numba
kernels.

The text is kept as it is stored where it says what `MessageDecoder.string2messageProperties` makes of it. Where an
item is malformed, has no value or is replaced by a later one of the same name, the text is put together again from
the items that count: whoever splits it then gets RocketMQ's map.
"""

from __future__ import annotations

from typing import Any, Final

import attrs
import numpy as np
from numba import njit

from kit.formats.commitlog.columns import AHEAD, PROPS, PROPS_LEN, SLACK
from kit.formats.commitlog.records import Bytes
from kit.formats.commitlog.shapes import (
    BLOCKS,
    ITEM_END,
    NAME_END,
    SHAPES,
    VARIANTS,
    note,
    repeats,
    same_values,
    separators,
)
from kit.formats.commitlog.simd import fetch, keep, load64

PATTERNS: Final = 16
ITEMS: Final = 48
"""Records of one client have the same names in the same order: how many such orders are remembered, and how many
names each may have.
"""

_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(40)


@attrs.frozen
class Names:
    """Well-known names in the form in which the kernels look them up: the bytes of all, where each ends, and an open
    hash table of their numbers (from 1; 0 is empty).
    """

    data: np.ndarray
    ends: np.ndarray
    slots: np.ndarray

    @classmethod
    def of(cls, names: tuple[str, ...]) -> Names:
        """Return the table of these names."""
        encoded = [name.encode() for name in names]
        data = np.frombuffer(b"".join(encoded) + bytes(SLACK), np.uint8)
        ends = np.cumsum([0, *map(len, encoded)])
        slots = np.zeros(1 << (4 * len(names)).bit_length(), np.int64)
        _enter(data, ends, slots)
        return cls(data, ends, slots)


@njit(cache=True, nogil=True, inline="always")
def _hash(first: Any, last: Any, size: int) -> Any:
    return np.int64((((first * _MIX) ^ last ^ np.uint64(size)) * _MIX) >> _SHIFT)


@njit(cache=True, nogil=True, inline="always")
def _ends_of(src: Bytes, at: int, size: int) -> tuple[Any, Any]:
    """Return the first and the last eight bytes of a name; for a shorter one all its bytes, twice. Eight bytes from
    `at` on can be loaded.
    """
    first = load64(src, at)
    if size < 8:
        first = keep(first, size)
        return first, first
    return first, load64(src, at + size - 8)


@njit(cache=True, nogil=True)
def _enter(data: Any, ends: Any, slots: Any) -> None:
    mask = len(slots) - 1
    for name in range(len(ends) - 1):
        size = ends[name + 1] - ends[name]
        first, last = _ends_of(data, ends[name], size)
        slot = _hash(first, last, size) & mask
        while slots[slot]:
            slot = (slot + 1) & mask
        slots[slot] = name + 1


@njit(cache=True, nogil=True, inline="always")
def _same(a: Bytes, at: int, b: Bytes, begin: int, size: Any) -> bool:
    for i in range(size):  # noqa: SIM110 - numba compiles no generator here
        if a[at + i] != b[begin + i]:
            return False
    return True


@njit(cache=True, nogil=True)
def _fits(
    src: Bytes,
    at: int,
    end: int,
    cuts: Any,
    sizes: Any,
    firsts: Any,
    lasts: Any,
    known: Any,
    data: Any,
    ends: Any,
    spots: Any,
) -> bool:
    """Split a record by the names of an earlier one. Return whether it has exactly these names, in order, once each,
    and all with a value.
    """
    begin = at
    item = cut = 0
    while at < end:
        name_end, value_end = cuts[cut], cuts[cut + 1]
        size = name_end - at
        if (
            size == 0
            or size != sizes[item]
            or src[name_end] != NAME_END
            or value_end - name_end < 2
            or (value_end < end and src[value_end] != ITEM_END)
        ):
            return False
        first, last = _ends_of(src, at, size)
        if first != firsts[item] or last != lasts[item]:
            return False
        name = known[item]
        if name >= 0:
            if size > 16 and not _same(src, at + 8, data, ends[name] + 8, size - 16):
                return False
            if 2 * name < len(spots):
                spots[2 * name], spots[2 * name + 1] = name_end + 1 - begin, value_end - name_end - 1
        item += 1
        cut += 2
        at = value_end + 1
    return sizes[item] == 0


@njit(cache=True, nogil=True)
def find(
    buf: Bytes,
    where: Any,
    marks: Any,
    bad: int,
    data: Any,
    ends: Any,
    slots: Any,
    own: int,
    spots: Any,
    untidy: Any,
    lengths: Any,
    like: Any,
) -> None:
    """Note where the values of well-known names are.

    `spots` has a line for each record: position (from where its properties begin) and length of the value of each of
    the first names, length -1 for none. `like` takes an earlier record with the same values at the same places, -1
    where none is known; the first `own` of `spots` do not count for that. `untidy` takes 1 where the text does not
    say what counts: an item is malformed (`marks` takes `bad` too), has no value, or may be replaced. `lengths` takes
    the length of the text without a separator at its end.
    """
    scratch = np.zeros(32768 + SLACK, np.uint8)
    cuts = np.zeros(32768 + 2, np.int64)
    seen, stamps = np.zeros((16384, 2), np.uint64), np.zeros(16384, np.int64)
    sizes, known = np.zeros((PATTERNS, ITEMS + 1), np.int64), np.zeros((PATTERNS, ITEMS), np.int64)
    firsts, lasts = np.zeros((PATTERNS, ITEMS), np.uint64), np.zeros((PATTERNS, ITEMS), np.uint64)
    known_mask = len(slots) - 1
    fixed, valued = np.zeros((SHAPES, BLOCKS), np.uint64), np.zeros((SHAPES, BLOCKS), np.uint64)
    shaped = np.full(SHAPES, -1, np.int64)
    earlier, blocks = np.empty((SHAPES, VARIANTS), np.int64), np.empty((SHAPES, VARIANTS), np.uint64)
    hits = kept = 0
    rows = where.shape[1]
    for row in range(rows):
        if row + AHEAD < rows:
            for ahead in range(
                where[PROPS, row + AHEAD], where[PROPS, row + AHEAD] + where[PROPS_LEN, row + AHEAD], 64
            ):
                fetch(buf, ahead)
        size = where[PROPS_LEN, row]
        mine = spots[row]
        like[row] = -1
        lengths[row] = size - (size > 0 and buf[where[PROPS, row] + size - 1] == ITEM_END)
        if size == 0:
            mine[:] = -1
            continue
        shape = size & (SHAPES - 1)
        other = shaped[shape]
        if other >= 0 and where[PROPS_LEN, other] == size and where[PROPS, row] + size + 32 <= len(buf):
            same, unlike = repeats(buf, where[PROPS, row], where[PROPS, other], size, fixed[shape], valued[shape])
            if same:
                for i in range(len(mine)):
                    mine[i] = spots[other, i]
                if unlike:
                    other = same_values(buf, row, where[PROPS], unlike, earlier[shape], blocks[shape], valued[shape])
                like[row] = other
                hits += 1
                continue
        mine[:] = -1
        src, begin = buf, where[PROPS, row]
        if begin + size + 32 > len(buf):
            # The last bytes of the file: nothing may be loaded behind them.
            scratch[:size] = buf[begin : begin + size]
            src, begin = scratch, np.int64(0)
        end = begin + size
        count = separators(src, begin, end, cuts)
        order = (count >> 1) & (PATTERNS - 1)
        if count <= 2 * ITEMS and _fits(
            src, begin, end, cuts, sizes[order], firsts[order], lasts[order], known[order], data, ends, mine
        ):
            # If lengths keep changing, remembering them is wasted time.
            if size <= 32 * BLOCKS and len(src) == len(buf) and kept <= 2 * hits + 4 * SHAPES:
                note(begin, count, cuts, mine[own:], fixed[shape], valued[shape])
                shaped[shape] = row
                earlier[shape] = -1
                kept += 1
            continue
        mine[:] = -1
        mask = np.int64(31)
        while mask < size // 4 and mask < 16383:
            mask = 2 * mask + 1
        at = begin
        cut = item = 0
        plain = alike = True
        while at < end:
            # The name goes up to the first 0x01, the value up to 0x02, whatever is in it.
            name_end = cuts[cut]
            cut += 1
            name_size = name_end - at
            if name_end >= end or src[name_end] == ITEM_END:
                plain = False
                if name_size > 0:
                    marks[row] |= bad
                at = name_end + 1
                continue
            while cuts[cut] < end and src[cuts[cut]] == NAME_END:
                cut += 1
            value, value_end = name_end + 1, cuts[cut]
            cut += 1
            name, at = at, value_end + 1
            if name_size == 0:
                marks[row] |= bad
            if name_size == 0 or value_end <= value:
                plain = False
                continue
            first, last = _ends_of(src, name, name_size)
            hashed = _hash(first, last, name_size)
            slot = hashed & mask
            while stamps[slot] == row + 1 and (seen[slot, 0] != first or seen[slot, 1] != last ^ np.uint64(name_size)):
                slot = (slot + 1) & mask
            # Two long names can agree at both ends; then their text is rebuilt although it need not be.
            plain = plain and stamps[slot] != row + 1
            stamps[slot], seen[slot, 0], seen[slot, 1] = row + 1, first, last ^ np.uint64(name_size)
            slot = hashed & known_mask
            while slots[slot]:
                begins = ends[slots[slot] - 1]
                if ends[slots[slot]] - begins == name_size and _same(src, name, data, begins, name_size):
                    break
                slot = (slot + 1) & known_mask
            number = slots[slot] - 1
            if 0 <= 2 * number < len(mine):
                mine[2 * number], mine[2 * number + 1] = value - begin, value_end - value
            # A pattern compares both ends of a name, and all of a well-known one.
            alike = alike and item < ITEMS and (name_size <= 16 or number >= 0)
            if alike:
                sizes[order, item], firsts[order, item], lasts[order, item], known[order, item] = (
                    name_size,
                    first,
                    last,
                    number,
                )
            item += 1
        if not plain:
            untidy[row] = 1
        sizes[order, item if plain and alike else 0] = 0


@njit(cache=True, nogil=True)
def join(
    maps: Any, codes: Any, name_ends: Any, names: Any, value_ends: Any, values: Any, offsets: Any, data: Any
) -> None:
    """Join the items of `properties.split`: one text per record, with separators between the items."""
    put = np.int64(0)
    offsets[0] = 0
    for row in range(len(maps) - 1):
        for item in range(maps[row], maps[row + 1]):
            if item > maps[row]:
                data[put] = ITEM_END
                put += 1
            for i in range(name_ends[codes[item]], name_ends[codes[item] + 1]):
                data[put] = names[i]
                put += 1
            data[put] = NAME_END
            put += 1
            for i in range(value_ends[item], value_ends[item + 1]):
                data[put] = values[i]
                put += 1
        offsets[row + 1] = put
