"""What the host looks like at one moment: top -b, free, df, iotop -b. Memory and disk sizes become bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kit.formats.tables.host_tools.clock import time_of, with_date
from kit.formats.tables.host_tools.heads import OF_LINE
from kit.formats.tables.host_tools.values import Value, number, size

# --- top -------------------------------------------------------------------------------------------------------------

_TOP: Final = re.compile(r"^top - (?P<clock>\d\d:\d\d:\d\d) up .*load average: (?P<load>[\d., ]+)$")
_LOADS: Final = ("ldavg-1", "ldavg-5", "ldavg-15")
"""Their names in sar."""
_CPU: Final = re.compile(r"(?P<value>\d+[.,]\d+) ?%? ?(?P<name>us|sy|ni|id|wa|hi|si|st)\b")
_MEMORY: Final = re.compile(r"^(?P<unit>[KMGTPE]iB )?(?P<what>Mem|Swap) ?: *(?P<rest>.*)$")
_AMOUNT: Final = re.compile(
    r"(?P<size>\d+(?:[.,]\d+)?[kmgtpe]?)\+? (?P<name>total|free|used|buff/cache|buffers|cached|avail Mem)"
)
_PROCESS: Final = ("%CPU", "%MEM", "RES", "VIRT", "SHR", "SWAP")


def top(lines: list[str]) -> Iterator[Value]:
    """Yield the load, the shares of the processors' time, memory, and the processes named `command[pid]`."""
    date: str | None = None
    time: str | None = None
    names: list[str] = []
    for at, line in enumerate(lines, 1):
        cells = line.split()
        if head := _TOP.match(line.rstrip()):
            time, names = with_date(head["clock"], date), []
            loads = re.findall(r"\d+[.,]\d+", head["load"])
            yield from (Value(at, time, None, name, _real(load)) for name, load in zip(_LOADS, loads, strict=False))
        elif (printed := time_of(line)) is not None:
            date = printed
        elif time and "Cpu" in line[:5]:
            yield from (Value(at, time, "cpu", found["name"], _real(found["value"])) for found in _CPU.finditer(line))
        elif time and (memory := _MEMORY.match(line)):
            yield from _amounts(at, time, memory["what"].lower(), (memory["unit"] or "K")[0], memory["rest"])
        elif cells[:1] == ["PID"] and cells[-1] == "COMMAND":
            names = cells
        elif names and len(cells) >= len(names) and cells[0].isdecimal():
            yield from _process(at, time, names, cells)
        elif not cells:
            names = []


def _amounts(at: int, time: str, what: str, unit: str, text: str) -> Iterator[Value]:
    for found in _AMOUNT.finditer(text):
        name = found["name"].replace("avail Mem", "available")
        # The line of swap ends with two amounts of memory.
        subject = "mem" if name in ("available", "cached") else what
        value = size(found["size"], 1024 ** ("KMGTPE".index(unit) + 1))
        if value is not None:
            yield Value(at, time, subject, f"{name}_bytes", value)


def _process(at: int, time: str | None, names: list[str], cells: list[str]) -> Iterator[Value]:
    values = dict(zip(names[:-1], cells, strict=False))
    process = f"{' '.join(cells[len(names) - 1 :])[:60]}[{values['PID']}]"
    for name in _PROCESS:
        cell = values.get(name, "")
        value = number(cell) if name.startswith("%") else size(cell, 1024)
        if value is not None:
            yield Value(at, time, process, name if name.startswith("%") else f"{name.lower()}_bytes", value)


def _real(text: str) -> float:
    return float(text.replace(",", "."))


# --- free ------------------------------------------------------------------------------------------------------------

_ROW: Final = re.compile(r"^\s*(?P<what>Mem|Swap|内存|交换)\s*[:：]\s*(?P<rest>\d.*)$")
_SUBJECTS: Final = {"Mem": "mem", "内存": "mem", "Swap": "swap", "交换": "swap"}


def free(lines: list[str]) -> Iterator[Value]:
    """Yield the columns of memory and swap in bytes. Without a unit the size of the memory tells which one `free` was asked for."""
    time: str | None = None
    names: list[str] = []
    unit = 1024
    for at, line in enumerate(lines, 1):
        if OF_LINE["free"].match(line):
            names = line.split()
        elif (printed := time_of(line)) is not None:
            time = printed
        elif names and (found := _ROW.match(line)):
            cells, subject = found["rest"].split(), _SUBJECTS[found["what"]]
            if subject == "mem":
                unit = _unit(number(cells[0]))
            for name, cell in zip(names, cells, strict=False):
                value = size(cell, unit)
                if value is not None:
                    yield Value(at, time, subject, f"{name}_bytes", value)


def _unit(total: float | None) -> int:
    """Return the bytes that one stands for: under 1,000 they are GiB, under a million MiB, under 4 Gi KiB."""
    if total is None or total >= 4 << 30:
        return 1
    return 1 << 30 if total < 1 << 10 else 1 << 20 if total < 1_000_000 else 1 << 10


# --- df --------------------------------------------------------------------------------------------------------------

_MOUNT: Final = re.compile(
    r"^(?P<device>\S.*?)\s+(?:[a-z][\w.]*\s+)?(?P<cells>(?:[\d.,]+[KMGTPE]?i?B?|-)(?:\s+(?:[\d.,]+[KMGTPE]?i?B?|-)){2}\s+(?:\d+%|-))\s+(?P<mount>/.*)$"
)
_BLOCK: Final = re.compile(r"^(?P<number>\d*)(?P<unit>[KMGB]?)-")


def df(lines: list[str]) -> Iterator[Value]:
    """Yield `size_bytes`, `used_bytes`, `avail_bytes`, `use%` of each mount point; with -i the same as `inodes`, `iused`, `ifree`, `iuse%`."""
    time: str | None = None
    names: list[str] = []
    unit = 1
    before = ""
    for at, line in enumerate(lines, 1):
        if OF_LINE["df"].match(line):
            inodes = "Inodes" in line
            names = (
                ["inodes", "iused", "ifree", "iuse%"] if inodes else ["size_bytes", "used_bytes", "avail_bytes", "use%"]
            )
            blocks = next((found for cell in line.split() if (found := _BLOCK.match(cell))), None)
            unit = (
                1 if inodes or not blocks else int(blocks["number"] or 1) * 1024 ** "BKMG".index(blocks["unit"] or "B")
            )
        elif (printed := time_of(line)) is not None:
            time = printed
        elif names and (found := _MOUNT.match(before + line)):
            cells = found["cells"].split()
            for name, cell in zip(names, cells, strict=True):
                value = number(cell.rstrip("%")) if name.endswith("%") else size(cell.replace(",", "."), unit)
                if value is not None:
                    yield Value(at, time, found["mount"], name, value)
        # A long device name has a line of its own.
        before = f"{line} " if len(line.split()) == 1 else ""


# --- iotop -----------------------------------------------------------------------------------------------------------

_RATE: Final = r"\d+\.\d+ [BKMGT]/s"
_TOTAL: Final = re.compile(rf"(?P<kind>Total|Actual|Current) DISK (?P<way>READ|WRITE) ?:\s*(?P<rate>{_RATE})")
_IO: Final = re.compile(
    rf"^(?:(?P<clock>\d\d:\d\d:\d\d) +)?(?P<pid>\d+) +\S+ +\S+ +(?P<read>{_RATE}) +(?P<write>{_RATE}) +(?:(?P<swap>\d+\.\d+) % +(?P<io>\d+\.\d+) %|\?\S* *\S*) +(?P<command>\S.*)$"
)


def iotop(lines: list[str]) -> Iterator[Value]:
    """Yield the bytes that all processes, and each one named `command[pid]`, read and write in a second, and the share of time it waits for them."""
    date: str | None = None
    time: str | None = None
    for at, raw in enumerate(lines, 1):
        line = raw.strip().replace("\t", " ")
        if OF_LINE["iotop"].match(line):
            time = with_date(line[:8], date) if line[:1].isdecimal() else date
        elif (printed := time_of(line)) is not None:
            date = printed
        for total in _TOTAL.finditer(line):
            yield Value(at, time, total["kind"].lower(), f"{total['way'].lower()}_bytes/s", _rate(total["rate"]))
        if found := _IO.match(line):
            process = f"{found['command'][:60]}[{found['pid']}]"
            yield Value(at, time, process, "read_bytes/s", _rate(found["read"]))
            yield Value(at, time, process, "write_bytes/s", _rate(found["write"]))
            if found["io"]:
                yield Value(at, time, process, "IO>", float(found["io"]))


def _rate(text: str) -> float:
    amount, _, unit = text.partition(" ")
    return float(amount) * 1024.0 ** "BKMGT".index(unit[0])
