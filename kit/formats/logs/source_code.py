"""Source code and scripts among the evidence, or in a paste: they hold the texts a program may print, but nothing that
happened.
"""

from __future__ import annotations

import re
from typing import Final

from kit.rocketmq import copied_lines

LINE: Final = re.compile(
    r"""^[ \t}]*(?:
    (?:import|package)[ ](?:static[ ])?[\w.*]+;?\s*$
    |(?:\w+\.)*\w*log(?:ger)?\w*\.(?:trace|debug|info|warn(?:ing)?|error|fatal)f?\(  # log.warn(  LOG_ERROR.error(  rlog.Error(
    |LOG_\w+\(
    |(?:raise[ ]|(?:throw[ ])?new[ ])\w+\(
    |(?:public|private|protected|static|final|return|throw|if|else|for|while|switch|try|catch|case)\b.*[;{(+,:]\s*$
    |(?:[\w.]+\.)?\w+\(.*\)\s*;\s*$                 # a call
    |\+[ ]*"                                        # a string that goes on
    |"(?:[^"\\]|\\.)*"[ ]*(?:\+|\)+;)
    |"(?:[^"\\]|\\.)*(?:\{\}|%[sd])(?:[^"\\]|\\.)*",
    )""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""A line of a program, in most languages."""
_LIKE: Final = re.compile(r"^\s*(?:[@*}#/.&|?:+]|(?:and|class|def|from|import|not|or|self)\b|.*[;:{},()\[\\]\s*$)")
"""A line that is probably one: by its first or last character."""
_FRAME: Final = re.compile(r"^\s*at ")
_SCRIPT: Final = re.compile(r"#!\s?/|@echo\b|rem\s|@rem\s|<\?php", re.IGNORECASE)
_NAME: Final = re.compile(
    r"\.(?:bat|cc?|cmd|cpp|cs|go|gradle|groovy|h|hpp|java|jsx?|kt|lua|php|proto|ps1|py|rb|rs|scala|sh|swift|tsx?|vue)$",
    re.IGNORECASE,
)
LEAST: Final = 0.5


def is_program(text: str, name: str) -> bool:
    """Return whether a file is a script, or source code by both its name and most of its lines."""
    if _SCRIPT.match(text.lstrip("\ufeff \t\r\n")):
        return True
    if not _NAME.search(name):
        return False
    lines = [line for line in text.split("\n") if line.strip()]
    like = sum(1 for line in lines if _LIKE.match(line) and not _FRAME.match(line))
    return like > LEAST * len(lines) and any(map(LINE.match, lines))


MOST: Final = 256 << 10
"""Bytes up to which a text may be a paste."""
_BLANKS: Final = re.compile(rb"\xc2\xa0|&nbsp;|\xe2\x80\xaf")
"""No-break spaces, in UTF-8 and in HTML: browsers and chats put them in place of blanks."""


def tidied(text: bytes) -> bytes:
    """Return a text that may be a paste with blanks for no-break spaces, without numbers of lines, and with lines of source code emptied."""
    if len(text) > MOST:
        return text
    lines = copied_lines.all_bare(_BLANKS.sub(b" ", text).decode("latin-1").split("\n"))
    return "\n".join("" if LINE.match(line) else line for line in lines).encode("latin-1")
