"""A reference: the line or record that supports a claim."""

from __future__ import annotations

from typing import Any

import attrs

MAX_TEXT = 2000
"""Most characters of a quoted line: a reference points to the line and does not replace it."""


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
        where: dict[str, Any] = (
            {"line": self.line} if self.line is not None else {"physical_offset": self.physical_offset}
        )
        return {"file": self.file, **where, "text": self.text[:MAX_TEXT]}
