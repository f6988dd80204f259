"""The text of properties: where its separators are, and what records with the same names at the same places have in
common. Numba kernels that look at 32 bytes at a time.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from kit.formats.commitlog.records import Bytes
from kit.formats.commitlog.simd import ONE, low_bit, match32, same32
from kit.rocketmq import binary_format as f

NAME_END, ITEM_END = np.uint8(f.NAME_VALUE_SEPARATOR), np.uint8(f.PROPERTY_SEPARATOR)
SHAPES: Final = 64
BLOCKS: Final = 64
"""Properties written by one client often have the same lengths as well: how many such shapes are remembered, and how
many blocks of 32 bytes a shape may have.
"""
VARIANTS: Final = 8
"""How many records with other well-known values are remembered of a shape; it must be a power of two."""
_ZERO: Final = np.uint64(0)


@njit(cache=True, nogil=True)
def separators(src: Bytes, at: int, end: int, found: Any) -> int:
    """List where 0x01 and 0x02 are in `src[at:end]`, behind which 32 more bytes can be loaded, then `end` twice;
    return how many.
    """
    count = 0
    for block in range(at, end, 32):
        bits = match32(src, block, NAME_END) | match32(src, block, ITEM_END)
        if end - block < 32:
            bits &= (ONE << np.uint64(end - block)) - ONE
        while bits:
            found[count] = block + low_bit(bits)
            bits &= bits - ONE
            count += 1
    found[count] = found[count + 1] = end
    return count


@njit(cache=True, nogil=True, inline="always")
def repeats(src: Bytes, at: int, other: int, size: int, fixed: Any, valued: Any) -> tuple[bool, Any]:
    """Return whether a record has the names of another one at the same places, and a bit for each block in which the well-known values differ.
    `fixed` has a bit for each byte of names and separators, `valued` for each of those values.
    """
    unlike = _ZERO
    for block in range((size + 31) >> 5):
        i = 32 * block
        names = fixed[block]
        same = same32(src, at + i, other + i)
        if same & names != names:
            return False, _ZERO
        more = (match32(src, at + i, NAME_END) | match32(src, at + i, ITEM_END)) & ~names
        if size - i < 32:
            more &= (ONE << np.uint64(size - i)) - ONE
        if more:
            return False, _ZERO
        unlike |= np.uint64((valued[block] & ~same) != _ZERO) << np.uint64(block)
    return True, unlike


@njit(cache=True, nogil=True, inline="always")
def same_values(src: Bytes, row: int, places: Any, unlike: Any, earlier: Any, blocks: Any, valued: Any) -> int:
    """Return the one of the `earlier` records of a shape whose well-known values the record `row` repeats; where none does, -1, and it becomes one of
    them.

    `unlike`: the blocks that differ from the first of the shape, `blocks` those of each earlier record; `places`: where the properties of each
    record begin.
    """
    n = 0
    while n < VARIANTS and earlier[n] >= 0:
        if blocks[n] == unlike:
            left, here, there = unlike, places[row], places[earlier[n]]
            while left:
                block = low_bit(left)
                if valued[block] & ~same32(src, here + 32 * block, there + 32 * block):
                    break
                left &= left - ONE
            if not left:
                return earlier[n]
        n += 1
    n = n if n < VARIANTS else row & (VARIANTS - 1)
    earlier[n], blocks[n] = row, unlike
    return -1


@njit(cache=True, nogil=True)
def _paint(bits: Any, first: int, last: int) -> None:
    for i in range(first, last):
        bits[i >> 5] |= ONE << np.uint64(i & 31)


@njit(cache=True, nogil=True)
def note(begin: int, count: int, cuts: Any, spots: Any, fixed: Any, valued: Any) -> None:
    """Note where names and separators are, and the values at `spots`: names and values end at `cuts` in turn."""
    fixed[:] = 0
    valued[:] = 0
    at = begin
    for item in range(0, count, 2):
        _paint(fixed, at - begin, cuts[item] + 1 - begin)
        at = cuts[item + 1] + 1
        if item + 1 < count:
            _paint(fixed, at - 1 - begin, at - begin)
    for spot in range(0, len(spots), 2):
        _paint(valued, spots[spot], spots[spot] + spots[spot + 1])
