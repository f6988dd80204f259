"""One row, none if no send failed and nothing stalled: start_ms and end_ms (since 1970) of what failed or stalled, low_ms and high_ms (the ends of
the time axis, 10 s around it), step_ms (its steps).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow as pa

from kit.formats.values import NANO_FIRST_MS, NANO_LAST_MS

if TYPE_CHECKING:
    from kit.case.case import Case

READS: Final = ("failed_sends", "stalls")
SCHEMA: Final = pa.schema([(name, pa.int64()) for name in ("start_ms", "end_ms", "low_ms", "high_ms", "step_ms")])
MOST: Final = 1500
"""Steps of the axis: what a chart can draw with a dozen series."""
AROUND: Final = 10_000
"""ms shown before the first failure and behind the last."""


def fold(case: Case) -> pd.DataFrame:
    from kit.analysis.sends import times

    starts: list[int] = []
    ends: list[int] = []
    failed = case.facts("failed_sends")
    under_way = times.intervals(failed[~failed["other"]])
    # A ledger may hold any number for a time.
    under_way = under_way[under_way["start"].gt(NANO_FIRST_MS) & under_way["end"].lt(NANO_LAST_MS)]
    if len(under_way):
        starts, ends = [int(under_way["start"].min())], [int(under_way["end"].max())]
    if case.has("messages"):
        starts += [row["start_ms"] for row in case.fact_rows("stalls")]
        ends += [row["end_ms"] for row in case.fact_rows("stalls")]
    if not starts:
        return pd.DataFrame(columns=pd.Index(SCHEMA.names))
    start, end = min(starts), max(ends)
    # 100 ms for a short incident, whole multiples of that for a long one.
    step = 100 * max(1, -(-(end - start + 2 * AROUND) // (100 * MOST)))
    low = (start - AROUND) // step * step
    return pd.DataFrame([(start, end, low, end + AROUND, step)], columns=pd.Index(SCHEMA.names))
