"""Tables of mqadmin in a paste: their heads are explained, their rows are not lines of a log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kit.pasted.plain_lines import Line
from kit.rocketmq.mqadmin_tables import PAIRS, TABLES

_HEAD: Final = re.compile(r"#\w[\w ()]*(?:\s+#\w[\w ()]*)+$")
_PAIR: Final = re.compile(r"#(?:brokerName|Master\w+|SyncStateSet\w+)\s+[^\s#]|(?:Not)?InSyncReplica:\s")
_TOTAL: Final = re.compile(r"(?:Consume TPS|Diff Total|Consume Inflight Total): ")
_ROW: Final = re.compile(r"[^\s:]+(?: [^\s:]+)?\s{2,}\S|\S+\t\S")
"""Cells with more than one blank between them."""


def heads(lines: Sequence[Line]) -> tuple[dict[int, str], frozenset[int]]:
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
