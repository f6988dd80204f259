"""A pasted text restored to the lines that were printed: without no-break spaces and source code."""

from __future__ import annotations

from typing import Final

from kit.formats.logs import source_code

MOST: Final = 256 << 10
"""Bytes up to which a text may be a paste."""
_BLANKS: Final = (b"\xc2\xa0", b"&nbsp;", b"\xe2\x80\xaf")
"""No-break spaces, in UTF-8 and in HTML: browsers and chats put them in place of blanks."""


def tidied(text: bytes) -> bytes | None:
    """Return the text with lines of source code emptied; None if nothing has to change.

    The number of line feeds stays the same.
    """
    if not 0 < len(text) <= MOST:
        return None
    plain = text
    for blank in _BLANKS:
        plain = plain.replace(blank, b" ")
    lines = plain.decode("latin-1").split("\n")
    if any(map(source_code.LINE.match, lines)):
        plain = "\n".join("" if source_code.LINE.match(line) else line for line in lines).encode("latin-1")
    return None if plain == text else plain
