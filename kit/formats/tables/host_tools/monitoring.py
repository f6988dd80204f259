"""What monitoring exports: the text format of Prometheus (rocketmq-exporter, brokers from 5.1.0, node-exporter), answers of its API as JSON, CSV of Grafana."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

from kit.formats.tables.host_tools.values import Value

_LABELS: Final = r"(?:\{(?P<labels>(?:[^\"}]|\"(?:[^\"\\]|\\.)*\")*)\})"
_SAMPLE: Final = re.compile(
    rf"^\s*(?P<name>[a-zA-Z_:][\w:]*){_LABELS}? +(?P<value>[+-]?(?:\d[\d.]*(?:[eE][+-]?\d+)?|Inf))(?: +(?P<ts>\d{{13}}))?\s*$"
)
_LABEL: Final = re.compile(r"([a-zA-Z_]\w*)=\"((?:[^\"\\]|\\.)*)\"")
_COLUMN_OF_ROWS: Final = re.compile(r"(?:\b|_)(?:id|key|no|status|order|amount)\b", re.IGNORECASE)
"""A table of business rows may begin with a time as well."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?|1\d{12}")
_CELL: Final = re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)? ?%?|null|undefined|NaN")
_HEAD_BYTES: Final = 4096


def labels(subject: str | None) -> dict[str, str]:
    """Return the labels of a series, as they are in `subject`."""
    return {name: re.sub(r"\\(.)", r"\1", value) for name, value in _LABEL.findall(subject or "")}


def exposition(lines: list[str]) -> Iterator[Value]:
    """Yield the samples: `subject` is the labels as printed."""
    for at, line in enumerate(lines, 1):
        if found := _SAMPLE.match(line):
            value = math.inf if found["value"].endswith("Inf") else float(found["value"])
            yield Value(at, found["ts"], (found["labels"] or "").rstrip(", ") or None, found["name"], value)


def answer(lines: list[str]) -> Iterator[Value]:
    """Yield the samples of a query's answer (`/api/v1/query`, `query_range`); the result of an expression has the name `value`."""
    try:
        series = json.loads("\n".join(lines))["data"]["result"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for each in series if isinstance(series, list) else ():
        metric, samples = (
            (each.get("metric"), each.get("values") or [each.get("value")]) if isinstance(each, dict) else ({}, [])
        )
        if isinstance(metric, dict) and isinstance(samples, list):
            name = str(metric.get("__name__", "value"))
            subject = ",".join(f'{key}="{_escaped(value)}"' for key, value in metric.items() if key != "__name__")
            yield from (value for sample in samples if (value := _sample(name, subject or None, sample)))


def _escaped(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace('"', '\\"')


def _sample(name: str, subject: str | None, sample: Any) -> Value | None:
    try:
        seconds, value = sample
        return Value(1, str(int(float(seconds) * 1000)), subject, name, float(value))
    except (TypeError, ValueError, OverflowError):
        return None


def is_series(head: bytes) -> bool:
    """Return whether a file begins like CSV of Grafana: a column `Time`, behind it nothing but numbers."""
    lines = head[:_HEAD_BYTES].decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    if lines and lines[0].startswith("sep="):
        lines = lines[1:]
    rows = list(_cells([line for line in lines[:3] if line.strip()]))
    if len(rows) < 2 or rows[0][0].strip() != "Time" or len(rows[0]) < 2:
        return False
    names, first = rows[0][1:], rows[1]
    return (
        not any(map(_COLUMN_OF_ROWS.search, names))
        and len(first) == len(rows[0])
        and bool(_TIME.fullmatch(first[0].strip()))
        and all(_CELL.fullmatch(cell.strip()) for cell in first[1:])
        and any(cell.strip() for cell in first[1:])
    )


def series(lines: list[str]) -> Iterator[Value]:
    """Yield the values of each column, its head is their name."""
    names: list[str] = []
    for at, line in enumerate(lines, 1):
        cells = next(iter(_cells([line])), [])
        if cells and cells[0].strip() == "Time":
            names = cells[1:]
        elif names and len(cells) == len(names) + 1:
            for name, cell in zip(names, cells[1:], strict=True):
                found = _CELL.fullmatch(cell.strip())
                if found and found[1]:
                    yield Value(at, cells[0].strip(), None, name, float(found[1]))


def _cells(lines: list[str]) -> Iterator[list[str]]:
    delimiter = ";" if lines and lines[0].count(";") > lines[0].count(",") else ","
    try:
        yield from csv.reader(lines, delimiter=delimiter)
    except csv.Error:
        return
