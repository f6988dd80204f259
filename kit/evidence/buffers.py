"""Bytes of a file in memory, at the positions they have in the file.

A process that touches a mapped file where it was just truncated is killed by the system (SIGBUS). Bytes that were read stay.
"""

from __future__ import annotations

import contextlib
import io
import mmap
import os
from typing import Any, Final

import numpy as np

from kit.evidence.files import Shrunk

CHUNK: Final = 1 << 20
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def space(size: int) -> Bytes:
    """Return zeros for a whole file; they take no memory until something is read into them."""
    if not size:
        return np.empty(0, np.uint8)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    held = mmap.mmap(-1, size, flags=flags)
    if huge := getattr(mmap, "MADV_HUGEPAGE", None):
        # Allocating pages one by one takes as long as reading into them. Not every system has larger pages.
        with contextlib.suppress(OSError):
            held.madvise(huge)
    return np.frombuffer(held, np.uint8)


def read(file: io.FileIO, buf: Bytes, start: int, stop: int) -> None:
    """Read the file's bytes from `start` to `stop` into the same places of `buf`. Raise `Shrunk` if it ends before."""
    into = buf.data
    while start < stop:
        count = os.preadv(file.fileno(), [into[start : min(start + CHUNK, stop)]], start)
        if not count:
            raise Shrunk(os.fstat(file.fileno()).st_size, stop)
        start += count


def whole(file: io.FileIO) -> Bytes:
    """Return all bytes of a file of moderate size."""
    size = os.fstat(file.fileno()).st_size
    buf = space(size)
    read(file, buf, 0, size)
    return buf


def mapped(file: io.FileIO, size: int) -> Bytes:
    """Map a file that is too large for memory and not read in order; nothing is read before it is touched. Raise `Shrunk`."""
    left = os.fstat(file.fileno()).st_size
    if left < size:
        raise Shrunk(left, size)
    return np.memmap(file, np.uint8, "r", shape=(size,))
