"""Columns of few values as numbers and a list of the values: numba kernels that look at each value where it is, and copy none."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from attrs import frozen
from numba import njit

from kit.formats.arrow_types import TEXTS, space
from kit.formats.commitlog.records import Bytes
from kit.formats.commitlog.simd import fetch, keep, load64

_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_TURN: Final = np.uint64(32)
AHEAD: Final = 16
"""How many records ahead a value is asked for: it is no longer in a cache that is near."""


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
def _hash(buf: Bytes, at: Any, size: Any) -> Any:
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
def _number(
    buf: Bytes, base: Any, at: Any, sizes: Any, like: Any, tables: Any, codes: Any, firsts: Any, counts: Any
) -> None:
    rows, columns = sizes.shape
    mask = tables.shape[1] - 1
    before = np.empty((columns, 2), np.int64)
    counts[:] = 0
    for row in range(rows):
        if row + AHEAD < rows:
            fetch(buf, base[row + AHEAD] + at[row + AHEAD, 0])
        if like[row] >= 0:
            for column in range(columns):
                code = codes[column, like[row]]
                codes[column, row] = code
                counts[column, 0] += code >= 0
            continue
        for column in range(columns):
            size = np.int64(sizes[row, column])
            if size < 0:
                codes[column, row] = -1
                continue
            here = base[row] + at[row, column]
            if counts[column, 0] == 0:
                tables[column] = 0
            else:
                # Mostly the value of the record before.
                last = before[column, 0]
                if sizes[last, column] == size and _alike(buf, here, base[last] + at[last, column], size):
                    codes[column, row] = before[column, 1]
                    counts[column, 0] += 1
                    continue
            counts[column, 0] += 1
            slot = _hash(buf, here, size) & mask
            while tables[column, slot]:
                other = firsts[column, tables[column, slot] - 1]
                if sizes[other, column] == size and _alike(buf, here, base[other] + at[other, column], size):
                    break
                slot = (slot + 1) & mask
            if not tables[column, slot]:
                firsts[column, counts[column, 1]] = row
                counts[column, 1] += 1
                tables[column, slot] = counts[column, 1]
            code = tables[column, slot] - 1
            codes[column, row] = code
            before[column, 0], before[column, 1] = firsts[column, code], code


@frozen
class Coded:
    """A column: the number of each record's value (-1: none), how many records have one, and the record each value is first in."""

    codes: np.ndarray
    present: int
    firsts: np.ndarray

    def ordered(self, order: np.ndarray, place: np.ndarray) -> Coded:
        """Return the column with its records in this order; `place` is where each of them is then."""
        return Coded(self.codes[order], self.present, place[self.firsts])

    def array(self, values: pa.Array) -> pa.DictionaryArray:
        """Return the column, given the texts of the records in `firsts`."""
        return coded(self.codes, values, absent=self.present < len(self.codes))


def coded(codes: np.ndarray, values: pa.Array, *, absent: bool) -> pa.DictionaryArray:
    """Return a column of these values by their numbers (int32). `absent`: some are -1, for none."""
    if not len(values):
        return pa.nulls(len(codes), TEXTS)
    validity = pa.py_buffer(np.packbits(codes >= 0, bitorder="little")) if absent else None
    numbers = pa.Array.from_buffers(pa.int32(), len(codes), [validity, pa.py_buffer(codes)])
    return pa.DictionaryArray.from_arrays(numbers, values, safe=False)


def number(buf: Bytes, base: np.ndarray, at: np.ndarray, sizes: np.ndarray, like: np.ndarray) -> list[Coded]:
    """Number the different values of columns: `at` and `sizes` (-1: none) have a line for each record, positions count from
    the record's `base`; `like`: an earlier record that has the same values, -1 where none is known.
    """
    rows, columns = sizes.shape
    codes, firsts = space((columns, rows), np.int32), space((columns, rows), np.int32)
    counts, tables = np.empty((columns, 2), np.int64), space((columns, 1 << (2 * rows).bit_length()), np.int32)
    _number(buf, base, at, sizes, like, tables, codes, firsts, counts)
    return [
        Coded(codes[n], present, firsts[n, :different].astype(np.int64))
        for n, (present, different) in enumerate(counts.tolist())
    ]
