"""The half queue of a broker: where the check is in it, what waits behind, how both went over time.

The check saves its position as the offset of the group CID_RMQ_SYS_TRANS and prints it at the start of each round; a
put-back that is refused keeps it
from advancing (broker/transaction/queue/TransactionalMessageServiceImpl.check, reference §6.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow.dataset as ds
from pyspark.sql import functions as F  # noqa: N812

from kit.analysis import refs
from kit.analysis.sizes import sizes
from kit.analysis.transactions import transactions
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.references import Ref

KEY: Final = f'"{names.HALF_TOPIC}@{names.TRANSACTION_GROUP}"'
"""How consumerOffset.json names it: broker/offset/ConsumerOffsetManager."""
ROWS: Final = 2_000


def saved(case: Case) -> list[tuple[str, int]]:
    """Return (file, next half offset to be checked) as the newest offset files say, in order of file."""
    mine = (
        (ds.field("topic") == names.HALF_TOPIC)
        & (ds.field("group") == names.TRANSACTION_GROUP)
        & (ds.field("kind") == "consumer")
    )
    rows = ds.dataset(case.folder("offsets"), format="parquet").to_table(filter=mine).to_pylist()
    current = [row for row in rows if not row["backup"]] or rows
    return sorted({(row["file"], int(row["value"])) for row in current if row["value"] is not None})


def saved_refs(case: Case) -> tuple[Ref, ...]:
    """Quote the line of each offset file that holds the position of the check."""
    return tuple(ref for file, _ in saved(case) if (ref := refs.first_with(case, file, KEY)))


def waiting(case: Case, behind: int) -> int:
    """Return how many open transactions have their last half record behind this offset of the half queue."""
    return (
        transactions.accounts(case)
        .where((F.col("state") == "pending") & (F.col("last_half.queue_offset") > behind))
        .count()
    )


def timeline(case: Case) -> pd.DataFrame:
    """Return the half queue over time: columns ts, offset, line: `checked` (where a round of checks began), `stored`
    (end of the queue).
    """
    checked: Any = None
    if refs.seen(case, "check-position"):
        printed = case.event("check-position").where((F.col("topic") == names.HALF_TOPIC) & F.col("ts").isNotNull())
        offset = F.col("half_offset").try_cast("long").alias("offset")
        checked = (
            printed.select("ts", offset)
            .where(F.col("offset").isNotNull())
            .orderBy("ts", "offset")
            .limit(ROWS)
            .toPandas()
            .assign(line="checked")
        )
    stored: Any = None
    if case.has("messages"):
        each = case.records.where(F.col("topic") == names.HALF_TOPIC).groupBy(
            F.date_trunc("second", "store_timestamp").alias("ts")
        )
        ends = each.agg(F.try_add(F.max("queue_offset"), F.lit(1)).alias("offset"))
        stored = ends.orderBy("ts").limit(ROWS).toPandas().assign(line="stored")
    parts = [part for part in (checked, stored) if part is not None]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=pd.Index(["ts", "offset", "line"]))


def near_limit(case: Case) -> pd.DataFrame:
    """Return the half records of open transactions and those put back last, as far as they come near the limit:
    queue_offset, store_size, last_size,
    limit, fate (`refused`, `at_risk`, `fits`, `ended`), offset_msg_id; the largest ones.
    """
    known = sizes.limits(case)
    found, _ = sizes.looping(case)
    stuck = (
        [row.offset_msg_id for row in found.select("offset_msg_id").limit(sizes.IDS).collect()]
        if found is not None
        else []
    )
    states = transactions.accounts(case).select("uniq_key", F.col("state").isin(*sizes.OPEN).alias("open"))
    fate = F.when(F.col("offset_msg_id").isin(stuck), "refused").when(~F.coalesce("open", F.lit(False)), "ended")
    fate = fate.when(F.col("refused").isNotNull(), "at_risk").otherwise("fits")
    rows = (
        sizes.halves(case)
        .join(states, "uniq_key", "left")
        .select("queue_offset", "store_size", "last_size", fate.alias("fate"), "offset_msg_id")
    )
    frame = rows.orderBy(F.desc("store_size"), "queue_offset").limit(sizes.CHART_ROWS).toPandas()
    return frame.assign(limit=pd.array([known.limit] * len(frame), dtype="Int64"))
