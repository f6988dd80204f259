"""Rows of a case's tables without Spark: reading a few columns of the workspace's Parquet files takes less time than planning a job does.

For questions with a small answer: the records of one topic, the entries with one known text. What sorts, joins or groups many rows belongs to Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case.memoize import once
from kit.formats.commitlog.schema import PROMOTED_COLUMNS

if TYPE_CHECKING:
    from kit.case.case import Case

CODED: Final = ("file", "topic", "store_host", "born_host", "source", "level", "logger", "thread", "layout")
"""Columns with few values: read as numbers and a list of the values."""


def dataset(case: Case, name: str) -> ds.Dataset:
    """Return a table's files, built if they are not there, without the cut by time."""
    return once(case, f"dataset {name}", lambda: _dataset(case, name))


def _dataset(case: Case, name: str) -> ds.Dataset:
    from kit.case import tables

    schema = tables.specs()[name].schema
    coded = [n for n in schema.names if n in CODED or n in PROMOTED_COLUMNS]
    return ds.dataset(case.folder(name), format=ds.ParquetFileFormat(dictionary_columns=coded))


def table(
    case: Case, name: str, columns: Sequence[str] | dict[str, pc.Expression], where: pc.Expression | None = None
) -> pa.Table:
    """Return columns of the rows that `where` keeps, within the times of the case. Rows are in no order that may be relied on."""
    return dataset(case, name).to_table(
        columns if isinstance(columns, dict) else list(columns), filter=_and(_times(case, name), where)
    )


def _times(case: Case, name: str) -> pc.Expression | None:
    from kit.case import tables

    column = tables.specs()[name].time
    kept: pc.Expression | None = None
    for limit, sign in ((case.options.since, 1), (case.options.until, -1)):
        if column is not None and limit is not None:
            time, bound = ds.field(column), pa.scalar(limit, pa.timestamp("us", "UTC"))
            kept = _and(kept, time.is_null() | ((time >= bound) if sign > 0 else (time <= bound)))
    return kept


def _and(a: pc.Expression | None, b: pc.Expression | None) -> pc.Expression | None:
    return b if a is None else a if b is None else a & b


def records(case: Case, columns: Sequence[str], where: pc.Expression | None = None) -> pa.Table:
    """Return columns of the records that `where` keeps, each record once: as `case.records`, where the first file in order of name counts."""
    copies = [i.file for i in case.found.of_kind("commitlog", "dledger") if i.replica_of]
    once_each = ~ds.field("file").isin(copies) if copies else None
    if not case.found.overlapping:
        return table(case, "messages", columns, _and(once_each, where))
    wanted = list(dict.fromkeys([*columns, "file", "physical_offset", "offset_msg_id"]))
    found = table(case, "messages", wanted, _and(once_each, where))
    # Which file's copy counts is decided among all copies, not among those that `where` keeps.
    same = ds.field("offset_msg_id").isin(pc.unique(found["offset_msg_id"]))
    every = table(case, "messages", ["file", "physical_offset", "offset_msg_id"], _and(once_each, same)).to_pandas()
    first = every.astype({"file": object}).sort_values(["file", "physical_offset"]).drop_duplicates("offset_msg_id")
    kept = found.select(["file", "physical_offset", "offset_msg_id"]).to_pandas().astype({"file": object})
    rows = kept.reset_index().merge(first, on=["file", "physical_offset", "offset_msg_id"])["index"]
    return found.take(pa.array(rows)).select(list(columns))


def entries(case: Case, slugs: Sequence[str], columns: Sequence[str], where: pc.Expression | None = None) -> pa.Table:
    """Return columns of the log entries that hold one of these known texts, batch by batch, so that no more is held than is found."""
    wanted = pa.array(sorted(slugs))
    kept = []
    read = list(dict.fromkeys([*columns, "events"]))
    for batch in dataset(case, "logs").to_batches(read, filter=_and(_times(case, "logs"), where)):
        events: Any = batch["events"]
        hits = pc.is_in(pc.list_flatten(events), value_set=wanted)
        rows = pc.unique(pc.list_parent_indices(events).filter(hits))
        if len(rows):
            kept.append(batch.take(rows).select(list(columns)))
    return pa.Table.from_batches(kept) if kept else dataset(case, "logs").schema.empty_table().select(list(columns))
