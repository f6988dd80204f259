"""Rows of a case's tables without Spark: reading a few columns of Parquet takes less time than planning a job.

What the rows become afterwards is in `kit.case.columnar`; entries of logs with known texts are in `kit.case.log_events`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case.columnar import countable, value_type, zero_filled
from kit.case.datasets import both, dataset, pruned, times

if TYPE_CHECKING:
    from kit.case.case import Case

AT_ONCE: Final = 50_000_000  # values of records that are looked at together
_TOGETHER: Final = 1_000_000  # records whose extremes are looked for together


def table(
    case: Case, name: str, columns: Sequence[str] | dict[str, pc.Expression], where: pc.Expression | None = None
) -> pa.Table:
    """Return columns of the rows that `where` keeps, within the times of the case, in no particular order."""
    wanted = columns if isinstance(columns, dict) else list(columns)
    parts = pruned(case, name, both(times(case, name), where))
    return countable(pa.concat_tables([part.to_table(wanted, filter=left) for part, left in parts]))


def one_of(column: str, values: Iterable[str] | pa.Array | pa.ChunkedArray) -> pc.Expression:
    """Return the condition that a text column has one of these values; Arrow knows no type for none of them."""
    known = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(list(values), pa.string())
    return ds.field(column).isin(known.combine_chunks() if isinstance(known, pa.ChunkedArray) else known)


def text(column: str) -> pc.Expression:
    """Return a dictionary-encoded column as plain texts, for functions that need these."""
    return ds.field(column).cast(pa.string())


def batches_of(
    case: Case, name: str, columns: Sequence[str] | dict[str, pc.Expression], where: pc.Expression | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield columns of a table batch by batch, within the times of the case."""
    wanted = columns if isinstance(columns, dict) else list(columns)
    for part, left in pruned(case, name, both(times(case, name), where)):
        for batch in part.to_batches(wanted, filter=left):
            case.go_on()
            yield countable(batch)


def records(
    case: Case, columns: Sequence[str] | dict[str, pc.Expression], where: pc.Expression | None = None
) -> pa.Table:
    """Return columns of the records that `where` keeps, each record once as in `case.records`: from the first file by name."""
    copies = [i.file for i in case.found.of_kind("commitlog", "dledger") if i.replica_of]
    once_each = ~ds.field("file").isin(copies) if copies else None
    if not case.found.overlapping:
        return table(case, "messages", columns, both(once_each, where))
    place = ["file", "physical_offset", "offset_msg_id"]
    shown = columns if isinstance(columns, dict) else {name: ds.field(name) for name in columns}
    found = table(case, "messages", {**shown, **{name: ds.field(name) for name in place}}, both(once_each, where))
    # Which file's copy counts is decided among all copies, not among those that `where` keeps.
    same = ds.field("offset_msg_id").isin(pc.unique(found["offset_msg_id"]))
    every = table(case, "messages", place, both(once_each, same)).to_pandas()
    first = every.astype({"file": object}).sort_values(["file", "physical_offset"]).drop_duplicates("offset_msg_id")
    kept = found.select(place).to_pandas().astype({"file": object})
    rows = kept.reset_index().merge(first, on=place)["index"]
    return found.take(pa.array(rows)).select(list(shown))


def batches(
    case: Case,
    columns: Sequence[str] | dict[str, pc.Expression],
    where: pc.Expression | None = None,
    *,
    repeated: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Yield what `records` returns batch by batch; in one piece if files hold the same records again.

    `repeated`: records that several files hold may come more than once, which makes no difference to a minimum or maximum.
    """
    if case.found.overlapping and not repeated:
        yield from records(case, columns, where).to_batches()
        return
    copies = [i.file for i in case.found.of_kind("commitlog", "dledger") if i.replica_of]
    kept = both(~ds.field("file").isin(copies) if copies else None, where)
    yield from batches_of(case, "messages", columns, kept)


def together(batches: Iterable[pa.RecordBatch], least: int) -> Iterator[pa.Table]:
    """Yield batches combined into tables of at least `least` rows: a frame of a few rows takes as long to make as one of many."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held += [batch] if batch.num_rows else []
        if sum(each.num_rows for each in held) >= least:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def extremes(
    case: Case,
    by: Sequence[str] | dict[str, pc.Expression],
    sums: Sequence[tuple[str, str]],
    where: pc.Expression | None = None,
    name: str = "messages",
) -> pa.Table:
    """Return the `min` or `max` of columns of the records (or of another table): `by`, which has few values, then `<column>_<min or max>` in order of `sums`."""
    keys = by if isinstance(by, dict) else {key: ds.field(key) for key in by}
    columns = keys | {column: ds.field(column) for column, _ in sums}
    given = dataset(case, name).scanner(columns=columns).projected_schema
    shown = [*((key, key) for key in keys), *((f"{column}_{how}", column) for column, how in sums)]
    schema = pa.schema([(own, value_type(given.field(column))) for own, column in shown])
    parts = [schema.empty_table()]
    read = (
        batches(case, columns, where, repeated=True) if name == "messages" else batches_of(case, name, columns, where)
    )
    for rows in together(read, _TOGETHER):
        grouped = rows.unify_dictionaries().group_by(list(keys), use_threads=False)
        found = grouped.aggregate(list(sums)).select(schema.names)
        parts.append(found.cast(schema))
    whole = pa.concat_tables(parts).group_by(list(keys)).aggregate([(f"{column}_{how}", how) for column, how in sums])
    return whole.select([*keys, *(f"{column}_{how}_{how}" for column, how in sums)]).rename_columns(schema.names)


def by_message(case: Case, columns: Sequence[str], where: pc.Expression | None = None) -> Iterator[pa.Table]:
    """Yield what `records` returns, all records of one UNIQ_KEY in the same table: of a large store one part of the
    messages after another. Columns are in one chunk, their numbers `zero_filled`.
    """
    from kit.formats.commitlog.strings import hashed  # compiled code, which configuration alone does without

    values = sum(batch.num_rows for batch in batches_of(case, "messages", (), where)) * len(columns)
    parts = 1 + values // AT_ONCE
    schema = dataset(case, "messages").schema.empty_table().select(list(columns)).schema
    for part in range(parts):
        every = batches(case, columns, where)
        mine = (b.filter(pa.array(hashed(b["uniq_key"]) % np.uint64(parts) == part)) for b in every)
        found = every if parts == 1 else mine
        yield zero_filled(pa.Table.from_batches(list(found), schema).unify_dictionaries().combine_chunks())
