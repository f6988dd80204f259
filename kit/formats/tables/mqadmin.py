"""Outputs of mqadmin commands → one row per cell or field (reference §10), also where other texts quote them.

`block` numbers the rows of tables and the labelled blocks of a file; 0 is the command as a whole: its arguments,
totals, failures. Every line that is not a preamble, a stack frame or empty gives at least one row; a line of no known
form is kept as `text`.

Sources: tools/command, common/protocol/body/ConsumerRunningInfo.formatString.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Final

import attrs

from kit.formats.patterns import byte_patterns, patterns
from kit.formats.tables.configs import parse_json
from kit.rocketmq.answers import MQADMIN_HEADS, command_of

_WIDE: Final = 4
"""Columns of a table that goes on after an empty line; below a narrower one other text may follow."""
_EMPTY: Final = 3
"""Cells of a row that may be empty; a sentence below a table has fewer words than the table columns."""

Cell = tuple[int, str, str | None]
"""(block, name, value)."""
Field = tuple[int, str | None, int, str, str | None]
"""(line, command, block, name, value)."""
LINES: Final = patterns("mqadmin")
HEADS: Final = byte_patterns("mqadmin_heads")
_PREAMBLE: Final = (
    "RocketMQLog:WARN ", "OpenJDK 64-Bit", "Java HotSpot", "SLF4J:", "Picked up ",
    "For more information, please visit the url",
)  # fmt: skip
COMMAND, SAME, NEXT, ROW, BROKER = "command", "same", "next", "row", "broker"
"""Where the fields of a line belong: to the command as a whole, the block of the line before, a new one, a row of a
table without a head (before 4.8.0: each group is a column), the first or the last broker's block.
"""
_BEFORE_ROWS: Final = (
    ("detail", ROW, None), ("subscription", ROW, None), ("failed", COMMAND, None), ("cause", COMMAND, None),
    ("total", COMMAND, None),
)  # fmt: skip
_OUTSIDE: Final = (
    ("status_row", ROW, "consumerStatus"), ("connection_row", ROW, "consumerConnection"),
    ("connected", ROW, "consumerConnection"), ("track", NEXT, None), ("warning", SAME, None),
    ("broker", NEXT, "getBrokerConfig"), ("message", NEXT, None), ("decoded_id", SAME, "decodeMessageId"),
    ("created_topic", COMMAND, "updateTopic"), ("created", COMMAND, None), ("pairs", NEXT, None),
)  # fmt: skip
"""Forms of lines, in this order: name, where its fields belong, the command whose line it is."""
_RESETS: Final = ("rollback consumer offset by specified", "reset consumer offset by specified")


def sniff(head: bytes) -> bool:
    """Return whether a file begins with an output of mqadmin, and does not quote one between log lines."""
    head = head[:8192]
    return bool(HEADS["head"].search(head)) and not HEADS["log_line"].search(head)


def is_pasted(head: bytes) -> bool:
    """Return whether something else precedes or quotes the first output, as in a chat: no command wrote the file."""
    preamble = tuple(word.encode() for word in _PREAMBLE[1:])
    first = next((line for line in head.split(b"\n") if line.strip() and not line.startswith(preamble)), b"")
    return first.startswith(b">") or not HEADS["head"].match(first.removeprefix(b"\xef\xbb\xbf"))


def parse(raw: bytes) -> Iterator[Field]:
    """Yield the fields of one output (rows of `admin`), quoted as a whole or not."""
    lines = _lines(raw)
    if sum(line.startswith(">") for line in lines) * 2 > len(lines):
        lines = [re.sub(r"^> ?", "", line) for line in lines]
    route, taken = _route(lines)
    yield from route
    state = State(block=max((field[2] for field in route), default=0))
    for number, line in enumerate(lines, 1):
        if number in taken:
            continue
        text = _unbarred(line.rstrip("\r ").replace("\0", ""))
        if not text:
            state.apart = True
        elif not text.startswith(_PREAMBLE) and not LINES["frame"].match(text):
            yield from ((number, state.command, *cell) for cell in state.cells(text))


def _lines(raw: bytes) -> list[str]:
    return raw.decode("utf-8", "backslashreplace").removeprefix("\ufeff").split("\n")


def _route(lines: list[str]) -> tuple[list[Field], range]:
    """Return the fields of a route (`TopicRouteData` as JSON), a row an address or broker's queues, and its lines."""
    first = next((n for n, line in enumerate(lines) if line.startswith("{")), len(lines))
    last = next((n for n in range(first, len(lines)) if lines[n].rstrip("\r ") == "}"), first)
    try:
        whole = parse_json("\n".join(lines[first : last + 1]))
    except ValueError:
        whole = None
    if not isinstance(whole, dict) or "brokerDatas" not in whole:
        return [], range(0)
    rows: list[tuple[str, dict[str, Any]]] = []
    for broker in whole.get("brokerDatas") or ():
        named = {"#Cluster Name": broker.get("cluster"), "#Broker Name": broker.get("brokerName")}
        rows += [(at, named | {"#BID": n, "#Addr": at}) for n, at in (broker.get("brokerAddrs") or {}).items()]
    for queues in whole.get("queueDatas") or ():
        sizes = {name: queues[name] for name in ("readQueueNums", "writeQueueNums", "perm") if name in queues}
        rows.append((queues.get("brokerName"), {"#Broker Name": queues.get("brokerName")} | sizes))
    fields: list[Field] = []
    for block, (place, row) in enumerate(rows, 1):
        line = next((n for n in range(first, last + 1) if json.dumps(place) in lines[n]), first) + 1
        fields += [(line, "topicRoute", block, name, str(value)) for name, value in row.items()]
    return fields, range(first + 1, last + 2)


@attrs.define
class State:
    """What the lines before tell: the command, the last block's number, the table's columns (place and name)."""

    command: str | None = None
    block: int = 0
    columns: list[tuple[int, str]] = attrs.field(factory=list)
    apart: bool = False
    """An empty line came since the columns' heads or the last row."""
    labels: set[str] = attrs.field(factory=set)
    section: str | None = None
    """Title inside a running info file."""

    def cells(self, text: str) -> list[Cell]:
        """Return the fields of the next line."""
        if call := LINES["call"].match(text):
            self.command, self.columns, self.labels, self.section = call["command"], [], set(), None
            return [(0, f"argument:{name}", value) for name, value in _arguments(call["rest"])]
        if section := LINES["section"].match(text):
            self.command, self.section, self.columns = "consumerRunningInfo", section["name"], []
            return []
        if self.section == "Consumer jstack":
            return []
        if self.section == "Consumer Properties":
            return self._first_form((("property", COMMAND, None),), text)
        if text.startswith("#"):
            self.columns, self.apart = [(m.start(), m.group().strip()) for m in LINES["column"].finditer(text)], False
            self.command = self.command or command_of(" ".join(name for _, name in self.columns))
            return []
        if cells := self._first_form(_BEFORE_ROWS, text):
            return cells
        if self.apart and (len(self.columns) < _WIDE or len(LINES["cell"].findall(text)) != len(self.columns)):
            self.columns = []
        if row := _row(text, self.columns):
            self.apart = False
            self.block += 1
            return [(self.block, name, value) for name, value in row]
        return self._reset(text) or self._first_form(_OUTSIDE, text) or self._setting(text) or self._labelled(text)

    def _first_form(self, forms: Iterable[tuple[str, str, str | None]], text: str) -> list[Cell]:
        """Return the fields of a line by the first form that it has, nothing if it has none."""
        for name, place, command in forms:
            if not (matches := list(LINES[name].finditer(text))):
                continue
            printed = matches[0].groupdict().get("command") or ""
            self.command = self.command or command or printed[:1].lower() + printed[1:] or None
            if place == COMMAND:
                self.columns = []
            cells: list[Cell] = []
            for match in matches:
                self.block += place in (NEXT, ROW)
                block = {COMMAND: 0, BROKER: max(self.block, 1)}.get(place, self.block)
                cells += [(block, *field) for field in _fields(match, "#" if place == ROW else "")]
            return cells
        return []

    def _reset(self, text: str) -> list[Cell]:
        if not any(begin in text for begin in _RESETS):
            return []
        self.command = self.command or "resetOffsetByTime"
        named = LINES["reset"].findall(text)
        return [(0, name if name == "timestamp(long)" else name.partition("(")[0], value) for name, value in named]

    def _setting(self, text: str) -> list[Cell]:
        """Return a line of a broker's settings or of its state."""
        if self.command in (None, "getBrokerConfig") and (cells := self._first_form((("config", BROKER, None),), text)):
            return cells
        if self.command == "brokerStatus" or (self.command is None and LINES["status_key"].search(text)):
            return self._first_form((("status", BROKER, "brokerStatus"),), text)
        return []

    def _labelled(self, text: str) -> list[Cell]:
        """Return a line of a block of labels, which begins with the first of them again."""
        if not (label := LINES["label"].match(text)):
            return [(self.block, "text", text)]
        name = label["name"]
        if self.command is None and (name == "OffsetID" or (name == "Topic" and not self.labels)):
            self.command = "queryMsgById" if name == "OffsetID" else "queryMsgByUniqueKey"
        if not self.labels or name in self.labels:
            self.block += 1
            self.labels = set()
        self.labels.add(name)
        return [(self.block, name, label["value"] or "")]


def _fields(match: re.Match[str], mark: str) -> list[tuple[str, str | None]]:
    """Return what a line says: a name and its value, each other group (`#Broker Name` of `Broker_Name`), `a=1, b=2`."""
    groups = match.groupdict()
    groups.pop("command", None)
    pairs = groups.pop("fields", None)
    if "value" in groups:
        return [(" ".join(groups["name"].split()), groups["value"] or "")]
    fields = [(mark + name.replace("_", " " if mark else "_"), value) for name, value in groups.items()]
    # A value may contain commas and brackets.
    split = (pair.partition("=") for pair in re.split(r", (?=\w+=)", pairs)) if pairs is not None else ()
    return [*fields, *((name, value) for name, _, value in split)]


def _arguments(rest: str) -> list[tuple[str, str]]:
    """Return (option, value) of a command line; the value is empty for an option without one."""
    try:
        words = shlex.split(rest)
    except ValueError:
        words = rest.split()
    options: list[tuple[str, str]] = []
    for before, word in pairwise(["", *words]):
        if before.startswith("-") and not re.match(r"-[A-Za-z]", word) and options[-1] == (before, ""):
            options[-1] = (before, word)
        else:
            options.append((word, ""))
    return options


def _row(text: str, columns: list[tuple[int, str]]) -> list[tuple[str, str | None]] | None:
    """Return (column, value) of a row, by the places of the heads where cells are empty; None: it is no row."""
    names = [name for _, name in columns]
    if names and names[-1] == "#SubExpression" and len(words := text.split(None, len(names) - 1)) == len(names):
        # The last column may contain blanks: a SQL92 expression, `A || B`.
        return list(zip(names, words, strict=True))
    cells = list(LINES["cell"].finditer(text))
    if columns and len(cells) == len(columns):
        return [(name, cell.group()) for name, cell in zip(names, cells, strict=True)]
    if not max(2, len(columns) - _EMPTY) <= len(cells) <= len(columns) or text.startswith((" ", "\t")):
        return None
    row: dict[str, str | None] = {}
    for cell in cells:
        name = next((n for start, n in reversed(columns) if start < cell.end()), names[0])
        row[name] = f"{row[name]} {cell.group()}" if name in row else cell.group()
    return list(row.items())


# --- quoted in other texts: between log lines, in a question, in a mail -----------------------------------------------

_MARKS: Final = r"[ \t>|]{0,12}"
_HEADS: Final = "|".join((head if " #" in head else f"{head} #").replace(" #", "[ |]+#") for head, _ in MQADMIN_HEADS)
_TABLE: Final = re.compile(rf"^{_MARKS}(?:{_HEADS})|{LINES['connected'].pattern}".encode(), re.MULTILINE)
_OWN: Final = ("call", "total", "connected")
"""Lines that are mqadmin's wherever they are."""


def is_quoted(text: bytes) -> bool:
    return bool(_TABLE.search(text))


def _unbarred(line: str) -> str:
    """Return a row of a table in Markdown without its bars, an empty cell as `-`; "" of the line below its heads."""
    row = LINES["bars"].fullmatch(line)
    return "  ".join(cell.strip() or "-" for cell in row["cells"].split("|")) if row else line


def parse_quoted(raw: bytes) -> Iterator[Field]:
    """Yield the fields of the tables in a text, and of the commands before them."""
    state = State()
    for number, line in enumerate(_lines(raw), 1):
        text = re.sub(rf"^{_MARKS}", "", _unbarred(line.rstrip("\r ").replace("\0", "")))
        if not text:
            state.apart = True
        elif LINES["elsewhere"].match(text):
            state.command, state.columns = None, []
        elif state.columns or text.startswith("#") or any(LINES[name].match(text) for name in _OWN):
            if text.startswith("#") and state.columns:
                state.command = None
            yield from ((number, state.command, *cell) for cell in state.cells(text) if cell[1] != "text")
