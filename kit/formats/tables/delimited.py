"""Exported tables: their encoding, separator and header; lines of JSON, an object each."""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from kit.evidence.files import numbered_lines, open_readonly

PARQUET: Final = b"PAR1"
SAMPLE: Final = 65536
MAX_CELL: Final = 65536
_LONGEST: Final = 1 << 20
"""Characters of a line that are read; of a cell, half as many."""
_RULED: Final = re.compile(r"\|?[\s:|+-]*-{3}[\s:|+-]*")
"""The second line of a table in Markdown: somebody pasted it, with bars at both ends of its rows."""
_RULE: Final = re.compile(r"\s*(?:\+(?:-{2,}\+)+|-{2,}(?:\+-{2,})+)\s*")
"""A line above or below the names of the columns where `mysql` or `psql` printed them."""
Dialect = dict[str, Any]
"""The form of a delimited file: `delimiter`, `encoding` (a Python codec), `names` of its columns (c1, c2, … where it
has none), `headed` (its first line holds them), `printed` (by a database's shell: only lines with bars are rows),
`objects` (its lines are JSON).
"""
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_UNSEEN: Final = "\r\n\t\f\x1b\x01\x02\u00a0\u202f\u3000\u200b\ufeff"
"""Characters without a shape that texts hold nevertheless: among them the blanks of web pages and of Chinese."""
_CHINESE: Final = re.compile("[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")


def encoding(head: bytes) -> str | None:
    """Return the codec of a text's first bytes, None if they are not text. The last character may be incomplete.

    A text has some odd bytes at most; zeros among it are where a file was written while its host stopped.
    """
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    name, raw = "utf-8", head.replace(b"\0", b"")
    try:
        text = codecs.getincrementaldecoder(name)().decode(raw)
    except UnicodeDecodeError:
        text = raw.decode("gb18030", "replace")
        foreign = sum(not c.isascii() for c in text)
        if len(_CHINESE.findall(text)) >= 0.8 * foreign:
            name = "gb18030"
        elif 3 * foreign > len(text):
            return None
        else:
            text = raw.decode(name, "replace")
    odd = sum(text.count(c) for c in set(text) if not c.isprintable() and c not in _UNSEEN)
    return name if odd <= len(text) // 50 and 2 * len(raw) >= len(head) else None


def dialect(head: bytes, *, whole: bool = False) -> Dialect | None:
    """Recognise a table: nearly every line has as many cells as the first. `whole`: nothing follows `head`."""
    codec = encoding(head)
    if codec is None:
        return None
    lines = head.decode(codec, "ignore").splitlines()
    lines = [line for line in (lines if whole else lines[:-1]) if line.strip()]
    objects = list(filter(None, map(_object, lines)))
    if len(objects) > max(1, len(lines) // 2):
        names = list(dict.fromkeys(name for each in objects for name in each))
        return {"delimiter": "", "encoding": codec, "names": names, "headed": False, "printed": False, "objects": True}
    printed = any(map(_RULE.fullmatch, lines[:3]))
    if printed:
        lines = list(filter(None, map(_between_bars, lines)))
    if len(lines) < 2 or max(map(len, lines)) > 4 * MAX_CELL or _RULED.fullmatch(lines[1]):
        return None
    for delimiter in "|" if printed else "\t;|,":
        if delimiter not in lines[0]:
            continue
        try:
            table = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter))
        except csv.Error:
            continue
        width = len(table[0])
        same = sum(1 for row in table if len(row) == width)
        # Batches put several ids into one cell, unquoted: the header and the shape of the ids still tell.
        wider = sum(1 for row in table if len(row) > width and all(len(c) in (32, 56) for c in row[width - 2 :] if c))
        if width >= 2 and same + wider >= 0.95 * len(table):
            first = tuple(c.strip() for c in table[0])
            headed = _is_header(first)
            if _is_printed(first):
                return None
            if headed or width >= 3:
                names = [name if name and headed else f"c{i}" for i, name in enumerate(first, 1)]
                form = {"delimiter": delimiter, "encoding": codec, "names": names, "headed": headed}
                return form | {"printed": printed, "objects": False}
    return None


def _object(line: str) -> dict[str, str]:
    """Return the members of a line that is an object of JSON, each as it is written but for the quotes of a text."""
    line = line.strip(" \t,")
    if not line.startswith("{"):
        return {}
    try:
        return {name: _cell(bytes(raw)) for name, raw in _OBJECT.decode(line).items()}
    except (msgspec.DecodeError, RecursionError):
        return {}


def _cell(value: bytes) -> str:
    return msgspec.json.decode(value) if value.startswith(b'"') else "" if value == b"null" else value.decode()


def _between_bars(line: str) -> str:
    """Return the cells of a row that a database's shell printed, "" of a rule and of what stands around the table."""
    line = line.strip()
    if line.startswith("|"):
        return line.removeprefix("|").removesuffix("|")
    return line if " |" in line else ""


def _is_printed(cells: tuple[str, ...]) -> bool:
    """Return whether cells are a log's line, split: an object, a sentence in front, or names in front of their values."""
    named = sum(1 for cell in cells if re.match(r"[A-Za-z][\w ]*[:=]", cell))
    split = any(cell.count("[") != cell.count("]") for cell in cells)
    return split or len(cells[0].split()) > 4 or 2 * named >= len(cells)


def _is_header(cells: tuple[str, ...]) -> bool:
    named = [c for c in cells if c]
    fits = all(
        len(c) <= 64 and not re.search(r"\d[\d:. ]{5,}|^\d+$|[{}\[\]=]", c) and len(c.split()) <= 4 for c in named
    )
    return bool(named) and fits and len(set(named)) == len(named)


def rows(path: Path, how: Dialect | None, limit: int | None = None) -> Iterator[tuple[int, list[str | None]]]:
    """Yield (line, cells) of a delimited file (`how`), or of a Parquet file (None), whose lines are row numbers."""
    if how is None:
        with open_readonly(path) as file:
            batches = pq.ParquetFile(file).iter_batches(4096)
            cells = (row for batch in batches for row in zip(*map(_texts, batch.columns), strict=True))
            yield from ((number, list(row)) for number, row in enumerate(islice(cells, limit), 1))
        return
    if how["objects"]:
        objects = ((n, each) for n, line in numbered_lines(path, how["encoding"], _LONGEST) if (each := _object(line)))
        for number, each in islice(objects, limit):
            yield number, [each.get(name, "")[:MAX_CELL] for name in how["names"]]
        return
    csv.field_size_limit(_LONGEST // 2)
    texts = (line for _, line in numbered_lines(path, how["encoding"], _LONGEST))
    lines = (f"{line}\n".replace("\0", "\ufffd") for line in (map(_between_bars, texts) if how["printed"] else texts))
    reader = csv.reader(lines, delimiter=how["delimiter"])
    skipped, seen = not how["headed"], 0
    while limit is None or seen < limit:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:  # a cell that is too long costs its row
            continue
        if row and skipped:
            seen += 1
            yield line, [(cell.strip() if how["printed"] else cell)[:MAX_CELL] for cell in row]
        skipped = skipped or bool(row)


def names_of(path: Path, how: Dialect | None) -> list[str]:
    if how is not None:
        return list(how["names"])
    with open_readonly(path) as file:
        return list(pq.read_schema(file).names)


BEYOND: Final = re.compile(r"[0-9]{5,}-[0-9]{2}-|<value out of range")
"""How Arrow prints a time behind the year 9999, or before the year 0."""


def _texts(column: pa.Array) -> list[str | None]:
    """Return a column of Parquet as texts, as Arrow prints its values."""
    if pa.types.is_timestamp(column.type) and column.type.tz:  # of these Arrow prints those out of its range wrongly
        utc = column.cast(pa.timestamp(column.type.unit)).cast(pa.string())
        return [None if at is None else f"{at}Z" for at in utc.to_pylist()]
    try:
        return column.cast(pa.string()).to_pylist()
    except pa.ArrowException:  # lists, maps, bytes that are no text
        return [str(value) if value.is_valid else None for value in column]
