"""A short text as its lines were printed: without the blanks of web pages and lines of source code, and with broken lines put together."""

from __future__ import annotations

from typing import Final

from kit.explanation import wrapped
from kit.formats.logs import source_code

MOST: Final = 256 << 10
"""Bytes up to which a text may be a paste."""
_BLANKS: Final = (b"\xc2\xa0", b"&nbsp;", b"\xe2\x80\xaf")
"""No-break spaces, in UTF-8 and in HTML: browsers and chats put them in place of blanks."""


def tidied(text: bytes) -> bytes | None:
    """Return the text with as many line feeds, each line that was broken whole at the place of its first part, lines of source code empty;
    None if nothing is to be changed.
    """
    if not 0 < len(text) <= MOST:
        return None
    plain = text
    for blank in _BLANKS:
        plain = plain.replace(blank, b" ")
    lines = plain.decode("latin-1").split("\n")
    whole = wrapped.joined([line.removesuffix("\r") for line in lines])
    if whole is not None:
        lines = whole
    if whole is not None or any(map(source_code.LINE.match, lines)):
        plain = "\n".join("" if source_code.LINE.match(line) else line for line in lines).encode("latin-1")
    return None if plain == text else plain
