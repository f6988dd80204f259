"""Arrow types that several tables share."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
STRING_MAP: Final = pa.map_(pa.string(), pa.string())
TEXTS: Final = pa.dictionary(pa.int32(), pa.string())
"""Texts with few different values."""


def space(shape: int | tuple[int, int], dtype: type[np.generic]) -> np.ndarray:
    """Return an array to fill, from Arrow's memory pool: it hands pages out again where NumPy would ask the system for new ones each time."""
    size = (shape if isinstance(shape, int) else shape[0] * shape[1]) * np.dtype(dtype).itemsize
    return np.ndarray(shape, dtype, pa.allocate_buffer(size))


def taken(values: np.ndarray, which: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return the elements `which` of an array along an axis, as `np.take` does, in memory from `space`; `which` must be valid."""
    shape = len(which) if values.ndim == 1 else (values.shape[0], len(which)) if axis else (len(which), values.shape[1])
    # With its default mode `np.take` fills an array of its own first.
    return np.take(values, which, axis, space(shape, values.dtype.type), "clip")
