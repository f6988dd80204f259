"""One file of the evidence, for everything after the inventory; a reference: the line or record that supports a claim."""

import datetime as dt
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, Final

import attrs

STORES: Final = ("commitlog", "dledger")
"""Kinds of files that hold records."""
TEXTS: Final = ("log", "text", "mqadmin")
"""Kinds whose lines are in the table `logs`."""
MAX_TEXT: Final = 2000
"""Most characters of a quoted line: a reference points to the line and does not replace it."""


@lru_cache(maxsize=4096)
def folder_of(file: str) -> str:
    """Return the folder of a file of the evidence: in the usual layout that of one host, or of one of its processes."""
    return str(PurePosixPath(file).parent)


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
    def encoding(self) -> str:
        """The codec of a text, or of a delimited table."""
        return self.detail.get("encoding") or (self.detail.get("dialect") or {}).get("encoding") or "utf-8"

    @property
    def has_lines(self) -> bool:
        """Whether it can have lines: a table in Parquet has none."""
        return self.kind not in ("rows", "sends") or bool(self.detail.get("dialect"))

    @property
    def base(self) -> int | None:
        """Physical offset of the first byte of a commitlog file, None if unknown."""
        return self.detail.get("base")


@attrs.frozen
class Ref:
    """A line of a text file (`line`, first is 1) or a record of a commitlog (`physical_offset`, bytes)."""

    file: str
    text: str = ""
    line: int | None = None
    physical_offset: int | None = None

    def __str__(self) -> str:
        if self.line is not None:
            return f"{self.file}:{self.line}"
        return self.file if self.physical_offset is None else f"{self.file}@{self.physical_offset}"

    def as_dict(self) -> dict[str, Any]:
        where = {"physical_offset": self.physical_offset} if self.line is None else {"line": self.line}
        return {"file": self.file, **where, "text": self.text[:MAX_TEXT]}
