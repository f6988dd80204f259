"""A text file as a log reader is given it, and the zone its times were declared in."""

from __future__ import annotations

import re

import msgspec


class LogFile(msgspec.Struct):
    """One text file: the name users see, the plain path to open, and what is known about it."""

    file: str
    path: str
    source: str | None = None
    encoding: str | None = None
    zone_minutes: int | None = None


def zone(text: str | None) -> str | int | None:
    """Return a declared zone as minutes east (`+08:00`, `GMT+8`, `UTC`) or as its IANA name; None for none."""
    if not text:
        return None
    if text.upper() in ("UTC", "GMT", "Z"):
        return 0
    found = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d\d))?", text, re.IGNORECASE)
    if not found:
        return text
    minutes = int(found.group(2)) * 60 + int(found.group(3) or 0)
    return minutes if found.group(1) == "+" else -minutes
