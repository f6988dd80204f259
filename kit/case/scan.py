"""Rows of a case's tables without Spark: reading a few columns of the workspace's Parquet files takes less time than planning a job does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case.datasets import both, dataset, pruned, times
from kit.case.memoize import once
from kit.formats.logs.schema import EVENT_FIELDS, SCHEMA
from kit.formats.values import NANO_FIRST_MS, NANO_LAST_MS
from kit.rocketmq.log_events.catalogue import BY_SLUG
from kit.spark.known_texts import free

if TYPE_CHECKING:
    import pandas as pd

    from kit.case.case import Case
    from kit.rocketmq.log_events.event import Event

AT_ONCE: Final = 50_000_000  # values of records that are looked at together
_TOGETHER: Final = 1_000_000  # records whose extremes are looked for together
_MICROS: Final = pa.timestamp("us", "UTC")
FIRST_COUNTED: Final = NANO_FIRST_MS * 1000
LAST_COUNTED: Final = NANO_LAST_MS * 1000
Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)
_WHOLE: Final = re.compile(r"[0-9]{1,9}")
_TEXTS: Final = ("message", "trace")
"""Texts of which few rows are wanted: read dictionary-encoded, only those are copied."""
LOG_COLUMNS: Final = (*SCHEMA.names, *(field.name for field in EVENT_FIELDS))


def table(
    case: Case, name: str, columns: Sequence[str] | dict[str, pc.Expression], where: pc.Expression | None = None
) -> pa.Table:
    """Return columns of the rows that `where` keeps, within the times of the case, `countable`. Rows are in no order that may be relied on."""
    wanted = columns if isinstance(columns, dict) else list(columns)
    parts = pruned(case, name, both(times(case, name), where))
    return countable(pa.concat_tables([part.to_table(wanted, filter=left) for part, left in parts]))


def text(column: str) -> pc.Expression:
    """Return a column of few values for functions that want plain texts."""
    return ds.field(column).cast(pa.string())


def batches_of(
    case: Case, name: str, columns: Sequence[str] | dict[str, pc.Expression], where: pc.Expression | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield columns of a table batch by batch, within the times of the case, `countable`."""
    wanted = columns if isinstance(columns, dict) else list(columns)
    for part, left in pruned(case, name, both(times(case, name), where)):
        for batch in part.to_batches(wanted, filter=left):
            case.go_on()
            yield countable(batch)


def records(
    case: Case, columns: Sequence[str] | dict[str, pc.Expression], where: pc.Expression | None = None
) -> pa.Table:
    """Return columns of the records that `where` keeps, each record once: as `case.records`, where the first file in order of name counts."""
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
    """Yield what `records` returns batch by batch, so that little is held at once where no file holds a record again.

    `repeated`: records that several files hold may come more than once, as for a question of the least and greatest.
    """
    if case.found.overlapping and not repeated:
        yield from records(case, columns, where).to_batches()
        return
    copies = [i.file for i in case.found.of_kind("commitlog", "dledger") if i.replica_of]
    kept = both(~ds.field("file").isin(copies) if copies else None, where)
    yield from batches_of(case, "messages", columns, kept)


def together(batches: Iterable[pa.RecordBatch], least: int) -> Iterator[pa.Table]:
    """Yield batches of at least `least` rows together, without the empty ones: a frame of a few rows takes as long to make as one of many."""
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
    for rows in together(read, _TOGETHER):
        grouped = rows.unify_dictionaries().group_by(list(keys), use_threads=False)
        found = grouped.aggregate(list(sums)).select(schema.names)
        parts.append(found.cast(schema))
    whole = pa.concat_tables(parts).group_by(list(keys)).aggregate([(f"{column}_{how}", how) for column, how in sums])
    return whole.select([*keys, *(f"{column}_{how}_{how}" for column, how in sums)]).rename_columns(schema.names)


def plain(field: pa.Field) -> pa.DataType:
    """Return the type of a column's values, however they are coded."""
    return field.type.value_type if pa.types.is_dictionary(field.type) else field.type


def hits(
    case: Case, slugs: Sequence[str], columns: Sequence[str], where: pc.Expression | None = None, *, cut: bool = True
) -> Iterator[pa.RecordBatch]:
    """Yield columns of the log entries that hold one of these known texts. Only those parts of the logs are read in which one of them is.

    `where` may ask for any of `columns`. Without `cut` also those outside the times of the case.
    """
    within = times(case, "logs") if cut else None
    kept = both(within, where)
    read = [name for name in dict.fromkeys([*columns, *(("ts",) if within is not None else ())]) if name != "events"]
    for part, schema, texts in _parts(case):
        asked = [texts[slug] for slug in slugs if slug in texts]
        if not asked or (within is not None and not part.subset(filter=within).row_groups):
            continue
        chosen = np.zeros(part.row_groups[0].num_rows, bool)
        chosen[np.concatenate(asked)] = True
        found = part.to_table(schema, columns=read).take(pa.array(np.flatnonzero(chosen)))
        if "events" in columns:
            found = found.append_column("events", _listed(texts, chosen))
        for name in (name for name in _TEXTS if name in read):
            found = found.set_column(found.schema.get_field_index(name), name, found[name].cast(pa.string()))
        found = (found if kept is None else found.filter(kept)).select(list(columns))
        yield from map(countable, found.combine_chunks().to_batches())


def _listed(texts: dict[str, np.ndarray], chosen: np.ndarray) -> pa.ListArray:
    """Return the known texts of the chosen rows: reading their column would take as long as reading all others."""
    each = [rows[chosen[rows]] for rows in texts.values()]
    every = np.concatenate(each)
    order = np.argsort(every, kind="stable")
    starts = np.flatnonzero(np.diff(every[order], prepend=-1))
    kinds = np.repeat(np.arange(len(each)), list(map(len, each)))[order]
    slugs = pa.array(list(texts), pa.string()).take(pa.array(kinds))
    return pa.ListArray.from_arrays(pa.array([*starts, len(every)], pa.int32()), slugs)


def _parts(case: Case) -> list[tuple[ds.ParquetFileFragment, pa.Schema, dict[str, np.ndarray]]]:
    """Return the row groups of the logs, each with its schema and the rows in which each known text is."""
    return once(case, "texts by row group", lambda: list(_texts(dataset(case, "logs", _TEXTS))))


def _texts(logs: Any) -> Iterator[tuple[ds.ParquetFileFragment, pa.Schema, dict[str, np.ndarray]]]:
    for file in logs.get_fragments():
        for part in file.split_by_row_group():
            listed = _whole(part.to_table(logs.schema, columns=["events"])["events"])
            coded = pc.list_flatten(listed).dictionary_encode()
            rows = pc.list_parent_indices(listed).to_numpy().astype(np.int32)
            kinds = coded.indices.to_numpy()
            ends = np.cumsum(np.bincount(kinds, minlength=len(coded.dictionary)))
            each = np.split(rows[np.argsort(kinds, kind="stable")], ends)[:-1]
            yield part, logs.schema, dict(zip(coded.dictionary.to_pylist(), each, strict=True))


def by_message(case: Case, columns: Sequence[str], where: pc.Expression | None = None) -> Iterator[pa.Table]:
    """Yield what `records` returns, all records of one UNIQ_KEY together: of a large store one part of the messages after
    another, each column in one piece.
    """
    from kit.formats.commitlog.strings import hashed  # compiled code, which configuration alone does without

    values = sum(batch.num_rows for batch in batches_of(case, "messages", (), where)) * len(columns)
    parts = 1 + values // AT_ONCE
    schema = dataset(case, "messages").schema.empty_table().select(list(columns)).schema
    for part in range(parts):
        every = batches(case, columns, where)
        mine = (b.filter(pa.array(hashed(b["uniq_key"]) % np.uint64(parts) == part)) for b in every)
        found = every if parts == 1 else mine
        yield whole(pa.Table.from_batches(list(found), schema).unify_dictionaries().combine_chunks())


def entries(case: Case, slugs: Sequence[str], columns: Sequence[str], where: pc.Expression | None = None) -> pa.Table:
    """Return columns of the log entries that hold one of these known texts, batch by batch, so that no more is held than is found."""
    kept = list(hits(case, slugs, columns, where))
    return pa.Table.from_batches(kept) if kept else dataset(case, "logs").schema.empty_table().select(list(columns))


def event(case: Case, slug: str, columns: Sequence[str] = ("file", "line")) -> pd.DataFrame:
    """Return the entries with a known text as `case.event` does, as a frame: `columns`, and one for each value."""
    return events(case, [slug], columns).drop_columns("event").to_pandas()


def events(
    case: Case, slugs: Sequence[str], columns: Sequence[str] = ("file", "line"), where: pc.Expression | None = None
) -> pa.Table:
    """Return the entries with any of these texts: `columns`, `event` (the first of `slugs` that is in the entry) and one
    text for each value, `_said` behind a name that the logs have. Only what is found is held.
    """
    found = entries(case, slugs, list(dict.fromkeys([*columns, "message", "trace", "events"])), where)
    kept = found.select(list(columns))
    for name, column in said_in(_whole(found["events"]), texts(found), slugs, [*LOG_COLUMNS, "event"]).items():
        kept = kept.append_column(name, column)
    return kept


def said_in(listed: pa.Array, text: pa.Array, slugs: Sequence[str], taken: Sequence[str]) -> dict[str, pa.Array]:
    """Return `event` (the first of `slugs` that is in the entry) and each value of entries with these `events` and
    texts: of several texts with a value of one name the first that has it, `_said` behind a name that is `taken`.
    """
    parents, known = pc.list_parent_indices(listed), pc.list_flatten(listed)
    names = dict.fromkeys(["event", *(free(name, taken) for slug in slugs for name in BY_SLUG[slug].groups)])
    # Where each entry's value is among those found, -1 for none.
    places = {name: np.full(len(text), -1, np.int64) for name in names}
    parts: dict[str, list[pa.Array]] = {name: [] for name in names}
    for slug in slugs:
        rows = parents.filter(pc.equal(known, slug)).to_numpy(zero_copy_only=False)
        if not len(rows):
            continue
        printed = [(free(name, taken), each) for name, each in _printed(BY_SLUG[slug], text.take(pa.array(rows)))]
        for name, each in [("event", pa.repeat(slug, len(rows))), *dict(printed).items()]:
            new = each.is_valid().to_numpy(zero_copy_only=False) & (places[name][rows] < 0)
            places[name][rows[new]] = np.flatnonzero(new) + sum(map(len, parts[name]))
            parts[name].append(each)
    return {
        name: pa.concat_arrays(parts[name]).take(pa.array(places[name], mask=places[name] < 0))
        if parts[name]
        else pa.nulls(len(text), pa.string())
        for name in names
    }


def firsts(events: pa.Array, slugs: Sequence[str]) -> np.ndarray:
    """Return the place in `slugs` of the first of them that each entry holds, their number for none."""
    place = pc.index_in(pc.list_flatten(events), value_set=pa.array(slugs, pa.string())).fill_null(len(slugs))
    found = np.full(len(events), len(slugs))
    np.minimum.at(found, pc.list_parent_indices(events), place)
    return found


def texts(found: pa.Table | pa.RecordBatch) -> pa.Array:
    """Return what log entries say: their message and the trace folded into them."""
    return _whole(
        pc.binary_join_element_wise(found["message"].fill_null(""), found["trace"], "\n", null_handling="skip")
    )


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def values(known: Event, texts: pa.Array) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each value of a known text and what it is in these texts, None where it is not printed."""
    for name, found in _printed(known, texts):
        yield name, found.to_numpy(zero_copy_only=False)


def _printed(known: Event, texts: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Yield what `values` does as Arrow columns."""
    if not known.groups:
        return
    # Logs say many things again and again; looking for a pattern takes longer than telling that a text was there before.
    coded = texts.dictionary_encode()
    repeated = len(coded.dictionary) * 2 < len(texts)
    each = coded.dictionary if repeated else texts
    try:
        found = pc.extract_regex(each, known.pattern)
        columns = [(name, pc.struct_field(found, name)) for name in known.groups]
    except pa.ArrowInvalid:  # RE2 looks at nothing ahead, and counts to a thousand only
        hits = [known.compiled.search(text) for text in each.to_pylist()]
        columns = [(name, pa.array([hit[name] if hit else None for hit in hits], pa.string())) for name in known.groups]
    for name, column in columns:
        value = pc.if_else(pc.equal(column, ""), None, column)
        yield name, value.take(coded.indices) if repeated else value


def holds(events: pa.Array | pa.ChunkedArray, slugs: Sequence[str]) -> np.ndarray:
    """Return for each entry whether it holds one of these known texts."""
    listed = _whole(events)
    held = np.zeros(len(listed), bool)
    one = pc.is_in(pc.list_flatten(listed), value_set=pa.array(slugs))
    held[pc.list_parent_indices(listed).filter(one).to_numpy(zero_copy_only=False)] = True
    return held


def countable(rows: Rows) -> Rows:
    """Return a table or batch without the times that no nanoseconds can count: pandas raises on them, so they are null instead."""
    for n, field in enumerate(rows.schema):
        if not pa.types.is_timestamp(field.type) or field.type.unit != _MICROS.unit:
            continue
        counted = rows[n].cast(pa.int64())
        least, most = pc.min_max(counted).as_py().values()
        if least is not None and (least < FIRST_COUNTED or most > LAST_COUNTED):
            fits = pc.and_(pc.greater_equal(counted, FIRST_COUNTED), pc.less_equal(counted, LAST_COUNTED))
            rows = rows.set_column(n, field, pc.if_else(fits, rows[n], None))
    return rows


def whole(table: pa.Table) -> pa.Table:
    """Return rows with 0 for the numbers that are missing, and room for sums of the others."""
    for n, field in enumerate(table.schema):
        if pa.types.is_integer(field.type):
            table = table.set_column(n, field.name, table[n].cast(pa.int64()).fill_null(0))
    return table


def frame(table: pa.Table) -> pd.DataFrame:
    """Return rows as Spark's `toPandas` does: plain texts, naive UTC times in nanoseconds, null where none can count them."""
    table, texts = countable(table), {}
    for n, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):  # one Python text for each value instead of each row
            texts[field.name] = mapped(table[n], lambda text: text, default=None)
            table = table.set_column(n, field.name, pa.nulls(len(table)))
        elif field.type == _MICROS:
            table = table.set_column(n, field.name, table[n].cast(pa.timestamp("ns", "UTC")).cast(pa.timestamp("ns")))
    found = table.to_pandas()
    for name, values in texts.items():
        found[name] = values
    return found


def choose(when: Sequence[Any], then: Sequence[Any], otherwise: Any = None) -> Any:
    """Return for each row the value of the first condition that holds."""
    return np.select([np.asarray(each, bool) for each in when], list(then), otherwise)


def none(values: Any) -> Any:
    """Return a column or frame with None for whatever null pandas has in it."""
    found = values.astype(object)
    return found.where(found.notna(), None)


def is_(column: pa.ChunkedArray, test: Callable[[str], bool]) -> np.ndarray:
    """Return for each row whether its value passes, False for null: the test is made once for each value of the column."""
    return mapped(column, test, default=False)


def numbers(column: pa.ChunkedArray) -> np.ndarray:
    """Return the whole numbers that texts hold, -1 where they hold none."""
    return mapped(column, lambda text: int(text) if _WHOLE.fullmatch(text) else -1, default=-1)


def mapped(column: pa.ChunkedArray, value: Callable[[str], Any], default: Any) -> np.ndarray:
    """Return what `value` makes of each text, `default` for null: asked once for each value of the column."""
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    hits = [np.array([default])[:0]]
    for chunk in coded.chunks:
        known = [default if text is None else value(text) for text in chunk.dictionary.to_pylist()]
        hits.append(np.array([*known, default])[chunk.indices.fill_null(len(known)).to_numpy()])
    return np.concatenate(hits)
