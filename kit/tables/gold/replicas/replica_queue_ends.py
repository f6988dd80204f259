"""One row per topic and queue: topic, queue_id, end_offset by the records, else by topicStatus, the largest if several outputs have it (of a
name server that knows no master any more: the slave's). As many rows as queues.
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import pyarrow as pa

READS: Final = ("stored_queues", "admin", "files")
SCHEMA: Final = pa.schema([("topic", pa.string()), ("queue_id", pa.int64()), ("end_offset", pa.int64())])


def fold(case: Any) -> pd.DataFrame:
    from kit.analysis.consumers import admin_output

    if case.has("messages"):
        stored = case.facts("stored_queues")
        return stored[stored["end_offset"].notna()][SCHEMA.names]
    ends: dict[tuple[str, int], int] = {}
    for block in admin_output.admin_blocks(case):
        topic, queue, end = block.get("-t"), block.get("#QID") or "", block.get("#Max Offset") or ""
        if block["command"] == "topicStatus" and topic and queue.isdecimal() and end.isdecimal():
            ends[topic, int(queue)] = max(int(end), ends.get((topic, int(queue)), 0))
    return pd.DataFrame([(*queue, end) for queue, end in ends.items()], columns=SCHEMA.names)
