"""Files that are still being written: how far they have whole log entries, lines and records."""

import io
import os
from bisect import bisect_left
from typing import Final

import numpy as np

from kit.formats.commitlog import segments, walk
from kit.formats.commitlog.schema import File
from kit.formats.logs.entries import line_feed, read_window
from kit.formats.logs.schema import Piece

STEP: Final = 64 << 10


def last_entry(file: io.FileIO, begin: int, end: int, source: str) -> int:
    """Return where the last entry that starts in `[begin, end)` starts; `begin` must be the start of a line.

    Everything before that place is complete: the entry that starts there shows that the one above gets no more lines.
    """
    piece, size = Piece("", "", source=source), STEP
    while begin < end:
        at = begin if end - size <= begin else line_feed(file, end - size, end) + 1
        size *= 8
        if at < end:
            window = read_window(file, at, end, piece, inside=False)
            headed = window.heads[window.matches.row[window.heads] >= 0]
            if headed.size or at == begin:
                return int(window.origins[headed[-1] if headed.size else window.heads[-1]])
    return begin


def line_end(file: io.FileIO, begin: int, end: int) -> int:
    """Return the position after the last line feed in `[begin, end)`, `begin` if no line ends there."""
    while end > begin:
        start = max(begin, end - STEP)
        place = os.pread(file.fileno(), end - start, start).rfind(b"\n")
        if place >= 0:
            return start + place + 1
        end = start
    return begin


def records_end(stream: io.FileIO, file: File, begin: int, most: int, *, is_last: bool) -> int:
    """Return where the whole records behind `begin` end, at most some `most` bytes on.

    What is no record is waited for, since it may become one; it is passed over where a record that belongs there
    follows, or where the file is not the last one of its log (`is_last`) and so is written no more.
    """
    at = begin
    if any(os.pread(stream.fileno(), 64, begin)):
        at = _whole_end(stream, file, begin, min(file.length, begin + most + segments.BACK), most)
    return at if is_last or at > begin else file.length


def present_end(stream: io.FileIO, file: File) -> int:
    """Return where the records of a file end now, without reading the file from its beginning.

    It is zero behind its records: bisection reads some fourteen pages of 1 GiB, none of them cold.
    """
    pages = range((file.length + STEP - 1) // STEP)
    used = bisect_left(pages, True, key=lambda page: not any(os.pread(stream.fileno(), STEP, page * STEP)))
    end = min(file.length, used * STEP)
    start = max(0, end - segments.BACK)
    at = _whole_end(stream, file, start, end, segments.BACK)
    return at if at > start else end


def _whole_end(stream: io.FileIO, file: File, begin: int, end: int, most: int) -> int:
    """Return where the last whole record or filler between two positions ends, `begin` without one."""
    buf, (starts, sizes, marks, gaps) = np.empty(end - begin, np.uint8), segments.places()
    segments.read(stream, buf, begin, end, begin)
    count, lost, _ = walk.walk(
        buf, 0, len(buf), file.length - begin, file.base + begin, file.head, most, starts, sizes, marks, gaps
    )
    ends = (starts + sizes)[:count][marks[:count] == 0]
    blank = gaps[:lost][gaps[:lost, 2] == walk.BLANK]
    return begin + int(max(ends.max(initial=0), blank[:, 1].max(initial=0)))
