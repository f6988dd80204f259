"""How the outputs of a host's tools begin: what a file, or a stretch of a pasted text, is recognised by."""

from __future__ import annotations

import re
from typing import Final

from kit.formats.patterns import byte_patterns, forms

OF_LINE: Final = {origin: re.compile(f"^(?:{head})", re.MULTILINE) for origin, head in forms("host_tools").items()}
_LOGGED: Final = byte_patterns("host_tools_heads")["logged"]
EXAMINED: Final = 16384
"""Bytes of a file's head that are examined."""


def origins(text: bytes) -> list[str]:
    """Return the outputs whose heads are in a text."""
    lines = text.replace(b"\r", b"").decode("utf-8", "replace")
    return [origin for origin, head in OF_LINE.items() if head.search(lines)]


def sniff(head: bytes) -> bool:
    """Return whether a file is output of such tools: nothing in it looks like a log."""
    head = head[:EXAMINED].replace(b"\r", b"")
    return bool(origins(head)) and not _LOGGED.search(head)


def of_line(line: str) -> str | None:
    """Return which output begins with a line."""
    return next((origin for origin, head in OF_LINE.items() if head.match(line)), None)
