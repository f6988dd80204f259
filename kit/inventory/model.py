"""One file of an evidence, as everybody after the inventory knows it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import attrs


@attrs.frozen
class Item:
    """One file. `first`/`last`: span of its times in UTC, None where not known; `zone`: of its floating times, e.g. "+08:00";

    `replica_of`: the file that holds the same; `source`: of a log; `detail`: what its kind needs (base, columns, encoding, …).
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
    """When it was last changed, in UTC, by its folder or archive; None where that says nothing."""

    @property
    def base(self) -> int | None:
        """Physical offset of the first byte of a commitlog file, None where nothing says it."""
        return self.detail.get("base")
