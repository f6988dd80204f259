"""One row per look at a consumer group's offset in a queue (copies of consumerOffset.json, consumerProgress, consumerStatus): time, source (copy,
progress, status), file, line, group, topic, broker, queue_id, offset, end (of the queue then). In order of time, file and queue.
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import pyarrow as pa

READS: Final = ("offsets", "admin", "messages_within", "consumequeue", "configs", "files")
SCHEMA: Final = pa.schema(
    [
        ("time", pa.timestamp("us", "UTC")),
        *((name, pa.string()) for name in ("source", "file", "group", "topic", "broker")),
        *((name, pa.int64()) for name in ("line", "queue_id", "offset", "end")),
    ]
)


def fold(case: Any) -> pd.DataFrame:
    from kit.analysis.consumers import positions

    every = positions.every(case)
    return every.assign(time=pd.to_datetime(every["time"], utc=True))[SCHEMA.names]
