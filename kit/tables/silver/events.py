"""`all_events` within the times of the case: file, source, line, ts, thread, logger, level, event, values and a column
for each value that queries ask for (`value_group`, …).
"""

from typing import Final

from pyspark.sql import DataFrame, SparkSession

READS: Final = ("all_events", "limits")


def query(spark: SparkSession) -> DataFrame:
    events, limits = spark.table("all_events"), spark.table("limits").where("coalesce(since, until) is not null")
    # A join that changes nothing would hide from the engine how few rows of a text there are, and so how to join them.
    if not limits.take(1):
        return events
    within = "ts is null or (ts >= coalesce(since, ts) and ts <= coalesce(until, ts))"
    return events.join(limits).where(within).drop("since", "until")
