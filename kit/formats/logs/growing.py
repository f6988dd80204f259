"""Which part of a log that is still being written consists of complete entries."""

from __future__ import annotations

import io
from typing import Final

import numpy as np

from kit.formats.logs.entries import fold, lines, read
from kit.formats.logs.layouts import classify
from kit.formats.logs.wrapped import unwrapped
from kit.rocketmq.log_layouts import Files

STEP: Final = 64 << 10


def last_entry(file: io.FileIO, begin: int, end: int, layouts: Files) -> int:
    """Return where the last entry that starts in `[begin, end)` starts; `begin` must be the start of a line.

    Everything before that place is complete: the entry that starts there shows that the one above gets no more lines.
    """
    size = STEP
    while True:
        start = max(begin, end - size)
        raw = read(file, start, end - start)
        starts, ends = lines(raw)
        if start > begin:
            starts, ends = starts[1:], ends[1:]  # the first of these lines began earlier
        if starts.size:
            text, begins, stops = unwrapped(raw, starts, ends, layouts)
            row = classify(text, begins, stops, layouts).row
            if (row >= 0).any():
                return start + int(starts[np.flatnonzero(row >= 0)[-1]])
            if start == begin:  # No line has a layout: each is an entry of its own, but for stack traces.
                return start + int(starts[fold(text, begins, stops, row)[-1]])
        elif start == begin:
            return begin
        size *= 8


def line_end(file: io.FileIO, begin: int, end: int) -> int:
    """Return the position after the last line feed in `[begin, end)`, `begin` if no line ends there."""
    while end > begin:
        start = max(begin, end - STEP)
        place = read(file, start, end - start).rfind(b"\n")
        if place >= 0:
            return start + place + 1
        end = start
    return begin


def count_lines(file: io.FileIO, begin: int, end: int) -> int:
    """Return how many line feeds are in `[begin, end)`."""
    count = 0
    while begin < end and (data := read(file, begin, min(8 << 20, end - begin))):
        count += data.count(b"\n")
        begin += len(data)
    return count
