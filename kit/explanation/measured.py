"""Outputs of a host's tools in a paste: their heads are explained, their rows are not lines of a log."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from kit.formats.tables.host_tools import heads, monitoring
from kit.i18n import T
from kit.pasted.plain_lines import Line

TITLE: Final = T("An output of {tool}")
IS: Final = T("Measurements of the host; a triage reads them as rows of the table `metrics`.")
READ: Final = {
    "iostat": T(
        "%util near 100 and a w_await of more than some ms: the disk is the limit. The first block is the average since boot."
    ),
    "vmstat": T(
        "si and so above 0: the host swaps, a heap that is swapped pauses for seconds. b and wa: waits for a disk. The first line is the average since boot."
    ),
    "mpstat": T("%iowait: waits for a disk; %steal: the hypervisor gives the time to others; %soft: network packets."),
    "sar": T("The values at the minute of the incident against those of the same hour on another day."),
    "pidstat": T("Which process writes: if it is not the broker, it shares the broker's disk."),
    "iotop": T("Which process writes: if it is not the broker, it shares the broker's disk."),
    "gc": T(
        "A pause longer than 200 ms (waitTimeMillsInSendQueue) lets waiting sends be refused; several seconds cost heartbeats and let clients time out."
    ),
    "jstat": T(
        "O near 100 while FGC rises: the heap is used up. FGCT divided by FGC is the mean pause of a full collection in seconds (CMS counts each of its two short stops)."
    ),
    "top": T(
        "wa: waits for a disk. A process may use 100% for each processor. RES of a broker includes pages of mapped store files (SHR), which the system takes back when it needs them."
    ),
    "prometheus": T(
        "rocketmq_group_diff (exporter) and rocketmq_consumer_lag_messages (5.x) are the messages a group has not handled at that moment; two scrapes some minutes apart show whether they grow."
    ),
    "grafana": T("Which curve moved first, and what started or stopped at that minute."),
    "free": T(
        "`available` is what is left, not `free`; buff/cache is the page cache that a broker reads and writes through. Swap in use on a broker's host: vm.swappiness=1 and a smaller heap."
    ),
    "df": T(
        "Use% of the mount that holds the store: above 75 (diskMaxUsedSpaceRatio) old files are deleted at any hour, above 85 whatever their age, above 90 the broker refuses messages. 100% with df -i: no inode is left."
    ),
}
"""What to look at in each, for a broker."""
_CELL: Final = re.compile(r"(?<![\w.])\d[\d.,]*(?:[KMGTkmgt]i?B?|%|/s)?(?!\w)")
_ABOVE: Final = re.compile(r"Linux \d\S* \(.{1,80}\).*\(\d+ CPU\)|(?:# )?(?:HELP|TYPE) rocketmq_\w+ ")
"""The first line of sysstat's tools; what Prometheus prints above a metric (its # may be taken for a prompt)."""
_FEWEST: Final = 2
"""Numbers in a row."""
_BLANK: Final = 3
"""Most lines from one row to the next."""


def find(lines: Iterable[Line]) -> tuple[dict[int, str], frozenset[int]]:
    """Return the output that begins at each head, by line number, and the numbers of the lines that may be its rows."""
    lines = list(lines)
    if lines and (tool := _export([line.text for line in lines])):
        return {lines[0].number: tool}, frozenset(line.number for line in lines)
    begun: dict[int, str] = {}
    rows: set[int] = set()
    last = -_BLANK
    inside = ""
    for line in lines:
        tool = heads.of_line(line.text)
        if tool and tool != inside:
            begun[line.number] = tool
        row = tool or _ABOVE.match(line.text) or (inside and line.number - last <= _BLANK and _row(line.text))
        if row:
            rows.add(line.number)
            inside, last = tool or inside, line.number
        elif line.number - last > _BLANK:
            inside = ""
    return begun, frozenset(rows)


def _export(texts: list[str]) -> str | None:
    """Return what exported a whole text."""
    if heads.ANSWER.match(texts[0].encode()):
        return "prometheus"
    return "grafana" if monitoring.is_series("\n".join(texts[:3]).encode()) else None


def _row(text: str) -> bool:
    return len(_CELL.findall(text)) >= _FEWEST or text.startswith(("PID ", "TID "))
