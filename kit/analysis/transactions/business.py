"""Business rows beside transactions: which row belongs to which message.

A row belongs to a transaction when its key is one of the message's KEYS, or its message id the UNIQ_KEY. Tables of role
`business` count (a key and a
status); transaction log tables and what a consumer wrote down are shown beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.dataset as ds
from pyspark.sql import functions as F  # noqa: N812

from kit.case.memoize import once

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kit.case.case import Case

ROW = "key string, file string, line int, status string"


def present(case: Case) -> bool:
    """Whether a business table is in the evidence."""
    rows = once(
        case,
        "business rows",
        lambda: ds.dataset(case.folder("rows"), format="parquet").count_rows(filter=ds.field("role") == "business"),
    )
    return rows > 0


def by_key(case: Case) -> DataFrame:
    """Return the business rows, each key once: key, `row` (key, file, line, status), named (the UNIQ_KEY the row holds,
    if any).
    """
    found = case.rows.where((F.col("role") == "business") & F.col("key").isNotNull())
    return found.groupBy("key").agg(
        F.min(F.struct("key", "file", "line", "status")).alias("row"), F.min("uniq_key").alias("named")
    )


def join(case: Case, transactions: DataFrame) -> DataFrame:
    """Add `rows` (array of key, file, line, status; null if absent) to a frame with uniq_key and keys."""
    if not present(case):
        return transactions.withColumn(
            "rows", F.lit(None).cast(f"array<struct<{ROW.replace(' ', ':').replace(',:', ',')}>>")
        )
    table = by_key(case)
    tokens = transactions.select("uniq_key", F.explode(F.array_distinct(F.split("keys", r"\s+"))).alias("key"))
    linked = (
        tokens.join(table, "key")
        .select("uniq_key", "row")
        .unionByName(table.where("named is not null").select(F.col("named").alias("uniq_key"), "row"))
    )
    per_key = linked.groupBy("uniq_key").agg(F.array_sort(F.collect_set("row")).alias("rows"))
    return transactions.join(per_key, "uniq_key", "left")
