"""One stretch of a text file → Arrow batches of log entries.

Reads in windows, folds continuation lines across their borders, and shortens giant lines.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Final

import attrs
import numpy as np
import pyarrow as pa

from kit.evidence.files import open_raw
from kit.formats.logs import fallback_layouts, pasted
from kit.formats.logs import fields as f
from kit.formats.logs import lines as ln
from kit.formats.logs import literal_matcher as nd
from kit.formats.logs.log_table import Options, Piece, instants, table
from kit.formats.logs.prefix import classify
from kit.formats.logs.schema import EVENT_FIELDS, SCHEMA
from kit.rocketmq import catalogue

__all__ = ["EVENT_FIELDS", "SCHEMA", "Options", "Piece", "batches", "instants", "read"]

WINDOW: Final = 8 << 20
PREFIX: Final = 1024
"""Bytes of an entry's prefix (time, level, thread) in which a second condition is looked for."""


@attrs.define
class _Window:
    """The lines and entries of one window; all positions are in `buf`, whose first `size` bytes are the file's from
    `base` on.
    """

    buf: np.ndarray
    base: int
    starts: np.ndarray
    ends: np.ndarray
    origins: np.ndarray
    rows: np.ndarray
    heads: np.ndarray


def read(file: io.FileIO, at: int, size: int) -> np.ndarray:
    """Return up to `size` bytes at `at`."""
    buf = np.empty(size, np.uint8)
    file.seek(at)
    got = 0
    while got < size:
        n = file.readinto(memoryview(buf)[got:])  # type: ignore[arg-type]
        if not n:
            break
        got += n
    return buf[:got]


def batches(piece: Piece, options: Options) -> Iterator[pa.RecordBatch]:
    """Yield the entries of a piece, about one batch for each 8 MiB of text."""
    with open_raw(piece.path) as file:
        size = file.seek(0, io.SEEK_END)
        skipping = piece.start > 0 and piece.line is None
        if piece.line is None:
            at, line = _align(file, piece, size)
        else:
            at, line, size = piece.start, piece.line, min(size, piece.end)
        while at < size and not (skipping and at >= piece.end):
            raw = read(file, at, min(WINDOW, size - at))
            if not raw.size:
                return
            whole = at + raw.size >= size
            window = _window(raw, at, piece, whole)
            count = window.heads.size
            kinds = window.rows[window.heads, f.KIND]
            first = 0
            if skipping:
                headed = np.flatnonzero(kinds > f.NONE)
                if not headed.size:
                    at, line = _next(file, window, raw.size, at, line, whole, size)
                    continue
                first, skipping = int(headed[0]), False
            beyond = np.flatnonzero((kinds > f.NONE) & (window.origins[window.heads] + at >= piece.end))
            beyond = beyond[beyond >= first]
            done = bool(beyond.size)
            stop = int(beyond[0]) if done else count if whole else count - 1
            if stop > first:
                yield _batch(window, first, stop, line, piece, options)
            if done or whole:
                return
            head = int(window.heads[stop])
            if head == 0:
                batch, at, line = _giant(file, window, line, piece, options, size)
                yield batch
            else:
                at, line = at + int(window.origins[head]), line + head


def _align(file: io.FileIO, piece: Piece, size: int) -> tuple[int, int]:
    """Return (position, line number) of the first line that starts in the piece."""
    if piece.start == 0:
        return 0, 1
    at = _line_feed(file, piece.start - 1, size)
    return at + 1, piece.before + 2


def _line_feed(file: io.FileIO, at: int, size: int) -> int:
    """Return the position of the first line feed from `at` on, the file's size if no line ends."""
    while at < size:
        found = np.flatnonzero(read(file, at, 1 << 20) == 10)
        if found.size:
            return at + int(found[0])
        at += 1 << 20
    return size


def _next(
    file: io.FileIO, window: _Window, read_bytes: int, at: int, line: int, whole: bool, size: int
) -> tuple[int, int]:
    """Return (position, line number) of the line after a window in which no entry starts."""
    if whole:
        return size, line
    complete = window.starts.size - 1
    if complete > 0:
        return at + int(window.origins[complete]), line + complete
    return _line_feed(file, at + read_bytes, size) + 1, line + 1


def _window(raw: np.ndarray, base: int, piece: Piece, whole: bool) -> _Window:
    starts, ends = ln.lines(raw)
    origins = starts
    single = piece.source == "mqadmin"
    if whole and not base and not single and (tidy := pasted.tidied(raw.tobytes())) is not None:
        raw = np.frombuffer(bytearray(tidy), np.uint8)
        starts, ends = ln.lines(raw)
    if single:
        rows = np.full((starts.size, f.FIELDS), -1, np.int64, order="F")
        rows[:, f.KIND], rows[:, f.MESSAGE] = f.MQADMIN, starts
    else:
        rows = classify(raw, starts, ends, piece.mode)
    buf = raw
    candidates = np.flatnonzero(rows[:, f.KIND] == f.RARE)
    if candidates.size:
        origins = origins.copy()
        buf = _understand(raw, candidates, starts, ends, rows, piece.mode)
    heads = np.empty(starts.size, np.int64)
    count = ln.fold(buf, starts, ends, rows[:, f.KIND], single, heads)
    return _Window(buf, base, starts, ends, origins, rows, heads[:count])


def _understand(
    raw: np.ndarray, candidates: np.ndarray, starts: np.ndarray, ends: np.ndarray, rows: np.ndarray, mode: int
) -> np.ndarray:
    """Hand the lines that the kernel could not split to `rare`; return the buffer with the rewritten ones behind it."""
    more: list[bytes] = []
    room = int(raw.size)
    collected = -1
    """The last line that a collector took as it was."""
    for i in candidates.tolist():
        text = raw[starts[i] : min(ends[i], starts[i] + ln.CAP)].tobytes()
        extra, replaced = fallback_layouts.understand(
            text, int(starts[i]), mode, rows[i], room, follows=collected == i - 1
        )
        if replaced:
            collected = i if rows[i, f.KIND] != f.JSON else collected
            more.append(extra)
            starts[i], ends[i] = room, room + len(extra)
            room += len(extra)
    return np.concatenate([raw, np.frombuffer(b"".join(more), np.uint8)]) if more else raw


def _clip(window: _Window, begin: np.ndarray, end: np.ndarray) -> None:
    """Shorten ranges over the cap: the ranges then point behind the window, at start + note + end."""
    for i in np.flatnonzero(end - begin > ln.CAP).tolist():
        a, b = int(begin[i]), int(end[i])
        text = ln.clipped(window.buf[a : a + ln.CAP - ln.TAIL], window.buf[b - ln.TAIL : b], b - a)
        begin[i], end[i] = window.buf.size, window.buf.size + text.size
        window.buf = np.concatenate([window.buf, text])


def _batch(window: _Window, first: int, stop: int, line: int, piece: Piece, options: Options) -> pa.RecordBatch:
    heads = window.heads[first:stop]
    after = np.append(window.heads[first + 1 : stop + 1], window.starts.size)[: heads.size]
    each = int(heads[-1]) - int(heads[0]) + 1 == heads.size  # no line was folded: nothing needs to be copied
    rows = window.rows[int(heads[0]) : int(heads[-1]) + 1] if each else window.rows.T[:, heads].T
    begin = np.where(rows[:, f.MESSAGE] < 0, window.starts[heads], rows[:, f.MESSAGE])
    end = np.maximum(window.ends[heads], begin)
    found = None
    if options.events:
        found = _events(window, heads, after, np.where(rows[:, f.MORE0] >= 0, rows[:, f.MORE0], begin), end)
    _clip(window, begin, end)
    message = ln.gather(window.buf, begin, end)
    folded, last = heads + 1, after.copy()
    more0, more1 = np.ascontiguousarray(rows[:, f.MORE0]), np.ascontiguousarray(rows[:, f.MORE1])
    _clip_traces(window, folded, last, more0, more1)
    trace = ln.join(window.buf, window.starts, window.ends, folded, last, more0, more1)
    return table(
        window.buf,
        rows,
        message,
        trace,
        line + heads,
        after - heads,
        window.base + window.origins[heads],
        found,
        piece,
        options,
    )


def _clip_traces(window: _Window, first: np.ndarray, last: np.ndarray, more0: np.ndarray, more1: np.ndarray) -> None:
    """Shorten traces over the cap in the same way; the lines of such a trace then count as one range."""
    size = window.ends[np.maximum(last - 1, 0)] - window.starts[np.minimum(first, window.starts.size - 1)]
    for i in np.flatnonzero((last > first) & (size > ln.CAP) & (more0 < 0)).tolist():
        a, b = window.starts[first[i]], window.ends[last[i] - 1]
        begin, end = np.array([a]), np.array([b])
        if b <= a:
            continue
        _clip(window, begin, end)
        more0[i], more1[i], last[i] = begin[0], end[0], first[i]


def _events(
    window: _Window, heads: np.ndarray, after: np.ndarray, begin: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (entry, event) pairs; every line of an entry is searched, the first behind its prefix."""
    low, high = int(heads[0]), int(after[-1])
    starts, ends = window.starts[low:high].copy(), window.ends[low:high].copy()
    starts[heads - low], ends[heads - low] = begin, end
    entry = np.repeat(np.arange(heads.size, dtype=np.int64), after - heads)
    found, event = nd.find(nd.known_texts(), window.buf, starts, ends, entry)

    gaps = starts[1:] - ends[:-1]
    apart = np.cumsum(np.append(False, (gaps != 1) & (gaps != 2)))
    """Behind how many lines the next one of the file does not follow: rewritten ones are elsewhere."""
    prefixed = window.starts[low:high]

    def text(i: int, prefix: bool) -> bytes:
        first, last = int(heads[i]) - low, int(after[i]) - low - 1
        if prefix:
            said = window.buf[prefixed[first] : starts[first]].tobytes() if prefixed[first] < starts[first] else b""
            return said[:PREFIX] + text(i, False)
        if first == last:
            return window.buf[starts[first] : ends[first]].tobytes()
        if apart[first] == apart[last] and ends[last] - starts[first] <= ln.CAP:
            return window.buf[starts[first] : ends[last]].tobytes().replace(b"\r\n", b"\n")
        mine = slice(first, last + 1)
        parts = (window.buf[a : min(b, a + ln.CAP)].tobytes() for a, b in zip(starts[mine], ends[mine], strict=True))
        return b"\n".join(parts)

    keep = confirmed(found, event, text)
    return found[keep], event[keep]


def confirmed(entry: np.ndarray, event: np.ndarray, text: Callable[[int, bool], bytes]) -> np.ndarray:
    """Return for each (entry, event) pair whether the event's second condition holds too.

    `text` returns an entry's message and trace, with its prefix if asked: known problems may depend on the thread.
    """
    keep = np.ones(entry.size, bool)
    rules = catalogue.confirmations()
    last, said = (-1, False), b""
    for i in np.flatnonzero(np.isin(event, list(rules))).tolist():
        asked = int(entry[i]), int(event[i]) >= len(catalogue.EVENTS)
        if asked != last:
            last, said = asked, text(*asked)
        keep[i] = bool(rules[int(event[i])](said))
    return keep


def _giant(
    file: io.FileIO, window: _Window, line: int, piece: Piece, options: Options, size: int
) -> tuple[pa.RecordBatch, int, int]:
    """Return the entry that fills the whole window, where it ends, and the number of the line after it; read in pieces."""
    begin = window.base
    row = window.rows[:1].copy()
    message = begin + int(row[0, f.MESSAGE] if row[0, f.MESSAGE] >= 0 else 0)
    single = row[0, f.KIND] <= f.NONE or piece.source == "mqadmin"
    seen: list[int] = []
    at, count, end, first_end = begin, 0, size, -1
    overlap = nd.known_texts().longest
    while at < size:
        raw = read(file, at, WINDOW)
        starts, ends = ln.lines(raw)
        rows = classify(raw, starts, ends, piece.mode)
        # A start without a line feed before it in this piece is the middle of a line.
        fresh = np.arange(starts.size) > 0
        stops = fresh if single else fresh & (rows[:, f.KIND] > f.NONE)
        stop = int(np.flatnonzero(stops)[0]) if stops.any() else starts.size
        if options.events:
            low = np.maximum(starts[:stop], max(message - at, 0))
            seen += [
                e
                for e in nd.find(nd.known_texts(), raw, low, np.maximum(ends[:stop], low), np.zeros(stop, np.int64))[
                    1
                ].tolist()
                if e not in seen
            ]
        if first_end < 0 and starts.size > 1:
            first_end = at + int(ends[0])
        if stop < starts.size:
            end, count = at + int(starts[stop]), count + stop
            break
        if at + raw.size >= size:
            count += starts.size
            break
        # Go on at the last line's start (its prefix may be cut), or inside it where it is the only one.
        step = int(starts[-1]) if starts.size > 1 else raw.size - overlap
        if starts.size > 1 and rows[-1, f.KIND] == f.NONE and raw.size - step > f.HEAD:
            step = max(step + 1, raw.size - overlap)
        count += starts.size - 1
        at += step
    first_end = end if first_end < 0 else first_end
    text = _read_clipped(file, message, first_end)
    rest = _rest(file, first_end, end)
    offsets = np.array([0, text.size], np.int32), np.array([0, rest.size], np.int32)
    event = np.array(seen, np.int32)
    event = event[confirmed(np.zeros(event.size, np.int64), event, lambda *_: text.tobytes() + b"\n" + rest.tobytes())]
    found = np.zeros(event.size, np.int64), event
    batch = table(
        window.buf,
        row,
        (offsets[0], text),
        (offsets[1], rest),
        np.array([line]),
        np.array([count]),
        np.array([begin]),
        found,
        piece,
        options,
    )
    return batch, end, line + count


def _read_clipped(file: io.FileIO, begin: int, end: int) -> np.ndarray:
    """Return a range of a file, shortened where it is over the cap."""
    size = max(end - begin, 0)
    if size <= ln.CAP:
        return read(file, begin, size)
    return ln.clipped(read(file, begin, ln.CAP - ln.TAIL), read(file, end - ln.TAIL, ln.TAIL), size)


def _rest(file: io.FileIO, first_end: int, end: int) -> np.ndarray:
    """Return the folded lines behind the first one, clipped."""
    raw = _read_clipped(file, first_end, end).tobytes().lstrip(b"\r").removeprefix(b"\n")
    return np.frombuffer(bytearray(raw.replace(b"\r\n", b"\n").rstrip(b"\r\n")), np.uint8)
