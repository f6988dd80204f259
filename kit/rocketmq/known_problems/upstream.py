"""The texts that RocketMQ's own code logs at WARN or ERROR, answers or throws: class, level, first and last release.

`format_strings.tsv` holds facts read from the sources of 4.3.0 to 5.3.3 (`tests/builders/java_sources.py` reads them).
"""

from __future__ import annotations

from functools import cache, cached_property
from importlib import resources
from typing import Final

import attrs

from kit.rocketmq.known_problems.problem import ANY, SHORTEST
from kit.rocketmq.known_problems.windows import Windows

OLDEST: Final = "4.3.0"
NEWEST: Final = "5.3.3"
SURE: Final = 11
"""Characters of text a format string needs before a line counts as printed by it."""


def number(release: str) -> tuple[int, ...]:
    """Return a release as numbers that compare; "" comes first."""
    return tuple(map(int, release.split("."))) if release else ()


@attrs.define(frozen=True, slots=False)
class FormatString:
    """One text. `cls`: `module/Class`; `how`: WARN, ERROR, REMARK (an answer) or THROW; `since`, `until`: "" = no bound in 4.3.0 to 5.3.3."""

    cls: str
    how: str
    since: str
    until: str
    text: str

    @property
    def logged(self) -> bool:
        return self.how in ("WARN", "ERROR")

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The literal parts between the values, those that are more than blanks and signs."""
        return tuple(piece for piece in self.text.split(ANY) if len(piece.strip()) > 1)

    @cached_property
    def weight(self) -> int:
        """Characters of text: of several format strings in a line the one with most is meant."""
        return sum(map(len, self.pieces))

    def in_line(self, line: str) -> bool:
        """Return whether the parts are in the line, in order."""
        at = 0
        for piece in self.pieces:
            found = line.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return True


@cache
def format_strings() -> tuple[FormatString, ...]:
    """Return every text of the table."""
    text = resources.files(__package__).joinpath("format_strings.tsv").read_text("utf-8")
    return tuple(FormatString(*line.split("\t")) for line in text.split("\n") if line and not line.startswith("#"))


@cache
def _windows() -> Windows:
    return Windows(tuple(max(each.pieces or ("",), key=len) for each in format_strings()))


def find(line: str) -> tuple[FormatString, ...]:
    """Return the texts that are in a line, those with most text first."""
    every = format_strings()
    found = [every[number] for number in _windows().find(line) if len(max(every[number].pieces, key=len)) >= SHORTEST]
    return tuple(sorted((each for each in found if each.in_line(line)), key=lambda each: -each.weight))
