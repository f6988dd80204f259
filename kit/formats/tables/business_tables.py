"""Business tables, send ledgers and delivery ledgers with columns of any name → tables `rows` and `sends`.

The meaning of a column is inferred from its values; names, in several languages, only decide between columns whose
values fit equally well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import pyarrow as pa

from kit.evidence.files import Damaged, open_readonly
from kit.formats import printed_times
from kit.formats.tables import delimited, table_columns
from kit.formats.values import batches, columns_of, instant, truncated

ROWS: Final = columns_of("rows")
SENDS: Final = columns_of("sends")


def sniff(path: Path, head: bytes, size: int) -> dict[str, Any] | None:
    """Return {"kind": "rows" | "sends", "role", "columns": {field: name}, "dialect"} of a table by its content, else None."""
    how = None if head.startswith(delimited.PARQUET) else delimited.dialect(head, whole=size <= len(head))
    if how is None and not head.startswith(delimited.PARQUET):
        return None
    try:
        names = delimited.names_of(path, how)
        sample = [_unfold(row, len(names)) for _, row in delimited.rows(path, how, table_columns.SAMPLE_ROWS)]
    except (OSError, ValueError, pa.ArrowException) as error:
        if how is None:
            raise error if isinstance(error, OSError) and error.errno else Damaged(str(error)) from error
        return None
    found = table_columns.guess(names, sample)
    if found is None:
        return None
    return {
        "kind": "sends" if found.role == "sends" else "rows",
        "role": found.role,
        "columns": {field: names[i] for field, i in found.at.items() if i < len(names)},
        "other_keys": [names[i] for i in found.keys],
        "month_first": found.month_first,
        "dialect": None if how is None else attrs.asdict(how),
    }


def parse_override(text: str) -> tuple[str, dict[str, str]]:
    """Parse `FILE:key=…,time=…,status=…`. Raise `ValueError` for any other form."""
    file, _, pairs = text.rpartition(":")
    chosen = dict(pair.partition("=")[::2] for pair in pairs.split(",") if pair)
    if not file or not chosen or not all(chosen.values()) or set(chosen) - {*table_columns.FIELDS, "role"}:
        raise ValueError(f"{text}: FILE:key=COLUMN,time=COLUMN,status=COLUMN")
    return file, chosen


def declared(path: Path, size: int, detail: dict[str, Any], chosen: dict[str, str]) -> dict[str, Any]:
    """Return the details of a table with columns that the user named instead of the inferred ones. Raise `ValueError` for an unknown column."""
    if "dialect" not in detail:
        with open_readonly(path) as stream:
            head = stream.read(delimited.SAMPLE)
        how = None if head.startswith(delimited.PARQUET) else delimited.dialect(head, whole=size <= len(head))
        dialect = None if how is None else attrs.asdict(how)
        detail = {**detail, "dialect": dialect, "columns": {}, "month_first": False, "role": None}
    names = delimited.names_of(path, delimited.Dialect.of(detail["dialect"]))
    columns = {field: name for field, name in chosen.items() if field != "role"}
    if missing := sorted(set(columns.values()) - set(names)):
        raise ValueError(", ".join(missing))
    columns = {field: name for field, name in detail["columns"].items() if name not in columns.values()} | columns
    role = chosen.get("role") or detail["role"] or ("business" if "status" in columns else "tx_log")
    return {**detail, "columns": columns, "role": role}


def read(path: Path, file: str, detail: dict[str, Any], zone: Callable[[int], int]) -> Iterator[pa.RecordBatch]:
    """Yield batches of `ROWS` or `SENDS` from one table. `zone(ms as printed)` gives ms since 1970 for times without a zone."""
    how = delimited.Dialect.of(detail["dialect"])
    names = delimited.names_of(path, how)
    at = {field: names.index(name) for field, name in detail["columns"].items() if name in names}
    named = _send if detail["role"] == "sends" else _business
    found = ((line, _unfold(row, len(names))) for line, row in delimited.rows(path, how))

    def rows() -> Iterator[dict[str, Any]]:
        for line, row in found:
            cells = {field: (row[i] or "").strip() or None for field, i in at.items() if i < len(row)}
            yield {
                "file": file,
                "line": line,
                "role": detail["role"],
                "key": cells.get("key"),
                "uniq_key": _id(cells.get("uniq_key")),
                "offset_msg_id": _id(cells.get("offset_msg_id")),
                "cells": [(name, value) for name, value in zip(names, row, strict=False) if value is not None],
                **named(cells, _time(cells.get("time"), detail.get("month_first", False), zone)),
            }

    yield from batches(rows(), SENDS if detail["role"] == "sends" else ROWS)


def _send(cells: dict[str, str | None], time: int | None) -> dict[str, Any]:
    numbers = {"start": time, "start_text": cells.get("time"), "cost_ms": truncated(cells.get("cost_ms"))}
    return numbers | {"outcome": cells.get("outcome"), "error": cells.get("error")}


def _business(cells: dict[str, str | None], time: int | None) -> dict[str, Any]:
    status = cells.get("status") or cells.get("outcome")
    retries = truncated(cells.get("reconsume_times"), 32)
    return {"time": time, "time_text": cells.get("time"), "status": status, "reconsume_times": retries}


def _time(printed: str | None, month_first: bool, zone: Callable[[int], int]) -> int | None:
    """Return a printed time as µs since 1970."""
    time = printed_times.when(printed, month_first=month_first)
    ms = None if time is None else instant(time.ms)
    if time is not None and ms is not None and time.floating:
        ms = instant(zone(ms))
    return None if ms is None else 1000 * ms


def _unfold(row: list[str | None], width: int) -> list[str | None]:
    """Join the ids of a batch, written without quotes at the end of a row, into one or two cells again."""
    more = len(row) - width
    for count in (2, 1) if more > 0 else ():
        tail = [cell or "" for cell in row[width - count :]]
        if len(tail) % count or not all(map(table_columns.HEX.match, tail)):
            continue
        size = len(tail) // count
        parts = [tail[i : i + size] for i in range(0, len(tail), size)]
        if count == 1 or table_columns.is_offset_id(parts[0][0]) != table_columns.is_offset_id(parts[1][0]):
            return [*row[: width - count], *(",".join(part) for part in parts)]
    return row


def _id(text: str | None) -> str | None:
    return None if text is None or text.lower() in ("null", "none") else text.upper()
