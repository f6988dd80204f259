"""One row per commit log file with half or op records and host that stored them: file, host, broker (the host that represents it).

Half and op queues belong to a broker, and a broker changes its address if another member of its group leads: hosts that wrote to one file are
one broker. At most as many rows as `half_hosts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow as pa

if TYPE_CHECKING:
    from kit.case.case import Case

READS: Final = ("half_hosts",)
SCHEMA: Final = pa.schema([("file", pa.string()), ("host", pa.string()), ("broker", pa.string())])


def fold(case: Case) -> pd.DataFrame:
    pairs = [(row["file"], row["host"]) for row in case.fact_rows("half_hosts")]
    known = joined(pairs)
    return pd.DataFrame([(file, host, known[host]) for file, host in pairs], columns=SCHEMA.names, dtype=object)


def joined(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return one name for all hosts that are connected through files."""
    root: dict[str, str] = {}

    def find(node: str) -> str:
        while root.setdefault(node, node) != node:
            node = root[node]
        return node

    for file, host in pairs:
        a, b = find(f"file {file}"), find(f"host {host}")
        root[max(a, b)] = min(a, b)
    return {host: find(f"host {host}") for _, host in pairs}
