"""Files for other programs: findings.json, tables as CSV, decoded messages and logs as Parquet, JSON lines or CSV.

A cell that a spreadsheet would run as a formula gets an apostrophe in front (OWASP, CSV injection); in the result tables control and bidi characters
are spelled out too. `decode` and `logs` export the evidence itself and keep them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types

from kit.case import columnar, output, scan
from kit.case.frames import HIDDEN
from kit.causes import results
from kit.charts.safe_text import clean
from kit.spark.sessions import uri

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    from kit.case.case import Case

ROWS: Final = 1 << 17
"""Rows of a row group."""
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""First characters that make a spreadsheet treat a text as a formula."""


def tables(case: Case, folder: Path) -> None:
    """Write every result table of the case as `<name>.csv`."""
    for name in results.names(case):
        csv(results.table(case, name), folder / f"{name}.csv")


def csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a small frame as CSV that a spreadsheet does not execute."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = {name: "Int64" for name in frame.select_dtypes("float") if _counts(frame[name])}
    frame.map(harmless).astype(whole).rename(columns=harmless).to_csv(
        path, index=False, lineterminator="\n", date_format="%Y-%m-%dT%H:%M:%S.%fZ"
    )


def _counts(column: pd.Series[float]) -> bool:
    """Return whether a column holds whole numbers that pandas stores as floats only because some are unknown."""
    known = column.dropna()
    return 0 < len(known) < len(column) and bool((known.abs() < 1 << 53).all() and (known % 1 == 0).all())


def harmless(cell: Any) -> Any:
    """Return a harmless cell: control and bidi characters spelled out, a formula made a text."""
    if not isinstance(cell, str):
        return cell
    return "'" + clean(cell) if cell.startswith(FORMULA) else clean(cell)


def decoded(case: Case, out: Path, *, body: bool, form: str) -> list[tuple[str, int]]:
    """Write `out/messages` and `out/skipped`; return counts: records, bytes, skipped ranges by reason."""
    with output.into(out, "decode", case.lang) as folder:
        if body:
            save(case.read_messages(body=body), folder / "messages", form)
        else:
            _messages(case, folder / "messages", form)
        _table(case, "skipped", folder / "skipped", form)
    if form == "parquet":
        counted = _counted(out / "messages")
    else:
        total = case.messages.agg(
            F.count("*").alias("records"), F.sum("store_size").alias("bytes"), F.count("problem").alias("problems")
        ).first()
        assert total is not None
        counted = [("records", total.records), ("bytes", total.bytes or 0), ("records with a problem", total.problems)]
    ranges = scan.table(case, "skipped", {"reason": ds.field("reason"), "bytes": ds.field("end") - ds.field("start")})
    found = ranges.group_by("reason").aggregate([([], "count_all"), ("bytes", "sum")]).sort_by("reason").to_pylist()
    return counted + [
        (f"skipped {row['reason']}: {row['bytes_sum']:,} bytes in ranges", row["count_all"]) for row in found
    ]


def parsed_logs(case: Case, out: Path, *, form: str) -> list[tuple[str, int]]:
    """Write `out/logs`; return entries per file and layout, and lines that match no layout."""
    with output.into(out, "logs", case.lang) as folder:
        _table(case, "logs", folder / "logs", form)
    # As plain texts: Arrow cannot group a dictionary column whose batches have different dictionaries.
    entries = scan.table(case, "logs", {name: scan.text(name) for name in ("file", "layout")})
    counts = entries.group_by(["file", "layout"]).aggregate([([], "count_all")])
    found = columnar.to_pandas(counts).sort_values(["file", "layout"])
    unknown = found.loc[found["layout"] == "unknown", "count_all"].sum()
    counted = [(f"{file} [{layout}]", int(count)) for file, layout, count in found.itertuples(index=False)]
    return [*counted, ("not understood", int(unknown))]


def _messages(case: Case, folder: Path, form: str) -> None:
    """Write the records; complete Parquet is written by the tasks that read them."""
    if form != "parquet" or case.options.since or case.options.until:
        save(case.messages, folder, form)
        return
    folder.mkdir()
    case.export(folder)


def _counted(folder: Path) -> list[tuple[str, int]]:
    """Return counts of `messages` in Parquet: records, their bytes, those with a problem."""
    records = size = problems = 0
    for batch in ds.dataset(folder, format="parquet").to_batches(columns=["store_size", "problem"]):
        records += batch.num_rows
        size += pc.sum(batch["store_size"]).as_py() or 0
        problems += batch.num_rows - batch["problem"].null_count
    return [("records", records), ("bytes", size), ("records with a problem", problems)]


def _table(case: Case, name: str, folder: Path, form: str) -> None:
    """Write a table of the case; complete Parquet is copied file by file from the workspace, without hidden columns."""
    if form != "parquet" or case.options.since or case.options.until:
        save(getattr(case, name), folder, form)
        return
    kept = ds.dataset(case.folder(name), format="parquet")
    ds.write_dataset(
        kept.scanner(columns=[column for column in kept.schema.names if column not in HIDDEN]),
        folder,
        format="parquet",
        max_rows_per_group=ROWS,
        min_rows_per_group=ROWS,
        preserve_order=True,
    )


def save(frame: DataFrame, folder: Path, form: str) -> None:
    """Write a Spark frame into `folder`, which must not exist yet."""
    target = folder.resolve()
    if form == "parquet":
        frame.write.parquet(uri(target))
    elif form == "jsonl":
        frame.select(
            *[
                F.base64(f.name).alias(f.name) if isinstance(f.dataType, types.BinaryType) else F.col(f.name)
                for f in frame.schema
            ]
        ).write.json(uri(target), timestampFormat="yyyy-MM-dd'T'HH:mm:ss.SSSXXX", ignoreNullFields=False)
    else:
        frame.select(*[_flat(field) for field in frame.schema]).write.csv(
            uri(target), header=True, timestampFormat="yyyy-MM-dd'T'HH:mm:ss.SSSXXX", escape='"'
        )


def _flat(field: types.StructField) -> Any:
    """Return a column for CSV: maps and lists as JSON, bytes as base64, texts made harmless."""
    column = F.col(field.name)
    if isinstance(field.dataType, types.MapType | types.ArrayType):
        column = F.to_json(column)
    elif isinstance(field.dataType, types.BinaryType):
        column = F.base64(column)
    if isinstance(field.dataType, types.StringType | types.MapType | types.ArrayType):
        column = F.when(F.substring(column, 1, 1).isin(*FORMULA), F.concat(F.lit("'"), column)).otherwise(column)
    return column.alias(field.name)
