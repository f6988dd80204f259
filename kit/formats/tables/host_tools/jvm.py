"""The garbage collections of a JVM: GC logs of HotSpot (JDK 8 and unified), `jstat -gcutil` and `-gc`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kit.formats.tables.host_tools.clock import time_of
from kit.formats.tables.host_tools.values import Value, number, row

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


def gc(lines: list[str]) -> Iterator[Value]:
    for at, line in enumerate(lines, 1):
        stamp, up = _GC_TIME.match(line), _UPTIME.search(line[:80])
        time = stamp["ts"] if stamp else None
        found: list[tuple[str, float]] = []
        subject: str | None = None
        if new := _GC_NEW.search(line):
            subject = new["what"].strip()
            found = [
                ("pause_ms" if subject.startswith("Pause") else "concurrent_ms", float(new["ms"].replace(",", ".")))
            ]
            found += [(f"{name}_bytes", heap_bytes(new[name])) for name in ("before", "after", "total") if new[name]]
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
                found += [(f"{name}_bytes", heap_bytes(heap[-1][name])) for name in ("before", "after", "total")]
        if found and up:
            found.append(("uptime_s", float(up["up"].replace(",", "."))))
        yield from (Value(at, time, subject, name, value) for name, value in found)


def heap_bytes(text: str) -> float:
    return float(text[:-1]) * {"B": 1, "K": 2**10, "M": 2**20, "G": 2**30}[text[-1]]


def jstat(lines: list[str]) -> Iterator[Value]:
    """Yield the columns of each sample, and `pause_ms` of `Full GC`: the mean of those between two samples of one process."""
    names: list[str] = []
    time: str | None = None
    last: dict[str, float] = {}
    for at, line in enumerate(lines, 1):
        cells = line.split()
        if {"FGC", "FGCT"} <= set(cells):
            # Behind a head may be another process.
            names, last = cells, {}
        elif (printed := time_of(line)) is not None:
            time = printed
        elif names and len(cells) == len(names) and number(cells[-1]) is not None:
            values = list(row(at, time, None, names, cells))
            yield from values
            now = {value.name: value.value for value in values}
            new = now.get("FGC", 0.0) - last.get("FGC", now.get("FGC", 0.0))
            took = now.get("FGCT", 0.0) - last.get("FGCT", 0.0)
            if new > 0 and took >= 0 and "FGCT" in last:
                yield Value(at, time, "Full GC", "pause_ms", took / new * 1000)
            last = now
