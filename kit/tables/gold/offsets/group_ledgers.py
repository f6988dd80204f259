"""One row per consumer group and delivery ledger of its hosts: group, file. A group one of whose hosts has no ledger has no row: what it
handled is not known. At most as many rows as `group_logs` and ledgers have in common folders.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any, Final

import pandas as pd
import pyarrow as pa

READS: Final = ("group_logs", "files")
SCHEMA: Final = pa.schema([("group", pa.string()), ("file", pa.string())])


def fold(case: Any) -> pd.DataFrame:
    ledgers: dict[str, list[str]] = {}
    for item in case.found.of_kind("rows"):
        if item.detail.get("role") == "deliveries":
            ledgers.setdefault(str(PurePosixPath(item.file).parent), []).append(item.file)
    places: dict[str, set[str]] = {}
    if ledgers:
        for row in case.fact_rows("group_logs"):
            places.setdefault(row["group"], set()).add(str(PurePosixPath(row["file"]).parent))
    rows = [
        (group, file)
        for group, folders in sorted(places.items())
        if folders <= ledgers.keys()
        for folder in sorted(folders)
        for file in ledgers[folder]
    ]
    return pd.DataFrame(rows, columns=SCHEMA.names, dtype=object)
