"""Values of the evidence that no column can hold: times out of range, numbers beyond 64 bits.

They are null in the tables; the printed text is in other columns (`ts_text`, `time_text`, `cells`).
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from kit.case.case import Case

_PRINTED: Final = {
    "logs": ("ts", "ts_text"),
    "rows": ("time", "time_text"),
    "sends": ("start", "start_text"),
    "metrics": ("ts", "ts_text"),
}
"""Tables with a time and the text it was read from."""
_FULL: Final = r"^\W?\d{4}[-/.年]\d|^-?\d(\.\d+)?[eE]\+?\d+$|^-?\d{14,}$|^-?\d+ (s|ms|us|ns)$"
"""A date with its year, or a number far too large: other texts (a time of day, `N/A`) are no full time anyway."""
_LARGE: Final = re.compile(r"\s*[+-]?(\d{10,}|\d+(\.\d*)?[eE]\+?\d+)(\.\d*)?\s*")


def of(case: Case) -> dict[str, int]:
    """Return how many values of each file are out of range, without files that have none."""
    counts: Counter[str] = Counter()
    for table, (value, text) in _PRINTED.items():
        rows = _with_null(case.folder(table), value, ["file", text])
        counts.update(rows.filter(pc.match_substring_regex(rows[text], _FULL))["file"].to_pylist())
    for name in ("queue_id", "value"):
        rows = _with_null(case.folder("offsets"), name, ["file", "kind"])
        # The fields of a checkpoint belong to no queue.
        counts.update(rows.filter(pc.not_equal(rows["kind"], "checkpoint"))["file"].to_pylist())
    for table, field in (("rows", "reconsume_times"), ("sends", "cost_ms")):
        named = {i.file: i.detail.get("columns", {}).get(field) for i in case.found.of_kind(table, replicas=False)}
        wanted = pa.array([file for file, name in named.items() if name], pa.string())
        rows = _with_null(case.folder(table), field, ["file", "cells"]) if len(wanted) else None
        for row in rows.filter(pc.is_in(rows["file"], value_set=wanted)).to_pylist() if rows else ():
            if _LARGE.fullmatch(dict(row["cells"]).get(named[row["file"]]) or ""):
                counts[row["file"]] += 1
    return dict(sorted(counts.items()))


def _with_null(folder: Path, name: str, columns: list[str]) -> pa.Table:
    """Return the rows of a table with null in a column; only row groups that have any are read."""
    found = []
    for path in folder.glob("*.parquet"):
        with pq.ParquetFile(path) as file:
            at = file.schema_arrow.names.index(name)
            for group in range(file.num_row_groups):
                known = file.metadata.row_group(group).column(at).statistics
                if known is None or not known.has_null_count or known.null_count:
                    rows = file.read_row_group(group, columns=[name, *columns])
                    found.append(rows.filter(pc.is_null(rows[name])).select(columns))
    return pa.concat_tables(found) if found else pa.table({each: pa.array([], pa.string()) for each in columns})
