"""Arrow types that several tables share."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
STRING_MAP: Final = pa.map_(pa.string(), pa.string())
TEXTS: Final = pa.dictionary(pa.int32(), pa.string())
"""Texts with few different values."""
CODED_MAP: Final = pa.map_(TEXTS, pa.string())
"""Maps with few different names."""


def space(shape: int | tuple[int, int], dtype: type[np.generic]) -> np.ndarray:
    """Return an array to fill, from Arrow's memory pool, which reuses pages; NumPy would request new ones from the
    system each time.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(pa.allocate_buffer(size), np.uint8).view(dtype).reshape(shape)
