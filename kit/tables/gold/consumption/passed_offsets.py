"""One row per consumer group whose ledgers are all there, topic and queue: group, topic, queue_id, offset (the last known, null if none is).
Only topics of one broker: of several, a record does not say which one's offset it lies behind. As many rows as queues of such groups.
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import pyarrow as pa

READS: Final = ("group_ledgers", "offsets", "admin", "messages_within", "files")
SCHEMA: Final = pa.schema(
    [("group", pa.string()), ("topic", pa.string()), ("queue_id", pa.int64()), ("offset", pa.int64())]
)


def fold(case: Any) -> pd.DataFrame:
    from kit.analysis.consumers import consumption, positions

    groups = {row["group"] for row in case.fact_rows("group_ledgers")}
    every = positions.every(case)
    every = every[every["group"].isin(list(groups)) & (every["source"] != "status")]
    pairs = every.groupby(["group", "topic"])["broker"].nunique()
    parts = [consumption.last_positions(case, *pair)[SCHEMA.names] for pair in pairs.index[pairs == 1]]
    return pd.concat(parts) if parts else pd.DataFrame([], columns=SCHEMA.names)
