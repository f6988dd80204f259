"""Tables printed by `mysql`, `psql` and their kin: with bars and rules, or one column a line (`\\G`, `\\x`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

_DRAWN: Final = str.maketrans("│║┃─═━┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝╞╪╡┏┳┓┡╇┩", "|||---" + "+" * 27)
"""Box drawing characters, as ClickHouse and DuckDB use them."""
_RULE: Final = re.compile(r"[+|]?\s*:?-{2,}:?\s*(?:[+|]\s*:?-{2,}:?\s*)*[+|]?")
_BAR: Final = re.compile(r"(?<!\\)\|")
LONGEST: Final = 1 << 16
"""Characters of a line that are looked at."""
_RECORD: Final = re.compile(r"(?:\*{3,} *(\d+)\. row \*{3,}|-\[ RECORD (\d+) \][-+]*)\s*")
_FIELD: Final = re.compile(r"\s*([^\s:|][^:|]{0,63}?)\s*(?:: ?| \| ?)(.*)")
_COUNTED: Final = re.compile(r"\s*\(?\d+ rows?\b|\s*(?:mysql|MySQL|MariaDB)\b[^>]*>|\s*$")


def is_begun(line: str) -> bool:
    """Return whether a line is a rule between columns, or begins a record of one column a line."""
    return _columns(_ascii(line)) > 1 or _RECORD.fullmatch(line.strip()) is not None


def tables(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of all tables among the lines of a text, numbered from 1."""
    number = width = 0
    boxed = False
    before = ""
    names: list[str] | None = None
    record: dict[str, str] | None = None
    for raw in lines:
        line = _ascii(raw[:LONGEST].rstrip("\r\n"))
        if begun := _RECORD.fullmatch(line.strip()):
            if record:
                names, row = _record(names, record)
                yield from ((f"table {number}", cells) for cells in row)
            if (begun[1] or begun[2]) == "1":
                number, names = number + 1, None
            record, width = {}, 0
        elif record is not None:
            if _COUNTED.match(line):
                names, row = _record(names, record)
                yield from ((f"table {number}", cells) for cells in row)
                record = None
            elif field := _FIELD.fullmatch(line):
                record[field[1]] = field[2]
            elif record:
                record[next(reversed(record))] += " " + line.strip()
        elif columns := _columns(line):
            if columns != width:
                boxed = line.lstrip()[0] in "+|"
                header = _cells(before, boxed)
                width = columns if columns > 1 and len(header) == columns else 0
                if width:
                    number += 1
                    yield f"table {number}", header
        elif width:
            cells = _cells(line, boxed)
            if len(cells) == width:
                yield f"table {number}", cells
            elif not (boxed and line.lstrip().startswith("|")):
                width = 0
        before = line
    if record:
        yield from ((f"table {number}", cells) for cells in _record(names, record)[1])


def _ascii(line: str) -> str:
    return line if line.isascii() else line.translate(_DRAWN)


def _columns(line: str) -> int:
    """Return how many columns a rule divides; 0 if the line is no rule."""
    text = line.strip()
    return len(re.findall("-{2,}", text)) if _RULE.fullmatch(text) else 0


def _cells(line: str, boxed: bool) -> list[str]:
    if boxed:
        line = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(line)]


def _record(names: list[str] | None, record: dict[str, str]) -> tuple[list[str], list[list[str]]]:
    """Return the names of a table of records, and the rows that this one adds: the first one the header too."""
    cells = [record.get(name, "") for name in names or record]
    return (names, [cells]) if names else ([*record], [[*record], cells])
