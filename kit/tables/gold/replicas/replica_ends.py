"""The rows of `store_ends` that are of slaves' stores, all of them where none is known to be a slave's; with `host`: address and port as an
offset id has them. As many rows as brokers that led.
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import pyarrow as pa

from kit.rocketmq import ids

READS: Final = ("store_ends", "configs", "admin", "files")
SCHEMA: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("store_host", "host", "file")),
        *((name, pa.int64()) for name in ("begin", "last_offset", "end")),
        *((name, pa.timestamp("us", "UTC")) for name in ("first_time", "last_time")),
    ]
)


def fold(case: Any) -> pd.DataFrame:
    from kit.analysis.consumers import replicas

    copied = replicas.copied(case)
    ends = case.facts("store_ends")
    ends = ends[ends["store_host"].isin(list(copied))] if copied else ends
    times = {name: ends[name].dt.tz_localize("UTC") for name in ("first_time", "last_time")}
    return ends.assign(host=[_written(host) for host in ends["store_host"]], **times)[SCHEMA.names]


def _written(store_host: str) -> str | None:
    address, _, port = store_host.rpartition(":")
    try:
        return ids.encode_offset_id(address.strip("[]"), int(port), 0)[:-16]
    except ValueError:  # a damaged address
        return None
