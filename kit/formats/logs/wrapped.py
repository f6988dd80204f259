"""Lines that hold a log line in another form: JSON, colours of a terminal, a container's stream."""

import json
import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np

from kit.formats.logs.layouts import TRACE, classify, ranges
from kit.rocketmq.log_layouts import LAYOUTS, Files

FIELD, OBJECT, STACK = "\x1f", "\x1e", "\x1d"
"""Between the parts of a JSON entry, before it, and before its stack trace: layout `json` reads them so."""

_ANSI: Final = re.compile(rb"\x1b\[[0-9;]{0,12}m")
_STREAM: Final = re.compile(rb"(?m)^(\d{4}-\d\d-\d\dT\S{9,24}) std(?:out|err) [FP] ")
_TRACE: Final = re.compile(TRACE.encode())
_THROWN: Final = re.compile(rb"(?:[a-z]\w*\.)+[\w.$]*(?:Exception|Error|Throwable)(?::|\s*$)")

_MEMBERS: Final = next(row.members for row in LAYOUTS if row.members)
_HITS: Final = ("_source", "result", "jsonPayload")
"""Where Elasticsearch, Splunk and Google Cloud put the entry in what a search is saved as."""


def unwrapped(text: bytes, starts: np.ndarray, ends: np.ndarray, files: Files) -> tuple[bytes, np.ndarray, np.ndarray]:
    """Return the text with each such line as it was printed, and where its lines are now; their number stays."""
    plain: dict[int, bytes] = {}
    buf = np.frombuffer(text, np.uint8)
    if (buf[np.minimum(starts + len("2024-05-14"), buf.size - 1)] == ord("T")).any():
        text = _STREAM.sub(rb"\1          ", text)
    if b"\x1b" in text:
        for i in np.flatnonzero(_holds(text, 0x1B, starts, ends)).tolist():
            plain[i] = _ANSI.sub(b"", text[starts[i] : ends[i]])
    if text.startswith(b"[{"):  # Grafana downloads all entries in one line: `jq -c '.[]'` writes one a line
        plain[0] = b""
    objects = np.flatnonzero((ends - starts > 12) & (buf[np.minimum(starts, buf.size - 1)] == ord("{")))
    collected = -1
    for i in objects.tolist():
        line = _of_object(text[starts[i] : ends[i]], files, follows=collected == i - 1)
        if line is not None:
            plain[i] = line
            collected = -1 if line.startswith(OBJECT.encode()) else i
    if not plain:
        return text, starts, ends
    lines = ranges(text, starts, ends).to_pylist()
    for i, line in plain.items():
        lines[i] = line
    ends = np.cumsum([len(line) + 1 for line in lines]) - 1
    # The last line may be empty now: it begins in the text all the same.
    return b"\n".join([*lines, b""]), ends - [len(line) for line in lines], ends


def _holds(text: bytes, byte: int, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return which lines hold a byte."""
    places = np.flatnonzero(np.frombuffer(text, np.uint8) == byte)
    return np.searchsorted(places, ends) > np.searchsorted(places, starts)


def _first(entry: dict[str, Any], names: Sequence[str]) -> Any:
    return next((entry[name] for name in names if entry.get(name) is not None), None)


def _decoded(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:  # Python takes NaN, and half a surrogate pair (a logger cut the text).
        return json.loads(raw.decode("utf-8", "replace")) if raw.rstrip().endswith(b"}") else None
    except (ValueError, RecursionError):
        return None


def _of_object(raw: bytes, files: Files, *, follows: bool) -> bytes | None:
    """Return the line that a JSON object holds, None if it is no log entry. `follows`: so did the line before it."""
    entry = _decoded(raw)
    if not isinstance(entry, dict):
        return None
    if (
        isinstance(entry.get("log"), str) and "stream" in entry
    ):  # Docker's json-file driver wraps a line of the program.
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
    if stack is None and level is None:
        # A collector that takes lines as they are: what it holds may be a line of a layout, or one of a stack trace.
        line = _bytes(message.rstrip("\r\n"))
        # An exception on its own may be what somebody searched for; behind a line of a layout it is what that line
        # logged.
        if _TRACE.match(line) or (follows and _THROWN.match(line)) or _has_layout(line, files):
            return line.replace(b"\n", b"\r")
    parts = FIELD.join(
        "" if part is None else str(part) for part in (OBJECT + str(time), level, thread, logger, message)
    )
    return _bytes(parts + STACK + stack if isinstance(stack, str) else parts)


def _has_layout(line: bytes, files: Files) -> bool:
    row = classify(line, np.array([0]), np.array([len(line)]), files).row[0] if line else -1
    return row >= 0 and LAYOUTS[row].outside


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
