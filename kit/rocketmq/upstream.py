"""The texts that RocketMQ's own code logs at WARN or ERROR, answers or throws: class, level, first and last release.

`format_strings.tsv` holds facts read from the sources of 4.3.0 to 5.3.3 (`tools/java_sources.py` reads them), `other_projects.tsv` those of
its other clients and of what runs beside it (`tools/other_sources.py`): they have releases of their own, which are not told apart.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import Final

import attrs
from ahocorasick_rs import AhoCorasick

from kit.rocketmq.catalogue import ANY, BY_CLASS, Problem
from kit.rocketmq.data import FOLDER

OLDEST: Final = "4.3.0"
NEWEST: Final = "5.3.3"
SHORTEST: Final = 8
"""Characters of the shortest literal piece that is looked for."""
SURE: Final = 11
"""Characters of text a format string needs before a line counts as printed by it."""
PROJECTS: Final = {
    "clientcpp": "apache/rocketmq-client-cpp",
    "clientgo": "apache/rocketmq-client-go",
    "clients": "apache/rocketmq-clients",
    "dashboard": "apache/rocketmq-dashboard",
    "dledger": "openmessaging/dledger",
    "exporter": "apache/rocketmq-exporter",
    "spring": "apache/rocketmq-spring",
}
"""Modules of `other_projects.tsv`."""
PLAIN: Final = 20
"""Characters up to which a text may be ordinary English: it counts only where a message begins, and if it ends with no value only where the message ends."""
ALONE: Final = 24
"""Characters from which on a text of another project needs no other sign of RocketMQ in its line."""
_SIGN: Final = re.compile(
    r"[Rr]ocket_?[Mm][Qq]|underlayError|level=\w+ msg=|clientId=|endpoints=|messageId=|MessageQueue|brokerName|_rebalance|DLedger|\[(?:Push|Handle\w+|Self|Terms|Check)\w*[-\]]|"
    r"\(error\):|\(warning\):|\b(?:consumer|producer)\b|EntryDispatcher|QuorumAck|LeaderElector|namesrv"
)
_BEGINS: Final = re.compile(r"(?:^|[^\w\s,(]\s*|\b(?:WARN|ERROR|DESC|msg|Rocketmq)\w*\s+)$")
_ENDS: Final = re.compile(r"\s*(?:$|[^\w\s]|[\w.$]+(?:Exception|Error)\b)")
"""What may come behind a whole message: nothing, a sign, or the exception that was logged with it."""


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
    def project(self) -> str:
        """The other project that prints it, "" for RocketMQ itself."""
        return PROJECTS.get(self.cls.partition("/")[0], "")

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The literal parts between the values, those that are more than blanks and signs."""
        return tuple(piece for piece in self.text.split(ANY) if len(piece.strip()) > 1)

    @cached_property
    def longest(self) -> str:
        """The piece that is looked for."""
        return max(self.pieces, key=len, default="")

    @cached_property
    def weight(self) -> int:
        """Characters of text: of several format strings in a line the one with most is meant."""
        return sum(map(len, self.pieces))

    def in_line(self, line: str) -> bool:
        """Return whether the parts are in the line, in order, a short first one where a message begins."""
        if self.project and self.weight < ALONE and not _SIGN.search(line):
            return False
        if self.weight <= PLAIN and not self._where_a_message_begins(line):
            return False
        at = 0
        for piece in self.pieces:
            found = line.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        whole = self.weight > PLAIN or not self.text.endswith(self.pieces[-1])
        return whole or bool(_ENDS.match(line, at))

    def _where_a_message_begins(self, line: str) -> bool:
        first = self.pieces[0]
        if self.text.startswith(first):
            at = line.find(first)
            return at >= 0 and bool(_BEGINS.search(line[:at]))
        return self.logged or "Exception" in line or "DESC" in line


@cache
def format_strings() -> tuple[FormatString, ...]:
    """Return every text of both tables, RocketMQ's own first."""
    tables = [FOLDER.joinpath("texts", name) for name in ("format_strings.tsv", "other_projects.tsv")]
    text = "\n".join(table.read_text("utf-8") for table in tables)
    return tuple(FormatString(*line.split("\t")) for line in text.split("\n") if line and not line.startswith("#"))


@cache
def _search() -> tuple[AhoCorasick, tuple[FormatString, ...]]:
    printed = tuple(each for each in format_strings() if len(each.longest) >= SHORTEST)
    return AhoCorasick([each.longest for each in printed]), printed


def find(line: str) -> tuple[FormatString, ...]:
    """Return the texts that are in a line, those with most text first."""
    search, printed = _search()
    numbers = dict.fromkeys(number for number, _, _ in search.find_matches_as_indexes(line, overlapping=True))
    found = [printed[number] for number in numbers if printed[number].in_line(line)]
    return tuple(sorted(found, key=lambda each: -each.weight))


def problem_of_class(printed: FormatString) -> Problem | None:
    """Return the problem that explains the remaining lines of the class that prints a text, or of its whole project."""
    if not (printed.logged or printed.project):
        return None
    return BY_CLASS.get(printed.cls) or BY_CLASS.get(printed.cls.partition("/")[0] + "/*")
