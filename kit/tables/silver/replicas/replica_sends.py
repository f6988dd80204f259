"""One row per acknowledged send: `compared_by_id` where ledgers have offset ids, else `compared_by_key`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

READS: Final = ("send_answers", "compared_by_id", "compared_by_key")


def query(spark: SparkSession) -> DataFrame:
    named = spark.table("send_answers").where("named > 0").collect()
    return spark.table("compared_by_id" if named else "compared_by_key")
