"""Columns and rows as pyarrow reads them, as numpy arrays and pandas frames."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.formats.values import NANO_FIRST_MS, NANO_LAST_MS

if TYPE_CHECKING:
    import pandas as pd

FIRST_COUNTED: Final = NANO_FIRST_MS * 1000
LAST_COUNTED: Final = NANO_LAST_MS * 1000
"""The first and last time that nanoseconds in 64 bits can count, in microseconds since 1970."""
_MICROS: Final = pa.timestamp("us", "UTC")
_INTEGER: Final = re.compile(r"[0-9]{1,9}")
Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Return rows as Spark's `toPandas` does: plain texts, naive UTC times in nanoseconds, `countable`."""
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


def countable(rows: Rows) -> Rows:
    """Return a table or batch with null for times out of the range of nanoseconds, on which pandas raises."""
    for n, field in enumerate(rows.schema):
        if not pa.types.is_timestamp(field.type) or field.type.unit != _MICROS.unit:
            continue
        counted = rows[n].cast(pa.int64())
        least, most = pc.min_max(counted).as_py().values()
        if least is not None and (least < FIRST_COUNTED or most > LAST_COUNTED):
            fits = pc.and_(pc.greater_equal(counted, FIRST_COUNTED), pc.less_equal(counted, LAST_COUNTED))
            rows = rows.set_column(n, field, pc.if_else(fits, rows[n], None))
    return rows


def zero_filled(table: pa.Table) -> pa.Table:
    """Return rows with all whole numbers in 64 bits, 0 for null."""
    for n, field in enumerate(table.schema):
        if pa.types.is_integer(field.type):
            table = table.set_column(n, field.name, table[n].cast(pa.int64()).fill_null(0))
    return table


def none_for_null(values: Any) -> Any:
    """Return a column or frame with None for NaN, NaT and NA."""
    found = values.astype(object)
    return found.where(found.notna(), None)


def choose(when: Sequence[Any], then: Sequence[Any], otherwise: Any = None) -> Any:
    """Return for each row the value of the first condition that is true, None being false."""
    return np.select([np.asarray(each, bool) for each in when], list(then), otherwise)


def mapped(column: pa.ChunkedArray, value: Callable[[str], Any], default: Any) -> np.ndarray:
    """Return `value` of each text, `default` for null; computed once for each different text."""
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    hits = [np.array([default])[:0]]
    for chunk in coded.chunks:
        known = [default if text is None else value(text) for text in chunk.dictionary.to_pylist()]
        hits.append(np.array([*known, default])[chunk.indices.fill_null(len(known)).to_numpy()])
    return np.concatenate(hits)


def passes(column: pa.ChunkedArray, test: Callable[[str], bool]) -> np.ndarray:
    """Return for each row whether its text passes `test`, False for null; tested once for each different text."""
    return mapped(column, test, default=False)


def integers(column: pa.ChunkedArray) -> np.ndarray:
    """Return texts of up to nine digits as numbers, -1 for all others."""
    return mapped(column, lambda text: int(text) if _INTEGER.fullmatch(text) else -1, default=-1)


def one_chunk(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column of a table or batch as one array."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def value_type(field: pa.Field) -> pa.DataType:
    """Return the type of a column's values, dictionary-encoded or not."""
    return field.type.value_type if pa.types.is_dictionary(field.type) else field.type


def decoded(column: Any) -> Any:
    """Return a column as plain texts if it is dictionary-encoded, unchanged otherwise."""
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def grouped(table: pa.Table, by: list[str], asked: Sequence[tuple[str, Any]]) -> pa.Table:
    """Return a row for each combination of values of `by`, with other columns aggregated as `asked`, (column, function), under their own names."""
    table = table.unify_dictionaries()
    # A column without any value tells no two rows apart, and looking at it costs as much as at another.
    empty = {name: table.schema.field(name).type for name in by if table[name].null_count == len(table) > 0}
    coded = {}
    for name in (name for name in by if pa.types.is_dictionary(table.schema.field(name).type) and len(table)):
        # Numbers are told apart faster than texts.
        coded[name] = table[name].chunk(0).dictionary
        numbers = pa.chunked_array([chunk.indices for chunk in table[name].chunks])
        table = table.set_column(table.schema.get_field_index(name), name, numbers)
    answered = table.group_by([name for name in by if name not in empty], use_threads=False).aggregate(list(asked))
    columns = {name: pa.nulls(len(answered), empty[name]) if name in empty else answered[name] for name in by}
    columns |= {
        name: pa.DictionaryArray.from_arrays(answered[name].combine_chunks(), values)
        for name, values in coded.items()
        if name not in empty
    }
    return pa.table(columns | {name: answered[f"{name}_{how}"] for name, how in asked})
