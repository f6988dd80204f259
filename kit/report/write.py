"""Files for other programs: findings.json, tables as CSV, decoded messages and logs as Parquet, JSON lines or CSV.

A cell that a spreadsheet would run as a formula gets an apostrophe in front (OWASP, CSV injection); in the result
tables control and bidi characters are spelled out too. `decode` and `logs` export the evidence itself and keep them.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, types
from pyspark.sql import functions as F  # noqa: N812

from kit.case import output
from kit.case.case import Case
from kit.causes import results
from kit.charts.safe_text import clean
from kit.i18n import labels
from kit.spark.sessions import uri

COUNTED: Final = labels("report")["counted"]
SKIPPED: Final = labels("report")["skipped"]
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""First characters that make a spreadsheet treat a text as a formula."""


def tables(case: Case, folder: Path) -> None:
    for name in results.names(case):
        if len((frame := results.table(case, name)).columns):
            csv(frame, folder / f"{name}.csv")


def csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a small frame as CSV that a spreadsheet does not execute."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = {name: "Int64" for name in frame.select_dtypes("float") if _counts(frame[name])}
    safe = frame.map(harmless).astype(whole).rename(columns=harmless)
    safe.to_csv(path, index=False, lineterminator="\n", date_format="%Y-%m-%dT%H:%M:%S.%fZ")


def _counts(column: "pd.Series[float]") -> bool:
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
        save(case.tables.frame("message_bodies" if body else "messages"), folder / "messages", form)
        save(case.skipped, folder / "skipped", form)
    total = case.sql("select count(*) as n, sum(store_size) as bytes, count(problem) as problems from messages").first()
    assert total is not None
    counted = {"records": total.n, "bytes": total.bytes or 0, "problems": total.problems}
    ranges = case.sql("select reason, count(*) as n, sum(end - start) as bytes from skipped group by 1 order by 1")
    rows = [(COUNTED[name].in_(case.lang), n) for name, n in counted.items()]
    for row in ranges.collect():
        about = COUNTED["skipped"].say(reason=SKIPPED[row.reason], bytes=row.bytes)
        rows.append((about.render(case.lang), row.n))
    return rows


def parsed_logs(case: Case, out: Path, *, form: str) -> list[tuple[str, int]]:
    """Write `out/logs`; return entries per file and layout, and lines that match no layout."""
    with output.into(out, "logs", case.lang) as folder:
        save(case.logs.orderBy("file", "line"), folder / "logs", form)
    rows = case.sql("select file, layout, count(*) as n from logs group by 1, 2 order by 1, 2").collect()
    counted = [(f"{row.file} [{row.layout}]", row.n) for row in rows]
    return [*counted, (COUNTED["unknown"].in_(case.lang), sum(row.n for row in rows if row.layout == "unknown"))]


def save(frame: DataFrame, folder: Path, form: str) -> None:
    """Write a DataFrame into `folder`, which must not exist yet."""
    target = uri(folder.resolve())
    if form == "parquet":
        frame.write.parquet(target)
    elif form == "jsonl":
        frame.select(*map(_plain, frame.schema)).mapInArrow(_lines, "value string").write.text(target)
        for part in folder.glob("*.txt"):
            part.rename(part.with_suffix(".json"))
    else:
        frame.select(*map(_flat, frame.schema)).write.csv(target, header=True, escape='"')
    if not any(folder.glob("*")):  # the embedded engine writes no file for no rows
        folder.mkdir(exist_ok=True)
        if form == "parquet":
            pq.write_table(frame.toArrow(), folder / "part-empty.parquet")
        else:
            (folder / f"part-empty.{form}").write_text(",".join(frame.columns) + "\n" if form == "csv" else "")


def _lines(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield rows as JSON: the embedded engine's own JSON leaves out what is null."""
    for batch in batches:
        rows = batch.to_pylist(maps_as_pydicts="lossy")
        yield pa.RecordBatch.from_pydict({"value": [msgspec.json.encode(row).decode() for row in rows]})


def _plain(field: types.StructField) -> Any:
    """Return a column with times as ISO 8601 in milliseconds; bytes become base64 in JSON."""
    column = F.col(field.name)
    if isinstance(field.dataType, types.TimestampType):
        column = F.date_format(column, "yyyy-MM-dd'T'HH:mm:ss.SSSXXX")
    return column.alias(field.name)


def _flat(field: types.StructField) -> Any:
    """Return a column for CSV: maps and lists as JSON, bytes as base64, texts made harmless."""
    column = _plain(field)
    if isinstance(field.dataType, types.MapType | types.ArrayType):
        column = F.to_json(column)
    elif isinstance(field.dataType, types.BinaryType):
        column = F.base64(column)
    if isinstance(field.dataType, types.StringType | types.MapType | types.ArrayType):
        column = F.when(F.substring(column, 1, 1).isin(*FORMULA), F.concat(F.lit("'"), column)).otherwise(column)
    return column.alias(field.name)
