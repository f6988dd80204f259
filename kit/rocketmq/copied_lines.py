"""Lines as `cat -n`, `grep -n` and `grep -C` show them: rows of `facts/copied_lines.yaml`."""

import re
from collections.abc import Iterable
from typing import Final

from kit import data


class Shown(data.Row, frozen=True):
    by: str
    regex: str
    every: bool
    example: str


ROWS: Final = data.read("rocketmq/facts/copied_lines.yaml", tuple[Shown, ...])
_TIME: Final = r"(?=\[?\d{4}[-/.]\d\d[-/.]\d\d[ T]\d\d:\d\d:\d\d)"
_FRONT: Final = {re.compile(f"(?:{row.regex}){_TIME}", re.ASCII): row for row in ROWS}
_GAP: Final = re.compile(r"--\s*$")
"""What grep -C prints between two places."""
MOST: Final = 0.8
"""Share of the lines that have something in front, from which all of them have it."""


def bare(line: str) -> str:
    front = _front(line, _FRONT)
    return line[front.end() :] if front else line


def all_bare(lines: list[str]) -> list[str]:
    """Return the lines of a text without what was put in front of them, those between two places of `grep -C` empty."""
    timed = [_front(line, _FRONT) for line in lines]
    used = {_FRONT[front.re] for front in timed if front}
    if not used:
        return lines
    others = [re.compile(row.regex, re.ASCII) for row in ROWS if row in used and row.every]
    shown = ["" if _GAP.match(line) else line for line in lines]
    loose = [_front(line, others) for line in shown]
    whole = sum(map(bool, loose)) >= MOST * sum(bool(line.strip()) for line in shown)
    fronts = [front or (other if whole else None) for front, other in zip(timed, loose, strict=True)]
    return [line[front.end() :] if front and line else line for line, front in zip(shown, fronts, strict=True)]


def _front(line: str, fronts: Iterable[re.Pattern[str]]) -> re.Match[str] | None:
    return next(filter(None, (front.match(line) for front in fronts)), None)
