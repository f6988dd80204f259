"""Source code, scripts and guides among the evidence or in a paste: what may be printed, nothing that happened."""

import html
import re
from collections.abc import Iterable
from typing import Final

from kit.formats.patterns import patterns
from kit.rocketmq import catalogue, copied_lines

_FORMS: Final = patterns("source_code")
LINE: Final = _FORMS["line"]
LEAST: Final = 0.5


def is_program(text: str, name: str) -> bool:
    """Return whether a file is a script, or source code by both its name and most of its lines."""
    if _FORMS["script"].match(text.lstrip("\ufeff \t\r\n")):
        return True
    if not _FORMS["name"].search(name):
        return False
    lines = [line for line in text.split("\n") if line.strip()]
    like = sum(1 for line in lines if _FORMS["like"].match(line.strip()) and not _FORMS["frame"].match(line))
    return like > LEAST * len(lines) and any(map(LINE.match, lines))


_GUIDE: Final = patterns("guides")
LISTED: Final = 4
"""Kinds of errors in a list without times from which it is no report: a busy broker refuses in three ways or so."""


def is_guide(text: str) -> bool:
    """Return whether a text explains errors: many kinds in a list, several and how each is mended, or one with cause
    and solution without time, day and stack trace.
    """
    if _kinds(item for item in _GUIDE["item"].findall(text) if not _GUIDE["happened"].search(item)) >= LISTED:
        return True
    solutions = len(_GUIDE["solution"].findall(text))
    kinds = _kinds(text.split("\n")) if solutions else 0
    one = kinds and _GUIDE["cause"].search(text) and not _GUIDE["happened"].search(text)
    return bool(one) or (kinds > 1 and solutions > 1)


def _kinds(lines: Iterable[str]) -> int:
    """Return of how many kinds the errors are that these lines name."""
    named = ((*catalogue.problems_in(line), catalogue.event_in(line)) for line in lines)
    return len({kinds[0].slug for kinds in named if kinds[0] is not None})


_COMMENT: Final = re.compile(r"\s*//")
"""A comment of one line: beside a line of a program it belongs to it; alone people may write it between logs."""
MOST: Final = 256 << 10
"""Bytes up to which a text may be a paste."""
_BLANKS: Final = re.compile(rb"\xc2\xa0|&nbsp;|\xe2\x80\xaf")
"""No-break spaces, in UTF-8 and in HTML: browsers and chats put them in place of blanks."""
_ENTITY: Final = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#0?3[49]|#[xX]2[27]);")


def unescaped(text: str) -> str:
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def tidied(text: bytes) -> bytes:
    """Return a paste without no-break spaces, entities of HTML, line numbers; lines of source code are emptied."""
    if len(text) > MOST:
        return text
    lines = copied_lines.all_bare(unescaped(_BLANKS.sub(b" ", text).decode("latin-1")).split("\n"))
    code = {n for n, line in enumerate(lines) if LINE.match(line)}
    comments = [n for n, line in enumerate(lines) if code and _COMMENT.match(line)]
    for n in (*comments, *reversed(comments)):
        code |= {n} if code & {n - 1, n + 1} else set()
    return "\n".join("" if n in code else line for n, line in enumerate(lines)).encode("latin-1")
