"""Tables of mqadmin quoted in other texts: between log lines, in a question, in a mail. Recognised by their heads and
parsed as in `mqadmin`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kit.formats.tables import mqadmin, mqadmin_consumers
from kit.rocketmq.mqadmin_tables import TABLES

_MARKS: Final = r"[ \t>|]{0,12}"
_HEADS: Final = "|".join(head.replace(" ", " +") if " #" in head else f"{head} +#" for head, _ in TABLES)
_TABLE: Final = re.compile(rf"^{_MARKS}(?:{_HEADS})|{mqadmin_consumers.CONNECTED.pattern}".encode(), re.MULTILINE)
_ELSEWHERE: Final = re.compile(
    r"\W{0,3}\d{4}[-/]\d\d[-/]\d\d[ T]|\W{0,2}\d\d:\d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|WARN|ERROR)\b|```"
)
"""How a line begins that is not mqadmin's: a log's, or the end of a quotation."""


def holds(text: bytes) -> bool:
    """Return whether a text of any kind contains a table of mqadmin."""
    return bool(_TABLE.search(text))


def parse(raw: bytes) -> Iterator[mqadmin.Field]:
    """Yield the fields of the tables in a text, and of the commands before them."""
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    state = mqadmin.State()
    for number, line in enumerate(raw.decode(encoding, "backslashreplace").split("\n"), 1):
        text = re.sub(rf"^{_MARKS}", "", line.rstrip("\r ").replace("\0", ""))
        if not text:
            state.apart = True
        elif _ELSEWHERE.match(text):
            state.command, state.columns = None, []
        elif state.columns or _may_be_output(text):
            if text.startswith("#") and state.columns:
                state.command = None
            for block, name, value in mqadmin.fields(text, state):
                if name != "text":
                    yield number, state.command, block, name, value


def _may_be_output(text: str) -> bool:
    patterns = (mqadmin.CALL, mqadmin.TOTAL, mqadmin_consumers.CONNECTED)
    return text.startswith("#") or any(pattern.match(text) for pattern in patterns)
