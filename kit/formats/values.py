"""Printed values → values of columns. What does not fit is None: unknown, never an exception and never 0."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
import pyarrow as pa

from kit import data

TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
TYPES: Final[dict[str, pa.DataType]] = {
    "string": pa.string(), "int": pa.int32(), "bigint": pa.int64(), "double": pa.float64(), "boolean": pa.bool_(),
    "timestamp": TIMESTAMP,
    "binary": pa.binary(), "array<string>": pa.list_(pa.string()), "array<int>": pa.list_(pa.int32()),
    "map<string,string>": pa.map_(pa.string(), pa.string()),
}  # fmt: skip
"""Spark's names of the types of columns."""
TEXTS: Final = pa.dictionary(pa.int32(), pa.string())
"""Texts with few different values."""

LAST_MS: Final = 253_402_300_799_999
"""The last ms of the year 9999 (UTC): what both Python and Spark can show."""

BATCH: Final = 20_000
"""Rows of a batch."""
_WHOLE: Final = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")
_NUMBER: Final = re.compile(r"\s*[+-]?[0-9]{1,40}(?:\.[0-9]{0,40})?(?:[eE][+-]?[0-9]{1,3})?\s*")

_TABLES: Final = data.read("formats/columns.yaml", dict[str, str])


def schema(columns: str) -> pa.Schema:
    """Return columns that are written as `name type, …`."""
    return pa.schema([(name, TYPES[kind]) for name, kind in map(str.split, columns.split(", "))])


def columns_of(table: str) -> pa.Schema:
    """Return the columns of a table that is read from evidence: those of `columns.yaml`."""
    return schema(_TABLES[table])


def integer(value: Any, bits: int = 64) -> int | None:
    """Return a whole number, or its digits, that fits a signed column of `bits`; None for anything else."""
    if isinstance(value, str):
        value = int(value) if _WHOLE.fullmatch(value) else None
    if isinstance(value, float):
        value = int(value) if math.isfinite(value) and value.is_integer() else None
    if value is None or isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -(1 << (bits - 1)) <= value < 1 << (bits - 1) else None


def truncated(text: str | None, bits: int = 64) -> int | None:
    """Return a printed number without its fraction if it fits `bits`: `12.7` is 12, `1.2e1` is 12."""
    if text is not None and _WHOLE.fullmatch(text):
        return integer(text, bits)
    number = real(text)
    return None if number is None else integer(math.trunc(number), bits)


def real(text: str | None) -> float | None:
    """Return a printed decimal number; None for anything else and for infinities."""
    number = float(text) if text is not None and _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def ranges(
    data: bytes | np.ndarray, begins: np.ndarray, ends: np.ndarray, absent: np.ndarray | None = None
) -> pa.BinaryArray:
    """Return the stretches of some bytes that lie between these positions; null, wherever it would be, where absent."""
    known = slice(None) if absent is None else ~absent
    first = int(begins[known].min(initial=len(data)))
    cuts = np.zeros(2 * len(begins) + 2, np.int32)
    cuts[1:-1:2], cuts[2:-1:2] = begins - first, ends - first
    cuts[-1] = ends[known].max(initial=first) - first
    # Every other piece of the data is what lies between two stretches: it is never looked at, so their order is free.
    pieces = [None, pa.py_buffer(cuts), pa.py_buffer(data).slice(first)]
    both = pa.Array.from_buffers(pa.binary(), len(cuts) - 1, pieces)
    return both.take(pa.array(np.arange(1, len(cuts) - 1, 2), mask=absent))


_UNFIT: Final = (pa.ArrowException, OverflowError, ValueError, TypeError)


def batch(rows: Sequence[dict[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Return rows as a batch; a value that its column cannot hold becomes null."""
    try:
        return pa.RecordBatch.from_pylist(list(rows), schema)
    except _UNFIT:
        columns = [pa.array([_fitting(row.get(each.name), each.type) for row in rows], each.type) for each in schema]
        return pa.RecordBatch.from_arrays(columns, schema=schema)


def batches(rows: Iterable[dict[str, Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield rows as batches of moderate size."""
    rows = iter(rows)
    while part := list(islice(rows, BATCH)):
        yield batch(part, schema)


def _fitting(value: Any, kind: pa.DataType) -> Any:
    value = _text(value)
    try:
        pa.scalar(value, kind)
    except _UNFIT:
        return None
    return value


def _text(value: Any) -> Any:
    """Return texts that UTF-8 can hold: half of a surrogate pair becomes its escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list | tuple):
        return type(value)(_text(each) for each in value)
    return value
