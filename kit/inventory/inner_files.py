"""Files inside files that are no archives: tables in workbooks, SQL dumps, JSON and HTML exports and what a database
shell printed; a broker.conf in a ConfigMap; the threads of Spring Boot's JSON; the text of a page or a Word document.

They become members of their file, as if it were an archive, but in its own folder: `dump.sql#t_order` is a CSV file whose
line 1 is the header and line 2 the first row. Tables are kept if they are business rows, a ledger of sends or a saved log search.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from itertools import chain, count, islice
from pathlib import Path
from typing import Final

import attrs

from kit.evidence import member_names
from kit.evidence.archives import KEEP_FREE
from kit.evidence.files import EvidenceFile, open_readonly
from kit.formats.logs import thread_dumps
from kit.formats.tables import config_maps, delimited
from kit.formats.tables.exports import log_search, ruled, sql, structured, workbook
from kit.inventory import recognise
from kit.pasted import documents

HEAD: Final = 262_144
_LOOKED_INTO: Final = ("", "text", "log", "source_code", "rows", "sends")
"""Kinds of files that can be or hold others: a script of INSERT statements looks like a program, a log search like a
ledger of what is in it.
"""
LONGEST: Final = 64 << 20
"""Characters of a line: mysqldump writes up to 16 MiB into one."""
_DATED: Final = frozenset({"time", "uniq_key", "offset_msg_id"})
"""Columns of which rows have at least one: JSON answers of any service have names and states as well."""
_SAMPLE: Final = 1_000
"""Rows that tell what a table is."""
_CHECKED: Final = 100_000
"""Rows between two looks at the disk."""
_TEXTS: Final = ("text", "log", "mqadmin", "thread_dump", "broker_conf", "metrics", "network")
"""Kinds of a document's text that are kept."""
KEPT: Final = ("rows", "sends", "log")
MOST: Final = 100
"""Tables that are read of one file."""
_ODD: Final = re.compile(r"[\s/\\\x00-\x1f\x7f]+")


def of(file: EvidenceFile, kind: str, spool: Path) -> tuple[list[EvidenceFile], bool]:
    """Return the files inside a file of this kind, written into `spool`, and whether it is nothing but their archive. One of
    the file's own name stands for it, line by line. Raise `OSError`.
    """
    if kind not in _LOOKED_INTO:
        return [], False
    with open_readonly(file.path) as stream:
        head = stream.read(HEAD)
    if workbook.is_one(file.path, head):
        return _written(file, spool, workbook.tables(file.path)), True
    if head.startswith(b"PK\x03\x04"):
        return _texts(file, spool, [("text", [documents.of_word(file.path) or ""])], _TEXTS), True
    # Of most logs only the first line is looked at: to find the encoding of 256 KiB takes 14 ms.
    first = head.lstrip(b"\0").split(b"\n", 1)[0]
    named = delimited.encoding(first)
    if named and log_search.may_be(first.decode(named, "replace")) and (found := _searched(file, spool, head)):
        return [found], True
    if kind in ("rows", "sends") or (kind == "log" and file.bytes > HEAD):
        return [], False
    codec = delimited.encoding(head.lstrip(b"\0"))
    if codec is None:
        return [], False
    text = head.decode(codec, "replace")
    if config_maps.holds(text) and file.bytes <= config_maps.LARGEST:
        maps = config_maps.files("".join(_lines(file.path, codec)))
        return _texts(file, spool, ((name, [said]) for name, said in maps), ("broker_conf",)), False
    if '"threadState"' in text and file.bytes <= structured.LARGEST:
        dump = _threads("".join(_lines(file.path, codec)))
        members = _texts(file, spool, [("threads", [dump])] if dump else [], ("thread_dump",))
        return members, bool(members)
    if documents.is_page(text) and file.bytes <= documents.LARGEST:
        return _of_page(file, spool, "".join(_lines(file.path, codec))), True
    tables, whole = _readers(file, kind, text, codec)
    # What stays a text shows the lines of a log itself.
    return _written(file, spool, tables, KEPT if whole else ("rows", "sends")), whole


def _searched(file: EvidenceFile, spool: Path, head: bytes) -> EvidenceFile | None:
    """Return what a log search found, if a delimited file is that: under the file's own name, each row on its line."""
    how = delimited.dialect(head, whole=file.bytes <= len(head))
    if how is None or how.header is None:
        return None
    at = log_search.columns(how.header, [row for _, row in delimited.rows(file.path, how, _SAMPLE)])
    if at is None:
        return None
    said = log_search.lines(delimited.rows(file.path, how), at)
    found = _texts(file, spool, [("rows", said)], ("log",))
    return attrs.evolve(found[0], file=file.file) if found else None


def _of_page(file: EvidenceFile, spool: Path, page: str) -> list[EvidenceFile]:
    """Return a page's tables of rows, and its text: under the file's own name if each line of it is on one of the page's."""
    tables = _written(file, spool, structured.of_page(page), ("rows", "sends"))
    placed = documents.in_place(page)
    texts = _texts(file, spool, [("text", [documents.shown(page) if placed is None else placed])], _TEXTS)
    return tables + (texts if placed is None else [attrs.evolve(text, file=file.file) for text in texts])


def _threads(text: str) -> str | None:
    try:
        return thread_dumps.of_actuator(json.loads(text.lstrip("\ufeff")))
    except (ValueError, RecursionError):
        return None


def _readers(file: EvidenceFile, kind: str, head: str, codec: str) -> tuple[Iterable[tuple[str, list[str]]], bool]:
    """Return the rows of the tables in a text, and whether there is nothing else in it."""
    lines = head.splitlines()
    if kind != "log":
        page = head.lstrip("\ufeff \t\r\n").lower().startswith("<table")
        if structured.has_lines(lines):
            return structured.of_lines(_lines(file.path, codec)), True
        if (page or structured.is_document(head)) and file.bytes <= structured.LARGEST:
            text = "".join(_lines(file.path, codec))
            return (structured.of_page if page else structured.of_document)(text), True
        if any(map(sql.BEGUN.match, lines)):
            if sql.is_script(lines):
                return sql.tables(_lines(file.path, codec)), True
            return chain(sql.tables(_lines(file.path, codec)), ruled.tables(_lines(file.path, codec))), False
    return (ruled.tables(_lines(file.path, codec)) if any(map(ruled.is_begun, lines)) else ()), False


def _lines(path: Path, codec: str) -> Iterator[str]:
    with open_readonly(path) as raw, io.TextIOWrapper(raw, codec, "replace") as text:
        while line := text.readline(LONGEST):
            yield line


class _Table:
    """A table that is being written as CSV."""

    def __init__(self, label: str, path: Path) -> None:
        self.label, self.path, self.rows = label, path, 0
        self._out = path.open("w", encoding="utf-8", errors="replace", newline="")
        self._writer = csv.writer(self._out, lineterminator="\n")

    def add(self, cells: list[str]) -> None:
        """Write a row. Raise `OSError` when others would be left without disk space."""
        self._writer.writerow(cells)
        self.rows += 1
        if self.rows % _CHECKED == 0 and shutil.disk_usage(self.path.parent).free < KEEP_FREE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def written(self) -> Path:
        """Return where everything so far can be read."""
        if not self._out.closed:
            self._out.flush()
        return self.path

    def close(self) -> None:
        self._out.close()

    def drop(self) -> None:
        self.close()
        self.path.unlink(missing_ok=True)


def _written(
    file: EvidenceFile, spool: Path, rows: Iterable[tuple[str, list[str]]], kinds: tuple[str, ...] = KEPT
) -> list[EvidenceFile]:
    """Write each table as CSV, and return those of one of these kinds. What its first rows do not show to be one is not
    written on.
    """
    tables: dict[str, _Table | None] = {}
    taken: set[str] = set()
    try:
        for name, cells in rows:
            if name not in tables:
                if len(tables) == MOST:
                    continue
                tables[name] = _Table(*_place(file, spool, name, taken))
            table = tables[name]
            if table is None:
                continue
            table.add(cells)
            if table.rows == _SAMPLE and not (_is_log(table, kinds) or _is_of(file, table, kinds)):
                table.drop()
                tables[name] = None
        found = [table for table in tables.values() if table is not None]
        for table in found:
            table.close()
            if "log" in kinds:
                _as_log(table.path)
        return [member for table in found if (member := _member(file, table.label, table.path, kinds)) is not None]
    except BaseException:
        for table in filter(None, tables.values()):
            table.drop()
        raise


def _is_log(table: _Table, kinds: tuple[str, ...]) -> bool:
    return "log" in kinds and _searched_for(table.written()) is not None


def _is_of(file: EvidenceFile, table: _Table, kinds: tuple[str, ...]) -> bool:
    path = table.written()
    return _kept(attrs.evolve(file, file=table.label, path=path, bytes=path.stat().st_size), kinds)


def _searched_for(path: Path) -> dict[str, int] | None:
    """Return the columns of a log search in a CSV file by the names of JSON logs, None for any other table."""
    csv.field_size_limit(LONGEST)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream)
        return log_search.columns(next(rows, []), list(islice(rows, _SAMPLE)))


def _as_log(path: Path) -> None:
    """Replace a table in CSV that is what a log search found by its lines of JSON."""
    at = _searched_for(path)
    if at is None:
        return
    part = path.with_name(f".{path.name}.part")
    with path.open(encoding="utf-8", newline="") as stream, part.open("w", encoding="utf-8") as out:
        rows = csv.reader(stream)
        next(rows)
        out.writelines(log_search.lines(enumerate(rows, 1), at))
    part.replace(path)


def _texts(
    file: EvidenceFile, spool: Path, texts: Iterable[tuple[str, Iterable[str]]], kinds: tuple[str, ...]
) -> list[EvidenceFile]:
    """Write (name, pieces of a text), and return those of one of these kinds."""
    taken: set[str] = set()
    members = []
    for name, said in islice(texts, MOST):
        label, path = _place(file, spool, name, taken)
        with path.open("w", encoding="utf-8", errors="replace", newline="") as out:
            out.writelines(said)
        members.append(_member(file, label, path, kinds))
    return [member for member in members if member is not None]


def _place(file: EvidenceFile, spool: Path, name: str, taken: set[str]) -> tuple[str, Path]:
    """Return the name of a member that no other has, and where it is written."""
    plain = label = f"{file.file}#{_ODD.sub(' ', name).strip(' .')[:100] or 'unnamed'}"
    for number in count(2):
        if label not in taken:
            break
        label = f"{plain} {number}"
    taken.add(label)
    return label, member_names.place(spool, label)


def _member(file: EvidenceFile, label: str, path: Path, kinds: tuple[str, ...]) -> EvidenceFile | None:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    size = path.stat().st_size
    member = EvidenceFile(label, path, size, packed=True, sha256=digest, text_sha256=digest, modified=file.modified)
    if _kept(member, kinds):
        return member
    path.unlink()
    return None


def _kept(member: EvidenceFile, kinds: tuple[str, ...]) -> bool:
    kind, detail = recognise.recognise(member)
    return kind in kinds and (kind != "rows" or bool(_DATED & detail["columns"].keys()))
