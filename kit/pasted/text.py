"""Bytes of a paste as text, whatever the encoding."""

from __future__ import annotations


def decoded(raw: bytes) -> str:
    """Return the text of UTF-8, UTF-16 with a byte order mark, or GB 18030; undecodable bytes are replaced."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", "replace")
