"""The Parquet files of a case's tables as Arrow datasets, pruned by a condition.

The unit of pruning is the row group, by its statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case.memoize import once
from kit.formats.commitlog.schema import LINEAGE, PROMOTED_COLUMNS

if TYPE_CHECKING:
    from pathlib import Path

    from kit.case.case import Case

CODED: Final = ("file", "topic", "store_host", "born_host", "source", "level", "logger", "thread", "layout")
"""Columns with few values: read dictionary-encoded."""


def dataset(case: Case, name: str, also: tuple[str, ...] = ()) -> ds.Dataset:
    """Return a table's files, built if absent, without the cut by time. `also`: columns read dictionary-encoded besides those of few values."""
    return once(case, f"dataset {name} {also}", lambda: _dataset(case, name, also))


def _dataset(case: Case, name: str, also: tuple[str, ...]) -> ds.Dataset:
    from kit.case import tables

    schema = tables.spec(name).schema
    coded = [n for n in schema.names if n in CODED or n in PROMOTED_COLUMNS or n in LINEAGE or n in also]
    return ds.dataset(case.folder(name), format=ds.ParquetFileFormat(dictionary_columns=coded))


def rows(
    case: Case, name: str, columns: Sequence[str] | None = None, where: pc.Expression | None = None
) -> list[dict[str, Any]]:
    """Return rows of a small table (`admin`, `configs`, `offsets`, …) as dicts, without the cut by time; in order of file and line where these are asked for."""
    found = ds.dataset(case.folder(name), format="parquet").to_table(columns, filter=where)
    order = [(column, "ascending") for column in ("file", "line") if column in found.column_names]
    return (found.sort_by(order) if len(order) == 2 else found).to_pylist()


def pruned(case: Case, name: str, where: pc.Expression | None) -> list[tuple[ds.Dataset, pc.Expression | None]]:
    """Return the row groups of a table that, by their statistics, may have rows that `where` keeps, each part with what
    is left to ask of its rows: nothing of row groups that have no other rows.
    """
    whole = dataset(case, name)
    if where is None:
        return [(whole, None)]
    # Arrow ignores the statistics of dictionary-encoded columns.
    plain = once(case, f"parts of {name}", lambda: _plain(case.folder(name)))
    kept = [part.subset(filter=where) for part in plain]
    other = ~pc.coalesce(where, pc.scalar(False))  # a condition that is null keeps nothing
    mixed = [{group.id for group in part.subset(filter=other).row_groups} for part in kept]
    if sum(map(len, mixed)) == sum(part.num_row_groups for part in plain):
        return [(whole, where)]
    parts = []
    for asked, left in ((True, where), (False, None)):
        fragments = [
            whole.format.make_fragment(part.path, whole.filesystem, row_groups=groups)
            for part, its in zip(kept, mixed, strict=True)
            if (groups := [group.id for group in part.row_groups if (group.id in its) == asked])
        ]
        if fragments or asked:  # a part without row groups still has the columns
            parts.append((ds.FileSystemDataset(fragments, whole.schema, whole.format, whole.filesystem), left))
    return parts


def _plain(folder: Path) -> list[ds.ParquetFileFragment]:
    parts = list(ds.dataset(folder, format="parquet").get_fragments())
    for part in parts:
        part.ensure_complete_metadata()
    return parts


def times(case: Case, name: str) -> pc.Expression | None:
    from kit.case import tables

    column = tables.spec(name).time
    kept: pc.Expression | None = None
    for limit, sign in ((case.options.since, 1), (case.options.until, -1)):
        if column is not None and limit is not None:
            time, bound = ds.field(column), pa.scalar(limit, pa.timestamp("us", "UTC"))
            kept = both(kept, time.is_null() | ((time >= bound) if sign > 0 else (time <= bound)))
    return kept


def both(a: pc.Expression | None, b: pc.Expression | None) -> pc.Expression | None:
    return b if a is None else a if b is None else a & b
