"""The time span of a file, from its first and last record or line."""

import datetime as dt
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa

from kit.evidence.files import EvidenceFile, open_readonly
from kit.formats.commitlog.schema import Wanted
from kit.formats.logs import entries
from kit.formats.logs.times import NO_ZONE
from kit.formats.printed_times import IN_LINE, datetime_of, of_line
from kit.inventory.model import STORES
from kit.rocketmq.log_layouts import BROKER_SIDE

Span = tuple[dt.datetime | None, dt.datetime | None]

_REACH: Final = (1 << 16, 8 << 20)
"""Bytes in which the last record is looked for: most are small, none of a broker with default settings is larger."""
_STORED: Final = Wanted(("store_timestamp", "store_host"))
_EDGE: Final = 65536
_STEP: Final = 1 << 20
_LINE: Final = 4096
"""Bytes of a line that are searched for its time."""
_GMT8: Final = dt.timezone(dt.timedelta(hours=8))


def of(file: EvidenceFile, kind: str | None, detail: dict[str, Any]) -> Span:
    """Return the first and last time in a file, None if the file alone does not determine them.

    Adds to `detail` of a commitlog: `used` (bytes up to the last that is not zero) and `store_host`.
    """
    if kind in STORES and not detail.get("empty"):
        return _of_records(file, detail)
    if kind == "log" and (detail.get("source") in BROKER_SIDE or detail.get("layout") == "client-5"):
        return printed(file.path, file.bytes, _GMT8)
    return None, None


def _data_end(stream: IO[bytes], size: int) -> int:
    """Return the position after the last byte that is not zero."""
    for end in range(size, 0, -_STEP):
        start = max(0, end - _STEP)
        stream.seek(start)
        if used := len(stream.read(end - start).rstrip(b"\0")):
            return start + used
    return 0


def _of_records(file: EvidenceFile, detail: dict[str, Any]) -> Span:
    from kit.formats.commitlog import segments  # its kernels take a moment to load

    with open_readonly(file.path) as stream:
        used = _data_end(stream, file.bytes)
    log = segments.examine(file.file, str(file.path), detail.get("base"))
    first = next(segments.messages(log, 0, used, _STORED), None)
    detail["used"], detail["store_host"] = used, None if first is None else first["store_host"][0].as_py()
    if first is None:
        return None, None
    ends = (list(segments.messages(log, max(0, used - reach), used, _STORED)) for reach in _REACH)
    last = next((batches[-1] for batches in ends if batches), first)
    return _stored(first, 0), _stored(last, last.num_rows - 1)


def _stored(batch: pa.RecordBatch, row: int) -> dt.datetime | None:
    at = batch["store_timestamp"][row].value
    return datetime_of(at // 1000) if at else None


def printed(path: Path, size: int, zone: dt.tzinfo) -> Span:
    """Return the times of the first and the last line with a full time, read in `zone` where it prints none.

    A date later in a line ("licence valid until 9999-12-31 23:59:59") is no time of the log. Layouts tell other forms.
    """
    with open_readonly(path) as stream:
        head = stream.read(_EDGE)
        start = max(0, size - _EDGE)
        stream.seek(start)
        tail = stream.read(_EDGE)
    whole = tail.partition(b"\n")[2] if start else tail
    first, last = _first(head.split(b"\n"), zone), _first(reversed((whole or tail).split(b"\n")), zone)
    if first is None:
        times = [*_laid_out(head, zone), *_laid_out(whole or tail, zone)]
        return (times[0], times[-1]) if times else (None, None)
    # The rows of a printed table are in no order of time.
    return (last, first) if first and last and last < first else (first, last)


def _first(lines: Iterable[bytes], zone: dt.tzinfo) -> dt.datetime | None:
    times = (of_line(match) for line in lines for match in IN_LINE.finditer(line, 0, _LINE))
    return next((time.replace(tzinfo=time.tzinfo or zone).astimezone(dt.UTC) for time in times if time), None)


def _laid_out(text: bytes, zone: dt.tzinfo) -> list[dt.datetime]:
    _, printed, east = entries.printed(text)
    zones = [zone if minutes == NO_ZONE else dt.timezone(dt.timedelta(minutes=minutes)) for minutes in east.tolist()]
    times = zip(map(datetime_of, printed.tolist()), zones, strict=True)
    return [at.replace(tzinfo=own).astimezone(dt.UTC) for at, own in times if at]
