"""A text file as passed to a log reader."""

from __future__ import annotations

import msgspec


class LogFile(msgspec.Struct):
    """One text file: the name users see, the plain path to open, and what is known about it."""

    file: str
    path: str
    source: str | None = None
    encoding: str | None = None
    zone_minutes: int | None = None
