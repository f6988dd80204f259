"""Business tables, send ledgers and delivery ledgers with columns of any name → tables `rows` and `sends`.

The meaning of a column is inferred from its values; names, in several languages, only decide between columns whose
values fit equally well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from kit.evidence.files import Damaged, beginning
from kit.formats import printed_times
from kit.formats.patterns import patterns
from kit.formats.tables import delimited
from kit.formats.values import integer, truncated
from kit.i18n import T
from kit.rocketmq import ids

_RECORDS: Final = {"physical_offset", "store_size"}
"""Columns of records of a store, as `decode` writes them: no business rows."""
_DATED: Final = frozenset({"time", "uniq_key", "offset_msg_id"})
"""Of these columns rows in JSON have one at least: answers of any service have names and states as well."""
_LEVELS: Final = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""How the lines of a log without times begin, with bars between their parts."""
NOT_ROWS: Final = T(
    "--rows {text}: write FILE:key=COLUMN,time=COLUMN,status=COLUMN",
    "--rows {text}：请写成 FILE:key=COLUMN,time=COLUMN,status=COLUMN",
)
NO_TABLE: Final = T("--rows {text}: no table {file} in the evidence", "--rows {text}：证据中没有表格 {file}")
NO_COLUMN: Final = T("--rows: no column {missing}; there are {names}", "--rows：没有列 {missing}；现有 {names}")
Fields = tuple[int, list[tuple[str, str]], dict[str, str | None]]


def _dialect(head: bytes, size: int) -> delimited.Dialect | None:
    return None if head.startswith(delimited.PARQUET) else delimited.dialect(head, whole=size <= len(head))


def sniff(path: Path, head: bytes, size: int) -> dict[str, Any] | None:
    """Return {"kind": "rows" | "sends", "role", "columns": {field: name}, "dialect", …} of a table, else None."""
    how = _dialect(head, size)
    if how is None and not head.startswith(delimited.PARQUET):
        return None
    try:
        names = delimited.names_of(path, how)
        sample = [_unfold(row, len(names)) for _, row in delimited.rows(path, how, SAMPLE_ROWS)]
    except (OSError, ValueError, pa.ArrowException) as error:
        if how is None:
            raise error if isinstance(error, OSError) and error.errno else Damaged(str(error)) from error
        return None
    log = sample and all(row and (row[0] or "").strip() in _LEVELS for row in sample)
    known = None if {*names} >= _RECORDS or log else guess(names, sample)
    if known and how and how["objects"] and known["kind"] == "rows" and _DATED.isdisjoint(known["columns"]):
        return None
    return known and known | {"dialect": how}


def parse_override(text: str) -> tuple[str, dict[str, str]]:
    """Parse `FILE:key=…,time=…,status=…`. Raise `ValueError` for any other form."""
    file, _, pairs = text.rpartition(":")
    chosen = dict(pair.partition("=")[::2] for pair in pairs.split(",") if pair)
    if not file or not chosen or not all(chosen.values()) or set(chosen) - {*FIELDS, "role"}:
        raise ValueError(NOT_ROWS.say(text=text))
    return file, chosen


def declared(path: Path, size: int, detail: dict[str, Any], chosen: dict[str, str]) -> dict[str, Any]:
    """Return a table's details with the columns that the user named. Raise `ValueError` for an unknown one."""
    if "dialect" not in detail:
        dialect = _dialect(beginning(path, delimited.SAMPLE), size)
        detail = {"dialect": dialect, "columns": {}, "month_first": False, "role": None} | detail
    names = delimited.names_of(path, detail["dialect"])
    columns = {field: name for field, name in chosen.items() if field != "role"}
    if missing := sorted(set(columns.values()) - set(names)):
        raise ValueError(NO_COLUMN.say(missing=missing, names=names))
    columns = {field: name for field, name in detail["columns"].items() if name not in columns.values()} | columns
    role = chosen.get("role") or detail["role"] or ("business" if "status" in columns else "tx_log")
    return {**detail, "columns": columns, "role": role}


def read(path: Path, detail: dict[str, Any], zone: Callable[[int], int]) -> Iterator[dict[str, Any]]:
    """Yield rows; `rows` and `sends` take the columns that they have. `zone`: as of `printed_times.converter`."""
    for line, named, cells in fields(path, detail):
        time = printed_times.moment(printed_times.when(cells.get("time"), month_first=detail["month_first"]), zone)
        outcome = cells.get("outcome")
        yield {
            "line": line,
            "role": detail["role"],
            "key": cells.get("key"),
            "uniq_key": _id(cells.get("uniq_key")),
            "offset_msg_id": _id(cells.get("offset_msg_id")),
            "cells": named,
            "time": time,
            "time_text": cells.get("time"),
            "status": cells.get("status") or outcome,
            "reconsume_times": truncated(cells.get("reconsume_times"), 32),
            "start": time,
            "start_text": cells.get("time"),
            "cost_ms": truncated(cells.get("cost_ms")),
            "outcome": outcome,
            "error": cells.get("error"),
        }


def fields(path: Path, detail: dict[str, Any], limit: int | None = None) -> Iterator[Fields]:
    """Yield each row of a table: its line, its cells by the name of their column, and by field those that mean one."""
    names = delimited.names_of(path, detail["dialect"])
    at = {field: names.index(name) for field, name in detail["columns"].items() if name in names}
    for line, row in delimited.rows(path, detail["dialect"], limit):
        cells = _unfold(row, len(names))
        named = [(name, value) for name, value in zip(names, cells, strict=False) if value is not None]
        yield line, named, {field: (cells[i] or "").strip() or None for field, i in at.items() if i < len(cells)}


def _unfold(row: list[str | None], width: int) -> list[str | None]:
    """Join the ids of a batch, written without quotes at the end of a row, into one or two cells again."""
    more = len(row) - width
    for count in (2, 1) if more > 0 else ():
        tail = [cell or "" for cell in row[width - count :]]
        if len(tail) % count or not all(map(HEX.match, tail)):
            continue
        size = len(tail) // count
        parts = [tail[i : i + size] for i in range(0, len(tail), size)]
        if count == 1 or _is_offset_id(parts[0][0]) != _is_offset_id(parts[1][0]):
            return [*row[: width - count], *(",".join(part) for part in parts)]
    return row


def _id(text: str | None) -> str | None:
    return None if text is None or text.lower() in ("null", "none") else text.upper()


# --- what the columns mean --------------------------------------------------------------------------------------------

FIELDS: Final = ("key", "time", "status", "uniq_key", "offset_msg_id", "reconsume_times", "outcome", "cost_ms", "error")
SAMPLE_ROWS: Final = 20_000
_NAMES: Final = patterns("column_names")
CELLS: Final = patterns("cells")
HEX: Final = re.compile(r"[0-9A-Fa-f]{32}(?:[0-9A-Fa-f]{24})?$")


def _is_offset_id(text: str) -> bool:
    return bool(HEX.match(text)) and ids.decode(text).kind == "offset"


def guess(names: Sequence[str], sample: list[list[str | None]]) -> dict[str, Any] | None:
    """Return kind, role, columns by field and other possible keys, best first; None without key, id and outcome."""
    columns = [_Column(name, [row[i] or "" for row in sample if i < len(row)]) for i, name in enumerate(names)]
    free = [column for column in columns if column.values]
    at: dict[str, _Column] = {}

    def take(field: str, fits: Callable[[_Column], float]) -> None:
        def score(column: _Column) -> float:
            return (fit := fits(column)) and fit + 0.3 * column.hints(field)

        best = max(free, key=score, default=None)
        if best is not None and score(best) > 0:
            at[field] = best
            free.remove(best)

    take("uniq_key", lambda c: c.hex > 0.9 and c.share(lambda v: not _is_offset_id(v.split(",")[0])))
    take("offset_msg_id", lambda c: c.hex > 0.9 and c.share(lambda v: _is_offset_id(v.split(",")[0])))
    free = [column for column in free if column.hex <= 0.9]
    if times := [column for column in free if column.times > 0.9]:
        # Of several times the first one, unless a name says better: created before updated.
        at["time"] = next((column for column in times if CELLS["first"].search(column.name)), times[0])
        free = [column for column in free if column not in times]
    take("outcome", lambda c: c.seen(CELLS["send"]) and c.distinct <= max(50, c.n // 5))
    sends = "outcome" in at or any(column.seen(CELLS["send"]) for column in free)
    answered = any(column.seen(CELLS["answered"]) for column in (*free, *at.values()))

    def retries(column: _Column) -> float:
        """Return how likely a column counts redeliveries; a sender's milliseconds and attempts may be as small."""
        if column.hints("cost_ms") or (answered and not CELLS["delivered_again"].search(column.name)):
            return 0.0
        named = "uniq_key" in at or "offset_msg_id" in at or column.hints("reconsume_times")
        return column.small_counts if named else 0.0

    take("reconsume_times", retries)
    take("cost_ms", lambda c: c.ints > 0.95 and (c.hints("cost_ms") or sends) and not c.hints("key"))
    take("error", lambda c: c.seen(CELLS["error"]) and c.spaced)
    keys = sorted((column for column in free if column.key_score > 0.5), key=lambda column: -column.key_score)
    if keys:
        at["key"] = keys[0]
        free.remove(keys[0])
    if not sends:
        take("status", lambda c: c.enum_score("status"))
    elif "outcome" not in at:
        take("outcome", lambda c: c.enum_score("outcome"))
    role = _role(at, columns, sends=sends)
    if role is None:
        return None
    if role == "sends" and "outcome" not in at and "status" in at:
        at["outcome"] = at.pop("status")
    return {
        "kind": "sends" if role == "sends" else "rows",
        "role": role,
        "columns": {field: column.name for field, column in at.items()},
        "other_keys": [column.name for column in keys[1:4]],
        "month_first": "time" in at and printed_times.month_first(at["time"].values),
    }


def _role(at: dict[str, _Column], columns: list[_Column], *, sends: bool) -> str | None:
    ids = "uniq_key" in at or "offset_msg_id" in at
    if sends and "reconsume_times" not in at:
        return None if _exported(at, columns) else "sends"
    if "reconsume_times" in at and (ids or "key" in at):
        return "deliveries"
    if ids and "cost_ms" in at:
        return "sends"
    if "key" not in at:
        return None
    if ids and {"time", "status"} <= at.keys() and at["status"].distinct <= 4 and at["key"].distinct < at["key"].n:
        return "deliveries"
    return "business" if "status" in at else "tx_log"


def _exported(at: dict[str, _Column], columns: list[_Column]) -> bool:
    """Return whether a table is an exported log search, no ledger: failures that name no send, or lines of logs."""
    if any(column.seen(CELLS["sent"]) for column in columns):
        return False
    outcomes = [at[field] for field in ("outcome", "error") if field in at]
    if any(column.share(lambda v: bool(CELLS["log_line"].match(v))) > 0.5 for column in outcomes):
        return True
    return not {"key", "uniq_key", "offset_msg_id", "cost_ms"} & at.keys()


class _Column:
    """The values of one column, and what they look like."""

    def __init__(self, name: str, values: list[str]) -> None:
        self.name = name
        texts = map(str.strip, values)
        self.values = [v for v in texts if v and v.lower() not in ("null", "none", "nil", "\\n", "nan")]
        self.n = len(self.values)
        self.counts = Counter(self.values)
        self.distinct = len(self.counts)
        self.hex = self.share(lambda v: bool(HEX.match(v.split(",")[0])))
        self.times = self.share(lambda v: bool(printed_times.when(v) or delimited.BEYOND.match(v)))
        self.ints = self.share(lambda v: integer(v) is not None)
        self.spaced = any(" " in v for v in self.values[:2000])

    def share(self, fits: Callable[[str], bool]) -> float:
        picked = self.values[:: max(1, self.n // 500)][:500]
        return sum(map(fits, picked)) / len(picked) if picked else 0.0

    def seen(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.search(v) for v in self.counts)

    def hints(self, field: str) -> bool:
        return field in _NAMES and bool(_NAMES[field].search(self.name))

    @property
    def small_counts(self) -> float:
        """Return how much a column looks like numbers of attempts."""
        if self.ints < 1 or self.hints("key") or self.hints("status"):
            return 0.0
        # Only some of the values were looked at: among thousands one may be `N/A`.
        numbers = [n for n in map(integer, self.counts) if n is not None]
        return 0.5 if numbers and min(numbers) >= 0 and max(numbers) <= 64 else 0.0

    @property
    def key_score(self) -> float:
        """Return how much a column looks like a business key: nearly every value different, one token, of one form."""
        if not self.n or self.spaced or self.share(lambda v: len(v) > 255) > 0.1:
            return 0.0
        unique = self.distinct / self.n
        decimal = self.share(lambda v: bool(re.match(r"-?\d+\.\d+$", v)))
        digits = self.share(lambda v: any(c.isdigit() for c in v))
        if unique < (0.02 if self.hints("key") else 0.5) or decimal > 0.5 or digits < 0.5:
            return 0.0
        letters = self.share(lambda v: any(c.isalpha() or c in "-_" for c in v))
        score = 0.4 + 0.4 * unique + 0.3 * self.hints("key") + 0.2 * digits + 0.2 * letters
        if self.ints > 0.9:
            # Row numbers and counts are short numbers; order numbers are long ones.
            score -= 0.5 if max(map(len, self.counts)) < 8 else 0.05
        if self.name.lower() == "id" and self.ints > 0.9:
            score -= 0.2
        return score

    def enum_score(self, field: str) -> float:
        """Return how much a column looks like a status: few values, words for states, or its name."""
        if not self.n or self.distinct > max(12, self.n // 20) or self.hints("time"):
            return 0.0
        if self.share(lambda v: len(v) > 64) > 0.1:
            return 0.0
        words = self.share(lambda v: bool(CELLS["status_word"].search(v)))
        if self.hints(field):
            return 0.7 + 0.2 * words
        if words > 0.5:
            return 0.6
        # An unnamed code that takes several short values: better than nothing, worse than any other sign.
        return 0.2 if 2 <= self.distinct <= 12 and self.ints > 0.9 and max(map(len, self.counts)) <= 3 else 0.0
