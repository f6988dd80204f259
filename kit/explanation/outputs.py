"""Outputs of host tools and of mqadmin in a paste: their heads are explained, their rows are no log lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kit.explanation.pasted_lines import Line
from kit.formats.tables import host_heads
from kit.i18n import labels
from kit.rocketmq.answers import MQADMIN_HEADS, MQADMIN_PAIRS

TEXTS: Final = labels("explanation")["host output"]
NEXT: Final = labels("explanation")["host output next"]
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
        if command and not (command == MQADMIN_PAIRS and inside == MQADMIN_PAIRS):
            commands[line.number] = inside = command
        elif command or _TOTAL.match(line.text) or (inside and line.number - last <= 1 and _ROW.match(line.text)):
            rows.add(line.number)
        else:
            inside = ""
        last = line.number
    return commands, frozenset(rows)


def _command(text: str) -> str | None:
    if _PAIR.match(text):
        return MQADMIN_PAIRS
    if not _HEAD.match(text):
        return None
    joined = " ".join(text.split())
    return next((command for start, command in MQADMIN_HEADS if joined.startswith(start)), None)
