"""Split the properties of records into an Arrow map whose names are numbered: a numba kernel."""

from __future__ import annotations

from typing import Any, Final

import attrs
import numpy as np
import pyarrow as pa
from numba import njit

from kit.formats.arrow_types import CODED_MAP, TEXTS, space
from kit.formats.commitlog import strings
from kit.formats.commitlog.coding import coded, value_hash
from kit.formats.commitlog.columns import BAD_PROPERTIES, KEYS, PROPS, PROPS_LEN, SLACK, UNIQ_LEN
from kit.formats.commitlog.records import Bytes
from kit.formats.commitlog.shapes import BLOCKS, ITEM_END, NAME_END, SHAPES, note, repeats, separators
from kit.formats.commitlog.simd import copy32, keep, load64
from kit.rocketmq import names as rocketmq

_OWN: Final = tuple(name.encode() for name in (rocketmq.KEYS, rocketmq.TAGS, rocketmq.UNIQ_KEY))
"""The first names, whose values are columns of their own: in the order of `kit.formats.commitlog.columns`."""
_OWN_DATA: Final = np.frombuffer(b"".join(_OWN) + bytes(SLACK), np.uint8)
_OWN_ENDS: Final = np.cumsum([0, *map(len, _OWN)])
ITEMS: Final = 64
"""How many items a shape may have."""
_SLOTS: Final = 256
"""With how many places the table of names begins; it must be a power of two."""


@njit(cache=True, nogil=True)
def _drop_stale(stale: Any, begin: int, count: int, codes: Any, value_ends: Any, values: Any) -> int:
    """Remove the replaced items from the last record; return the new number of items."""
    kept = begin
    value_at = value_put = value_ends[begin]
    for item in range(begin, count):
        value_end = value_ends[item + 1]
        if not stale[item]:
            for i in range(value_at, value_end):
                values[value_put] = values[i]
                value_put += 1
            codes[kept] = codes[item]
            kept += 1
            value_ends[kept] = value_put
        value_at = value_end
    return kept


@njit(cache=True, nogil=True, inline="always")
def _named(names: Any, at: int, src: Bytes, name: int, size: int) -> bool:
    """Compare two names of the same length, behind which more bytes can be loaded."""
    for i in range(0, size - 7, 8):
        if load64(names, at + i) != load64(src, name + i):
            return False
    last = size & ~7
    return keep(load64(names, at + last) ^ load64(src, name + last), size & 7) == 0


@njit(cache=True, nogil=True)
def _code(src: Bytes, name: int, size: int, slots: Any, names: Any, name_ends: Any, count: int) -> int:
    """Return the number of a name, which is appended to the `count` names if it is new."""
    slot = value_hash(src, name, size) & (len(slots) - 1)
    while slots[slot]:
        code = slots[slot] - 1
        at = name_ends[code]
        if name_ends[code + 1] - at == size and _named(names, at, src, name, size):
            return code
        slot = (slot + 1) & (len(slots) - 1)
    put = name_ends[count]
    for i in range(0, size, 32):
        copy32(names, put + i, src, name + i)
    name_ends[count + 1] = put + size
    slots[slot] = count + 1
    return count


@njit(cache=True, nogil=True)
def _table(names: Any, name_ends: Any, count: int, size: int) -> Any:
    """Return a hash table of the names: their numbers from 1."""
    slots = np.zeros(size, np.int32)
    for code in range(count):
        at = name_ends[code]
        slot = value_hash(names, at, name_ends[code + 1] - at) & (size - 1)
        while slots[slot]:
            slot = (slot + 1) & (size - 1)
        slots[slot] = code + 1
    return slots


@njit(cache=True, nogil=True)
def split(
    buf: Bytes,
    where: Any,
    marks: Any,
    maps: Any,
    codes: Any,
    name_ends: Any,
    names: Any,
    latest: Any,
    value_ends: Any,
    values: Any,
    stale: Any,
) -> tuple[int, int]:
    """Split the properties of each record into names and values; return how many items, and how many different names.

    `maps`, `name_ends`, `value_ends` are Arrow offsets, `codes` takes the number of each item's name, `stale` is a
    byte an item, `latest` takes for each name the last record and item that have it. An item is split at its first
    0x01, one without a value is left out, and of two with one name the later counts
    (`MessageDecoder.string2messageProperties` 4.9.1+). Also notes where KEYS, TAGS and UNIQ_KEY are.
    """
    scratch = np.zeros(32768 + SLACK, np.uint8)
    cuts = np.zeros(32768 + 2, np.int64)
    fixed, valued = np.zeros((SHAPES, BLOCKS), np.uint64), np.zeros((SHAPES, BLOCKS), np.uint64)
    parts, shaped = np.zeros((SHAPES, ITEMS, 3), np.int32), np.full((SHAPES, 2), -1, np.int64)
    nothing = np.zeros(0, np.int16)
    own = len(_OWN_ENDS) - 1
    names[: len(_OWN_DATA)] = _OWN_DATA
    name_ends[: own + 1] = _OWN_ENDS
    latest[:own, 0] = -1
    slots, known = _table(names, name_ends, own, _SLOTS), own
    count = value_put = np.int64(0)
    hits = kept = 0
    maps[0] = value_ends[0] = 0
    for row in range(where.shape[1]):
        at, size = where[PROPS, row], where[PROPS_LEN, row]
        spots = where[KEYS : UNIQ_LEN + 1, row]
        spots[1] = spots[3] = spots[5] = -1
        shape = size & (SHAPES - 1)
        other = shaped[shape, 0]
        if (
            other >= 0
            and where[PROPS_LEN, other] == size
            and at + size + 32 <= len(buf)
            and repeats(buf, at, where[PROPS, other], size, fixed[shape], valued[shape])[0]
        ):
            for item in range(shaped[shape, 1]):
                code, start, length = parts[shape, item, 0], parts[shape, item, 1], parts[shape, item, 2]
                for i in range(0, length, 32):
                    copy32(values, value_put + i, buf, at + start + i)
                value_put += length
                codes[count] = code
                if code < own:
                    spots[2 * code], spots[2 * code + 1] = at + start, length
                latest[code, 0], latest[code, 1] = row, count
                count += 1
                value_ends[count] = value_put
            maps[row + 1] = count
            hits += 1
            continue
        source, begin = buf, at
        if at + size + 32 > len(buf):
            # The last bytes of the file: nothing may be loaded behind them.
            scratch[:size] = buf[at : at + size]
            source, begin = scratch, np.int64(0)
        cut_count = separators(source, begin, begin + size, cuts)
        first = count
        dead = cut = 0
        wrong, plain = False, True
        here, end = begin, begin + size
        while here < end:
            # The name: up to 0x01.
            name, name_end = here, cuts[cut]
            cut += 1
            name_size = name_end - name
            if name_end >= end or source[name_end] == ITEM_END:
                wrong, plain = wrong or name_size > 0, False
                here = name_end + 1
                continue
            # The value: up to 0x02, whatever is in it.
            while cuts[cut] < end and source[cuts[cut]] == NAME_END:
                plain = False
                cut += 1
            start, value_end = name_end + 1, cuts[cut]
            cut += 1
            value_size = value_end - start
            here = value_end + 1
            if name_size == 0 or value_size <= 0:
                wrong, plain = wrong or name_size == 0, False
                continue
            if 2 * known >= len(slots):
                slots = _table(names, name_ends, known, 4 * len(slots))
            code = _code(source, name, name_size, slots, names, name_ends, known)
            if code == known:
                known += 1
            elif latest[code, 0] == row:
                stale[latest[code, 1]] = 1
                dead += 1
            latest[code, 0], latest[code, 1] = row, count
            for i in range(0, value_size, 32):
                copy32(values, value_put + i, source, start + i)
            value_put += value_size
            if code < own:
                spots[2 * code], spots[2 * code + 1] = start + at - begin, value_size
            codes[count] = code
            stale[count] = 0
            if count - first < ITEMS:
                part = parts[shape, count - first]
                part[0], part[1], part[2] = code, start - begin, value_size
            count += 1
            value_ends[count] = value_put
        if wrong:
            marks[row] |= BAD_PROPERTIES
        # If lengths keep changing, remembering them is wasted time.
        shaped[shape, 0] = -1
        fits = plain and not dead and 0 < count - first <= ITEMS and size <= 32 * BLOCKS and begin == at
        if fits and kept <= 2 * hits + 4 * SHAPES:
            note(begin, cut_count, cuts, nothing, fixed[shape], valued[shape])
            shaped[shape, 0], shaped[shape, 1] = row, count - first
            kept += 1
        if dead:
            count = _drop_stale(stale, first, count, codes, value_ends, values)
            value_put = np.int64(value_ends[count])
        maps[row + 1] = count
    return count, known


@attrs.frozen
class Items:
    """The items of records: Arrow offsets of the maps, the number of each item's name, and names and values as Arrow
    offsets and data.
    """

    maps: np.ndarray
    codes: np.ndarray
    names: tuple[np.ndarray, np.ndarray]
    values: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, buf: Bytes, where: np.ndarray, marks: np.ndarray) -> Items:
        """Split the properties at `where`; records with a malformed item are marked."""
        sizes = where[PROPS_LEN]
        most, size = int((sizes // 4 + 1).sum()) + len(_OWN), int(sizes.sum()) + SLACK
        maps, codes = space(len(sizes) + 1, np.int32), space(most, np.int32)
        name_ends, names = space(most + 1, np.int32), space(size + len(_OWN_DATA), np.uint8)
        value_ends, values = space(most + 1, np.int32), space(size, np.uint8)
        latest, stale = space((most, 2), np.int64), space(most, np.uint8)
        count, known = split(buf, where, marks, maps, codes, name_ends, names, latest, value_ends, values, stale)
        return cls(maps, codes[:count], (name_ends[: known + 1], names), (value_ends[: count + 1], values))

    def array(self) -> tuple[pa.Array, np.ndarray | None]:
        """Return the map, and the records with bytes that are not UTF-8 (None if all are)."""
        names, bad_names = strings.decoded(*self.names)
        values, bad_values = strings.decoded(*self.values)
        keys = coded(self.codes, names, absent=False)
        broken = bad_values
        if bad_names is not None:
            # Names that were different may now be equal.
            keys = keys.cast(pa.string()).dictionary_encode()
            broken = bad_names[self.codes] | (False if bad_values is None else bad_values)
        key = pa.field("key", TEXTS, nullable=False)
        entries = pa.StructArray.from_arrays([keys, values], fields=[key, pa.field("value", pa.string())])
        buffers = [None, pa.py_buffer(self.maps)]
        found = pa.Array.from_buffers(CODED_MAP, len(self.maps) - 1, buffers, children=[entries])
        if broken is None:
            return found, None
        return found, np.unique(np.searchsorted(self.maps, np.flatnonzero(broken), side="right") - 1)
