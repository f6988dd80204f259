"""Lines that a terminal or a mail program broke, put together again: a paste keeps their width, not their ends.

A terminal cuts at a fixed column, in the middle of words; a mail program breaks between words.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final

NARROWEST: Final = 60
WIDEST: Final = 400
MOST: Final = 5_000
"""Most lines of a text that is examined; what somebody copied from a terminal has fewer."""
SURE: Final = frozenset({72, 76, 78, 80, 100, 120, 132, 160})
"""Widths of terminals at which one cut line is enough."""
UNSURE: Final = 3
"""Cut lines that are enough at any other width."""
MAIL: Final = 100
"""Widest text of which a mail program is thought."""
TAKEN: Final = "\0"
"""What is left of a part of a line that `tables` put to its first part."""
_STARTS: Final = re.compile(
    r"\s*(?:at\s+[\w.$/<>@-]+\(|\.\.\. \d|Caused by: |[\[({<\"'`]*\d{2,4}[-/]\w{1,9}[-/]\d\d|\[?\d\d:\d\d:\d\d|(?:[a-z]\w*\.){2}[\w.$]*(?:Exception|Error)\b|"
    r"(?:TRACE|DEBUG|INFO|WARN|ERROR)\b|exit status \d|panic: |goroutine \d|[-*+#|>`{}]|\w+ ?[=：]|\d+[.)]\s)"
)
"""How a line begins that does not continue the one above."""
_PRINTED: Final = re.compile(
    r"\s*(?:[\[({<\"'`]*\d{2,4}[-/]\w{1,9}[-/]\d\d|(?:Caused by: )?(?:[a-z]\w*\.){2}[\w.$]*(?:Exception|Error)\b)"
)
"""How a line begins that a program printed: prose is left as its author broke it."""


def joined(lines: Sequence[str], *, mail: bool = False) -> list[str] | None:
    """Return as many lines, each broken one whole at the place of its first part and empty at those of the others; None if none is broken.

    `mail`: lines broken between words as well. That is less sure: an ordinary line may be as long.
    """
    if not 1 < len(lines) <= MOST:
        return None
    widest = max(map(len, lines))
    if not NARROWEST <= widest <= WIDEST:
        return None
    return _cut(lines, widest) or (_broken(lines, widest) if mail and widest <= MAIL else None)


def tables(lines: list[str]) -> list[str]:
    """Return as many lines, those that a terminal broke at its width whole at the place of their first part, `TAKEN` at those of the others.

    Only a table shows that it was broken: a head that goes on in the next line.
    """
    lines = [line.removesuffix("\r") for line in lines]
    width = max(map(len, lines))
    heads = (at for at, line in enumerate(lines[:-1]) if line.startswith("#") and len(line) == width)
    if width not in SURE or not any("#" in lines[at + 1] for at in heads):
        return lines
    whole, goes_on = list(lines), False
    first = 0
    for at, line in enumerate(lines):
        if goes_on:
            whole[first] += line
            whole[at] = TAKEN
        else:
            first = at
        goes_on = len(line) == width
    return whole


def _cut(lines: Sequence[str], widest: int) -> list[str] | None:
    """Put together what was cut at a fixed column: at least one cut must be in the middle of a word."""
    follows: list[bool] = []
    inside = 0
    for line, after, printed in _pairs(lines, follows):
        goes_on = printed and len(line) == widest and bool(after.strip()) and not _STARTS.match(after)
        inside += goes_on and line[-1].isalnum() and after[0].isalnum()
        follows.append(goes_on)
    enough = sum(follows) >= (1 if widest in SURE else UNSURE)
    return _together(lines, follows, "") if inside and enough else None


def _broken(lines: Sequence[str], widest: int) -> list[str] | None:
    """Put together what was broken between words: the next word would not have fitted."""
    follows: list[bool] = []
    for line, after, printed in _pairs(lines, follows):
        first = after.split(" ", 1)[0]
        full = len(line.rstrip()) + 1 + len(first) >= widest
        follows.append(printed and bool(first) and full and not _STARTS.match(after))
    return _together(lines, follows, " ") if sum(follows) > 1 else None


def _pairs(lines: Sequence[str], follows: Sequence[bool]) -> Iterator[tuple[str, str, bool]]:
    """Yield each line and the next one, and whether the first belongs to what a program printed; `follows` grows meanwhile."""
    printed = False
    for line, after in itertools.pairwise(lines):
        printed = bool(_PRINTED.match(line)) or (printed and bool(follows) and follows[-1])
        yield line, after, printed


def _together(lines: Sequence[str], follows: Sequence[bool], between: str) -> list[str]:
    whole = list(lines)
    first = 0
    for at, goes_on in enumerate(follows, 1):
        if goes_on:
            whole[first] += between + lines[at]
            whole[at] = ""
        else:
            first = at
    return whole
