"""One row for each second in which a text of the catalogue that goes on (`catalogue.PASSING`), or of a start or stop,
was printed: event, group (the consumer or producer group it names, "" for none), second (Unix time, -1 without a time),
file, n (entries), line (the smallest). At most 300,000 rows, the first seconds.
"""

from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kit.rocketmq import catalogue

READS: Final = ("events",)
MOST: Final = 300_000


def query(spark: SparkSession) -> DataFrame:
    printed = spark.table("events").where(F.col("event").isin([*catalogue.PASSING, *catalogue.STARTS["clients"]]))
    group = "coalesce(value_group, value_group_2, '') as `group`"
    second = "coalesce(unix_seconds(ts), -1) as second"
    counted = printed.selectExpr("event", group, second, "file", "line").groupBy("event", "group", "second", "file")
    seconds = counted.agg(F.count("*").alias("n"), F.min("line").alias("line"))
    return seconds.orderBy("second", "event", "group", "file").limit(MOST)
