"""Which part of a log that is still being written consists of complete entries."""

from __future__ import annotations

import io
from typing import Final

import numpy as np

from kit.formats.logs import fallback_layouts
from kit.formats.logs import fields as f
from kit.formats.logs import lines as ln
from kit.formats.logs.entries import read
from kit.formats.logs.prefix import classify

STEP: Final = 64 << 10


def last_entry(file: io.FileIO, begin: int, end: int, mode: int) -> int:
    """Return where the last entry that starts in `[begin, end)` starts; `begin` must be the start of a line.

    Everything before that place is complete: the entry that starts there shows that the one above gets no more lines.
    """
    size = STEP
    while True:
        start = max(begin, end - size)
        raw = read(file, start, end - start)
        starts, ends = ln.lines(raw)
        if start > begin:
            starts, ends = starts[1:], ends[1:]  # the first of these lines began earlier
        if starts.size:
            rows = classify(raw, starts, ends, mode)
            for i in np.flatnonzero(rows[:, f.KIND] == f.RARE).tolist():
                line = raw[starts[i] : min(ends[i], starts[i] + ln.CAP)].tobytes()
                fallback_layouts.understand(line, int(starts[i]), mode, rows[i], int(raw.size))
            headed = np.flatnonzero(rows[:, f.KIND] > f.NONE)
            if headed.size:
                return start + int(starts[headed[-1]])
            if start == begin:
                # No line has a prefix: each is an entry of its own, but for stack traces.
                heads = np.empty(starts.size, np.int64)
                count = ln.fold(raw, starts, ends, rows[:, f.KIND], False, heads)
                return start + int(starts[heads[count - 1]])
        elif start == begin:
            return begin
        size *= 8


def line_end(file: io.FileIO, begin: int, end: int) -> int:
    """Return the position after the last line feed in `[begin, end)`, `begin` if no line ends there."""
    while end > begin:
        start = max(begin, end - STEP)
        feeds = np.flatnonzero(read(file, start, end - start) == 10)
        if feeds.size:
            return start + int(feeds[-1]) + 1
        end = start
    return begin


def count_lines(file: io.FileIO, begin: int, end: int) -> int:
    """Return how many line feeds are in `[begin, end)`."""
    count = 0
    while begin < end:
        data = read(file, begin, min(8 << 20, end - begin))
        if not data.size:
            break
        count += ln.count_lf(data)
        begin += data.size
    return count
