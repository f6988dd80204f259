"""One row per store host: store_host, broker (the least host, as in offset message ids, of those whose records share files with its own). A DLedger
group stores under the address of whoever leads it. At most as many rows as hosts.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow as pa

from kit.rocketmq import ids
from kit.tables.gold.transactions.half_brokers import joined

if TYPE_CHECKING:
    from kit.case.case import Case

READS: Final = ("store_extent",)
SCHEMA: Final = pa.schema([("store_host", pa.string()), ("broker", pa.string())])


def fold(case: Case) -> pd.DataFrame:
    hosts: dict[str, str] = {}
    pairs = []
    for row in case.fact_rows("store_extent"):
        with contextlib.suppress(ValueError, AttributeError, OverflowError):  # a damaged record has no address
            host, _, port = row["store_host"].rpartition(":")
            hosts[row["store_host"]] = ids.encode_offset_id(host.strip("[]"), int(port), 0)[:-16]
            pairs.append((row["file"], hosts[row["store_host"]]))
    names = joined(sorted(pairs))
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for host, name in names.items():
        groups[name].append(host)
    rows = [(store_host, min(groups[names[host]])) for store_host, host in sorted(hosts.items())]
    return pd.DataFrame(rows, columns=SCHEMA.names, dtype=object)
