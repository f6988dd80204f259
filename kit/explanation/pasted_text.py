"""Bytes of a paste as text, whatever it is encoded in."""

from __future__ import annotations


def decoded(raw: bytes) -> str:
    """Return the text of UTF-8, UTF-16 with a mark, or GB 18030; what none of them can read is replaced."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", "replace")
