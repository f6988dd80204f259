"""Tables inside files that are no archives: workbooks, lines of JSON, and what a database shell printed.

They become members of their file, as of an archive: `rows.xlsx#Sheet1` is a CSV file whose line 1 is the header.
Members are business rows and ledgers of sends; other tables are left out.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import count, groupby, islice
from pathlib import Path
from typing import Final

from kit.evidence import archives
from kit.evidence.files import EvidenceFile, Refused, open_readonly, sha256
from kit.formats.tables import delimited, exports
from kit.inventory import recognise

_DATED: Final = frozenset({"time", "uniq_key", "offset_msg_id"})
"""Columns of which rows have at least one: JSON answers of any service have names and states as well."""
_SAMPLE: Final = 1_000
"""Rows that tell what a table is."""
MOST_ROWS: Final = 100_000
"""Rows that are read of a table inside another file."""
MOST: Final = 100
"""Members that are read of one file."""
_ODD: Final = re.compile(r"[\s/\\\x00-\x1f\x7f]+")

Members = list[EvidenceFile | Refused]


def of(file: EvidenceFile, kind: str, spool: Path) -> tuple[Members, bool]:
    """Return the tables in a file of this kind, written into `spool`, and whether the file holds nothing else."""
    if kind not in ("", "text", "log"):
        return [], False
    with open_readonly(file.path) as stream:
        head = stream.read(recognise.HEAD)
    if exports.is_workbook(file.path, head):
        return _tables(file, spool, exports.of_workbook(file.path)), True
    is_long_log = kind == "log" and file.bytes > len(head)
    codec = None if is_long_log else delimited.encoding(head.lstrip(b"\0"))
    if codec is None:
        return [], False
    text = head.decode(codec, "replace")
    if kind != "log" and (objects := exports.of_json(file.path, text, codec)) is not None:
        return _tables(file, spool, objects, 1), True
    return _tables(file, spool, exports.of_text(file.path, text, codec)), False


def _tables(file: EvidenceFile, spool: Path, rows: exports.Rows, most: int = MOST) -> Members:
    """Write each table as CSV, and return those that are rows or sends; nothing stays of them after an error.

    Tables after one that is too long are not read.
    """
    members: Members = []
    taken: set[str] = set()
    try:
        for name, cells in islice(groupby(rows, lambda row: row[0]), most):
            label, path = _place(file, spool, name, taken)
            members += _table(file, label, path, (row for _, row in cells))
            if members and isinstance(members[-1], Refused):
                break
    except BaseException:
        for label in taken:
            archives.place(spool, label).unlink(missing_ok=True)
        raise
    return members


def _table(file: EvidenceFile, label: str, path: Path, rows: Iterator[list[str]]) -> Members:
    """Write a table if its first rows are those of one. Raise `OSError` where the disk is nearly full."""
    with path.open("w", encoding="utf-8", errors="replace", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows(islice(rows, _SAMPLE))
        out.flush()
        kind, detail = recognise.recognise(_member(file, label, path))
        if kind != "sends" and not (kind == "rows" and _DATED & detail["columns"].keys()):
            path.unlink()
            return []
        archives.require_room(path.parent)
        writer.writerows(islice(rows, MOST_ROWS - _SAMPLE))
    cut = [Refused(label, "long", f"{MOST_ROWS:,}")] if next(rows, None) is not None else []
    return [_member(file, label, path), *cut]


def _place(file: EvidenceFile, spool: Path, name: str, taken: set[str]) -> tuple[str, Path]:
    """Return the name of a member that no other has, and where it is written."""
    plain = f"{file.file}#{_ODD.sub(' ', name).strip(' .')[:100] or 'unnamed'}"
    label = next(each for n in count(1) if (each := plain if n == 1 else f"{plain} {n}") not in taken)
    taken.add(label)
    return label, archives.place(spool, label)


def _member(file: EvidenceFile, label: str, path: Path) -> EvidenceFile:
    digest, size = sha256(path), path.stat().st_size
    return EvidenceFile(label, path, size, digest, digest, file.modified)
