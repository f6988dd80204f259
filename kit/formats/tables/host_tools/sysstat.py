"""Tables with one row a moment and device, processor or process: iostat, vmstat, sar, mpstat, pidstat."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kit.formats.tables.host_tools.clock import DATE_TIME
from kit.formats.tables.host_tools.values import Value, number, row


def iostat(lines: list[str]) -> Iterator[Value]:
    time: str | None = None
    names: list[str] = []
    cpu: list[str] = []
    for at, line in enumerate(lines, 1):
        cells = line.split()
        if not cells:
            names, cpu = [], []
        elif DATE_TIME.match(line.strip()):
            time = line.strip()
        elif cells[0] == "avg-cpu:":
            cpu = cells[1:]
        elif cpu:
            yield from row(at, time, "cpu", cpu, cells)
            cpu = []
        elif cells[0].rstrip(":") == "Device":
            names = cells[1:]
        elif names and len(cells) == len(names) + 1:
            yield from row(at, time, cells[0], names, cells[1:])


def vmstat(lines: list[str]) -> Iterator[Value]:
    names: list[str] = []
    for at, line in enumerate(lines, 1):
        cells = line.split()
        if cells[:2] == ["r", "b"]:
            names = [c for c in cells if not c.isupper()]
        elif names and len(cells) >= len(names) and number(cells[0]) is not None:
            time = " ".join(cells[len(names) : len(names) + 2])
            yield from row(at, time or None, None, names, cells[: len(names)])


def sar(lines: list[str]) -> Iterator[Value]:
    date: str | None = None
    names: list[str] = []
    last, wrapped = "", 0
    for at, line in enumerate(lines, 1):
        if line.startswith("Linux "):
            found = re.search(r"\)\s+(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})\s", line + " ")
            date, last, wrapped = found.group(1) if found else None, "", 0
            continue
        found = re.match(r"^(\d\d:\d\d:\d\d(?: [AP]M)?)\s+(.*)$", line)
        if not found or line.startswith("Average"):
            continue
        clock, cells = found.group(1), found.group(2).split()
        if not cells or number(cells[-1]) is None:
            names = cells
            continue
        if len(cells) != len(names):
            continue
        if last and clock < last and clock[8:] == last[8:]:
            wrapped += 1  # Past midnight; the date is only at the top of a file.
        last = clock
        labelled = names[0] in ("CPU", "DEV", "IFACE", "INTR", "TTY")
        time = f"{date} {clock}" if date and not wrapped else clock
        yield from row(at, time, cells[0] if labelled else None, names[labelled:], cells[labelled:])


def pidstat(lines: list[str]) -> Iterator[Value]:
    """Yield the values of each process, named `command[pid]`; its averages at the end are left out."""
    date: str | None = None
    names: list[str] = []
    for at, line in enumerate(lines, 1):
        if line.startswith("Linux "):
            dated = re.search(r"\)\s+(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})\s", line + " ")
            date, names = dated[1] if dated else None, []
            continue
        cells = line.removeprefix("#").split()
        if len(cells) > 2 and cells[1] in ("AM", "PM"):
            cells[:2] = [f"{cells[0]} {cells[1]}"]
        if "PID" in cells and cells[-1] == "Command":
            names = ["Time", *cells[1:]]
        elif names and len(cells) >= len(names) and re.match(r"\d", cells[0]):
            command = " ".join(cells[len(names) - 1 :])
            values = dict(zip(names[:-1], cells, strict=False))
            time = values.pop("Time") if date is None or cells[0].isdecimal() else f"{date} {values.pop('Time')}"
            process = f"{command}[{values.pop('PID')}]"
            measured = {
                name: cell for name, cell in values.items() if name not in ("Time", "UID", "TGID", "TID", "CPU")
            }
            yield from row(at, time, process, list(measured), list(measured.values()))
