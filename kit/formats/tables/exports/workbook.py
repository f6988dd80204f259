"""Rows in workbooks of Excel and LibreOffice: each sheet is a table."""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from kit.evidence.files import Damaged

_ZIP: Final = b"PK\x03\x04"
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PARTS: Final = frozenset({"xl/workbook.xml", "xl/workbook.bin", "content.xml"})
LARGEST: Final = 512 << 20
"""Unpacked bytes of a workbook that is read."""


def is_one(path: Path, head: bytes) -> bool:
    """Return whether a file is a workbook. Only its list of members is read."""
    if head.startswith(_OLE):
        return path.suffix.lower() == ".xls"  # a text of Word begins alike
    if not head.startswith(_ZIP):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (OSError, zipfile.BadZipFile):
        return False
    return bool(_PARTS & {m.filename for m in members}) and sum(m.file_size for m in members) <= LARGEST


def tables(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of all sheets that can be read. Raise `OSError`, `Damaged`."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        book = CalamineWorkbook.from_path(str(path))
    except (CalamineError, ValueError) as error:
        raise Damaged(str(error)) from error
    for name in book.sheet_names:
        try:
            rows = book.get_sheet_by_name(name).to_python()
        except (CalamineError, ValueError):
            continue
        yield from ((name, [_text(value) for value in row]) for row in rows if any(value != "" for value in row))


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a workbook has no whole numbers
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ", timespec="milliseconds")
    return str(value)
