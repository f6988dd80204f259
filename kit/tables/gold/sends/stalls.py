"""One row per stall, a burst of pauses no more than 500 ms apart: start_ms, end_ms (since 1970), pauses, stood_ms (the pauses together), waiters
(originals that waited), store_host. In order of time; at most as many as `pauses`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow as pa

if TYPE_CHECKING:
    from kit.case.case import Case

READS: Final = ("pauses",)
SCHEMA: Final = pa.schema(
    [
        *((name, pa.int64()) for name in ("start_ms", "end_ms", "pauses", "stood_ms", "waiters")),
        ("store_host", pa.string()),
        ("rank", pa.int64()),
    ]
)
APART: Final = 500


def fold(case: Case) -> pd.DataFrame:
    bursts: list[dict[str, Any]] = []
    for row in sorted(case.fact_rows("pauses"), key=lambda row: (row["store_host"], row["start_ms"])):
        last = bursts[-1] if bursts else None
        length = row["end_ms"] - row["start_ms"]
        if last is None or row["store_host"] != last["store_host"] or row["start_ms"] - last["end_ms"] > APART:
            bursts.append({**row, "pauses": 1, "stood_ms": length})
        else:
            last["end_ms"] = max(last["end_ms"], row["end_ms"])
            last["pauses"] += 1
            last["stood_ms"] += length
            last["waiters"] += row["waiters"]
    bursts.sort(key=lambda each: (each["start_ms"], each["store_host"]))
    ranked = [{**each, "rank": rank} for rank, each in enumerate(bursts, 1)]
    return pd.DataFrame(ranked, columns=pd.Index(SCHEMA.names))
