"""One row per broker with half records, and one (broker null) for the broker whose half messages are refused, or the only one: what it compares
with maxMessageSize. max_size (bytes of maxMessageSize, null if unknown), total_max, body_max, dledger_max, properties_max (most bytes of a record, its
stored body, a DLedger entry's record, the property string; null where nothing is compared), check_max (transactionCheckMax), raw_put_backs (a put-back
writes a compressed body uncompressed, up to 4.5.2). Source: store/CommitLog, store/MessageExtEncoder, store/dledger/DLedgerCommitLog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow as pa

from kit.rocketmq import size

if TYPE_CHECKING:
    from kit.case.case import Case

READS: Final = (
    "half_brokers",
    "half_writers",
    "size_refusals",
    "settings",
    "admin_names",
    "broker_starts",
    "store_extent",
)
NUMBERS: Final = ("max_size", "total_max", "body_max", "dledger_max", "properties_max", "check_max")
SCHEMA: Final = pa.schema(
    [("broker", pa.string()), *((name, pa.int64()) for name in NUMBERS), ("raw_put_backs", pa.bool_())]
)


def fold(case: Case) -> pd.DataFrame:
    brokers = sorted({row["broker"] for row in case.fact_rows("half_brokers")}) if case.has("messages") else []
    rows = [_limits(case, broker) for broker in (None, *brokers)]
    return pd.DataFrame(rows, columns=SCHEMA.names).astype(dict.fromkeys(NUMBERS, "Int64"))


def _limits(case: Case, broker: str | None) -> dict[str, Any]:
    from kit.analysis.sizes import in_force

    known = in_force.limits(case, broker)
    how, most = known.how or "total", known.limit
    slack = size.TOTAL_SLACK if how == "body+64k" else 0
    return {
        "broker": broker,
        "max_size": most,
        "total_max": None if most is None or how == "body" else most + slack,
        "body_max": None if how == "total" else most,
        "dledger_max": size.DLEDGER_MAX_RECORD if known.dledger else None,
        "properties_max": known.properties,
        "check_max": known.check_max,
        "raw_put_backs": known.raw_put_backs,
    }
