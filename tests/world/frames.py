"""Tables of a case made strange: real rows of recordings, some cells of which are gone or hold what no column should."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kit.case import tables
from kit.case.case import Case

PLACE = frozenset({"file", "line", "lines", "frame_lines", "physical_offset", "offset"})
"""Columns that say where a row is from: readers only name places that are there."""
SHAPES = ("real", "empty", "one row", "all null", "a column null", "gaps", "extreme")
ROWS = 120
_TIMES = [
    dt.datetime(*when, tzinfo=dt.UTC)
    for when in (
        (1, 1, 1), (1677, 9, 21), (1970, 1, 1), (2262, 4, 12), (2500, 1, 1), (9999, 12, 31, 23, 59, 59, 999999),
    )
]  # fmt: skip
_TEXTS = [
    "", " ", "\0", "²", "N/A", "1e400", "-1", "9" * 30, "|`<b>", "a\nb", "%RETRY%", "%DLQ%", "%", "[]", "{", "x" * 3000,
    "\U0010ffff", "订单",
]  # fmt: skip


def extremes(kind: pa.DataType) -> list[Any]:
    """Return what a column of this type can hold at its edges."""
    if pa.types.is_timestamp(kind):
        return _TIMES
    if pa.types.is_integer(kind):
        return [0, -1, 1, -(1 << kind.bit_width - 1), (1 << kind.bit_width - 1) - 1]
    if pa.types.is_floating(kind):
        return [0.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e308]
    if pa.types.is_boolean(kind):
        return [True, False]
    if pa.types.is_string(kind):
        return _TEXTS
    if pa.types.is_binary(kind):
        return [b"", b"\xff", b"17,18,", b"9" * 30]
    if pa.types.is_list(kind):
        return [[], ["no-such-text"] if pa.types.is_string(kind.value_type) else extremes(kind.value_type)]
    if pa.types.is_map(kind):
        return [[], [("", "")], [("x", None)]]
    raise TypeError(kind)


def shaped(table: pa.Table, shape: str, chance: random.Random) -> pa.Table:
    """Return some rows of a table in one of `SHAPES`."""
    schema = table.schema
    if shape == "empty" or not table.num_rows:
        return schema.empty_table()
    count = 1 if shape == "one row" else min(ROWS, table.num_rows)
    rows = table.take(sorted(chance.sample(range(table.num_rows), count))).to_pylist()
    free = [field for field in schema if field.name not in PLACE]
    gone = {
        "all null": {f.name for f in free},
        "a column null": {f.name for f in chance.sample(free, max(1, len(free) // 5))},
    }
    for row in rows:
        for field in free:
            if field.name in gone.get(shape, ()) or (shape == "gaps" and chance.random() < 0.3):
                row[field.name] = None
            elif shape == "extreme" and chance.random() < 0.3:
                row[field.name] = chance.choice(extremes(field.type))
    return pa.Table.from_pylist(rows, schema)


def real(case: Case) -> dict[str, pa.Table]:
    """Return every table of a case, its rows in an order of their own: readers that run at once write files as they end."""
    found = {}
    for name in tables.specs():
        table = case._stored(name).toArrow()
        plain = [field.name for field in table.schema if not pa.types.is_nested(field.type)]
        found[name] = table.sort_by([(name, "ascending") for name in plain])
    return found


def write(folder: Path, made: dict[str, pa.Table]) -> None:
    for name, table in made.items():
        (folder / name).mkdir(parents=True)
        pq.write_table(table, folder / name / "part-0.parquet", store_schema=False)


def standing_on(case: Case, folder: Path) -> Case:
    """Let a case answer from the tables in `folder` instead of its own."""
    case.folder = lambda name: folder / name  # type: ignore[method-assign]
    return case
