"""Lines as `cat -n`, `grep -n` and `grep -C` show them: rows of `facts/copied_lines.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
_GAP: Final = re.compile(r"--\s*$")
"""What grep -C prints between two places."""
MOST: Final = 0.8
"""Share of the lines that have something in front, from which all of them have it."""


def bare(line: str) -> str:
    """Return a line from its time on, if a number or a file's name stands in front of it; else as it is."""
    return _cut(line, _FRONT)


def all_bare(lines: list[str]) -> list[str]:
    """Return the lines of a text without what was put in front of them, those between two places of `grep -C` empty."""
    used = {next((row for row, front in zip(ROWS, _FRONT, strict=True) if front.match(line)), None) for line in lines}
    if used == {None}:
        return lines
    others = [re.compile(row.regex, re.ASCII) for row in ROWS if row in used and row.every]
    full = [line for line in lines if line.strip() and not _GAP.match(line)]
    whole = sum(any(each.match(line) for each in others) for line in full) >= MOST * len(full)
    fronts = [*_FRONT, *(others if whole else ())]
    return ["" if _GAP.match(line) else _cut(line, fronts) for line in lines]


def _cut(line: str, fronts: Iterable[re.Pattern[str]]) -> str:
    """Return a line without the first of these that it begins with."""
    match = next(filter(None, (front.match(line) for front in fronts)), None)
    return line[match.end() :] if match else line
