"""Every record of the commit logs once: without files that are copies, and of several files that of the first counts.

Columns of `messages_within`, and `id`: 64 bits of the UNIQ_KEY, to join by. Only op records
and corrections of offsets have a `body`.
"""

from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

READS: Final = ("messages_within", "files")


def query(spark: SparkSession) -> DataFrame:
    files = spark.table("files").where("kind in ('commitlog', 'dledger')").collect()
    copies = [row.file for row in files if row.replica_of is not None]
    records = spark.table("messages_within").selectExpr("*", "xxhash64(uniq_key) as id")
    if copies:
        records = records.where(~F.col("file").isin(copies))
    if any(row.overlaps for row in files):
        nth = "row_number() over (partition by offset_msg_id order by file, physical_offset) as nth"
        records = records.selectExpr("*", nth).where("nth = 1").drop("nth")
    return records
