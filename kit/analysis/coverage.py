"""Stretches of a commit log that the evidence does not hold: files that were not copied between others that were, and damage.

A record that lay there cannot be found, which says nothing about whether it was stored.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from kit.tables.facts import Facts

PAGE: Final = 4096
"""Bytes of memory that a crash loses at once; damage of that size can hold several records."""


@attrs.frozen
class Stretch:
    """Bytes `start` to `end` (physical offsets) of the log of `store_host`, written between `after` and `before`: ms since 1970, infinite
    where nothing shows it.
    """

    store_host: str
    start: int
    end: int
    after: float
    before: float

    @property
    def large(self) -> bool:
        return self.end - self.start >= PAGE


def stretches(facts: Facts) -> list[Stretch]:
    """Return what is missing between the first and the last record of each broker's log, in order of broker and offset."""
    if not facts.files.of_kind("commitlog", "dledger"):
        return []
    return [
        Stretch(r["store_host"], r["start"], r["end"], _ms(r["after"], -math.inf), _ms(r["before"], math.inf))
        for r in facts.rows("stretches")
    ]


def _ms(at: dt.datetime | None, unknown: float) -> float:
    return unknown if at is None else at.replace(tzinfo=dt.UTC).timestamp() * 1000
