"""Tables that are no delimited file: JSON (an object a line), workbooks (`.xlsx`), and what `mysql` and `psql` print.

Each reader yields (name of the table, cells) for each row, the header first.
"""

import contextlib
import datetime as dt
import re
import zipfile
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import msgspec

from kit.evidence.files import Damaged, numbered_lines

Rows = Iterator[tuple[str, list[str]]]
LONGEST: Final = 1 << 20
"""Characters of a line that are read."""
_NAMED: Final = 1_000
"""Objects whose names make the header."""


# --- JSON ------------------------------------------------------------------------------------------------------------

_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def of_json(path: Path, head: str, codec: str) -> Rows | None:
    """Return the rows in a text whose lines are objects, most of the first ones at least; None for any other."""
    first = [line.strip(" \t,") for line in head.splitlines()[:20]]
    if len(first) < 2 or sum(line.startswith("{") and line.endswith("}") for line in first) <= len(first) // 2:
        return None
    return _with_header(_objects(line for _, line in numbered_lines(path, codec, LONGEST)))


def _objects(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            yield _OBJECT.decode(line.strip(" \t,"))


def _with_header(objects: Iterator[dict[str, Any]]) -> Rows:
    first = list(islice(objects, _NAMED))
    if names := list(dict.fromkeys(name for row in first for name in row)):
        yield "rows", names
        yield from (("rows", [_cell(row.get(name, b"")) for name in names]) for row in chain(first, objects))


def _cell(raw: Any) -> str:
    """Return a value as it is written, a text without its quotes."""
    value = bytes(raw)
    return msgspec.json.decode(value) if value.startswith(b'"') else "" if value == b"null" else value.decode()


# --- workbooks -------------------------------------------------------------------------------------------------------

_UNPACKED: Final = 128 << 20
"""Unpacked bytes of a workbook that is read."""


def is_workbook(path: Path, head: bytes) -> bool:
    """Return whether a file is a workbook, by its list of members. Raise `Damaged` for one that is too large."""
    if not head.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (OSError, zipfile.BadZipFile):
        return False
    workbook = "xl/workbook.xml" in {m.filename for m in members}
    if workbook and sum(m.file_size for m in members) > _UNPACKED:
        raise Damaged(f"> {_UNPACKED >> 20} MiB")
    return workbook


def of_workbook(path: Path) -> Rows:
    """Yield the rows of all sheets that can be read. Raise `OSError`, `Damaged`."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        book = CalamineWorkbook.from_path(str(path))
    except (CalamineError, ValueError) as error:
        raise Damaged(str(error)) from error
    for name in book.sheet_names:
        with contextlib.suppress(CalamineError, ValueError):
            rows = book.get_sheet_by_name(name).iter_rows()
            yield from ((name, list(map(_of_sheet, row))) for row in rows if any(value != "" for value in row))


def _of_sheet(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a workbook has no whole numbers
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ", timespec="milliseconds")
    return str(value)


# --- what `mysql` and `psql` print -----------------------------------------------------------------------------------

_RULE: Final = re.compile(r"\+(?:-{2,}\+)+|-{2,}(?:\+-{2,})+")
_RECORD: Final = re.compile(r"(?:\*{3,} *(\d+)\. row \*{3,}|-\[ RECORD (\d+) \][-+]*)\s*")
_FIELD: Final = re.compile(r"\s*([^\s:|][^:|]{0,63}?)\s*(?:: ?| \| ?)(.*)")
_COUNTED: Final = re.compile(r"\s*\(?\d+ rows?\b|\s*(?:mysql|MySQL|MariaDB)\b[^>]*>|\s*$")


def of_text(path: Path, head: str, codec: str) -> Rows:
    """Return the rows of all tables in a text that begins with `head`."""
    begun = any(_columns(line) > 1 or _RECORD.fullmatch(line.strip()) for line in head.splitlines())
    return of_printed(line for _, line in numbered_lines(path, codec)) if begun else iter(())


def of_printed(lines: Iterable[str]) -> Rows:
    """Yield the rows of all tables, numbered from 1: with rules, or a column a line (`\\G`, `\\x`)."""
    number = width = 0
    before = ""
    names: list[str] = []
    record: dict[str, str] | None = None
    for line in chain(lines, [""]):
        begun = _RECORD.fullmatch(line.strip())
        if record and (begun or _COUNTED.match(line)):
            if not names:
                names = [*record]
                yield f"table {number}", names
            yield f"table {number}", [record.get(name, "") for name in names]
            record = None
        if begun:
            if (begun[1] or begun[2]) == "1":
                number, names = number + 1, []
            record, width = {}, 0
        elif record is not None:
            if field := _FIELD.fullmatch(line):
                record[field[1]] = field[2]
            elif record:
                record[next(reversed(record))] += " " + line.strip()
        elif columns := _columns(line):
            header = _cells(before)
            if columns != width and columns == len(header) > 1:
                number, width = number + 1, columns
                yield f"table {number}", header
        elif width:
            cells = _cells(line)
            if len(cells) == width:
                yield f"table {number}", cells
            elif not line.lstrip().startswith("|"):
                width = 0
        before = line


def _columns(line: str) -> int:
    """Return how many columns a rule divides; 0 if the line is no rule."""
    text = line.strip()
    return len(re.findall("-{2,}", text)) if _RULE.fullmatch(text) else 0


def _cells(line: str) -> list[str]:
    line = line.strip()
    if line.startswith("|"):
        line = line.removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in line.split("|")]
