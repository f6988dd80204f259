"""Load that the broker's own fault made: records of a half topic that feeds itself, stored while sends failed."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812

from kit.analysis import refs
from kit.analysis.transactions import leaks

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.references import Ref

LEAST: Final = 0.5
"""Part of the stored records from which on the leaked ones are the load."""


def of_half_topic(case: Case, first: dt.datetime, last: dt.datetime) -> tuple[float, tuple[Ref, ...]] | None:
    """Return which part of the records stored from `first` to `last` (naive UTC, a second around them) the half topic
    wrote to itself, with two of these records; None below `LEAST`, or without records.
    """
    if not case.has("messages") or leaks.leaked(case).isEmpty():
        return None
    second = dt.timedelta(seconds=1)
    during: Any = F.col("store_timestamp").between(F.lit(_utc(first) - second), F.lit(_utc(last) + second))
    stored, leaked = case.records.where(during).count(), leaks.leaked(case).where(during).count()
    if not stored or leaked < LEAST * stored:
        return None
    return leaked / stored, refs.records(leaks.leaked(case).where(during), 2)


def _utc(at: dt.datetime) -> dt.datetime:
    return at.replace(tzinfo=dt.UTC) if at.tzinfo is None else at
