"""Load caused by the broker's own fault: records of a half topic that feeds itself, stored while sends failed."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.dataset as ds

from kit.analysis import refs
from kit.analysis.transactions import leaks
from kit.case import scan

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.references import Ref

LEAST: Final = 0.5
"""Part of the stored records from which on the leaked ones are the load."""


def of_half_topic(case: Case, first: dt.datetime, last: dt.datetime) -> tuple[float, tuple[Ref, ...]] | None:
    """Return the share of records stored from `first` to `last` (naive UTC, and a second around them) that the half
    topic wrote to itself, with two of these records; None below `LEAST`, or without records.
    """
    if not case.has("messages") or leaks.leaked(case).empty:
        return None
    second = dt.timedelta(seconds=1)
    begin, end = _naive(first) - second, _naive(last) + second
    every = leaks.leaked(case)
    leaked = every[every["store_timestamp"].between(begin, end)]
    at, unit = ds.field("store_timestamp"), pa.timestamp("us", "UTC")
    during = (at >= pa.scalar(_utc(begin), unit)) & (at <= pa.scalar(_utc(end), unit))
    stored = sum(batch.num_rows for batch in scan.batches(case, ("sys_flag",), during))
    if not stored or len(leaked) < LEAST * stored:
        return None
    return len(leaked) / stored, refs.records_at(case, leaked, 2)


def _naive(at: dt.datetime) -> dt.datetime:
    return at if at.tzinfo is None else at.astimezone(dt.UTC).replace(tzinfo=None)


def _utc(at: dt.datetime) -> dt.datetime:
    return at.replace(tzinfo=dt.UTC) if at.tzinfo is None else at
