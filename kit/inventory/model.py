"""One file of the evidence, for everything after the inventory."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import attrs

STORES: Final = ("commitlog", "dledger")
"""Kinds of files that hold records."""
TEXTS: Final = ("log", "text", "mqadmin")
"""Kinds whose lines are in the table `logs`."""


@attrs.frozen
class Item:
    """One file. `first`/`last`: span of its times in UTC, None if unknown; `zone`: of its floating times ("+08:00");

    `replica_of`: the file with the same content; `source`: of a log; `detail`: what its kind needs (base, …).
    """

    file: str
    path: str
    bytes: int
    kind: str
    sha256: str | None
    first: dt.datetime | None = None
    last: dt.datetime | None = None
    zone: str | None = None
    replica_of: str | None = None
    source: str | None = None
    detail: dict[str, Any] = attrs.field(factory=dict)
    modified: dt.datetime | None = None
    """Modification time in UTC, from its folder or archive; None if unknown, and of texts that people wrote."""

    @property
    def called(self) -> str:
        """What readers see of its kind: that of a log with its source."""
        return self.kind if self.source in (None, self.kind) else f"{self.kind} ({self.source})"

    @property
    def content(self) -> str | None:
        """What tells this content from another: its SHA-256, or inode, size and times where nobody asked for that."""
        return self.sha256 or self.detail.get("same")

    @property
    def base(self) -> int | None:
        """Physical offset of the first byte of a commitlog file, None if unknown."""
        return self.detail.get("base")
