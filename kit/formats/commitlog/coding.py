"""Columns with few distinct values, as numbers and a list of the values: numba kernels that compare values in place
and copy none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from attrs import frozen
from numba import njit

from kit.formats.arrow_types import TEXTS, space, taken
from kit.formats.commitlog.records import Bytes
from kit.formats.commitlog.simd import fetch, keep, load64

_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_TURN: Final = np.uint64(32)
AHEAD: Final = 16
"""How many records ahead a value is prefetched: by now it has left the near caches."""


@njit(cache=True, nogil=True, inline="always")
def _short(buf: Bytes, at: Any, size: Any) -> Any:
    """Return up to seven bytes as a number."""
    if at + 8 <= len(buf):
        return keep(load64(buf, at), size)
    word = np.uint64(0)
    for i in range(size):
        word |= np.uint64(buf[at + i]) << np.uint64(8 * i)
    return word


@njit(cache=True, nogil=True, inline="always")
def _alike(buf: Bytes, a: Any, b: Any, size: Any) -> bool:
    if size < 8:
        return _short(buf, a, size) == _short(buf, b, size)
    for i in range(0, size - 8, 8):
        if load64(buf, a + i) != load64(buf, b + i):
            return False
    return load64(buf, a + size - 8) == load64(buf, b + size - 8)


@njit(cache=True, nogil=True, inline="always")
def value_hash(buf: Bytes, at: Any, size: Any) -> Any:
    """Return a hash of all bytes of a value."""
    hashed = np.uint64(size) * _MIX
    if size < 8:
        hashed = (hashed ^ _short(buf, at, size)) * _MIX
    else:
        for i in range(0, size - 8, 8):
            hashed = (hashed ^ load64(buf, at + i)) * _MIX
            hashed ^= hashed >> _TURN
        hashed = (hashed ^ load64(buf, at + size - 8)) * _MIX
    return np.int64(hashed >> _TURN)


@njit(cache=True, nogil=True)
def _number(buf: Bytes, base: Any, spots: Any, sizes: Any, tables: Any, codes: Any, firsts: Any, counts: Any) -> None:
    columns, rows = sizes.shape
    mask = tables.shape[1] - 1
    before = np.empty((columns, 2), np.int64)
    counts[:] = 0
    for row in range(rows):
        if row + AHEAD < rows:
            fetch(buf, base[row + AHEAD] + spots[0, row + AHEAD])
        for column in range(columns):
            size = np.int64(sizes[column, row])
            if size < 0:
                codes[column, row] = -1
                continue
            here = base[row] + spots[column, row]
            if counts[column] == 0:
                tables[column] = 0
            else:
                # Usually it is the value of the record before.
                last = before[column, 0]
                if sizes[column, last] == size and _alike(buf, here, base[last] + spots[column, last], size):
                    codes[column, row] = before[column, 1]
                    continue
            slot = value_hash(buf, here, size) & mask
            while tables[column, slot]:
                other = firsts[column, tables[column, slot] - 1]
                if sizes[column, other] == size and _alike(buf, here, base[other] + spots[column, other], size):
                    break
                slot = (slot + 1) & mask
            if not tables[column, slot]:
                firsts[column, counts[column]] = row
                counts[column] += 1
                tables[column, slot] = counts[column]
            code = tables[column, slot] - 1
            codes[column, row] = code
            before[column, 0], before[column, 1] = firsts[column, code], code


@njit(cache=True, nogil=True)
def _kinds(like: Any, which: Any, firsts: Any) -> int:
    """Number the records that do not repeat the values of an earlier one (kinds), and return how many there are."""
    count = 0
    for row in range(len(like)):
        if like[row] >= 0:
            which[row] = which[like[row]]
        else:
            which[row], firsts[count] = count, row
            count += 1
    return count


@frozen
class Coded:
    """A column: the value number of each kind of record (-1: no value), the record in which each value first occurs,
    and the kind of each record (None: every record is a kind of its own).
    """

    numbers: np.ndarray
    firsts: np.ndarray
    which: np.ndarray | None = None

    @property
    def codes(self) -> np.ndarray:
        """The value number of each record."""
        return self.numbers if self.which is None else taken(self.numbers, self.which)

    @property
    def present(self) -> bool:
        """Whether any record has a value."""
        return len(self.firsts) > 0

    def array(self, values: pa.Array) -> pa.DictionaryArray:
        """Return the column; `values` are the texts of the records in `firsts`."""
        return coded(self.codes, values, absent=bool((self.numbers < 0).any()))


def ordered(columns: Sequence[Coded], order: np.ndarray) -> list[Coded]:
    """Return the columns with their records reordered."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    kinds = {id(each.which): each.which for each in columns}
    moved = {key: None if which is None else taken(which, order) for key, which in kinds.items()}
    return [
        Coded(taken(c.numbers, order) if c.which is None else c.numbers, place[c.firsts], moved[id(c.which)])
        for c in columns
    ]


def coded(codes: np.ndarray, values: pa.Array, *, absent: bool) -> pa.DictionaryArray:
    """Return a column of these values from their numbers (int32). `absent`: some numbers are -1, for null."""
    if not len(values):
        return pa.nulls(len(codes), TEXTS)
    validity = pa.py_buffer(np.packbits(codes >= 0, bitorder="little")) if absent else None
    numbers = pa.Array.from_buffers(pa.int32(), len(codes), [validity, pa.py_buffer(codes)])
    return pa.DictionaryArray.from_arrays(numbers, values, safe=False)


def number(buf: Bytes, base: np.ndarray, spots: np.ndarray, like: np.ndarray | None = None) -> list[Coded]:
    """Number the distinct values of columns. `spots` has a row for each record: position and length (-1: none) of each
    value in turn, counted from the record's `base`. `like`: an earlier record that has the same values, -1 where none is
    known.
    """
    which, kinds = None, None
    if like is not None:
        which, kinds = space(len(like), np.int32), space(len(like), np.int64)
        kinds = kinds[: _kinds(like, which, kinds)]
        base, spots = taken(base, kinds), taken(spots, kinds, 0)
    return _coded(buf, base, spots.T[::2], spots.T[1::2], which, kinds)


def number_at(buf: Bytes, at: np.ndarray, sizes: np.ndarray) -> Coded:
    """Number the distinct values of one column, of which each begins `at` and has one of these sizes (-1: none)."""
    return _coded(buf, at, np.zeros((1, len(at)), np.int16), sizes[np.newaxis], None, None)[0]


def _coded(
    buf: Bytes,
    base: np.ndarray,
    spots: np.ndarray,
    sizes: np.ndarray,
    which: np.ndarray | None,
    kinds: np.ndarray | None,
) -> list[Coded]:
    """Number columns of which `spots` and `sizes` have a row each."""
    columns, rows = sizes.shape
    codes, firsts = space((columns, rows), np.int32), space((columns, rows), np.int32)
    counts, tables = np.empty(columns, np.int64), space((columns, 1 << (2 * rows).bit_length()), np.int32)
    _number(buf, base, spots, sizes, tables, codes, firsts, counts)
    first = [firsts[n, :different].astype(np.int64) for n, different in enumerate(counts.tolist())]
    return [Coded(codes[n], each if kinds is None else kinds[each], which) for n, each in enumerate(first)]
