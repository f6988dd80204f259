"""Business tables, send ledgers and delivery ledgers with columns of any name → tables `rows` and `sends`.

The meaning of a column is inferred from its values; names, in several languages, only decide between columns whose
values fit equally well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from kit.evidence.files import Damaged, open_readonly
from kit.formats import printed_times
from kit.formats.tables import delimited, table_columns
from kit.formats.values import batch, instant, truncated

CELLS: Final = pa.map_(pa.string(), pa.string())
TIME: Final = pa.timestamp("us", "UTC")
ROWS: Final = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int32()),
        ("role", pa.string()),
        ("key", pa.string()),
        ("time", TIME),
        ("time_text", pa.string()),
        ("status", pa.string()),
        ("uniq_key", pa.string()),
        ("offset_msg_id", pa.string()),
        ("reconsume_times", pa.int32()),
        ("cells", CELLS),
    ]
)
"""`role`: business (key and status) · tx_log (key, no status) · deliveries (what a consumer did with each delivery; `status` is its result)."""

SENDS: Final = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int32()),
        ("key", pa.string()),
        ("start", TIME),
        ("start_text", pa.string()),
        ("cost_ms", pa.int64()),
        ("outcome", pa.string()),
        ("uniq_key", pa.string()),
        ("offset_msg_id", pa.string()),
        ("error", pa.string()),
        ("cells", CELLS),
    ]
)
"""A send ledger: one row a send; `outcome` as the sender wrote it (SEND_OK, an exception's name, …)."""

BATCH: Final = 20_000


def sniff(path: Path, head: bytes, size: int) -> dict[str, Any] | None:
    """Return {"kind": "rows" | "sends", "role", "columns": {field: name}, "dialect"} of a table by its content, else
    None.
    """
    how = None
    if not head.startswith(delimited.PARQUET):
        how = delimited.dialect(head, whole=size <= len(head))
        if how is None:
            return None
    try:
        names = table_columns.names_of(path, how)
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
        "columns": found.named(names),
        "other_keys": [names[i] for i in found.keys],
        "month_first": found.month_first,
        "dialect": None if how is None else how.as_dict(),
    }


def parse_override(text: str) -> tuple[str, dict[str, str]]:
    """Parse `FILE:key=…,time=…,status=…`. Raise `ValueError` for any other form."""
    file, _, pairs = text.rpartition(":")
    chosen = dict(pair.partition("=")[::2] for pair in pairs.split(",") if pair)
    if not file or not chosen or not all(chosen.values()) or set(chosen) - {*table_columns.FIELDS, "role"}:
        raise ValueError(f"{text}: FILE:key=COLUMN,time=COLUMN,status=COLUMN")
    return file, chosen


def declared(path: Path, size: int, detail: dict[str, Any], chosen: dict[str, str]) -> dict[str, Any]:
    """Return the details of a table with columns that the user named instead of the inferred ones. Raise `ValueError`
    for an unknown column.
    """
    known = detail if "dialect" in detail else {"dialect": None, "columns": {}, "month_first": False, "role": None}
    if "dialect" not in detail:
        with open_readonly(path) as stream:
            head = stream.read(delimited.SAMPLE)
        how = None if head.startswith(delimited.PARQUET) else delimited.dialect(head, whole=size <= len(head))
        known["dialect"] = None if how is None else how.as_dict()
    names = table_columns.names_of(path, None if known["dialect"] is None else delimited.Dialect.of(known["dialect"]))
    columns = {field: name for field, name in chosen.items() if field != "role"}
    missing = sorted(set(columns.values()) - set(names))
    if missing:
        raise ValueError(", ".join(missing))
    merged = {field: name for field, name in known["columns"].items() if name not in columns.values()} | columns
    role = chosen.get("role") or known["role"] or ("business" if "status" in merged else "tx_log")
    return {**known, "columns": merged, "role": role}


def read(path: Path, file: str, detail: dict[str, Any], zone: Callable[[int], int]) -> Iterator[pa.RecordBatch]:
    """Yield batches of `ROWS` or `SENDS` from one table. `zone(ms as printed)` gives ms since 1970 for times without a zone."""
    how = None if detail["dialect"] is None else delimited.Dialect.of(detail["dialect"])
    names = table_columns.names_of(path, how)
    at = {field: names.index(name) for field, name in detail["columns"].items() if name in names}
    schema = SENDS if detail["role"] == "sends" else ROWS
    pending: list[dict[str, Any]] = []
    for line, raw in delimited.rows(path, how):
        row = _unfold(raw, len(names))
        pending.append(_row(file, line, row, names, at, detail, zone))
        if len(pending) == BATCH:
            yield batch(pending, schema)
            pending = []
    if pending:
        yield batch(pending, schema)


def _unfold(row: list[str | None], width: int) -> list[str | None]:
    """Join the ids of a batch, written without quotes at the end of a row, into one or two cells again."""
    more = len(row) - width
    if more <= 0:
        return row
    for count in (2, 1):
        tail = [c or "" for c in row[len(row) - more - count :]]
        if len(tail) % count or not all(map(table_columns.HEX.match, tail)):
            continue
        size = len(tail) // count
        parts = [tail[i : i + size] for i in range(0, len(tail), size)]
        if count == 1 or table_columns.is_offset_id(parts[0][0]) != table_columns.is_offset_id(parts[1][0]):
            return [*row[: width - count], *(",".join(part) for part in parts)]
    return row


def _row(
    file: str,
    line: int,
    row: list[str | None],
    names: tuple[str, ...],
    at: dict[str, int],
    detail: dict[str, Any],
    zone: Callable[[int], int],
) -> dict[str, Any]:
    def cell(field: str) -> str | None:
        i = at.get(field)
        value = row[i] if i is not None and i < len(row) else None
        return (value or "").strip() or None

    printed = cell("time")
    time = printed_times.when(printed, month_first=detail.get("month_first", False))
    ms = None if time is None else instant(time.ms)
    ms = ms if time is None or ms is None or not time.floating else instant(zone(ms))
    at_us = None if ms is None else 1000 * ms
    common = {
        "file": file,
        "line": line,
        "key": cell("key"),
        "uniq_key": _upper(cell("uniq_key")),
        "offset_msg_id": _upper(cell("offset_msg_id")),
        "cells": [(name, value) for name, value in zip(names, row, strict=False) if value is not None],
    }
    if detail["role"] == "sends":
        return {
            **common,
            "start": at_us,
            "start_text": printed,
            "cost_ms": truncated(cell("cost_ms")),
            "outcome": cell("outcome"),
            "error": cell("error"),
        }
    status = cell("status") or cell("outcome")
    return {
        **common,
        "role": detail["role"],
        "time": at_us,
        "time_text": printed,
        "status": status,
        "reconsume_times": truncated(cell("reconsume_times"), 32),
    }


def _upper(text: str | None) -> str | None:
    return None if text is None or text.lower() in ("null", "none") else text.upper()
