"""Lines whose prefix the kernel does not know: JSON objects, short dates, times without a date, chat, a log line inside
another line.

Plain Python, one line at a time; it is only called for lines with something like a time near their start.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec
import numpy as np

from kit.formats.logs import fields as f
from kit.formats.logs.clock import time_at
from kit.formats.logs.prefix import prefix
from kit.formats.printed_times import MONTHS
from kit.formats.printed_times import ms as ms_of
from kit.formats.values import instant

_LEVEL: Final = rb"(?P<level>TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|SEVERE|NOTICE)"
_MONTH: Final = f"(?:{'|'.join(MONTHS)})"
_NAMED_MONTH: Final = re.compile(rf"({_MONTH}) ([ \d]\d) (\d\d:\d\d:\d\d) (\d{{4}})")
_KIBANA: Final = re.compile(rf"({_MONTH}) (\d{{1,2}}), (\d{{4}}) @ (\d\d):(\d\d):(\d\d)\.(\d{{3}})")
_EMBEDDED: Final = re.compile(rb"(?<![0-9A-Za-z-])\[?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d")
_ANSI: Final = re.compile(rb"\x1b\[[0-9;]{0,12}m")
_RULES: Final[tuple[tuple[int, re.Pattern[bytes]], ...]] = (
    (
        f.LEVEL_FIRST,
        re.compile(
            rb"\[?"
            + _LEVEL
            + rb"\]?:? {1,4}\[?(?P<ts>\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)\]? (?:\[(?P<thread>[^\]]{1,200})\] )?(?:(?P<logger>[\w.$:]{1,200}) ?)?(?:- |: )?"
        ),
    ),
    (
        f.NO_DATE,
        re.compile(
            rb"\[?(?P<ts>\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)\]? {1,2}(?:\[(?P<thread>[^\]]{1,200})\] {1,2})?"
            + _LEVEL
            + rb" {1,2}(?:\[(?P<thread2>[^\]]{1,200})\] )?(?:(?P<logger>[\w.$]{1,200}) ?(?:- |: ))?"
        ),
    ),
    (
        f.SHORT_YEAR,
        re.compile(
            rb"(?P<ts>\d\d[-/]\d\d[-/]\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,9})?) {1,2}"
            + _LEVEL
            + rb" {1,2}(?:\[(?P<thread>[^\]]{1,200})\] )?(?:(?P<logger>[\w.$]{1,200}) ?(?:- |: ))?"
        ),
    ),
    (
        f.SYSLOG,
        re.compile(
            rb"(?:<\d{1,3}>)?(?P<ts>"
            + _MONTH.encode()
            + rb" [ \d]\d \d\d:\d\d:\d\d) \S{1,200} (?P<logger>[^\s:\[]{1,100})(?:\[\d{1,10}\])?: "
        ),
    ),
    (
        f.SYSLOG,  # RFC 5424
        re.compile(
            rb"<\d{1,3}>1 (?P<ts>\d{4}-\d\d-\d\dT\S{8,24}) \S{1,255} (?P<logger>\S{1,48}) \S{1,128} \S{1,32} (?:-|\[[^\]]{0,500}\]) ?"
        ),
    ),
    (
        f.TIME_ONLY,  # Kibana, as it shows and exports times unless told otherwise
        re.compile(rb"\"?(?P<ts>" + _MONTH.encode() + rb" \d{1,2}, \d{4} @ \d\d:\d\d:\d\d\.\d{3})\"?[,;\t ]?"),
    ),
    (
        f.SYSLOG,  # dmesg -T
        re.compile(
            rb"\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<ts>" + _MONTH.encode() + rb" [ \d]\d \d\d:\d\d:\d\d \d{4})\] "
        ),
    ),
    (
        f.LEVEL_FIRST,  # logfmt, as clients in Go write it
        re.compile(
            rb'(?:time|ts|timestamp)="?(?P<ts>\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d[^" ]{0,20})"? level=(?P<level>[a-zA-Z]{4,7}) (?:msg=)?'
        ),
    ),
    (
        f.CHAT,
        re.compile(
            rb"\[(?P<ts>(?:\d{1,4}[-/]\d{1,2}[-/]\d{1,4},? )?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?)\] ?(?P<logger>[^:\]\[]{1,80}): ?"
        ),
    ),
    (
        f.CHAT,
        re.compile(
            rb"(?P<logger>[^:\d\]\[\t]{1,60}?) ?[\[(](?P<ts>(?:\d{1,4}[-/]\d{1,2}[-/]\d{1,4},? )?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?)[\])]:? ?"
        ),
    ),
    (
        f.CHAT,
        re.compile(
            rb"(?P<logger>[^:\d\]\[\t]{1,40}) {1,4}(?P<ts>(?:\d{4}[-/]\d{1,2}[-/]\d{1,2} )?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?)$"
        ),
    ),
)

_TIME: Final = (
    "@timestamp",
    "timestamp",
    "time",
    "ts",
    "datetime",
    "asctime",
    "eventTime",
    "instant",
    "__REALTIME_TIMESTAMP",
    "__time__",
    "_time",
    "date",
)
_MESSAGE: Final = ("message", "msg", "log", "short_message", "content", "body", "MESSAGE", "line", "_raw")
_WRAPPED: Final = ("_source", "result")
"""Where Elasticsearch and Splunk put the entry in what a search is exported as."""
_EPOCH: Final = re.compile(r"1\d{9,18}")
_TRACE: Final = re.compile(rb"\s+(?:at |\.\.\. \d)|Caused by: ")
_THROWN: Final = re.compile(rb"(?:[a-z]\w*\.)+[\w.$]*(?:Exception|Error|Throwable)(?::|\s*$)")
_LEVELS: Final = ("level", "severity", "log.level", "levelname", "loglevel", "lvl")
_THREAD: Final = ("thread_name", "thread", "threadName", "process.thread.name")
_LOGGER: Final = ("logger_name", "logger", "loggerName", "log.logger", "class", "caller")
_STACK: Final = ("stack_trace", "stackTrace", "exception", "error.stack_trace", "stack", "thrown", "throwable")


def understand(
    raw: bytes, at: int, mode: int, row: np.ndarray, extra_at: int, *, follows: bool = False
) -> tuple[bytes, bool]:
    """Fill `row` for the line `raw` that starts at byte `at`; return bytes to put at `extra_at` and whether they replace the line.

    `row[KIND]` is `NONE` when this line starts no entry. `follows`: the line before it was the collected line of a layout.
    """
    row[:] = -1
    row[f.KIND] = f.NONE
    if raw[:1] == b"{":
        return _json(raw, mode, row, extra_at, follows)
    if b"\x1b[" in raw[:64]:
        plain = _ANSI.sub(b"", raw)
        _kernel(plain, extra_at, mode, row)
        return (plain, True) if row[f.KIND] > f.NONE else (b"", False)
    found = _EMBEDDED.search(raw, 0, 200)
    if (
        found
        and found.start() > 0
        and _kernel(raw[found.start() : f.HEAD], at + found.start(), mode, row)
        and row[f.KIND] not in (f.TIME_ONLY, f.NONE)
    ):
        return b"", False
    row[:] = -1
    row[f.KIND] = f.NONE
    head = raw[: f.HEAD]
    for kind, rule in _RULES:
        if fit := rule.match(head):
            _fill(row, kind, fit, at)
            break
    return b"", False


def _kernel(text: bytes, at: int, mode: int, row: np.ndarray) -> bool:
    """Run the kernel on `text`; the positions in `row` are made relative to `at`."""
    buf = np.frombuffer(bytearray(text[: f.HEAD]), np.uint8)
    if not buf.size:
        return False
    found = np.empty(f.FIELDS, np.int64)
    kind = prefix(buf, 0, buf.size, mode, found)
    row[:] = found
    if kind <= f.NONE:
        row[f.KIND] = f.NONE
        return False
    for column in (f.TS0, f.TS1, f.LEVEL0, f.LEVEL1, f.THREAD0, f.THREAD1, f.LOGGER0, f.LOGGER1, f.MESSAGE):
        if row[column] >= 0:
            row[column] += at
    return True


def _fill(row: np.ndarray, kind: int, fit: re.Match[bytes], at: int) -> None:
    groups = fit.groupdict()
    thread = "thread2" if groups.get("thread") is None and groups.get("thread2") is not None else "thread"
    for name, column in (("ts", f.TS0), ("level", f.LEVEL0), (thread, f.THREAD0), ("logger", f.LOGGER0)):
        if groups.get(name) is not None:
            row[column], row[column + 1] = at + fit.start(name), at + fit.end(name)
    # Columns of TS0/TS1 and the others are neighbours, MS is filled below.
    row[f.MS], row[f.ZONE], row[f.FRACTION] = when(groups["ts"].decode("ascii", "replace"))
    row[f.MESSAGE] = at + fit.end()
    row[f.KIND] = kind


def when(text: str | int | float | None) -> tuple[int, int, int]:
    """Return (local ms since 1970 or `NO_TIME`, minutes east or `NO_ZONE`, printed milliseconds or -1) of a printed
    time.
    """
    if isinstance(text, str) and _EPOCH.fullmatch(text):
        text = int(text)
    if isinstance(text, int | float) and not isinstance(text, bool):
        # Seconds, milliseconds, microseconds or nanoseconds, by their size.
        ms = instant(
            text * 1000
            if abs(text) < 1e11
            else text // (1 if abs(text) < 1e14 else 1000 if abs(text) < 1e17 else 1_000_000)
        )
        return (f.NO_TIME, f.NO_ZONE, -1) if ms is None else (ms, 0, ms % 1000)
    if not isinstance(text, str):
        return f.NO_TIME, f.NO_ZONE, -1
    buf, row = np.frombuffer(bytearray(text.encode()[:64] or b" "), np.uint8), np.empty(f.FIELDS, np.int64)
    if time_at(buf, 0, buf.size, row) > 0:
        return int(row[f.MS]), int(row[f.ZONE]), int(row[f.FRACTION])
    if named := _NAMED_MONTH.fullmatch(text):
        printed = ms_of(named[4], MONTHS.index(named[1]) + 1, named[2], *named[3].split(":"))
        return f.NO_TIME if printed is None else printed, f.NO_ZONE, -1
    short = re.fullmatch(r"(\d\d)[-/](\d\d)[-/](\d\d) (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?", text)
    if short:
        a, b, c, hour, minute, second = (int(g) for g in short.groups()[:6])
        # yy/MM/dd unless the first number cannot be a year of RocketMQ's (2012 on) and the last one can.
        year, month, day = (2000 + c, a, b) if a <= 12 <= c else (2000 + a, b, c)
        fraction = int(short.group(7).ljust(3, "0")[:3]) if short.group(7) else -1
        printed = ms_of(year, month, day, hour, minute, second)
        return (f.NO_TIME, f.NO_ZONE, -1) if printed is None else (printed + max(fraction, 0), f.NO_ZONE, fraction)
    if shown := _KIBANA.fullmatch(text):
        fraction = int(shown[7])
        printed = ms_of(shown[3], MONTHS.index(shown[1]) + 1, shown[2], *shown.groups()[3:6])
        return (f.NO_TIME, f.NO_ZONE, -1) if printed is None else (printed + fraction, f.NO_ZONE, fraction)
    return f.NO_TIME, f.NO_ZONE, -1


def _first(entry: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((entry[n] for n in names if entry.get(n) is not None), None)


def _lenient(raw: bytes) -> Any:
    """Parse JSON with half a surrogate pair (a logger cut the text) or NaN, which strict JSON lacks; None for anything
    else.
    """
    try:
        return json.loads(raw.decode("utf-8", "replace")) if raw.rstrip().endswith(b"}") else None
    except (ValueError, RecursionError):
        return None


def _json(raw: bytes, mode: int, row: np.ndarray, extra_at: int, follows: bool) -> tuple[bytes, bool]:
    try:
        entry = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        entry = _lenient(raw)
    if not isinstance(entry, dict):
        return b"", False
    if (
        isinstance(entry.get("log"), str) and "stream" in entry
    ):  # Docker's json-file driver wraps a line of the program.
        text = entry["log"].rstrip("\r\n").encode("utf-8", "replace").replace(b"\n", b"\r")
        if not _kernel(text, extra_at, mode, row):
            row[:] = -1
            row[f.KIND] = f.NONE
        return text, True
    entry = next((entry[name] for name in _WRAPPED if isinstance(entry.get(name), dict)), entry)
    message, time = _first(entry, _MESSAGE), _first(entry, _TIME)
    if isinstance(time, dict):
        time = time.get("epochSecond")
    if not isinstance(message, str) or not isinstance(time, str | int | float):
        return b"", False
    row[f.MS], row[f.ZONE], row[f.FRACTION] = when(time)
    stack = _first(entry, _STACK)
    if stack is None and _first(entry, _LEVELS) is None:
        # A collector that takes lines as they are: what it holds may be a line of a layout, or one of a stack trace.
        text = message.rstrip("\r\n").encode("utf-8", "replace")
        # An exception on its own may be what somebody searched for; behind a line of a layout it is what that line logged.
        if _TRACE.match(text) or (follows and _THROWN.match(text)):
            row[:] = -1
            row[f.KIND] = f.NONE
            return text, True
        own = row.copy()
        if _kernel(text, extra_at, mode, row) and row[f.KIND] != f.TIME_ONLY:
            return text.replace(b"\n", b"\r"), True
        row[:] = own
    out = bytearray()
    for column, value in (
        (f.TS0, time),
        (f.LEVEL0, _first(entry, _LEVELS)),
        (f.THREAD0, _first(entry, _THREAD)),
        (f.LOGGER0, _first(entry, _LOGGER)),
        (f.MORE0, stack if isinstance(stack, str) else None),
    ):
        if value is not None:
            row[column] = extra_at + len(out)
            out += str(value).encode("utf-8", "replace")
            row[column + 1] = extra_at + len(out)
    row[f.MESSAGE] = extra_at + len(out)
    out += message.encode("utf-8", "replace")
    row[f.KIND] = f.JSON
    return bytes(out), True
