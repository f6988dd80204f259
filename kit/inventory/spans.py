"""The time span of a file, from its first and last record or line."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from kit.evidence.files import EvidenceFile, open_readonly
from kit.formats.commitlog import records
from kit.formats.printed_times import EPOCH, ms
from kit.formats.values import instant
from kit.rocketmq.log_layouts import BROKER_SIDE

Span = tuple[dt.datetime | None, dt.datetime | None]

_BACK: Final = 8 << 20
"""More than the largest message of a broker with default settings."""

_TIME: Final = re.compile(rb"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)")
_EDGE: Final = 65536
_STEP: Final = 1 << 20
_LINE: Final = 4096
"""Bytes of a line that are searched for its time."""
_GMT8: Final = dt.timezone(dt.timedelta(hours=8))


def of(file: EvidenceFile, kind: str | None, detail: dict[str, Any]) -> Span:
    """Return the first and last time in a file, None if the file alone does not determine them.

    Adds to `detail` of a commitlog: `used` (bytes up to the last that is not zero) and `store_host`.
    """
    if kind in ("commitlog", "dledger") and not detail.get("empty"):
        return _commitlog(file.path, file.bytes, detail)
    if kind == "log" and (detail.get("source") in BROKER_SIDE or detail.get("layout") == "client-5"):
        return printed(file.path, file.bytes, _GMT8)
    return None, None


def _commitlog(path: Path, size: int, detail: dict[str, Any]) -> Span:
    base = detail.get("base")
    with open_readonly(path) as stream:
        begin = records.filler(stream.read(16))
        stream.seek(begin)
        head = np.frombuffer(stream.read(_BACK), np.uint8)
        used = _data_end(stream, size)
        first, host = _record(head, base, begin, last=False)
        start = max(0, used - _BACK)
        stream.seek(start)
        tail = np.frombuffer(stream.read(used - start), np.uint8)
        last, _ = _record(tail, base, start, last=True)
    detail["used"] = used
    detail["store_host"] = host
    return first, last


def _data_end(stream: Any, size: int) -> int:
    """Return the position after the last byte that is not zero."""
    for end in range(size, 0, -_STEP):
        start = max(0, end - _STEP)
        stream.seek(start)
        if used := len(stream.read(end - start).rstrip(b"\0")):
            return start + used
    return 0


def _record(buf: records.Bytes, base: int | None, at: int, *, last: bool) -> tuple[dt.datetime | None, str | None]:
    """Return (store time, store host as hex) of the first or last complete record in a piece of a file that starts at `at`."""
    stamp, width = records.stored(buf, -1 if base is None else base, at, last)
    if stamp < 0:
        return None, None
    time, host = bytes(buf[stamp : stamp + 8]), bytes(buf[stamp + 8 : stamp + 8 + width])
    return _moment(max(0, int.from_bytes(time, "big", signed=True)) or None), host.hex().upper()


def _moment(ms: int | None) -> dt.datetime | None:
    known = instant(ms)
    return None if known is None else EPOCH + dt.timedelta(milliseconds=known)


def printed(path: Path, size: int, zone: dt.tzinfo) -> Span:
    """Return the times of the first and the last line with a full time, read in `zone`.

    A date later in a line is no time of the log: "licence valid until 9999-12-31 23:59:59".
    """
    with open_readonly(path) as stream:
        head = stream.read(_EDGE)
        start = max(0, size - _EDGE)
        stream.seek(start)
        tail = stream.read(_EDGE)
    whole = tail.partition(b"\n")[2] if start else tail
    first = next(_times(head.split(b"\n")), None)
    last = next(_times(reversed((whole or tail).split(b"\n"))), None)
    if first and last and last < first:  # the rows of a printed table are in no order of time
        first, last = last, first
    return tuple(None if t is None else t.replace(tzinfo=zone).astimezone(dt.UTC) for t in (first, last))  # type: ignore[return-value]


def shift(printed_at: dt.datetime | None, to_utc: Callable[[int], int]) -> dt.datetime | None:
    """Convert a time read as UTC from its zone to UTC."""
    if printed_at is None:
        return None
    return EPOCH + dt.timedelta(milliseconds=to_utc((printed_at - EPOCH) // dt.timedelta(milliseconds=1)))


def _times(lines: Iterable[bytes]) -> Iterator[dt.datetime]:
    for line in lines:
        times = (_moment(ms(*found.groups())) for found in _TIME.finditer(line, 0, _LINE))
        if known := next((time for time in times if time), None):
            yield known
