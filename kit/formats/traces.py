"""Trace messages of the commit log → their contexts, one row each.

The layouts are those of `client/trace/TraceDataEncoder` 4.4.0 – 5.3.3; missing values are there as the text `null`.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa

from kit.formats import values
from kit.formats.commitlog import batches, segments
from kit.formats.commitlog.schema import File, Wanted
from kit.formats.patterns import forms
from kit.formats.printed_times import NANO_LAST_MS
from kit.rocketmq import binary_format as f

_LAYOUTS: Final = forms("traces")
FIELDS: Final = {name: tuple(layout.replace("| ", "").split()) for name, layout in _LAYOUTS.items()}
_LEAST: Final = {name: len(layout.partition("|")[0].split()) for name, layout in _LAYOUTS.items()}
_GLUED: Final = re.compile(rf"(-?\d+)({'|'.join(FIELDS)})")
TRACES: Final = values.columns_of("traces")
_TYPES: Final = {field.name: field.type for field in TRACES}


def contexts(text: str) -> Iterator[dict[str, Any]]:
    """Yield one row for each context in the body of a trace message; those that do not fit have a `problem`."""
    for piece in text.split(chr(f.TRACE_CONTEXT)):
        fields = piece.split(chr(f.TRACE_FIELD))
        while fields and fields != [""]:
            rest: list[str] = []
            # 4.9.5-4.9.8 and 5.1.4-5.3.0 leave out the end mark behind a SubAfter without time: the next type follows.
            glued = _GLUED.fullmatch(fields[6]) if fields[0] == "SubAfter" and len(fields) > 7 else None
            if glued:
                fields, rest = [*fields[:6], glued[1]], [glued[2], *fields[7:]]
            yield _row(fields)
            fields = rest


def _row(fields: list[str]) -> dict[str, Any]:
    names = FIELDS.get(fields[0])
    if names is None:
        return {"problem": "fields"}
    if fields[0] == "Pub" and len(fields) == 13:
        # Written before contexts had an offset id.
        names = (*names[:12], "success")
    row: dict[str, Any] = {"problem": None if _LEAST[fields[0]] <= len(fields) <= len(names) else "fields"}
    for name, text in zip(names, fields, strict=False):
        if text not in ("", "null"):
            row[name] = _value(name, text)
            row["problem"] = "fields" if row[name] is None else row["problem"]
    return row


def _value(name: str, text: str) -> Any:
    """Return a printed value as its column holds it, None for what does not fit."""
    kind = _TYPES[name]
    if kind == pa.string():
        return text
    if kind == pa.bool_():
        return {"true": True, "false": False}.get(text.lower())
    if name != "time":
        return values.integer(text, kind.bit_width)
    ms = values.integer(text)
    return None if ms is None or not 0 <= ms <= NANO_LAST_MS else 1000 * ms


def trace_rows(file: File, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """Yield the trace contexts in one range of a commit log file."""
    for buf, starts, sizes, marks, _, base in segments.spans(file, start, stop):
        rows = batches.Rows(buf, starts, sizes, marks, base, Wanted(()))
        rows.take(np.flatnonzero(rows.traced()))
        out: list[dict[str, Any]] = []
        for row in range(len(rows)):
            body, _ = rows.body(row)
            place = {"file": file.file, "physical_offset": int(rows.records["physical_offset"][row])}
            each = [{"problem": "body"}] if body is None else contexts(body.decode("utf-8", "replace"))
            out += [context | place for context in each]
        yield from values.batches(out, TRACES)
