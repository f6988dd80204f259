"""Rows of one part of a table → one Parquet file, in the task that reads them.

Rows that the engine writes are decoded for it, copied, and coded again: on the embedded engine 2 GB of records took 1.4
times as much processor time for reading, and Apache Spark takes each row apart besides.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

MOST_ROWS: Final = 131_072
MOST_BYTES: Final = 64 << 20
"""A row group ends behind so many rows or bytes of Arrow."""
LEAST_ROWS: Final = 4096
"""Fewer rows of one value have no row group of their own."""
LOOKED_UP: Final = (
    "file", "source", "known", "ts", "physical_offset", "store_timestamp", "stage", "original", "topic",
    "property_TRAN_MSG", "uniq_key", "offset_msg_id", "property_ORIGIN_MESSAGE_ID", "prepared_transaction_offset",
)  # fmt: skip
"""Columns of which row groups say the least and the greatest value, by which queries leave groups out."""
DICTIONARY: Final = 128 << 10
"""Ids do not repeat, so a dictionary of them saves nothing: it is given up at so many bytes."""


def write(path: Path, schema: pa.Schema, batches: Iterator[pa.RecordBatch], apart: str | None = None) -> None:
    """Write batches with the columns of `schema`, those that come dictionary-coded as they are. `apart`: the column,
    dictionary-coded, by whose values queries choose rows.
    """
    first = next(batches, None)
    schema = schema if first is None else first.schema
    looked_up = [name for name in LOOKED_UP if name in schema.names]
    with pq.ParquetWriter(
        path, schema, store_schema=False, write_statistics=looked_up, dictionary_pagesize_limit=DICTIONARY
    ) as file:
        for group in _row_groups(() if first is None else chain([first], batches), apart):
            table = pa.Table.from_batches([each.cast(schema) for each in group])
            file.write_table(table.unify_dictionaries(), MOST_ROWS)


def _row_groups(batches: Iterable[pa.RecordBatch], apart: str | None) -> Iterator[list[pa.RecordBatch]]:
    """Yield what becomes a row group, with one value of column `apart` each; only what is too little shares one."""
    waiting: dict[str | None, list[pa.RecordBatch]] = {}
    for batch in batches:
        for value, rows in _by_value(batch, apart) if apart else [(None, batch)]:
            group = waiting.setdefault(value, [])
            group.append(rows)
            if sum(map(len, group)) >= MOST_ROWS or sum(each.nbytes for each in group) >= MOST_BYTES:
                yield waiting.pop(value)
    yield from (group for group in waiting.values() if sum(map(len, group)) >= LEAST_ROWS)
    if few := [rows for group in waiting.values() if sum(map(len, group)) < LEAST_ROWS for rows in group]:
        yield few


def _by_value(batch: pa.RecordBatch, column: str) -> Iterator[tuple[str | None, pa.RecordBatch]]:
    """Yield the rows of each value of a dictionary-coded column, in their order, and the value."""
    codes = batch[column].indices
    runs = pc.run_end_encode(codes)
    if len(runs.values) > len(pc.unique(codes)):
        order = pc.array_sort_indices(codes)
        batch, runs = batch.take(order), pc.run_end_encode(codes.take(order))
    start = 0
    for end, code in zip(runs.run_ends.to_pylist(), runs.values.to_pylist(), strict=True):
        yield None if code is None else batch[column].dictionary[code].as_py(), batch.slice(start, end - start)
        start = end
