"""One number of an output, and how numbers and sizes are printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import attrs

_NUMBER: Final = re.compile(r"^-?\d+(?:[.,]\d+)?$")
_SIZE: Final = re.compile(r"^(\d+(?:[.,]\d+)?)([KMGTPEkmgtpe]?)i?[Bb]?$")
_POWERS: Final = "KMGTPE"


@attrs.frozen
class Value:
    """One number of one line; `text` is the time as printed."""

    line: int
    text: str | None
    subject: str | None
    name: str
    value: float


def number(text: str) -> float | None:
    """Return a printed number, with a point or a comma; None for anything else."""
    return float(text.replace(",", ".")) if _NUMBER.match(text) else None


def size(text: str, unit: int = 1) -> float | None:
    """Return the bytes of `9.8g`, `196Mi`, `0B`; of a number without a unit that many times `unit`."""
    found = _SIZE.match(text)
    if not found:
        return None
    power = _POWERS.find(found[2].upper()) + 1 if found[2] else 0
    plain = found[2] == "" and not text.upper().endswith("B")
    return float(found[1].replace(",", ".")) * (unit if plain else 1024**power)


def row(line: int, text: str | None, subject: str | None, names: list[str], cells: list[str]) -> Iterator[Value]:
    """Yield the numbers among the cells of a row; what is no number is left out."""
    for name, cell in zip(names, cells, strict=False):
        value = number(cell)
        if value is not None:
            yield Value(line, text, subject, name, value)
