"""`all_events` within the times of the case: file, source, line, ts, thread, logger, level, event, values and a column for each value that
queries ask for (`value_group`, …).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

READS: Final = ("all_events", "limits")


def query(spark: SparkSession) -> DataFrame:
    events, limits = spark.table("all_events"), spark.table("limits")
    if not limits.where("since is not null or until is not null").count():
        return events
    inside = "ts is null or (ts >= coalesce(since, ts) and ts <= coalesce(until, ts))"
    return events.crossJoin(limits).where(inside).drop("since", "until")
