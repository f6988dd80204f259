"""The half queue of a broker: the position of the check, what waits after it, and both over time.

The check saves its position as the offset of the group CID_RMQ_SYS_TRANS and prints it at the start of each round; a
put-back that is refused keeps it from advancing (broker/transaction/queue/TransactionalMessageServiceImpl.check,
reference §6.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from kit.analysis import refs
from kit.analysis.sizes import in_force, sizes
from kit.analysis.transactions import transactions
from kit.case import columnar, log_events, scan
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.references import Ref

KEY: Final = f'"{names.HALF_TOPIC}@{names.TRANSACTION_GROUP}"'
"""How consumerOffset.json names it: broker/offset/ConsumerOffsetManager."""
ROWS: Final = 2_000


def saved(case: Case) -> list[tuple[str, int]]:
    """Return (file, next half offset to be checked) from the newest offset files, in order of file."""
    mine = (
        (ds.field("topic") == names.HALF_TOPIC)
        & (ds.field("group") == names.TRANSACTION_GROUP)
        & (ds.field("kind") == "consumer")
    )
    rows = ds.dataset(case.folder("offsets"), format="parquet").to_table(filter=mine).to_pylist()
    current = [row for row in rows if not row["backup"]] or rows
    return sorted({(row["file"], int(row["value"])) for row in current if row["value"] is not None})


def saved_refs(case: Case) -> tuple[Ref, ...]:
    """Quote the line of each offset file with the position of the check."""
    return tuple(ref for file, _ in saved(case) if (ref := refs.first_with(case, file, KEY)))


def waiting(case: Case, behind: int) -> int:
    """Return how many open transactions have their last half record after this offset of the half queue."""
    mine = (ds.field("state") == "pending") & (ds.field("last_queue") > behind)
    return int(transactions.accounts(case).filter(mine).num_rows)


def timeline(case: Case) -> pd.DataFrame:
    """Return the half queue over time: columns ts, offset, line: `checked` (where a round of checks began), `stored`
    (end of the queue).
    """
    parts = []
    if refs.seen(case, "check-position"):
        printed = columnar.to_pandas(
            log_events.events(case, ["check-position"], ("ts",)).select(["ts", "topic", "half_offset"])
        )
        mine = printed[
            (printed["topic"] == names.HALF_TOPIC)
            & printed["half_offset"].str.fullmatch(r"[0-9]{1,18}", na=False).astype(bool)
        ]
        checked = mine.assign(offset=mine["half_offset"].astype("int64"))[["ts", "offset"]].dropna()
        parts.append(checked.sort_values(["ts", "offset"]).head(ROWS).assign(line="checked"))
    if case.has("messages"):
        parts.append(_ends(case).head(ROWS).assign(line="stored"))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=pd.Index(["ts", "offset", "line"]))


def _ends(case: Case) -> pd.DataFrame:
    """Return the end of the half queue in each second in which something was stored in it: ts, offset."""
    kept = []
    for batch in scan.batches(case, ("store_timestamp", "queue_offset"), ds.field("topic") == names.HALF_TOPIC):
        rows = columnar.to_pandas(pa.Table.from_batches([batch])).dropna()
        kept.append(rows["queue_offset"].groupby(rows["store_timestamp"].dt.floor("s")).max() + 1)
    every = pd.concat(kept) if kept else pd.Series(dtype="int64", index=pd.DatetimeIndex([]))
    return every.groupby(level=0).max().rename_axis("ts").rename("offset").reset_index()


def near_limit(case: Case) -> pd.DataFrame:
    """Return the largest half records near the limit, of open transactions and those put back last: queue_offset,
    store_size, last_size, limit, fate (`refused`, `at_risk`, `fits`, `ended`), offset_msg_id.
    """
    found, _ = sizes.looping(case)
    stuck = list(found["offset_msg_id"].head(in_force.IDS)) if found is not None else []
    columns = ["queue_offset", "store_size", "last_size", "limit", "offset_msg_id", "refused", "uniq_key"]
    order: Any = {"by": ["store_size", "queue_offset"], "ascending": [False, True]}
    largest = pd.DataFrame(columns=columns)
    for rows in sizes.halves(case):
        largest = pd.concat([largest, rows[columns]] if len(largest) else [rows[columns]])
        largest = largest.sort_values(**order).head(sizes.CHART_ROWS)
    open_ = largest["uniq_key"].isin(sizes.open_keys(case, list(largest["uniq_key"])))
    fates = [largest["offset_msg_id"].isin(stuck), ~open_, largest["refused"].notna()]
    frame = largest.assign(fate=columnar.choose(fates, ["refused", "ended", "at_risk"], "fits").astype(object))
    columns = ["queue_offset", "store_size", "last_size", "fate", "offset_msg_id", "limit"]
    return frame[columns].astype({"limit": "Int64"}).reset_index(drop=True)
