"""Outputs of commands in a paste, of a host's tools and of mqadmin: their heads are explained, their rows are not lines of a log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kit.explanation.pasted_lines import Line
from kit.formats.tables import host_heads
from kit.i18n import T
from kit.rocketmq.mqadmin_tables import PAIRS, TABLES

TITLE: Final = T("An output of {tool}", "{tool} 的输出")
IS: Final = T(
    "Measurements of the host; a triage reads them as rows of the table `metrics`.",
    "主机的测量值；triage 会把它们作为 `metrics` 表的行读取。",
)
READ: Final = {
    "iostat": T(
        "%util near 100 and a w_await of more than some ms: the disk is the limit. The first block is the average since boot.",
        "%util 接近 100 且 w_await 超过数毫秒：瓶颈在磁盘。第一段是开机以来的平均值。",
    ),
    "vmstat": T(
        "si and so above 0: the host swaps, a heap that is swapped pauses for seconds. b and wa: waits for a disk. The first line is the average since boot.",
        "si 和 so 大于 0：主机在换页，堆被换出会停顿数秒。b 和 wa：等待磁盘。第一行是开机以来的平均值。",
    ),
    "sar": T(
        "The values at the minute of the incident against those of the same hour on another day.",
        "事故那一分钟的值，对照另一天同一时段的值。",
    ),
    "gc": T(
        "A pause longer than 200 ms (waitTimeMillsInSendQueue) lets waiting sends be refused; several seconds cost heartbeats and let clients time out.",
        "超过 200 毫秒（waitTimeMillsInSendQueue）的停顿会使排队的发送被拒绝；持续数秒会丢失心跳并使客户端超时。",
    ),
    "df": T(
        "Use% of the mount that holds the store: above 75 (diskMaxUsedSpaceRatio) old files are deleted at any hour, above 85 whatever their age, above 90 the broker refuses messages. 100% with df -i: no inode is left.",
        "存储所在挂载点的 Use%：超过 75（diskMaxUsedSpaceRatio）任何时刻都会删除过期文件，超过 85 不论文件新旧，超过 90 Broker 拒绝消息。df -i 为 100%：没有剩余 inode。",
    ),
}
"""What to look at in each, for a broker."""
_CELL: Final = re.compile(r"(?<![\w.])\d[\d.,]*(?:[KMGTkmgt]i?B?|%|/s)?(?!\w)")
_ABOVE: Final = re.compile(r"Linux \d\S* \(.{1,80}\).*\(\d+ CPU\)")
"""The first line of sysstat's tools."""
_FEWEST: Final = 2
"""Numbers in a row."""
_BLANK: Final = 3
"""Most lines from one row to the next."""
_HEAD: Final = re.compile(r"#\w[\w ()]*(?:\s+#\w[\w ()]*)+$")
_PAIR: Final = re.compile(r"#(?:brokerName|Master\w+|SyncStateSet\w+)\s+[^\s#]|(?:Not)?InSyncReplica:\s")
_TOTAL: Final = re.compile(r"(?:Consume TPS|Diff Total|Consume Inflight Total): ")
_ROW: Final = re.compile(r"[^\s:]+(?: [^\s:]+)?\s{2,}\S|\S+\t\S")
"""Cells with more than one blank between them."""


def of_hosts(lines: Sequence[Line]) -> tuple[dict[int, str], frozenset[int]]:
    """Return the output that begins at each head, by line number, and the numbers of the lines that may be its rows."""
    begun: dict[int, str] = {}
    rows: set[int] = set()
    last = -_BLANK
    inside = ""
    for line in lines:
        tool = host_heads.of_line(line.text)
        if tool and tool != inside:
            begun[line.number] = tool
        row = (
            tool
            or _ABOVE.match(line.text)
            or (inside and line.number - last <= _BLANK and len(_CELL.findall(line.text)) >= _FEWEST)
        )
        if row:
            rows.add(line.number)
            inside, last = tool or inside, line.number
        elif line.number - last > _BLANK:
            inside = ""
    return begun, frozenset(rows)


def of_mqadmin(lines: Sequence[Line]) -> tuple[dict[int, str], frozenset[int]]:
    """Return the command that prints each head, by line number, and the numbers of the lines that belong to a table."""
    commands: dict[int, str] = {}
    rows: set[int] = set()
    last, inside = 0, ""
    for line in lines:
        command = _command(line.text)
        if command and not (command == PAIRS and inside == PAIRS):
            commands[line.number] = inside = command
        elif command or _TOTAL.match(line.text) or (inside and line.number - last <= 1 and _ROW.match(line.text)):
            rows.add(line.number)
        else:
            inside = ""
        last = line.number
    return commands, frozenset(rows)


def _command(text: str) -> str | None:
    if _PAIR.match(text):
        return PAIRS
    if not _HEAD.match(text):
        return None
    joined = " ".join(text.split())
    return next((command for start, command in TABLES if joined.startswith(start)), None)
