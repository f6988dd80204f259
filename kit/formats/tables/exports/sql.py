"""Rows in SQL: `INSERT … VALUES` of mysqldump, Navicat, DataGrip or SSMS, and `COPY … FROM stdin` of pg_dump."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

_PART: Final = r"(?:`[^`]+`|\"[^\"]+\"|\[[^\]]+\]|[\w$-]+)"
_NAME: Final = rf"(?:{_PART}\.)*({_PART})"
BEGUN: Final = re.compile(
    rf"\s*(?:(?:INSERT|REPLACE)\s+(?:INTO\s+|IGNORE\s+)*{_NAME}\s*(?:\(|VALUES?\b|$)|COPY\s+{_NAME} \([^)]*\) FROM stdin;)",
    re.IGNORECASE,
)
"""How a statement with rows begins."""
_SCRIPT: Final = re.compile(
    r"\ufeff?\s*(?:--|/\*|#|(?:INSERT|REPLACE|CREATE|DROP|SET|USE|LOCK|BEGIN|START|COPY|TRUNCATE|GO)\b)", re.IGNORECASE
)
_INSERT: Final = re.compile(
    rf"\s*(?:INSERT|REPLACE)\s+(?:INTO\s+|IGNORE\s+)*{_NAME}\s*(?:\(([^()]*)\))?\s*VALUES?\s*", re.IGNORECASE
)
_OPEN: Final = re.compile(
    rf"\s*(?:INSERT|REPLACE)\s+(?:INTO\s+|IGNORE\s+)*{_NAME}\s*(?:\([^()]*\)?)?\s*$", re.IGNORECASE
)
_NEXT: Final = re.compile(r"\s*(?:INSERT|REPLACE|CREATE|GO|COMMIT|UNLOCK|ALTER|SET)\b", re.IGNORECASE)
_ENDED: Final = re.compile(r";\s*$")
_CREATE: Final = re.compile(rf"\s*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?{_NAME}\s*\(", re.IGNORECASE)
_COLUMN: Final = re.compile(r"\s*[`\"\[](\w+)[`\"\]]\s+\w")
_COPY: Final = re.compile(rf"COPY\s+{_NAME} \(([^)]*)\) FROM stdin;", re.IGNORECASE)
_PIECE: Final = re.compile(r"[^'(),]+|.", re.DOTALL)
_GAP: Final = re.compile(r"[\s,]*")
_ESCAPED: Final = re.compile(r"\\(.)|''", re.DOTALL)
_BACKSLASH: Final = re.compile(r"\\(.)")
_MEANS: Final = {"n": "\n", "r": "\r", "t": "\t", "0": "", "Z": ""}
LARGEST: Final = 1 << 16
"""Characters of one row, or before VALUES, that wait for the rest."""
LINES: Final = 100
"""Lines of one row: each looks at those before it again."""


def is_script(lines: Iterable[str]) -> bool:
    """Return whether a text begins as a script does, not with what somebody says about a statement."""
    first = next((line for line in lines if line.strip()), "")
    return _SCRIPT.match(first) is not None


def tables(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of all tables. One whose columns are not named gets those of its CREATE TABLE, else c1, c2, …"""
    created: dict[str, list[str]] = {}
    shown: dict[str, list[str]] = {}
    creating = copying = inserting = ""
    columns: list[str] = []
    rest = begin = ""
    waited = 0
    for line in lines:
        if begin and not _ENDED.search(begin):
            line = begin + line
        begin = ""
        if copying:
            copying = "" if line.startswith("\\.") else copying
            if copying:
                yield copying, [_copied(cell) for cell in line.rstrip("\r\n").split("\t")]
            continue
        if inserting and _NEXT.match(line):
            inserting = rest = ""  # the statement had no semicolon, or a value that is not understood
        if inserting:
            waited, rest = waited + 1, rest + line
        elif begun := _INSERT.match(line):
            waited, inserting, rest = 0, _bare(begun[1]), line[begun.end() :]
            columns = _names(begun[2]) if begun[2] else created.get(inserting, [])
        elif begun := _COPY.match(line):
            copying = _bare(begun[1])
            yield copying, _names(begun[2])
            continue
        elif _OPEN.match(line) and len(line) < LARGEST:
            begin = line
            continue
        else:
            if begun := _CREATE.match(line):
                creating = _bare(begun[1])
                created[creating] = []
            elif creating and (column := _COLUMN.match(line)):
                created[creating].append(column[1])
            elif line.lstrip().startswith(")"):
                creating = ""
            continue
        rows, rest, more = _tuples(rest)
        waited = 0 if rows else waited
        for row in rows:
            if inserting not in shown:
                shown[inserting] = columns or [f"c{n}" for n in range(1, len(row) + 1)]
                yield inserting, shown[inserting]
            at = dict(zip(columns, row, strict=False)) if columns and columns != shown[inserting] else None
            yield inserting, row if at is None else [at.get(name, "") for name in shown[inserting]]
        if not more or len(rest) > LARGEST or waited > LINES:
            inserting = rest = ""


def _tuples(text: str) -> tuple[list[list[str]], str, bool]:
    """Return the complete rows at the beginning of a statement's values, what is behind them, and whether more may
    follow.
    """
    rows: list[list[str]] = []
    at = 0
    while True:
        gap = _GAP.match(text, at)
        start = gap.end() if gap else at
        if not text.startswith("(", start):
            return rows, text[start:], start == len(text)
        row, at = _row(text, start + 1)
        if row is None:
            return rows, text[start:], True
        rows.append(row)


def _row(text: str, at: int) -> tuple[list[str] | None, int]:
    """Return the values up to the bracket that closes a row, and the place behind it; None where it is not closed."""
    row: list[str] = []
    said: str | None = None  # of N'…', CAST('…' AS …) and TO_DATE('…', '…') it is the first text
    plain, depth = "", 0
    while piece := _PIECE.match(text, at):
        at = piece.end()
        token = piece[0]
        if token == "'":
            end = _closing(text, at)
            if end < 0:
                break
            said = _ESCAPED.sub(_unescaped, text[at:end]) if said is None else said
            at = end + 1
        elif token in ",)" and not depth:
            value = plain.strip()
            row.append(said if said is not None else "" if value.upper() in ("NULL", "DEFAULT") else value)
            if token == ")":
                return row, at
            said, plain = None, ""
        elif token in "()":
            depth += 1 if token == "(" else -1
            plain = ""
        elif not depth:
            plain += token
    return None, at


def _closing(text: str, at: int) -> int:
    """Return where a text ends that begins at `at`; -1 if it does not. A quote is doubled or behind a backslash."""
    while (end := text.find("'", at)) >= 0:
        before = text[max(at, end - 64) : end]
        if (len(before) - len(before.rstrip("\\"))) % 2:
            at = end + 1
        elif text.startswith("'", end + 1):
            at = end + 2
        else:
            return end
    return -1


def _unescaped(found: re.Match[str]) -> str:
    return "'" if found[1] is None else _MEANS.get(found[1], found[1])


def _copied(cell: str) -> str:
    return "" if cell == "\\N" else _BACKSLASH.sub(_unescaped, cell)


def _names(listed: str) -> list[str]:
    return [_bare(name) for name in listed.split(",")]


def _bare(name: str) -> str:
    return name.strip().strip('`"[]')
