"""Arrow tables as small pandas frames: the form in which causes, charts and notebooks see facts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from kit.formats.values import schema

if TYPE_CHECKING:
    import pandas as pd


def to_arrow(rows: list[dict[str, Any]] | pd.DataFrame, columns: str) -> pa.Table:
    """Return dicts, or a frame, as a table of columns written as `name type, …`; naive times are UTC."""
    if isinstance(rows, list):
        return pa.Table.from_pylist(rows, schema=schema(columns))
    return pa.Table.from_pandas(rows, schema(columns), preserve_index=False)


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Return rows with nullable `Int64` and `boolean`, texts as objects with None, naive UTC times in ns."""
    import pandas as pd  # late: the inventory is taken while it is imported

    for n, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            naive = table[n].cast(pa.timestamp("us"), safe=False).cast(pa.timestamp("ns"), safe=False)
            table = table.set_column(n, field.name, naive)
    whole = dict.fromkeys((pa.int8(), pa.int16(), pa.int32(), pa.int64()), pd.Int64Dtype())
    return table.to_pandas(types_mapper=(whole | {pa.bool_(): pd.BooleanDtype()}).get)


def rows(table: pa.Table, only: Mapping[str, Collection[Any]] | None = None) -> list[dict[str, Any]]:
    """Return rows as dicts of plain Python values, None where there is no value, times naive in UTC; `only`: those with
    one of these values in each of these columns.
    """
    for name, values in (only or {}).items():
        table = table.filter(pc.is_in(table[name], pa.array(values, table[name].type)))
    for n, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(n, field.name, table[n].cast(pa.timestamp("us"), safe=False))
    return table.to_pylist()
