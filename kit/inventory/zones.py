"""The times of a file: from when to when it is, and in which zone they are printed.

The zone is declared, else inferred from ids of known time, else the one printed, else unknown.

A line that names a message was printed about when it was stored: the difference between the printed time and the
record's, rounded to a quarter of an hour, is the zone. Epoch milliseconds in the line itself serve the same purpose,
and so does the id of a client, which its own log prints when it starts and the broker's log, in epoch milliseconds too,
at its first heartbeat. A UNIQ_KEY alone shows nothing: it counts from the month's start in the same unknown zone.
"""

import contextlib
import datetime as dt
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

import attrs
import numpy as np
import pyarrow as pa

from kit.data import grouped
from kit.evidence.files import EvidenceFile, beginning, open_readonly
from kit.formats import printed_times
from kit.formats.commitlog.schema import Wanted
from kit.formats.logs.times import NO_ZONE
from kit.formats.printed_times import IN_LINE, datetime_of, ms, of_line
from kit.formats.tables import business_tables
from kit.inventory.model import STORES, TEXTS, Item
from kit.rocketmq.log_layouts import BROKER_SIDE, LAYOUTS

ROWS: Final = ("rows", "sends")
"""Kinds of files that are tables of an application."""
QUARTER: Final = 15 * 60_000
WEST: Final = -12 * 3_600_000
EAST: Final = 14 * 3_600_000
IN_USE: Final = frozenset(range(-48, 57, 4)) | {-38, -14, -10, 14, 18, 22, 23, 26, 35, 38, 42, 51, 55}
"""Zones that some country has, in quarters of an hour (tz database, since 2017)."""
SLACK: Final = 4 * 60_000
"""A line further from a zone is ignored: it was printed long after its message."""

_WINDOW: Final = 128 << 10
_WINDOWS: Final = 6
_HEAD: Final = 64 << 20
"""Bytes of a broker's log that are searched for clients."""
MOST_CLIENTS: Final = 16
NEAR: Final = 30 * 60_000
"""Lines of one moment that two programs print are no further apart; those of two zones by half an hour or more."""
APART: Final = dt.timedelta(minutes=30)
"""What is further from all other times, read in another host's zone, is of a zone of its own."""
MOST: Final = 300
"""Most lines of a file that are used."""

_HEAD_OF_LINE: Final = 200
_OBJECT: Final = 4096
"""Bytes in which a line has its time; a JSON object has it at any place."""
_OTHER_FORMS: Final = frozenset(row.layout for row in LAYOUTS if row.time)
"""Layouts whose times are not ISO: the span of such a file is not known, yet its times are local ones."""
_MOMENTS: Final = _OTHER_FORMS | {row.layout for row in LAYOUTS if row.members}
"""Layouts whose times may tell their zone without printing it, as seconds since 1970 do."""
_ID: Final = re.compile(rb"\b[0-9A-Fa-f]{32}(?:[0-9A-Fa-f]{24})?\b")
_CLIENT: Final = re.compile(rb"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}@\d+(?:#\d+)?")
"""The id of a client with its process (ClientConfig.buildMQClientId): one with an instance name survives a restart."""
_CONNECTED: Final = rb"connected, group: [^\n]{0,2000}?clientId=%s,[^\n\]]{0,200}?lastUpdateTimestamp=(\d{13})"
"""broker/client/ClientChannelInfo.toString."""
_KEY: Final = re.compile(rb"[A-Za-z0-9][\w\-:]{5,63}")
_MILLIS: Final = re.compile(rb"(?<![\w.])1[2-9]\d{11}(?![\w.])")
_COLLECTED: Final = re.compile(
    rb'"(?:time|@timestamp)" ?: ?"(?P<at>[^"]{20,40})" ?}\r?$|"__REALTIME_TIMESTAMP" ?: ?"(?P<ms>1\d{12})\d{3}"'
)
"""When a container's runtime (last in the object) or journald took a line, as a moment."""


@attrs.frozen
class Pair:
    """A printed time (ms as printed) and what determines its real time: ids, keys, or epoch milliseconds."""

    printed: int
    names: tuple[str, ...] = ()
    millis: tuple[int, ...] = ()


Zones = Mapping[str, str | None]
"""File with floating times → the zone they are read in, as "+08:00" or an IANA name; None if that is not known."""


def floating(item: Item) -> bool:
    """Return whether the times of a file need a zone from elsewhere."""
    if item.kind in ROWS:
        return "time" in item.detail.get("columns", {})
    if item.kind in ("text", "mqadmin", "metrics", "thread_dump"):
        return True
    return item.kind == "log" and item.source not in BROKER_SIDE and item.detail.get("layout") != "client-5"


def unknown(item: Item) -> bool:
    """Return whether a file prints times, in a zone that is not known. Tables: see `Case.local_files`."""
    dated = item.first is not None or item.detail.get("layout") in _OTHER_FORMS
    return item.zone is None and dated and floating(item)


def local(items: Iterable[Item]) -> set[str]:
    """Return the files of which that is so."""
    return {item.file for item in items if unknown(item)}


def _windows(item: Item) -> list[list[bytes]]:
    """Return the lines of a few stretches spread over a file."""
    last = max(0, item.bytes - _WINDOW)
    windows = []
    with open_readonly(item.path) as stream:
        for start in sorted({last * i // (_WINDOWS - 1) for i in range(_WINDOWS)}):
            stream.seek(start)
            lines = stream.read(_WINDOW).split(b"\n")
            windows.append(lines[1:-1] if start else lines)
    return windows


def _printed_zone(windows: list[list[bytes]]) -> str | None:
    """Return the zone that a log prints with every time, None if it prints one without."""
    lines = itertools.chain.from_iterable(windows)
    matches = (IN_LINE.search(line, 0, _OBJECT if line.startswith(b"{") else _HEAD_OF_LINE) for line in lines)
    known = Counter(match[7] for match in matches if match)
    if not known or None in known:
        return None
    east = printed_times.minutes_east(known.most_common(1)[0][0].decode())
    return None if east is None else text(east)


def _zone_of_layouts(windows: list[list[bytes]], tz_broker: str | None) -> str | None:
    """Return the zone that the layouts of lines tell: the one that each prints, or the one of RocketMQ's own layouts
    where such lines stand in a text, and no other line of it is printed much earlier or later.
    """
    rows, times, east = _of_layouts(b"\n".join(itertools.chain.from_iterable(windows)))
    if east.size and (east == east[0]).all() and east[0] != NO_ZONE:
        return text(int(east[0]))
    fixed = np.array([LAYOUTS[row].zone == "GMT+8" for row in rows.tolist()], bool)
    own, others = times[fixed], times[~fixed]
    near = own.size and ((others > own.min() - NEAR) & (others < own.max() + NEAR)).all()
    return (tz_broker or "+08:00") if near else None


def _pair(line: bytes) -> Pair | None:
    """Return the time of a line with what it names, None if it has no time without a zone or names nothing."""
    if line.startswith(b"{") and (taken := _COLLECTED.search(line)):
        at = IN_LINE.match(taken["at"] or b"")
        first = next((match for match in IN_LINE.finditer(line, 0, _OBJECT) if not match[7]), None)
        printed, moment = (match and of_line(match) for match in (first, at))
        known = int(taken["ms"]) if taken["ms"] else ms(moment) if moment and moment.tzinfo else None
        return Pair(ms(printed), (), (known,)) if printed and known else None
    times = list(islice(IN_LINE.finditer(line, 0, _HEAD_OF_LINE), 2))
    zoned = times.pop(0) if times and times[0][7] else None
    if not times or times[0][7] or (printed := of_line(times[0])) is None:
        return None
    if zoned is not None:
        # journald and a container's runtime print the same moment with its zone in front.
        moment = of_line(zoned)
        return None if moment is None else Pair(ms(printed), (), (ms(moment),))
    rest = line[times[0].end() : times[0].end() + 4000]
    ids = list(dict.fromkeys(m.group().decode().upper() for m in _ID.finditer(rest)))[:4]
    if b"Instance" in rest:
        ids += [m.group().decode() for m in _CLIENT.finditer(rest)][:1]
    keys = (m.group().decode() for m in _KEY.finditer(rest) if any(48 <= c <= 57 for c in m.group()))
    names = ids or list(dict.fromkeys(keys))[:12]
    millis = tuple(int(m.group()) for m in _MILLIS.finditer(rest))[:4]
    return Pair(ms(printed), tuple(names), millis) if names or millis else None


def _sample_rows(item: Item) -> list[Pair]:
    pairs = []
    for _, _, cells in business_tables.fields(Path(item.path), item.detail, MOST):
        time = printed_times.when(cells.get("time"), month_first=item.detail["month_first"])
        if time and time.tzinfo is None:
            named = [cells.get(field) for field in ("uniq_key", "offset_msg_id", "key")]
            pairs.append(Pair(ms(time), tuple(v.upper() if len(v) in (32, 56) else v for v in named if v)))
    return pairs


def first_seen(items: Iterable[Item], names: set[str]) -> Iterator[tuple[str, int]]:
    """Yield when brokers' logs name clients first: the ids of the clients among the names, and the time (ms)."""
    wanted = sorted(name.encode() for name in names if "@" in name)[:MOST_CLIENTS]
    for item in items if wanted else ():
        with contextlib.suppress(OSError, ValueError):
            text = beginning(item.path, _HEAD)
            for name in wanted:
                if (at := re.search(_CONNECTED % re.escape(name), text)) is not None:
                    yield name.decode(), int(at[1])


def infer(pairs: Iterable[Pair], moments: Mapping[str, list[int]]) -> int | None:
    """Return minutes east, None if most lines do not agree. `moments`: id or key → the times (ms) of its records."""
    votes: Counter[int] = Counter()
    for pair in pairs:
        known = [at for name in pair.names for at in moments.get(name, ())] or pair.millis
        differences = [d for at in known if WEST - SLACK <= (d := pair.printed - at) <= EAST + SLACK]
        nearest = min(((abs(d - q * QUARTER), q) for d in differences for q in [round(d / QUARTER)]), default=None)
        if nearest is not None and nearest[0] <= SLACK and nearest[1] in IN_USE:
            votes[nearest[1]] += 1
    return next((quarters * 15 for quarters, count in votes.items() if 2 * count > votes.total()), None)


def settle(
    items: Iterable[Item],
    stored: Callable[[set[str]], Iterable[tuple[str, int]]],
    tz_app: str | None = None,
    tz_broker: str | None = None,
) -> Zones:
    """Return the zone of each file with floating times. `stored`: which of some ids or keys are stored, when (ms)."""
    items = [item for item in items if item.replica_of is None]
    wanted = [i for i in items if floating(i)]
    if tz_app:
        return {i.file: tz_app for i in wanted}
    samples: dict[str, list[Pair]] = {item.file: [] for item in wanted}
    own: dict[str, str | None] = {}
    for item in wanted:
        with contextlib.suppress(Exception):  # the reader of its table reports what cannot be read
            if item.kind in ROWS:
                samples[item.file] = _sample_rows(item)
            else:
                windows = _windows(item)
                stamps = (filter(None, map(_pair, lines)) for lines in windows)  # as many from each stretch
                samples[item.file] = [pair for each in stamps for pair in islice(each, MOST // len(windows))]
                own[item.file] = _printed_zone(windows)
                if not own[item.file] and (item.source == "text" or item.detail.get("layout") in _MOMENTS):
                    own[item.file] = _zone_of_layouts(windows, tz_broker)
        if item.kind in ROWS and not samples[item.file]:
            del samples[item.file]  # its times have a zone, or count from 1970
    names = {name for pairs in samples.values() for pair in pairs for name in pair.names}
    brokers = [item for item in items if item.source == "broker" and not tz_broker]
    moments = grouped((*first_seen(brokers, names), *stored(names)))
    inferred = {file: text(east) for file, pairs in samples.items() if (east := infer(pairs, moments)) is not None}
    by_folder = grouped((PurePosixPath(file).parent, zone) for file, zone in inferred.items())
    sure = (item for item in items if not (tz_broker and item.kind == "log"))
    known = [(item.first, item.last) for item in sure if item.first and item.last]
    zones: dict[str, str | None] = {}
    for item in (item for item in wanted if item.file in samples):
        # Rolled logs and tables are next to a host's log; another host's zone is another's, if its times show that.
        own_host = by_folder.get(PurePosixPath(item.file).parent)
        alike = set(own_host or inferred.values())
        zone = next(iter(alike)) if len(alike) == 1 else None
        other = zone and not own_host and _apart(item, samples[item.file], zone, known)
        zones[item.file] = inferred.get(item.file) or own.get(item.file) or (None if other else zone)
    return zones


def _apart(item: Item, pairs: list[Pair], zone: str, known: list[tuple[dt.datetime, dt.datetime]]) -> bool:
    """Return whether the times of a file, read in a zone, are before or after all those that need none."""
    read_in = printed_times.tzinfo(zone)
    times = filter(None, (datetime_of(pair.printed) for pair in pairs))
    rows = sorted(time.replace(tzinfo=read_in) for time in times) if item.kind in ROWS else []
    first, last = (rows[0], rows[-1]) if rows else printed_span(Path(item.path), item.bytes, read_in)
    if not (known and first and last):
        return False
    return last < min(known)[0] - APART or first > max(last for _, last in known) + APART


def zoned(item: Item, known: Zones, tz_broker: str | None) -> Item:
    """Return a file with the zone its times are read in, and its first and last time in UTC. `known`: of `settle`."""
    if item.kind == "log" and item.first is not None:
        declared = tz_broker if item.source in BROKER_SIDE else None
        return attrs.evolve(item, zone=declared or "+08:00")
    zone = known.get(item.replica_of or item.file)
    if item.kind not in TEXTS or (item.replica_of or item.file) not in known:
        return attrs.evolve(item, zone=zone)
    try:
        first, last = printed_span(Path(item.path), item.bytes, printed_times.tzinfo(zone))
    except Exception:  # the file is gone, or no zone can shift the time: the span stays unknown
        first = last = None
    return attrs.evolve(item, zone=zone, first=first, last=last)


def text(minutes: int) -> str:
    """Return minutes east as "+08:00"."""
    return str(dt.timezone(dt.timedelta(minutes=minutes))).removeprefix("UTC") or "+00:00"


# --- from when to when a file is --------------------------------------------------------------------------------------

Span = tuple[dt.datetime | None, dt.datetime | None]

_REACH: Final = (1 << 16, 8 << 20)
"""Bytes in which the last record is looked for: most are small, none of a broker with default settings is larger."""
_STORED: Final = Wanted(("store_timestamp", "store_host"))
_EDGE: Final = 65536
_STEP: Final = 1 << 20
_GMT8: Final = dt.timezone(dt.timedelta(hours=8))


def span(file: EvidenceFile, kind: str | None, detail: dict[str, Any]) -> Span:
    """Return the first and last time in a file, None if the file alone does not determine them.

    Adds to `detail` of a commitlog: `used` (bytes up to the last that is not zero) and `store_host`.
    """
    if kind in STORES and not detail.get("empty"):
        return _span_of_records(file, detail)
    if kind == "log" and (detail.get("source") in BROKER_SIDE or detail.get("layout") == "client-5"):
        return printed_span(file.path, file.bytes, _GMT8)
    return None, None


def _data_end(stream: IO[bytes], size: int) -> int:
    """Return the position after the last byte that is not zero."""
    for end in range(size, 0, -_STEP):
        start = max(0, end - _STEP)
        stream.seek(start)
        if used := len(stream.read(end - start).rstrip(b"\0")):
            return start + used
    return 0


def _span_of_records(file: EvidenceFile, detail: dict[str, Any]) -> Span:
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


def printed_span(path: Path, size: int, zone: dt.tzinfo) -> Span:
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
        times = [*_laid_out_times(head, zone), *_laid_out_times(whole or tail, zone)]
        return (times[0], times[-1]) if times else (None, None)
    # The rows of a printed table are in no order of time.
    return (last, first) if first and last and last < first else (first, last)


def _first(lines: Iterable[bytes], zone: dt.tzinfo) -> dt.datetime | None:
    times = (of_line(match) for line in lines for match in IN_LINE.finditer(line, 0, _OBJECT))
    return next((time.replace(tzinfo=time.tzinfo or zone).astimezone(dt.UTC) for time in times if time), None)


def _laid_out_times(text: bytes, zone: dt.tzinfo) -> list[dt.datetime]:
    _, times, east = _of_layouts(text)
    zones = [zone if minutes == NO_ZONE else dt.timezone(dt.timedelta(minutes=minutes)) for minutes in east.tolist()]
    moments = zip(map(datetime_of, times.tolist()), zones, strict=True)
    return [at.replace(tzinfo=own).astimezone(dt.UTC) for at, own in moments if at]


def _of_layouts(text: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from kit.formats.logs import entries  # its kernels take a moment to load

    return entries.printed(text)
