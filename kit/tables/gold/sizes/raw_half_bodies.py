"""One row per half record with a compressed body that a put-back writes uncompressed: file, physical_offset, raw_size (bytes; undecodable bodies are
left out). Brokers of 4.3.0 to 4.5.2 only (`size_limits.raw_put_backs`), no rows for any other.

Source: broker/transaction/queue/TransactionalMessageBridge.renewHalfMessageInner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

READS: Final = ("size_limits", "records", "message_bodies")
PACKED: Final = "topic = 'RMQ_SYS_TRANS_HALF_TOPIC' and body_codec <> 'none'"


def query(spark: SparkSession) -> DataFrame:
    raw = spark.table("size_limits").where("raw_put_backs and broker is not null")
    bodies = spark.table("message_bodies").where(PACKED)
    # Bodies are only in the commit log itself, which is not read again for nothing.
    if raw.isEmpty() or spark.table("records").where(PACKED).limit(1).isEmpty():
        bodies = bodies.where("false")
    return bodies.selectExpr("file", "physical_offset", "cast(length(body) as bigint) as raw_size").where(
        "raw_size is not null"
    )
