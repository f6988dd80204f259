"""A pasted text restored to the lines that were printed: without a web page's indentation and source code, broken lines
joined.
"""

from __future__ import annotations

from typing import Final

from kit.formats.logs import source_code
from kit.pasted import wrapped

MOST: Final = 256 << 10
"""Bytes up to which a text may be a paste."""
_BLANKS: Final = (b"\xc2\xa0", b"&nbsp;", b"\xe2\x80\xaf")
"""No-break spaces, in UTF-8 and in HTML: browsers and chats put them in place of blanks."""


def tidied(text: bytes) -> bytes | None:
    """Return the text with its broken lines joined and lines of source code emptied; None if nothing has to change.

    The number of line feeds stays the same: a joined line is where its first part was.
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
