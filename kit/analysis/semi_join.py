"""A join that leaves the big side where it is: the values looked for are worked out first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def among(frame: DataFrame, column: str, wanted: DataFrame) -> DataFrame:
    """Return the rows of `frame` whose `column` is one of the values of `wanted` (a frame with one column).

    Only when it has been worked out does Spark know how little `wanted` is, and sends it to the records; else it sorts
    both sides.
    What is wanted is kept for the session, in memory or on disk.
    """
    values = wanted.toDF("_wanted").where("_wanted is not null").distinct().persist()
    values.count()
    return frame.join(values, frame[column] == values["_wanted"], "left_semi")
