"""The Arrow columns of log entries; without the kernels that fill them."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

SCHEMA: Final = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int32()),
        ("lines", pa.int32()),
        ("ts", pa.timestamp("us", "UTC")),
        ("ts_text", pa.string()),
        ("level", pa.string()),
        ("thread", pa.string()),
        ("logger", pa.string()),
        ("source", pa.string()),
        ("message", pa.string()),
        ("trace", pa.string()),
        ("layout", pa.string()),
    ]
)
EVENT_FIELDS: Final = (pa.field("events", pa.list_(pa.string())), pa.field("offset", pa.int64()))
