"""Lines as `cat -n`, `grep -n` and `grep -C` show them: rows of `facts/copied_lines.yaml`."""

from __future__ import annotations

import re
from typing import Final

from kit import data


class Shown(data.Row, frozen=True):
    """What one kind of program puts in front of a line."""

    by: str
    regex: str
    every: bool
    example: str


ROWS: Final = data.read("rocketmq/facts/copied_lines.yaml", tuple[Shown, ...])
_TIME: Final = r"(?=\[?\d{4}[-/.]\d\d[-/.]\d\d[ T]\d\d:\d\d:\d\d)"
_FRONT: Final = tuple(re.compile(f"(?:{row.regex}){_TIME}", re.ASCII) for row in ROWS)
_EVERY: Final = tuple(re.compile(row.regex, re.ASCII) for row in ROWS)
_GAP: Final = re.compile(r"--\s*$")
"""What grep -C prints between two places."""
MOST: Final = 0.8
"""Share of the lines that have something in front, from which all of them have it."""


def bare(line: str) -> str:
    """Return a line from its time on, if a number or a file's name stands in front of it; else as it is."""
    number = _row(line)
    return line if number is None else line[_EVERY[number].match(line).end() :]  # type: ignore[union-attr]


def all_bare(lines: list[str]) -> list[str]:
    """Return the lines of a text without what was put in front of them, those between two places of `grep -C` empty."""
    rows = [_row(line) for line in lines]
    used = {number for number in rows if number is not None}
    if not used:
        return lines
    others = [_EVERY[number] for number in sorted(used) if ROWS[number].every]
    full = [line for line in lines if line.strip() and not _GAP.match(line)]
    whole = sum(any(each.match(line) for each in others) for line in full) >= MOST * len(full)
    return [_without(line, number, others if whole else []) for line, number in zip(lines, rows, strict=True)]


def _row(line: str) -> int | None:
    """Return the number of the first row that fits a line with a time."""
    return next((number for number, front in enumerate(_FRONT) if front.match(line)), None)


def _without(line: str, number: int | None, others: list[re.Pattern[str]]) -> str:
    if number is not None:
        return bare(line)
    if _GAP.match(line):
        return ""
    prefix = next((match for each in others if (match := each.match(line))), None)
    return line[prefix.end() :] if prefix else line
