"""Rows of a case's tables without Spark: reading a few columns of the workspace's Parquet files takes less time than planning a job does.

For questions with a small answer: the records of one topic, the entries with one known text. What sorts, joins or groups many rows belongs to Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case.events import free
from kit.case.memoize import once
from kit.formats.commitlog.schema import LINEAGE, PROMOTED_COLUMNS
from kit.formats.logs.schema import EVENT_FIELDS, SCHEMA
from kit.rocketmq.log_events.catalogue import BY_SLUG

if TYPE_CHECKING:
    import pandas as pd

    from kit.case.case import Case

CODED: Final = ("file", "topic", "store_host", "born_host", "source", "level", "logger", "thread", "layout")
"""Columns with few values: read as numbers and a list of the values."""


LOG_COLUMNS: Final = (*SCHEMA.names, *(field.name for field in EVENT_FIELDS))


def dataset(case: Case, name: str) -> ds.Dataset:
    """Return a table's files, built if they are not there, without the cut by time."""
    return once(case, f"dataset {name}", lambda: _dataset(case, name))


def _dataset(case: Case, name: str) -> ds.Dataset:
    from kit.case import tables

    schema = tables.specs()[name].schema
    coded = [n for n in schema.names if n in CODED or n in PROMOTED_COLUMNS or n in LINEAGE]
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


def text(column: str) -> pc.Expression:
    """Return a column of few values for functions that want plain texts."""
    return ds.field(column).cast(pa.string())


def batches_of(
    case: Case, name: str, columns: Sequence[str] | dict[str, pc.Expression], where: pc.Expression | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield columns of a table batch by batch, within the times of the case."""
    return dataset(case, name).to_batches(
        columns if isinstance(columns, dict) else list(columns), filter=_and(_times(case, name), where)
    )


def records(
    case: Case, columns: Sequence[str] | dict[str, pc.Expression], where: pc.Expression | None = None
) -> pa.Table:
    """Return columns of the records that `where` keeps, each record once: as `case.records`, where the first file in order of name counts."""
    copies = [i.file for i in case.found.of_kind("commitlog", "dledger") if i.replica_of]
    once_each = ~ds.field("file").isin(copies) if copies else None
    if not case.found.overlapping:
        return table(case, "messages", columns, _and(once_each, where))
    place = ["file", "physical_offset", "offset_msg_id"]
    shown = columns if isinstance(columns, dict) else {name: ds.field(name) for name in columns}
    found = table(case, "messages", {**shown, **{name: ds.field(name) for name in place}}, _and(once_each, where))
    # Which file's copy counts is decided among all copies, not among those that `where` keeps.
    same = ds.field("offset_msg_id").isin(pc.unique(found["offset_msg_id"]))
    every = table(case, "messages", place, _and(once_each, same)).to_pandas()
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
    """Yield what `records` returns batch by batch, so that little is held at once where no file holds a record again.

    `repeated`: records that several files hold may come more than once, as for a question of the least and greatest.
    """
    if case.found.overlapping and not repeated:
        yield from records(case, columns, where).to_batches()
        return
    copies = [i.file for i in case.found.of_kind("commitlog", "dledger") if i.replica_of]
    kept = _and(~ds.field("file").isin(copies) if copies else None, where)
    yield from batches_of(case, "messages", columns, kept)


def extremes(
    case: Case,
    by: Sequence[str] | dict[str, pc.Expression],
    sums: Sequence[tuple[str, str]],
    where: pc.Expression | None = None,
    name: str = "messages",
) -> pa.Table:
    """Return the `min` or `max` of columns of the records (or of another table), by what has few values: `by`, then `<column>_<min or max>` in order of `sums`."""
    keys = by if isinstance(by, dict) else {key: ds.field(key) for key in by}
    columns = keys | {column: ds.field(column) for column, _ in sums}
    given = dataset(case, name).scanner(columns=columns).projected_schema
    shown = [*((key, key) for key in keys), *((f"{column}_{how}", column) for column, how in sums)]
    schema = pa.schema([(own, plain(given.field(column))) for own, column in shown])
    parts = [schema.empty_table()]
    read = (
        batches(case, columns, where, repeated=True) if name == "messages" else batches_of(case, name, columns, where)
    )
    for batch in read:
        found = pa.table(batch).group_by(list(keys)).aggregate(list(sums)).select(schema.names)
        parts.append(found.cast(schema))
    whole = pa.concat_tables(parts).group_by(list(keys)).aggregate([(f"{column}_{how}", how) for column, how in sums])
    return whole.select([*keys, *(f"{column}_{how}_{how}" for column, how in sums)]).rename_columns(schema.names)


def plain(field: pa.Field) -> pa.DataType:
    """Return the type of a column's values, however they are coded."""
    return field.type.value_type if pa.types.is_dictionary(field.type) else field.type


def hits(
    case: Case, slugs: Sequence[str], columns: Sequence[str], where: pc.Expression | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield columns of the log entries that hold one of these known texts. Only those parts of the logs are read in which one of them is."""
    wanted = frozenset(slugs)
    if not (fragments := [part for part, texts in _parts(case) if not wanted.isdisjoint(texts)]):
        return
    whole = dataset(case, "logs")
    logs = ds.FileSystemDataset(fragments, whole.schema, whole.format, whole.filesystem)
    values = pa.array(sorted(wanted))
    read = list(dict.fromkeys([*columns, "events"]))
    for batch in logs.to_batches(read, filter=_and(_times(case, "logs"), where)):
        events: Any = batch["events"]
        held = pc.is_in(pc.list_flatten(events), value_set=values)
        rows = pc.unique(pc.list_parent_indices(events).filter(held))
        if len(rows):
            yield batch.take(rows).select(list(columns))


def _parts(case: Case) -> list[tuple[ds.ParquetFileFragment, frozenset[str]]]:
    """Return the row groups of the logs, each with the known texts in it."""
    return once(case, "texts by row group", lambda: list(_texts(dataset(case, "logs"))))


def _texts(logs: Any) -> Iterator[tuple[ds.ParquetFileFragment, frozenset[str]]]:
    for file in logs.get_fragments():
        for part in file.split_by_row_group():
            events = part.to_table(logs.schema, columns=["events"])["events"]
            yield part, frozenset(pc.unique(pc.list_flatten(events)).to_pylist())


def entries(case: Case, slugs: Sequence[str], columns: Sequence[str], where: pc.Expression | None = None) -> pa.Table:
    """Return columns of the log entries that hold one of these known texts, batch by batch, so that no more is held than is found."""
    kept = list(hits(case, slugs, columns, where))
    return pa.Table.from_batches(kept) if kept else dataset(case, "logs").schema.empty_table().select(list(columns))


def event(case: Case, slug: str, columns: Sequence[str] = ("file", "line")) -> pd.DataFrame:
    """Return the entries with a known text as `case.event` does, as a frame: `columns`, and one for each value."""
    found = entries(case, [slug], list(dict.fromkeys([*columns, "message", "trace"])))
    known = BY_SLUG[slug]
    texts = pc.binary_join_element_wise(
        found["message"].fill_null(""), found["trace"], "\n", null_handling="skip"
    ).to_pylist()
    hits = [known.compiled.search(text) for text in texts]
    frame = found.select(list(columns)).to_pandas()
    for name in known.groups:
        frame[free(name, LOG_COLUMNS)] = [(hit[name] or None) if hit else None for hit in hits]
    return frame
