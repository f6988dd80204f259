"""Host metrics: iostat -x, vmstat, sar and GC logs → one row per value.

The first block of iostat and the first line of vmstat are averages since boot; they are rows like the others. Times
without a zone are local to the host.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs
import numpy as np
import pyarrow as pa

from kit.evidence.files import open_readonly
from kit.formats.logs.entries import instants
from kit.formats.logs.fallback_layouts import when
from kit.formats.logs.fields import NO_ZONE
from kit.formats.values import instant

SCHEMA: Final = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int32()),
        ("ts", pa.timestamp("us", "UTC")),
        ("ts_text", pa.string()),
        ("origin", pa.string()),
        ("subject", pa.string()),
        ("name", pa.string()),
        ("value", pa.float64()),
    ]
)

_ORIGINS: Final = {
    "iostat": re.compile(rb"^(?:Device:?\s+(?:r/s|tps|rrqm/s)|avg-cpu: )", re.MULTILINE),
    "vmstat": re.compile(rb"^(?:procs -+ ?-*memory|\s*r +b +swpd +free)", re.MULTILINE),
    "sar": re.compile(
        rb"^\d\d:\d\d:\d\d(?: [AP]M)?\s+(?:CPU\s+%u|DEV\s|IFACE\s|tps\s|runq-sz|kbmemfree|pgpgin/s|proc/s|pswpin/s)",
        re.MULTILINE,
    ),
    "gc": re.compile(
        rb"^(?:(?:\[[^\]\n]{1,40}\]){1,5}\[(?:gc|safepoint)[^\]\n]{0,40}\] |(?:\S{1,40}: )?\d+\.\d{3}: (?:\[(?:Full )?GC|Total time for which|Application time)"
        rb"|(?:OpenJDK|Java HotSpot).{1,80} VM .{0,80}\bfor )",
        re.MULTILINE,
    ),
}

_DATE_TIME: Final = re.compile(
    r"^(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})[ T,]+(\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?)(?: ([AP]M))?(Z|[+-]\d\d:?\d\d)?$"
)
_NUMBER: Final = re.compile(r"^-?\d+(?:[.,]\d+)?$")
_GC_TIME: Final = re.compile(r"^\[?(?P<ts>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}(?:Z|[+-]\d\d:?\d\d)?)\]?:? ?")
_UPTIME: Final = re.compile(r"(?:^|\]|: )\[?(?P<up>\d+[.,]\d{3})s?(?:\]|: )")
_GC_OLD: Final = re.compile(r"\[(?P<what>(?:Full )?GC(?: pause)?(?: \([^)]{1,60}\))*)")
_GC_NEW: Final = re.compile(
    r"GC\(\d+\) (?P<what>(?:Pause|Concurrent).{0,120}?)"
    r"(?: (?P<before>\d+[KMGB])->(?P<after>\d+[KMGB])\((?P<total>\d+[KMGB])\))? (?P<ms>\d+[.,]\d+)ms$"
)
_HEAP: Final = re.compile(
    r"(?P<before>\d+(?:\.\d+)?[KMGB])(?:\([^)]*\))?->(?P<after>\d+(?:\.\d+)?[KMGB])\((?P<total>\d+(?:\.\d+)?[KMGB])\)"
)
_SECONDS: Final = re.compile(r", (?P<secs>\d+[.,]\d+) secs\]|real=(?P<real>\d+[.,]\d+) secs")
_STOPPED: Final = re.compile(r"Total time for which application threads were stopped: (?P<secs>\d+[.,]\d+) seconds")
_SAFEPOINT: Final = re.compile(r"Safepoint \"(?P<what>\w+)\",.*? Total: +(?P<ns>\d+) ns")


@attrs.frozen
class Value:
    """One number of one line; `text` is the time as printed."""

    line: int
    text: str | None
    subject: str | None
    name: str
    value: float


def sniff(head: bytes) -> bool:
    """Return whether a file begins like one of the outputs that this module reads."""
    return origin_of(head) is not None


def origin_of(head: bytes) -> str | None:
    """Return `iostat`, `vmstat`, `sar` or `gc`, None for anything else."""
    head = head[:16384].replace(b"\r", b"")
    return next((name for name, rule in _ORIGINS.items() if rule.search(head)), None)


def read(files: Iterable[tuple[str, str]], zone: str | int | None = None) -> pa.Table:
    """Return the rows (`SCHEMA`) of metric files given as (name to show, path); `zone` is that of times without one (None: UTC)."""
    tables = [SCHEMA.empty_table()]
    for name, path in files:
        with open_readonly(path) as stream:
            raw = stream.read()
        origin = origin_of(raw)
        if origin:
            lines = raw.decode("utf-8", "backslashreplace").removeprefix("\ufeff").split("\n")
            tables.append(_table(name, origin, list(_READERS[origin]([line.rstrip("\r") for line in lines])), zone))
    return pa.concat_tables(tables)


def _table(file: str, origin: str, values: list[Value], zone: str | int | None) -> pa.Table:
    texts = {v.text for v in values if v.text}
    known = {text: moment(text, zone) for text in texts}
    moments = [known.get(v.text) if v.text else None for v in values]
    return pa.table(
        [
            pa.repeat(pa.scalar(file), len(values)),
            pa.array([v.line for v in values], pa.int32()),
            pa.array([None if m is None else m * 1000 for m in moments], pa.int64()).cast(SCHEMA.field("ts").type),
            pa.array([v.text for v in values], pa.string()),
            pa.repeat(pa.scalar(origin), len(values)),
            pa.array([v.subject for v in values], pa.string()),
            pa.array([v.name for v in values], pa.string()),
            pa.array([v.value if math.isfinite(v.value) else None for v in values], pa.float64()),
        ],
        schema=SCHEMA,
    )


def moment(text: str, zone: str | int | None) -> int | None:
    """Return a printed date and time as ms since 1970 UTC, None if it is incomplete."""
    found = _DATE_TIME.match(text.strip())
    if not found:
        return None
    date, clock, half, offset = found.groups()
    parts = re.split(r"[-/.]", date)
    if len(parts[0]) == 4:
        year, month, day = parts
    elif "." in date:
        day, month, year = parts
    else:  # The C locale prints month/day/year.
        month, day, year = parts
    hour = int(clock.split(":")[0])
    if half:
        hour = hour % 12 + (12 if half == "PM" else 0)
    iso = f"{2000 + int(year) if len(year) <= 2 else int(year):04d}-{int(month):02d}-{int(day):02d} {hour:02d}:{clock.split(':', 1)[1]}{offset or ''}"
    ms, printed, _ = when(iso)
    if instant(ms) is None:
        return None
    if printed != NO_ZONE:
        return instant(ms - printed * 60000)
    return instant(int(instants(np.array([ms], np.int64), zone if zone is not None else 0)[0]))


def _number(text: str) -> float | None:
    return float(text.replace(",", ".")) if _NUMBER.match(text) else None


def _values(line: int, when_: str | None, subject: str | None, names: list[str], cells: list[str]) -> Iterator[Value]:
    for name, cell in zip(names, cells, strict=False):
        number = _number(cell)
        if number is not None:
            yield Value(line, when_, subject, name, number)


def _iostat(lines: list[str]) -> Iterator[Value]:
    time: str | None = None
    names: list[str] = []
    cpu: list[str] = []
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if not cells:
            names, cpu = [], []
        elif _DATE_TIME.match(line.strip()):
            time = line.strip()
        elif cells[0] == "avg-cpu:":
            cpu = cells[1:]
        elif cpu:
            yield from _values(number, time, "cpu", cpu, cells)
            cpu = []
        elif cells[0].rstrip(":") == "Device":
            names = cells[1:]
        elif names and len(cells) == len(names) + 1:
            yield from _values(number, time, cells[0], names, cells[1:])


def _vmstat(lines: list[str]) -> Iterator[Value]:
    names: list[str] = []
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if cells[:2] == ["r", "b"]:
            names = [c for c in cells if not c.isupper()]
        elif names and len(cells) >= len(names) and _number(cells[0]) is not None:
            time = " ".join(cells[len(names) : len(names) + 2])
            yield from _values(number, time or None, None, names, cells[: len(names)])


def _sar(lines: list[str]) -> Iterator[Value]:
    date: str | None = None
    names: list[str] = []
    last, wrapped = "", 0
    for number, line in enumerate(lines, 1):
        if line.startswith("Linux "):
            found = re.search(r"\)\s+(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})\s", line + " ")
            date, last, wrapped = found.group(1) if found else None, "", 0
            continue
        found = re.match(r"^(\d\d:\d\d:\d\d(?: [AP]M)?)\s+(.*)$", line)
        if not found or line.startswith("Average"):
            continue
        clock, cells = found.group(1), found.group(2).split()
        if not cells or _number(cells[-1]) is None:
            names = cells
            continue
        if len(cells) != len(names):
            continue
        if last and clock < last and clock[8:] == last[8:]:
            wrapped += 1  # Past midnight; the date is only at the top of a file.
        last = clock
        labelled = names[0] in ("CPU", "DEV", "IFACE", "INTR", "TTY")
        time = f"{date} {clock}" if date and not wrapped else clock
        yield from _values(number, time, cells[0] if labelled else None, names[labelled:], cells[labelled:])


def _gc(lines: list[str]) -> Iterator[Value]:
    for number, line in enumerate(lines, 1):
        stamp, up = _GC_TIME.match(line), _UPTIME.search(line[:80])
        time = stamp["ts"] if stamp else None
        found: list[tuple[str, float]] = []
        subject: str | None = None
        if new := _GC_NEW.search(line):
            subject = new["what"].strip()
            found = [
                ("pause_ms" if subject.startswith("Pause") else "concurrent_ms", float(new["ms"].replace(",", ".")))
            ]
            found += [(f"{name}_bytes", _bytes(new[name])) for name in ("before", "after", "total") if new[name]]
        elif safepoint := _SAFEPOINT.search(line):
            subject, found = f"safepoint {safepoint['what']}", [("stopped_ms", float(safepoint["ns"]) / 1e6)]
        elif stopped := _STOPPED.search(line):
            subject, found = "safepoint", [("stopped_ms", float(stopped["secs"].replace(",", ".")) * 1000)]
        elif (old := _GC_OLD.search(line)) and (seconds := list(_SECONDS.finditer(line))):
            subject = old["what"]
            # The last figure in seconds is the whole pause; `real`, rounded to 10 ms, only if absent.
            text = next((m["secs"] for m in reversed(seconds) if m["secs"]), seconds[-1]["real"])
            found = [("pause_ms", float(text.replace(",", ".")) * 1000)]
            # The last sizes outside the inner brackets are those of the whole heap.
            if heap := list(_HEAP.finditer(re.sub(r"(?<!^)\[(?!GC|Full)[^\[\]]*\]", "", line))):
                found += [(f"{name}_bytes", _bytes(heap[-1][name])) for name in ("before", "after", "total")]
        if found and up:
            found.append(("uptime_s", float(up["up"].replace(",", "."))))
        yield from (Value(number, time, subject, name, value) for name, value in found)


def _bytes(text: str) -> float:
    return float(text[:-1]) * {"B": 1, "K": 2**10, "M": 2**20, "G": 2**30}[text[-1]]


_READERS: Final[dict[str, Callable[[list[str]], Iterator[Value]]]] = {
    "iostat": _iostat,
    "vmstat": _vmstat,
    "sar": _sar,
    "gc": _gc,
}
