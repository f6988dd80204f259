"""Which layout each line of a text fits, and the time, level, thread and logger that it prints: `layouts.yaml`,
compiled. Before that lines that hold a log line in another form: JSON, colours of a terminal, a container's stream.

Whole columns of lines are matched at once (RE2). A line takes the first row that fits it.
"""

import contextlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import attrs
import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.formats.patterns import forms
from kit.formats.values import ranges
from kit.rocketmq.log_layouts import LAYOUTS, Files, Layout

PARTS: Final = forms("layouts")


def _filled(form: str) -> str:
    """Return a form with its parts in the place of their names."""
    return re.sub(r"\{([a-z]+)\}", lambda name: _filled(PARTS[name[1]]), form)


PLACES: Final = {name: _filled(form) for name, form in forms("layout_places").items()}
TRACE: Final = PLACES["trace"]
HEAD: Final = 1024
"""No prefix is looked for behind so many bytes of a line."""

_FIRST_INSIDE: Final = 200
_TIMED: Final = ("{time}", "{seconds}", "(?P<ts>{date}[ T]")

_Row = tuple[int, str]
"""The number of a row of `LAYOUTS`, and its compiled form."""


@cache
def _rows(files: Files) -> tuple[list[_Row], list[_Row]]:
    """Return the rows for lines that begin with an ISO time, and all others."""
    valid = [(number, row) for number, row in enumerate(LAYOUTS) if row.regex and files in row.files]
    timed = [(number, row) for number, row in valid if row.regex.startswith(_TIMED)]
    zoned = [_row(*each, time="{zoned}") for each in timed if "{time}" in each[1].regex]
    first, last = ([_row(*each) for each in timed if each[1].outside is outside] for outside in (True, False))
    return [*first, *zoned, *last], [_row(*each) for each in valid if each not in timed]


def _row(number: int, layout: Layout, time: str = "{time}") -> _Row:
    prefix, _, rest = _filled(layout.regex.replace("{time}", time)).partition("…")
    return number, f"^(?P<prefix>{prefix}){rest}"


@attrs.define
class Matches:
    """Of lines: the row of `LAYOUTS` that each fits (-1: it continues the entry above), where its message begins."""

    row: np.ndarray
    message: np.ndarray
    _parts: list[tuple[np.ndarray, pa.StructArray]] = attrs.field(factory=list)

    def column(self, name: str, lines: np.ndarray) -> pa.Array:
        """Return `ts`, `level`, `thread` or `logger` of these lines, null where a line prints none."""
        place = np.full(self.row.size, -1, np.int64)
        values, size = [pa.array([], pa.binary())], 0
        for at, parts in self._parts:
            if parts.type.get_field_index(name) >= 0:
                place[at] = np.arange(size, size + at.size)
                values.append(parts.field(name))
                size += at.size
        chosen = place[lines]
        return pa.concat_arrays(values).take(pa.array(chosen, mask=chosen < 0))

    def add(self, row: int, lines: np.ndarray, begins: np.ndarray, parts: pa.StructArray) -> None:
        if LAYOUTS[row].entry:
            self.row[lines] = row
            self.message[lines] = begins + np.asarray(pc.binary_length(parts.field("prefix")))
            self._parts.append((lines, parts))


def classify(text: bytes, starts: np.ndarray, ends: np.ndarray, files: Files) -> Matches:
    """Match the lines of a text, in a file of which it is known whose layouts hold there."""
    matches = Matches(np.full(starts.size, -1, np.int16), starts.copy())
    buf = np.frombuffer(text, np.uint8)
    timed, others = _rows(files)
    lines = np.flatnonzero(_dated(buf, starts, ends))
    _match(matches, timed, text, lines, _behind_runtime(text, buf, lines, starts[lines], ends), ends)
    # Most lines without a date are frames.
    frames = (buf[starts] == ord("\t")) & (buf[np.minimum(starts + 1, buf.size - 1)] == ord("a"))
    lines = np.flatnonzero((matches.row < 0) & (ends - starts > 4) & ~frames)
    heads = _heads(text, lines, starts[lines], ends)
    places = PLACES["quoted"], PLACES["near"], TRACE
    quoted, near, trace = (np.asarray(pc.match_substring_regex(heads, each)) for each in places)
    near = (near | quoted) & ~trace
    lines, heads, quoted = lines[near], heads.filter(pa.array(near)), quoted[near]
    if not lines.size:
        return matches
    at = np.asarray(pc.find_substring_regex(heads, PLACES["inside"]))
    begins = starts[lines] + at
    begins += (at >= 0) & ~np.isin(buf[begins], np.frombuffer(b"0123456789[", np.uint8))
    for mask, rows in ((quoted, timed), (~quoted, [row for row in timed if LAYOUTS[row[0]].outside])):
        mask &= (at >= 0) & (at < _FIRST_INSIDE) & (buf[starts[lines]] != ord(OBJECT))
        inside = lines[mask]
        _match(matches, rows, text, inside, _behind_runtime(text, buf, inside, begins[mask], ends), ends)
    lines = lines[matches.row[lines] < 0]
    _match(matches, others, text, lines, starts[lines], ends)
    return matches


def _dated(buf: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return which lines have the signs of an ISO date and time at their places."""
    long = ends - starts >= 20
    at = np.where(long, starts, 0)
    if buf.size < 20:
        return long
    at = at + (buf[at] == ord("["))
    return long & (buf[at + 13] == ord(":")) & (buf[at + 16] == ord(":")) & (buf[at + 4] == buf[at + 7])


def _heads(text: bytes, lines: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> pa.BinaryArray:
    return ranges(text, begins, np.minimum(ends[lines], begins + HEAD))


def _behind_runtime(
    text: bytes, buf: np.ndarray, lines: np.ndarray, begins: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    """Return where these lines begin behind the times (two at most) that a container's runtime put in front of them."""
    for _ in range(2):
        there = np.flatnonzero(buf[np.minimum(begins + 10, buf.size - 1)] == ord("T"))
        if not there.size:
            break
        parts = pc.extract_regex(_heads(text, lines[there], begins[there], ends), PLACES["runtime"])
        begins = begins.copy()
        begins[there] += np.asarray(pc.fill_null(pc.binary_length(parts.field("runtime")), 0))
    return begins


def _match(
    matches: Matches, rows: Iterable[_Row], text: bytes, lines: np.ndarray, begins: np.ndarray, ends: np.ndarray
) -> None:
    """Match lines from `begins` on with rows in their order."""
    heads = _heads(text, lines, begins, ends)
    for row, regex in rows:
        # Where the first line fits, most do; finding out which would cost as much again.
        if pc.match_substring_regex(heads[:1], regex).to_pylist() == [True]:
            parts = pc.extract_regex(heads, regex)
            fits = np.asarray(parts.is_valid())
        else:
            fits = np.asarray(pc.match_substring_regex(heads, regex))
            parts = pc.extract_regex(heads.filter(pa.array(fits)), regex)
        if fits.all():
            matches.add(row, lines, begins, parts)
            return
        if fits.any():
            matches.add(row, lines[fits], begins[fits], parts.drop_null())
            heads, lines, begins = heads.filter(pa.array(~fits)), lines[~fits], begins[~fits]


# --- lines that hold a log line in another form -----------------------------------------------------------------------

FIELD, OBJECT, STACK = "\x1f", "\x1e", "\x1d"
"""Between the parts of a JSON entry, before it, and before its stack trace: layout `json` reads them so."""

_ANSI: Final = re.compile(rb"\x1b\[[0-9;]{0,12}m")
_STREAM: Final = re.compile(rb"(?m)^(\d{4}-\d\d-\d\dT\S{9,24}) std(?:out|err) [FP] ")
_TRACE: Final = re.compile(TRACE.encode())
_THROWN: Final = re.compile(rb"(?:[a-z]\w*\.)+[\w.$]*(?:Exception|Error|Throwable)(?::|\s*$)")

_OUTSIDE: Final = np.array([row.outside for row in LAYOUTS])
_MEMBERS: Final = next(row.members for row in LAYOUTS if row.members)
_HITS: Final = ("_source", "result", "jsonPayload", "content", "attributes")
"""Where Elasticsearch, Splunk, Google Cloud and Datadog put the entry in what a search is saved as."""


def unwrapped(text: bytes, starts: np.ndarray, ends: np.ndarray, files: Files) -> tuple[bytes, np.ndarray, np.ndarray]:
    """Return the text with each such line as it was printed, and where its lines are now; their number stays."""
    plain: dict[int, bytes] = {}
    buf = np.frombuffer(text, np.uint8)
    if (buf[np.minimum(starts + len("2024-05-14"), buf.size - 1)] == ord("T")).any():
        text = _STREAM.sub(rb"\1          ", text)
    if b"\x1b" in text:
        for i in np.unique(np.searchsorted(starts, np.flatnonzero(buf == 0x1B), "right") - 1).tolist():
            plain[i] = _ANSI.sub(b"", text[starts[i] : ends[i]])
    if text.startswith(b"[{"):  # Grafana downloads all entries in one line: `jq -c '.[]'` writes one a line
        plain[0] = b""
    objects = np.flatnonzero((ends - starts > 12) & (buf[np.minimum(starts, buf.size - 1)] == ord("{")))
    plain |= _of_objects({i: text[starts[i] : ends[i]] for i in objects.tolist()}, files)
    if not plain:
        return text, starts, ends
    lines = ranges(text, starts, ends).to_pylist()
    for i, line in plain.items():
        lines[i] = line
    return _joined(lines)


def _joined(lines: list[bytes]) -> tuple[bytes, np.ndarray, np.ndarray]:
    """Return lines as one text, and where each begins and ends."""
    ends = np.cumsum([len(line) + 1 for line in lines]) - 1
    # The last line may be empty: it begins in the text all the same.
    return b"\n".join([*lines, b""]), ends - [len(line) for line in lines], ends


def _first(entry: dict[str, Any], names: Sequence[str]) -> Any:
    return next((entry[name] for name in names if entry.get(name) is not None), None)


def _decoded(raw: bytes) -> Any:
    with contextlib.suppress(ValueError, RecursionError):
        return msgspec.json.decode(raw)
    # Python takes NaN, half a surrogate pair (a logger cut the text), and bytes of another encoding, which stay.
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(raw.decode("utf-8", "surrogateescape")) if raw.rstrip().endswith(b"}") else None
    return None


def _of_objects(objects: Mapping[int, bytes], files: Files) -> dict[int, bytes]:
    """Return the line that each of these JSON objects holds, by the number of its line; without those that hold none."""
    entries = {i: line for i, raw in objects.items() if (line := _of_object(raw)) is not None}
    collected = {i: line[0] for i, line in entries.items() if isinstance(line, tuple)}
    # All at once: one at a time takes a millisecond each.
    row = classify(*_joined([*collected.values()]), files).row if collected else np.empty(0, np.int16)
    # Only a layout that may stand behind others' prefixes.
    laid_out = dict(zip(collected, (row >= 0) & _OUTSIDE[row], strict=True))
    plain: dict[int, bytes] = {}
    before = -1
    for i, line in entries.items():
        if isinstance(line, tuple):
            own, printed = line
            # An exception on its own may be what somebody searched for; behind a line of a layout that logged it.
            is_line = laid_out[i] or _TRACE.match(own) or (before == i - 1 and _THROWN.match(own))
            line = own.replace(b"\n", b"\r") if is_line else printed
        plain[i] = line
        before = before if line.startswith(OBJECT.encode()) else i
    return plain


def _of_object(raw: bytes) -> bytes | tuple[bytes, bytes] | None:
    """Return the line that a JSON object holds, None if it is no log entry; of a collector that takes lines as they are
    what it holds, which may be a line of a layout or of a stack trace, and the entry that it is if not.
    """
    entry = _decoded(raw)
    if not isinstance(entry, dict):
        return None
    # Docker's json-file driver wraps a line of the program.
    if isinstance(entry.get("log"), str) and "stream" in entry:
        return _bytes(entry["log"].rstrip("\r\n")).replace(b"\n", b"\r")
    if isinstance(entry.get("hits"), dict):  # a whole answer of Elasticsearch: `jq -c '.hits.hits[]'`
        return b""
    hit = _first(entry, _HITS)
    entry = {**entry, **hit} if isinstance(hit, dict) else entry
    time, level, thread, logger, message, stack = (_first(entry, names) for names in _MEMBERS.values())
    if isinstance(stack, dict):  # an error as an object: ECS, bunyan, pino
        stack = _first(stack, ("stack_trace", "stack", "message"))
    if isinstance(time, dict):
        time = time.get("epochSecond")
    if not isinstance(message, str) or not isinstance(time, str | int | float):
        return None
    printed = (OBJECT + str(time), level, thread, logger, message)
    parts = FIELD.join("" if part is None else str(part) for part in printed)
    if stack is None and level is None:
        return _bytes(message.rstrip("\r\n")), _bytes(parts)
    return _bytes(parts + STACK + stack if isinstance(stack, str) else parts)


def _bytes(text: str) -> bytes:
    with contextlib.suppress(UnicodeEncodeError):
        return text.encode("utf-8", "surrogateescape")
    return text.encode("utf-8", "replace")
