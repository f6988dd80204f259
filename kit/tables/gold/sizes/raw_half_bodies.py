"""One row per half record with a compressed body that a put-back writes uncompressed: file, physical_offset, raw_size (bytes; undecodable bodies are left out).
Brokers of 4.3.0 to 4.5.2 only (`size_limits.raw_put_backs`), no rows for any other.
Source: broker/transaction/queue/TransactionalMessageBridge.renewHalfMessageInner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow as pa

if TYPE_CHECKING:
    from kit.case.case import Case

READS: Final = ("size_limits", "stored_messages")
SCHEMA: Final = pa.schema([("file", pa.string()), ("physical_offset", pa.int64()), ("raw_size", pa.int64())])
PACKED: Final = "topic = 'RMQ_SYS_TRANS_HALF_TOPIC' and body_codec <> 'none'"


def fold(case: Case) -> pd.DataFrame:
    raw = any(row["raw_put_backs"] and row["broker"] for row in case.fact_rows("size_limits"))
    if not raw or not case.tables.frame("records").where(PACKED).limit(1).count():
        return pd.DataFrame(columns=SCHEMA.names)
    bodies = (
        case.read_messages(body=True).where(PACKED).selectExpr("file", "physical_offset", "length(body) as raw_size")
    )
    return bodies.where("raw_size is not null").toPandas()
