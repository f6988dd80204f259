"""Host metrics: what iostat, vmstat, sar, df and GC logs (JDK 8 and unified) print → one row per value; and its
network: `ip addr` and `ss` → one row per address or socket.

The first block of iostat and the first line of vmstat are averages since boot; they are rows like the others. Times
without a zone are local to the host; df has none, unless a line before it holds one.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from kit.evidence.files import beginning, numbered_lines
from kit.formats import printed_times
from kit.formats.patterns import byte_patterns, forms, patterns

OF_LINE: Final = {origin: re.compile(f"^(?:{head})", re.MULTILINE) for origin, head in forms("host_tools").items()}
"""How each output begins: by that a file, or a stretch of a pasted text, is recognised."""
_LOGGED: Final = byte_patterns("host_tools_heads")["logged"]
_EXAMINED: Final = 16384
"""Bytes of a file's head that are examined."""
_SEVERAL: Final = 16 << 20
"""Bytes up to which a file may hold several outputs, as a script collects them."""

Value = tuple[str | None, str | None, str, float]
"""(time as printed, subject, name, value)."""
Reader = Iterator[tuple[int, Value]]
Lines = Iterable[tuple[int, str]]


def origins(text: bytes) -> list[str]:
    """Return the outputs whose heads are in a text."""
    lines = text.replace(b"\r", b"").decode("utf-8", "replace")
    return [origin for origin, head in OF_LINE.items() if head.search(lines)]


def sniff(head: bytes) -> bool:
    """Return whether a file is output of such tools: nothing in it looks like a log."""
    head = head[:_EXAMINED].replace(b"\r", b"")
    return bool(origins(head)) and not _LOGGED.search(head)


def of_line(line: str) -> str | None:
    return next((origin for origin, head in OF_LINE.items() if head.match(line)), None)


def read(path: str | Path, zone: Callable[[int], int]) -> Iterator[dict[str, Any]]:
    """Yield the rows of `metrics` in one file. `zone(ms as printed)` gives ms since 1970 for times without a zone."""
    head = beginning(path, _SEVERAL + 1)
    named = origins(head if len(head) <= _SEVERAL else head[:_EXAMINED])
    for origin in named:
        for line, (time, subject, name, value) in _READERS[origin](_lines(path, origin if len(named) > 1 else None)):
            ts = moment(time, zone) if time else None
            where = {"line": line, "ts": ts, "ts_text": time, "origin": origin}
            yield where | {"subject": subject, "name": name, "value": value}


def _lines(path: str | Path, origin: str | None) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a file; of several outputs only those of `origin`, and the times."""
    owner: str | None = None
    for number, line in numbered_lines(path):
        if origin is not None and line:
            owner = of_line(line) or owner
            if owner not in (None, origin) and not line.startswith("Linux ") and time_of(line) is None:
                continue
        yield number, line


# --- times -----------------------------------------------------------------------------------------------------------

LINES: Final = patterns("metrics")
_DATES: Final = [patterns("printed_times")[form] for form in ("date", "date_en")]


def time_of(line: str) -> str | None:
    """Return the time in a line that holds nothing else: of `date`, or between dashes."""
    line = line.strip()
    if alone := LINES["alone"].match(line):
        return alone[1].replace("_", " ")
    return line if any(rule.match(line) for rule in _DATES) else None


def moment(text: str, zone: Callable[[int], int]) -> int | None:
    """Return a printed date and time as µs since 1970 UTC, None if incomplete."""
    # The C locale prints month/day/year.
    text = LINES["short_year"].sub(r"\g<1>20\2", text.strip())
    return printed_times.moment(printed_times.when(text, month_first="." not in text[:10]), zone)


# --- numbers ---------------------------------------------------------------------------------------------------------


def _number(text: str) -> float | None:
    """Return a printed number, with a point or a comma; None for anything else."""
    return float(text.replace(",", ".")) if LINES["number"].fullmatch(text) else None


def _row(at: int, time: str | None, subject: str | None, names: list[str], cells: list[str]) -> Reader:
    """Yield the numbers among the cells of a row; what is no number is left out."""
    for name, cell in zip(names, cells, strict=False):
        if (value := _number(cell)) is not None:
            yield at, (time, subject, name, value)


# --- the tools -------------------------------------------------------------------------------------------------------


def _iostat(lines: Lines) -> Reader:
    time: str | None = None
    names: list[str] = []
    is_cpu = False
    for at, line in lines:
        cells = line.split()
        if not cells:
            names = []
        elif LINES["date_time"].match(line.strip()):
            time = line.strip()
        elif cells[0] == "avg-cpu:" or cells[0].rstrip(":") == "Device":
            names, is_cpu = cells[1:], cells[0] == "avg-cpu:"
        elif names and is_cpu:
            yield from _row(at, time, "cpu", names, cells)
            names = []
        elif names and len(cells) == len(names) + 1 and _number(cells[-1]) is not None:
            yield from _row(at, time, cells[0], names, cells[1:])


def _vmstat(lines: Lines) -> Reader:
    names: list[str] = []
    for at, line in lines:
        cells = line.split()
        if cells[:2] == ["r", "b"]:
            names = [c for c in cells if not c.isupper()]
        elif names and len(cells) >= len(names) and _number(cells[0]) is not None:
            time = " ".join(cells[len(names) : len(names) + 2])
            yield from _row(at, time or None, None, names, cells[: len(names)])


def _sar(lines: Lines) -> Reader:
    """Yield the values of each interval without averages; past midnight the date at the top no longer holds."""
    date: str | None = None
    names: list[str] = []
    last = ""
    for at, line in lines:
        if line.startswith("Linux "):
            match = re.search(r"\)\s+(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})\s", line + " ")
            date, last = match[1] if match else None, ""
            continue
        match = re.match(r"^(\d\d:\d\d:\d\d(?: [AP]M)?)\s+(.*)$", line)
        if not match:
            continue
        clock, cells = match[1], match[2].split()
        if not cells or _number(cells[-1]) is None:
            names = cells
        elif len(cells) == len(names):
            if last and clock < last and clock[8:] == last[8:]:
                date = None
            last = clock
            labelled = names[0] in ("CPU", "DEV", "IFACE", "INTR", "TTY")
            time, subject = f"{date} {clock}" if date else clock, cells[0] if labelled else None
            yield from _row(at, time, subject, names[labelled:], cells[labelled:])


_LONGEST: Final = 1_000
"""Characters of a line that may be one of df's."""


def _df(lines: Lines) -> Reader:
    """Yield `use%` of each mount point, with -i `iuse%`: of its inodes."""
    time: str | None = None
    name = before = ""
    for at, line in lines:
        if OF_LINE["df"].match(line):
            name = "iuse%" if "Inodes" in line else "use%"
        elif (printed := time_of(line)) is not None:
            time = printed
        elif name and len(line) < _LONGEST and (match := LINES["mount"].match(before + line)):
            yield at, (time, match["mount"], name, float(match["share"]))
        # A long device name has a line of its own.
        before = f"{line} " if len(line) < _LONGEST and len(line.split()) == 1 else ""


def _gc(lines: Lines) -> Reader:
    """Yield how long each collection stood (`pause_ms`), and the application for a safepoint (`stopped_ms`)."""
    for at, line in lines:
        if pause := _pause(line):
            stamp = LINES["gc_time"].match(line)
            yield at, (stamp[1] if stamp else None, *pause)


def _pause(line: str) -> tuple[str, str, float] | None:
    """Return the kind of pause in a line of a GC log, the name of its length, and that in ms."""
    if new := LINES["gc_new"].search(line):
        return new["what"].strip(), "pause_ms", float(new["ms"].replace(",", "."))
    if safepoint := LINES["safepoint"].search(line):
        return f"safepoint {safepoint[1]}", "stopped_ms", float(safepoint[2]) / 1e6
    if stopped := LINES["stopped"].search(line):
        return "safepoint", "stopped_ms", float(stopped[1].replace(",", ".")) * 1000
    if not (old := LINES["gc_old"].search(line)) or not (seconds := list(LINES["seconds"].finditer(line))):
        return None
    # The last figure in seconds is the whole pause; `real`, rounded to 10 ms, only if absent.
    text = next((m["secs"] for m in reversed(seconds) if m["secs"]), seconds[-1]["real"])
    return old[1], "pause_ms", float(text.replace(",", ".")) * 1000


_READERS: Final[dict[str, Callable[[Lines], Reader]]] = {
    "iostat": _iostat, "vmstat": _vmstat, "sar": _sar, "gc": _gc, "df": _df,
}  # fmt: skip


# --- the network -----------------------------------------------------------------------------------------------------

_NETWORK: Final = patterns("network")
_NETWORK_HEADS: Final = byte_patterns("network_heads")


def is_network(head: bytes) -> bool:
    """Return whether a file begins with such an output, and no log line is among the first ones."""
    head = head[:8192]
    return not _NETWORK_HEADS["logged"].search(head) and bool(
        _NETWORK_HEADS["head"].search(b"\n".join(head.replace(b"\r", b"").split(b"\n")[:12]))
    )


def network(text: str) -> Iterator[dict[str, str | int | None]]:
    """Yield the rows of `network` in one output, without what it does not contain."""
    from kit.formats.values import integer  # explanation, which needs only the heads of outputs, loads no Arrow

    interface = None
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = raw.rstrip("\r ")
        row: dict[str, str | int | None] = {"line": number, "origin": "addresses"}
        if named := _NETWORK["interface"].match(line):
            interface = named["name"]
        elif interface and (inet := _NETWORK["inet"].match(line)):
            yield row | {"interface": interface, "address": inet["address"], "prefix": integer(inet["prefix"], 32)}
        elif socket := _NETWORK["socket"].match(line):
            # `0.0.0.0:10911`, `*:10911`, `[::]:10911`, `10.0.0.2%eth0:22`
            address, _, port = socket["local"].rpartition(":")
            plain = address.strip("[]").partition("%")[0].removeprefix("::ffff:")
            ends = {"address": {"*": "0.0.0.0", "": "::"}.get(plain, plain), "port": integer(port, 32)}
            ends |= {"peer": socket["peer"], "state": socket["state"], "process": socket["process"].strip() or None}
            yield row | {"origin": "sockets", **ends}
