"""Rows in JSON (arrays of objects, a line each, Elasticsearch hits, exports of MongoDB) and in HTML, also when named `.xls`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from html.parser import HTMLParser
from itertools import chain, islice
from typing import Any, Final

LARGEST: Final = 64 << 20
"""Characters of a document that is read as a whole."""
_FIRST: Final = 1_000
"""Rows whose names make the header."""
_SHOWN: Final = 20
_DEEP: Final = 3
"""How far below the top the list of rows may be."""
NAME: Final = "rows"


def has_lines(lines: Sequence[str]) -> bool:
    """Return whether most of a text's first lines are whole objects."""
    first = [line.strip(" \t,") for line in lines[:_SHOWN]]
    return len(first) > 1 and sum(line.startswith("{") and line.endswith("}") for line in first) > len(first) // 2


def is_document(head: str) -> bool:
    return head.lstrip("\ufeff \t\r\n").startswith(("[", "{"))


def of_lines(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a text with one JSON object a line; other lines are left out."""
    return _with_header(row for line in lines if (row := _object(line)) is not None)


def of_document(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of the first list of objects in a JSON document; nothing if it is damaged, or too deep."""
    try:
        found = _rows(json.loads(text.lstrip("\ufeff")), _DEEP)
    except (ValueError, RecursionError):
        found = None
    return _with_header(iter(found or []))


def of_page(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of the tables in HTML."""
    page = _Page()
    page.feed(text)
    for number, table in enumerate(page.tables, 1):
        yield from ((f"table {number}", row) for row in table if row)


def _object(line: str) -> dict[str, Any] | None:
    if not line.lstrip().startswith("{"):
        return None
    try:
        said = json.loads(line.strip().removesuffix(","))
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _rows(said: Any, deep: int) -> list[dict[str, Any]] | None:
    if isinstance(said, list):
        return [row for row in said if isinstance(row, dict)] or None
    if isinstance(said, dict) and deep:
        return next((found for part in said.values() if (found := _rows(part, deep - 1))), None)
    return None


def _with_header(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    # What Elasticsearch found is below `_source`, beside its own fields.
    objects = (row["_source"] if isinstance(row.get("_source"), dict) else row for row in rows)
    first = list(islice(objects, _FIRST))
    names = list(dict.fromkeys(name for row in first for name in row))
    if names:
        yield NAME, names
        yield from ((NAME, [_text(row.get(name)) for name in names]) for row in chain(first, objects))


def _text(value: Any) -> str:
    """Return a value as a cell. Of MongoDB's `{"$date": …}` and `{"$oid": …}` it is what is inside."""
    while isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith("$"):
        value = next(iter(value.values()))
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class _Page(HTMLParser):
    """Collects the cells of all tables; one inside another belongs to it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[list[str]]] = []
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th") and self.tables and self.tables[-1]:
            self._close()
            self._cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._close()

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def _close(self) -> None:
        if self._cell is not None:
            self.tables[-1][-1].append(" ".join("".join(self._cell).split()))
            self._cell = None
