"""One stretch of a text file → Arrow batches of log entries: a window of bytes at a time, continuation lines folded."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from typing import Final

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.evidence.files import open_raw
from kit.formats.logs import source_code
from kit.formats.logs.known_texts import confirmed, known_texts
from kit.formats.logs.layouts import STACK, TRACE, Matches, classify, unwrapped
from kit.formats.logs.schema import Options, Piece
from kit.formats.logs.times import NO_ZONE, Times, instants, parse
from kit.formats.printed_times import NANO_LAST_MS
from kit.formats.values import ranges
from kit.rocketmq import catalogue
from kit.rocketmq.log_layouts import BROKER_SIDE, LAYOUTS, SLUGS

WINDOW: Final = 8 << 20
MANY: Final = 1 << 20
"""Lines in a window, of which each takes some 300 bytes of columns; a window with more is made smaller."""
CAP: Final = 1 << 20
"""Bytes kept of a message, a trace or a line; of a longer one the start and the end, the cut noted."""
TAIL: Final = 128 << 10
"""Bytes kept of the end of a longer one: RocketMQ prints a message first and what happened to it behind it."""

_PYTHON: Final = re.compile(
    rb"^Traceback \(most recent call last\):\r?\n(?:[ \t].*\n)*(?:[^ \t\n].*\n?)?(?:[ \t].*\n?)*"
    rb"|of RPC that terminated with:\r?\n(?:[ \t].*\n?)*",
    re.MULTILINE,
)
"""An exception in Python is the first line behind its frames that is not indented; below a failed gRPC call's stand its
status and details (grpc/_channel.py, grpc/aio/_call.py)."""

_GMT8: Final = 480
HALF_AN_HOUR: Final = 1_800_000
_ALL_SLUGS: Final = pa.array(SLUGS, pa.string())
_KNOWN: Final = pa.array([*catalogue.SLUGS, "*"], pa.string())
_UNKNOWN, _MQADMIN = SLUGS.index("unknown"), SLUGS.index("mqadmin")
# Of each row, and at the end (index -1) of lines without a layout:
_SLUG: Final = np.array([*(SLUGS.index(row.layout) for row in LAYOUTS), _UNKNOWN], np.int32)
_OTHERWISE: Final = np.array([*(SLUGS.index(row.otherwise or row.layout) for row in LAYOUTS), _UNKNOWN], np.int32)
_TWICE: Final = np.array([*(row.fraction == "seconds twice" for row in LAYOUTS), False])
_CHINA: Final = np.array([*(row.zone == "GMT+8" for row in LAYOUTS), False])
_OF_BROKER: Final = np.array([*(row.of == "broker" for row in LAYOUTS), False])


@attrs.define
class Window:
    """Lines and entries of some bytes of a file; `starts` and `ends` are places in `text`, `origins` in the file.

    `next` is where the file goes on; `heads` is the first line of each entry, `after` the line behind it.
    """

    text: bytes
    starts: np.ndarray
    ends: np.ndarray
    origins: np.ndarray
    next: int
    matches: Matches
    heads: np.ndarray
    after: np.ndarray


def batches(piece: Piece, options: Options) -> Iterator[pa.RecordBatch]:
    """Yield the entries of a piece, about one batch for each 8 MiB of text."""
    with open_raw(piece.path) as file:
        size = file.seek(0, io.SEEK_END)
        at, line, inside = piece.start, piece.line or 1, False
        searching = piece.start > 0 and piece.line is None
        if searching:
            at, line = line_feed(file, piece.start - 1, size) + 1, piece.before + 2
        elif piece.line is not None:
            size = min(size, piece.end)
        while at < size and not (searching and at >= piece.end):
            window = read_window(file, at, size, piece, inside)
            whole, count = window.next >= size, window.heads.size
            headed = window.matches.row[window.heads] >= 0
            first = 0
            if searching:
                first = int(np.argmax(headed)) if headed.any() else count
                searching = first == count
            beyond = np.flatnonzero(headed & (window.origins[window.heads] >= piece.end))
            beyond = beyond[beyond >= first]
            done = whole or bool(beyond.size)
            # The last entry may go on: it is read again, unless it fills the window.
            inside = count == 1 and not done and not searching
            stop = int(beyond[0]) if beyond.size else count if whole or inside or searching else count - 1
            if stop > first:
                yield _batch(window, slice(first, stop), line, piece, options)
            if done:
                return
            end = int(window.after[stop - 1])
            at = int(window.origins[end]) if end < window.starts.size else window.next
            line += end


# --- bytes and lines -------------------------------------------------------------------------------------------------


def line_feed(file: io.FileIO, at: int, size: int) -> int:
    """Return the position of the first line feed from `at` on, the file's size if no line ends."""
    while at < size:
        place = os.pread(file.fileno(), CAP, at).find(b"\n")
        if place >= 0:
            return at + place
        at += CAP
    return size


def count_lines(file: io.FileIO, begin: int, end: int) -> int:
    """Return how many line feeds are in `[begin, end)`."""
    count = 0
    while begin < end and (data := os.pread(file.fileno(), min(8 << 20, end - begin), begin)):
        count += data.count(b"\n")
        begin += len(data)
    return count


def lines(text: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return starts and ends of the lines in `text`; the LF and a CR before it belong to none."""
    buf = np.frombuffer(text, np.uint8)
    feeds = np.flatnonzero(buf == ord("\n"))
    starts, ends = np.append(0, feeds + 1), np.append(feeds, buf.size)
    if starts[-1] == buf.size:
        starts, ends = starts[:-1], ends[:-1]
    return starts, ends - ((ends > starts) & (buf[ends - 1] == ord("\r")) if buf.size else 0)


def _filled(file: io.FileIO, at: int, size: int) -> tuple[bytes, list[tuple[int, int]], int]:
    """Return about `WINDOW` bytes from `at`, lines that do not end among them without their middle; (place, bytes left
    out before it) of each cut, and where the file goes on.
    """
    parts: list[bytes] = []
    cuts: list[tuple[int, int]] = []
    length = 0
    while at < size and length < WINDOW:
        raw = os.pread(file.fileno(), min(WINDOW - length, size - at), at)
        if np.count_nonzero(np.frombuffer(raw, np.uint8) == ord("\n")) > MANY:
            raw, length = raw[: len(raw) // 8], WINDOW
        last = raw.rfind(b"\n") + 1
        start, at = at + last, at + len(raw)
        if len(raw) - last > CAP:
            end = line_feed(file, at, size)
            at = min(end + 1, size)
            tail = os.pread(file.fileno(), TAIL, end - TAIL)
            cut = clipped(os.pread(file.fileno(), CAP - TAIL, start), tail, end - start)
            raw = raw[:last] + cut + b"\n"[: at - end]
            cuts.append((length + len(raw), at - start - (len(raw) - last)))
        parts.append(raw)
        length += len(raw)
        if not raw:
            break
    return b"".join(parts), cuts, at if parts and parts[-1] else size


def clipped(head: bytes, tail: bytes, size: int) -> bytes:
    """Return the start and the end of a text of `size` bytes, the cut noted; no UTF-8 character is cut."""
    head = re.sub(rb"(?:[\xc0-\xff]|[\xe0-\xff][\x80-\xbf]|[\xf0-\xff][\x80-\xbf]{2})\Z", b"", head)
    tail = re.sub(rb"\A[\x80-\xbf]{1,3}", b"", tail)
    return head + f"…[{size - len(head) - len(tail)} bytes cut]…".encode() + tail


def _clip(values: pa.Array) -> pa.Array:
    if len(values) == 0 or (pc.max(pc.binary_length(values)).as_py() or 0) <= CAP:
        return values
    cut = [v if len(v) <= CAP else clipped(v[: CAP - TAIL], v[-TAIL:], len(v)) for v in values.to_pylist()]
    return pa.array(cut, pa.binary())


# --- entries ---------------------------------------------------------------------------------------------------------


def read_window(file: io.FileIO, at: int, size: int, piece: Piece, inside: bool) -> Window:
    text, cuts, behind = _filled(file, at, size)
    starts, ends = lines(text)
    origins = at + starts
    for place, removed in cuts:
        origins[starts >= place] += removed
    is_cut = behind < size and not text.endswith(b"\n")  # the last line goes on behind the window
    if piece.source == "mqadmin":
        matches, heads = Matches(np.full(starts.size, -1, np.int16), starts), np.arange(starts.size)
    else:
        if at == 0 and behind >= size:
            text = source_code.tidied(text)
            starts, ends = lines(text)
        text, starts, ends = unwrapped(text, starts, ends, piece.layouts)
        matches = classify(text, starts, ends, piece.layouts)
        heads = fold(text, starts, ends, matches.row, inside=inside)
    return Window(text, starts, ends, origins, behind, matches, heads, np.append(heads[1:], starts.size - is_cut))


def fold(text: bytes, starts: np.ndarray, ends: np.ndarray, row: np.ndarray, *, inside: bool = False) -> np.ndarray:
    """Return the line that starts each entry.

    A line without a layout continues the entry above it. Where no line above has one, and no entry goes on there
    (`inside`), it is an entry of its own, unless it is a line of a stack trace behind another line: `Caused by` behind
    one that belongs to an exception, as whoever copies only the cause puts it below words of his own.
    """
    headed = np.flatnonzero(row >= 0)
    loose = int(headed[0]) if headed.size else starts.size
    if inside or not loose:
        return np.append(0, headed) if loose else headed
    each, forms = ranges(text, starts[:loose], ends[:loose]), (TRACE, "^[ \t]*Caused ", f"Exception|Error|://|{TRACE}")
    below, cause, thrown = (np.asarray(pc.match_substring_regex(each, form), dtype=bool).copy() for form in forms)
    below[1:] &= thrown[:-1] | ~cause[1:]
    python = b"Traceback (" in text or b"of RPC that" in text
    for match in _PYTHON.finditer(text, 0, int(ends[loose - 1]) + 1) if python else ():
        low, high = np.searchsorted(starts, [match.start(), match.end() - 1], "right")
        below[low : min(high, loose)] = True
    # What follows an empty line has nothing above it that it could belong to.
    above = np.append(False, ends[: loose - 1] > starts[: loose - 1])
    return np.append(np.flatnonzero(~(below & above)), headed)


def _batch(window: Window, chosen: slice, line: int, piece: Piece, options: Options) -> pa.RecordBatch:
    """Return the columns of some entries of a window; `line` is the number of its first line."""
    text, starts, ends, matches = window.text, window.starts, window.ends, window.matches
    heads, after = window.heads[chosen], window.after[chosen]
    begins = np.minimum(matches.message[heads], ends[heads])
    below = np.where(after > heads + 1, starts[np.minimum(heads + 1, starts.size - 1)], ends[heads])
    printed = ranges(text, begins, ends[heads]), ranges(text, below, ends[after - 1])

    def whole(entries: np.ndarray, prefix: bool) -> pa.BinaryArray:
        """Return the message of each of these entries and what is folded below it, behind its prefix if asked."""
        at = starts[heads[entries]] if prefix else begins[entries]
        return ranges(text, at, np.minimum(ends[after[entries] - 1], at + CAP))

    rows = matches.row[heads]
    message, trace = (_strings(each, piece.encoding) for each in _shown(*printed, stacks=STACK.encode() in text))
    trace = pc.ascii_rtrim(trace, "\n")
    stamps = matches.column("ts", heads)
    times = parsed(stamps, rows)
    repeats = times.fraction == times.ms // 1000 % 60 if piece.seconds_twice is None else piece.seconds_twice
    twice = _TWICE[rows] & repeats
    slugs = np.where(_TWICE[rows] & ~twice, _OTHERWISE[rows], _SLUG[rows])
    if piece.source == "mqadmin":
        slugs[:] = _MQADMIN
    local = times.ms - np.where(twice, np.maximum(times.fraction, 0), 0)
    columns: list[pa.Array] = [
        _same(piece.file, rows.size),
        pa.array(line + heads, pa.int32()),
        pa.array(after - heads, pa.int32()),
        _instants(local, times.east, rows, piece, options),
        _strings(stamps, piece.encoding),
        *(_coded(_strings(matches.column(name, heads), piece.encoding)) for name in ("level", "thread", "logger")),
        _same(piece.source, rows.size),
        message,
        pc.if_else(pc.equal(trace, ""), None, trace),
        pa.DictionaryArray.from_arrays(pa.array(slugs), _ALL_SLUGS),
    ]
    if options.events:
        entry, event = known_texts().find(*printed)
        is_one = confirmed(entry, event, whole)
        entry, event = entry[is_one], event[is_one]
        counts = np.append(0, np.cumsum(np.bincount(entry, minlength=heads.size))).astype(np.int32)
        columns.append(pa.ListArray.from_arrays(pa.array(counts), _KNOWN.take(pa.array(event))))
        several = np.diff(counts)
        known = np.zeros(heads.size, np.int32)
        known[several == 1] = event[counts[:-1][several == 1]]
        known[several > 1] = len(catalogue.SLUGS)
        columns.append(pa.DictionaryArray.from_arrays(pa.array(known, mask=several == 0), _KNOWN))
        columns.append(pa.array(window.origins[heads], pa.int64()))
    return pa.RecordBatch.from_arrays(columns, names=options.schema.names)


# --- columns ---------------------------------------------------------------------------------------------------------


def _shown(message: pa.BinaryArray, folded: pa.BinaryArray, *, stacks: bool) -> tuple[pa.Array, pa.Array]:
    """Return messages and what is folded below them as users see them. `stacks`: some messages hold one of their own."""
    message, trace = _clip(message), _clip(pc.replace_substring(folded, b"\r\n", b"\n"))
    if stacks:
        parts = [each.partition(STACK.encode()) for each in message.to_pylist()]
        message = pa.array([part[0] for part in parts], pa.binary())
        traces = zip((part[2] for part in parts), trace.to_pylist(), strict=True)
        trace = pa.array([b"\n".join(filter(None, both)) for both in traces], pa.binary())
    return message, trace


def _strings(values: pa.Array, encoding: str | None) -> pa.Array:
    """Return bytes as text; those that do not fit the encoding (UTF-8) become `\\xNN`."""
    if encoding is None:
        try:
            return values.cast(pa.string())
        except pa.ArrowInvalid:
            encoding = "utf-8"
    decoded = [None if v is None else v.decode(encoding, "backslashreplace") for v in values.to_pylist()]
    return pa.array(decoded, pa.string())


def _coded(values: pa.Array) -> pa.DictionaryArray:
    values = pc.ascii_trim_whitespace(values)
    return pc.if_else(pc.equal(values, ""), None, values).dictionary_encode()


def _same(value: str, count: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([value]))


def parsed(texts: pa.Array, rows: np.ndarray) -> Times:
    """Return printed times, parsed as the layout of each line says."""
    times = parse(texts)
    for formats in {LAYOUTS[row].time for row in np.unique(rows).tolist() if row >= 0} - {()}:
        own = np.flatnonzero([row >= 0 and LAYOUTS[row].time == formats for row in rows.tolist()])
        for all_values, values in zip(times, parse(texts.take(own), formats), strict=True):
            all_values[own] = values
    return times


def printed(text: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of the lines of a text with a layout and a time: the layout's row, ms as printed, minutes east."""
    matches = classify(*unwrapped(text, *lines(text), "text"), "text")
    headed = np.flatnonzero(matches.row >= 0)
    rows = matches.row[headed]
    times = parsed(matches.column("ts", headed), rows)
    dated = times.ms > 0
    return rows[dated], times.ms[dated], times.east[dated]


def _instants(ms: np.ndarray, east: np.ndarray, rows: np.ndarray, piece: Piece, options: Options) -> pa.Array:
    """Return instants by the zone of the line, else the declared one, the layout's, the file's, UTC."""
    none = (ms < 0) | (ms > NANO_LAST_MS)
    floating = east == NO_ZONE
    out = np.where(floating | none, 0, ms - east * 60000)
    copied = piece.source in BROKER_SIDE and _copied(ms, ~_CHINA[rows] & floating & ~none, _OF_BROKER[rows] & ~none)
    east_of_file = piece.zone_minutes
    for mask, declared, otherwise in (
        (_OF_BROKER[rows], options.tz_broker, _GMT8),
        (~_OF_BROKER[rows] & _CHINA[rows], options.tz_app, _GMT8),
        (~_CHINA[rows], options.tz_app if east_of_file is None else east_of_file, _GMT8 if copied else 0),
    ):
        chosen = mask & floating & ~none
        if chosen.any():
            out[chosen] = instants(ms[chosen], otherwise if declared is None else declared)
    return pa.array(out * 1000, pa.int64(), mask=none).cast(pa.timestamp("us", "UTC"))


def _copied(ms: np.ndarray, others: np.ndarray, own: np.ndarray) -> bool:
    """Return whether lines of a client in a broker's log are of its own times: they were copied there, in its zone."""
    if not (others.any() and own.any()):
        return False
    first, last = ms[own].min() - HALF_AN_HOUR, ms[own].max() + HALF_AN_HOUR
    return bool(first < ms[others].min() and ms[others].max() < last)
