"""Finds the whole records of a commit log file that is still being written, and its end."""

from __future__ import annotations

import io
import os
from bisect import bisect_left
from typing import Final

from numba import njit

from kit.evidence import buffers
from kit.formats.commitlog import walk
from kit.formats.commitlog.records import Bytes, is_zero
from kit.formats.commitlog.schema import File

BACK: Final = 8 << 20
"""More than the largest message of a default broker."""
PAGE: Final = 64 << 10
STEP: Final = 4 << 20


@njit(cache=True, nogil=True)
def whole(buf: Bytes, start: int, end: int, base: int, head: int) -> int:
    """Return the end of the run of records that begins at `start`."""
    at = start
    while at < end:
        size, mark = walk.frame(buf, at, end, base, head)
        if not size or mark:
            break
        at += size
    return at


def records_end(stream: io.FileIO, file: File, begin: int, most: int, *, is_last: bool) -> int:
    """Return where the whole records behind `begin` end, at most some `most` bytes on.

    What is no record is waited for, since it may become one; it is passed over where a record that belongs there
    follows, or where the file is not the last one of its log (`is_last`) and so is written no more.
    """
    at, left, step = begin, most, STEP
    while at < file.length and left > 0:
        if not any(os.pread(stream.fileno(), 64, at)):
            return at if is_last else file.length
        end = min(file.length, at + min(left, step) + BACK)
        step *= 8
        buf = buffers.space(end)
        buffers.read(stream, buf, at, end)
        behind = int(whole(buf, at, end, file.base, file.head))
        if behind == at:
            behind = int(walk.filler(buf, at, end, file.length, file.base, file.head))
            if behind == at and not is_zero(buf, at, end):
                behind = int(walk.resync(buf, at, end, file.base, file.head))
                behind = at if behind == end else behind
            if behind == at:
                return file.length if not is_last else at
        left -= behind - at
        at = behind
    return at


def present_end(stream: io.FileIO, file: File) -> int:
    """Return where the records of a file end now, without reading the file from its beginning.

    It is zero behind its records: bisection reads some fourteen pages of 1 GiB, none of them cold.
    """
    pages = range((file.length + PAGE - 1) // PAGE)
    used = bisect_left(pages, True, key=lambda page: not any(os.pread(stream.fileno(), PAGE, page * PAGE)))
    end = min(file.length, used * PAGE)
    start = max(0, end - BACK)
    buf = buffers.space(end)
    buffers.read(stream, buf, start, end)
    at = int(walk.resync(buf, start, end, file.base, file.head)) if start else 0
    return int(whole(buf, at, end, file.base, file.head)) if at < end else end
