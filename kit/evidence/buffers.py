"""Bytes of a file in memory, at the positions they have in the file.

A process that touches a mapped file where it was just truncated is killed (SIGBUS). Bytes that were read stay.
"""

from __future__ import annotations

import contextlib
import io
import mmap
import os
import threading
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from kit.evidence.files import Shrunk

CHUNK: Final = 1 << 20
KEEPS: Final = 16 << 20
"""Bytes of memory that a thread keeps for its next reading: a window of a commit log with what is around it."""
_PRIVATE: Final = mmap.MAP_PRIVATE | getattr(mmap, "MAP_NORESERVE", 0)
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def space(size: int) -> Bytes:
    """Return zeros for a whole file; they take no memory until something is read into them."""
    if not size:
        return np.empty(0, np.uint8)
    pages = mmap.mmap(-1, size, flags=_PRIVATE | mmap.MAP_ANONYMOUS)
    if huge := getattr(mmap, "MADV_HUGEPAGE", None):
        # Allocating pages one by one takes as long as reading into them. Not every system has larger pages.
        with contextlib.suppress(OSError):
            pages.madvise(huge)
    return np.frombuffer(pages, np.uint8)


_own = threading.local()


@contextlib.contextmanager
def lent(size: int) -> Iterator[Bytes]:
    """Lend memory in which anything may be; a thread is lent the same again: new pages take long."""
    last = _own.__dict__.pop("held", None) if size <= KEEPS else None
    pages = space(max(size, KEEPS)) if last is None else last
    try:
        yield pages[:size]
    finally:
        if size <= KEEPS:
            _own.held = pages


def read(file: io.FileIO, buf: Bytes, start: int, stop: int, first: int = 0) -> None:
    """Read the bytes from `start` to `stop` to the same places of `buf`, which begins at `first`. Raise `Shrunk`."""
    into = buf.data
    while start < stop:
        count = os.preadv(file.fileno(), [into[start - first : min(start + CHUNK, stop) - first]], start)
        if not count:
            raise Shrunk(os.fstat(file.fileno()).st_size, stop)
        start += count


def read_all(file: io.FileIO) -> Bytes:
    """Return all bytes of a file of moderate size."""
    size = os.fstat(file.fileno()).st_size
    buf = space(size)
    read(file, buf, 0, size)
    return buf


def mapped(file: io.FileIO, size: int) -> Bytes:
    """Map a file that is too large for memory; nothing is read before it is touched. Raise `Shrunk`."""
    left = os.fstat(file.fileno()).st_size
    if left < size:
        raise Shrunk(left, size)
    # As if it could be written to (nothing does, and it would not reach the file): for arrays that cannot, each kernel
    # would have to be compiled once more, which takes a minute.
    return np.frombuffer(mmap.mmap(file.fileno(), size, flags=_PRIVATE), np.uint8)
