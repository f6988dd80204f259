"""Tables that are what a log search found (Kibana, SLS, Grafana, Splunk): as JSON lines, which the readers of logs know."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

_NAMES: Final[dict[str, re.Pattern[str]]] = {
    "@timestamp": re.compile(r"@?_?_?time(?:stamp)?_?_?|ts|date(?:time)?|asctime|时间|日志时间", re.IGNORECASE),
    "message": re.compile(
        r"@?(?:short_)?message|msg|log|_?raw|line|(?:__)?content(?:__)?|body|text|日志|日志内容|消息|内容",
        re.IGNORECASE,
    ),
    "level": re.compile(r"(?:log\.?)?_?level(?:name)?|severity|lvl|级别|日志级别", re.IGNORECASE),
    "thread": re.compile(r"(?:process\.)?thread(?:[._]?name)?|线程", re.IGNORECASE),
    "logger": re.compile(r"(?:log\.)?logger(?:[._]?name)?", re.IGNORECASE),
    "stack_trace": re.compile(r"(?:error\.)?stack_?trace|throwable|堆栈", re.IGNORECASE),
}
"""What the readers of JSON logs call a column, by what its header may be."""
_FILLED: Final = 0.9
"""Part of the rows that have a message: a ledger has an error in some."""
_WORDS: Final = 3
"""Words of a message, on average."""


def may_be(first_line: str) -> bool:
    """Return whether a first line has the names of a time and of a text among its cells."""
    cells = [cell.strip(' "\ufeff\r\n') for cell in re.split(r"[,;\t|]", first_line[:4096])]
    return all(any(map(_NAMES[name].fullmatch, cells)) for name in ("@timestamp", "message"))


def columns(header: Sequence[str], sample: Sequence[Sequence[str | None]]) -> dict[str, int] | None:
    """Return the columns of a log search by the names of JSON logs; None for any other table: a search has a time, and
    a text in nearly every row.
    """
    found: dict[str, int] = {}
    for name, pattern in _NAMES.items():
        fitting = [i for i, title in enumerate(header) if pattern.fullmatch(title.strip())]
        if fitting:
            # Elasticsearch's `log` is where the line came from, Docker's what it says.
            found[name] = next((i for i in fitting if header[i].strip().lower() == name), fitting[0])
    if not {"@timestamp", "message"} <= found.keys() or not sample:
        return None
    said = [row[found["message"]] or "" for row in sample if len(row) > found["message"]]
    filled = [text for text in said if text.strip()]
    if len(filled) < _FILLED * len(sample) or sum(len(text.split()) for text in filled) < _WORDS * len(filled):
        return None
    return found


def lines(rows: Iterable[tuple[int, Sequence[str | None]]], at: dict[str, int]) -> Iterator[str]:
    """Yield each row as JSON on the line of its number; what is empty is left out."""
    here = 1
    for number, row in rows:
        yield "\n" * (number - here)
        entry = {name: row[i] for name, i in at.items() if i < len(row) and row[i]}
        yield json.dumps(entry, ensure_ascii=False) + "\n"
        here = max(here, number) + 1
