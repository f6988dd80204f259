"""RocketMQ's own WARN and ERROR texts that say what no known text does: whose a line is, or which releases print it.

`format_strings.tsv` is read from the sources of 4.3.0 to 5.3.3 by `tools/java_sources.py`, which says what is left out.
"""

import re
from functools import cache, cached_property
from typing import Final

import attrs
from ahocorasick_rs import AhoCorasick

from kit import data
from kit.rocketmq.catalogue import ANY, BY_CLASS, PROBLEMS, Problem
from kit.rocketmq.versions import NEWEST, OLDEST

_LEVEL: Final = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN|ERROR)\b")
_LOUD: Final = re.compile(r"\b(?:WARN|ERR|FATAL)|\b[\w.]+(?:Exception|Error)\b|\b(?:warn|error|fatal)")


def span(since: str, until: str) -> str:
    """Return releases as "4.5.2–4.9.8"; beyond the oldest and newest that were read there is no bound."""
    if since and until:
        return f"{since}–{until}"
    return f"≤ {until}" if until else f"≥ {since}" if since else f"{OLDEST}–{NEWEST}"


@attrs.define(frozen=True, slots=False)
class FormatString:
    """One text. `classes`: those that print it, `module/Class`, one that a problem explains first; `how`: WARN, ERROR
    or both; `since`, `until`: "" for no bound in 4.3.0 to 5.3.3.
    """

    classes: str
    how: str
    since: str
    until: str
    text: str

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The literal parts between the values, those that are more than blanks and signs."""
        return tuple(piece for piece in self.text.split(ANY) if len(piece.strip()) > 1)

    @property
    def releases(self) -> str:
        return span(self.since, self.until)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What finds the parts in a line, in order; each at its first place, else a long line took for ever."""
        return re.compile("".join(f"(?>.*?{re.escape(piece)})" for piece in self.pieces), re.DOTALL)


@cache
def format_strings() -> tuple[FormatString, ...]:
    rows = (data.KIT / "rocketmq" / "texts" / "format_strings.tsv").read_text("utf-8").splitlines()
    return tuple(FormatString(*row.split("\t")) for row in rows if not row.startswith("#"))


@cache
def _search() -> AhoCorasick:
    return AhoCorasick([max(each.pieces, key=len) for each in format_strings()])


def find(line: str) -> FormatString | None:
    numbers = {number for number, _, _ in _search().find_matches_as_indexes(line, overlapping=True)}
    matches = [each for each in map(format_strings().__getitem__, sorted(numbers)) if each.pattern.match(line)]
    return max(matches, key=lambda each: sum(map(len, each.pieces)), default=None)


def printed(line: str) -> FormatString | None:
    """Return the text in a line, None where the line has a level at which no release prints it."""
    text = find(line)
    level = _LEVEL.search(line[: line.find(text.pieces[0])]) if text else None
    return text if text and (level is None or level[0] in text.how) else None


def problem_of(line: str) -> Problem | None:
    """Return the problem that explains the remaining lines of a class or of another project."""
    text = find(line)
    if text is not None:
        return BY_CLASS.get(text.classes.partition(",")[0])
    if not _LOUD.search(line):
        return None
    return next((each for each in PROBLEMS.values() if each.sign and re.search(each.sign, line)), None)
