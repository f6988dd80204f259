"""Outputs of mqadmin commands → one row per cell or field (reference §10).

`block` numbers the rows of tables and the labelled blocks of a file; 0 is the command as a whole: its arguments,
totals, failures. Every line that is not a preamble, a stack frame or empty gives at least one row; a line of no known
form is kept as `text`.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs
import pyarrow as pa

from kit.evidence.files import open_readonly
from kit.formats.tables import mqadmin_consumers
from kit.formats.tables.store_json import parse_json
from kit.pasted import wrapped
from kit.rocketmq.mqadmin_tables import TABLES

SCHEMA: Final = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int32()),
        ("command", pa.string()),
        ("block", pa.int32()),
        ("name", pa.string()),
        ("value", pa.string()),
        ("time", pa.timestamp("us", "UTC")),
    ]
)
"""`time`: when the output was written, by its file; null where neither folder nor archive says it."""
WIDE: Final = 4
"""Columns of a table that goes on after an empty line, as in a copy from a page; below a narrower one other text may follow."""
EMPTY: Final = 3
"""Cells of a row that may be empty; a sentence below a table has fewer words than the table columns."""
LIMIT: Final = 64 << 20
"""Bytes of one output that are read; the outputs of mqadmin are small."""

CALL: Final = re.compile(
    r"^(?:[^$#>|]{0,80}[$#>] *)?(?:sudo +)?(?:(?:ba)?sh +)?(?:[\w./~-]{0,200}/)?mqadmin(?:\.sh|\.cmd)? +(?P<command>\w+)(?P<rest>.*)$"
)
_PREAMBLE: Final = (
    "RocketMQLog:WARN ",
    "OpenJDK 64-Bit",
    "Java HotSpot",
    "SLF4J:",
    "Picked up ",
    "For more information, please visit the url",
)
_CELL: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d{3})?|[^\s(]*\([^)]*\)|\S+")
_COLUMN: Final = re.compile(r"#[^#]+")
_LABEL: Final = re.compile(r"^(?P<name>[A-Z][A-Za-z ]{1,24}):(?: +(?P<value>.*))?$")
TOTAL: Final = re.compile(
    r"^(?P<name>Consume TPS|Diff Total|Consume Diff Total|Consume Inflight Total|Topic Put TPS): *(?P<value>.*)$"
)
_TITLE: Final = re.compile(r"^={4,}(?P<value>[^=].*?)={4,}$")
_CONFIG: Final = re.compile(r"^(?P<name>[\w.]{1,100}) *=(?: {1,2}(?P<value>.*))?$")
_STATUS: Final = re.compile(
    r"^(?:(?P<address>[\w.:\[\]-]+:\d{1,5}) +)?(?P<name>[A-Za-z][\w./-]{1,200}) *: ?(?P<value>.*)$"
)
_TRACK: Final = re.compile(
    r"MessageTrack \[consumerGroup=(?P<consumerGroup>.*?), trackType=(?P<trackType>\w+), exceptionDesc=(?P<exceptionDesc>.*?)\](?=MessageTrack|$)"
)
_FIELDS: Final = re.compile(r"^(?P<what>[A-Z]\w+) \[(?P<fields>.*)\]$")
_FAILED: Final = re.compile(
    r"^org\.apache\.rocketmq\.tools\.command\.SubCommandException: ?(?P<what>(?P<command>\w*?)(?:SubCommand|Command)? command failed.*|.*)$"
)
_CAUSE: Final = re.compile(r"^(?:Caused by: )?(?P<class>[a-z][\w.$]*(?:Exception|Error)): ?(?P<value>.*)$")
_CREATED: Final = re.compile(
    r"^(?P<name>create topic|create subscription group|update broker config|delete topic|delete subscription group) .*?(?:to|from|\[)? ?(?P<value>\S+) success\.?$"
)
_PRINTED: Final = re.compile(r"^MSGID: (?P<MSGID>\S+) (?P<message>MessageExt .*?) (?P<BODY>BODY: .*|NOT PRINT BODY)$")
_DECODED: Final = re.compile(r"^ip=(?P<ip>.+?)date=(?P<date>.+)$")

_STATUS_KEYS: Final = (
    "brokerVersionDesc",
    "bootTimestamp",
    "msgPutTotalTodayNow",
    "commitLogMaxOffset",
    "EndTransactionQueueSize",
    "brokerVersion",
)

_HEAD: Final = re.compile(
    rb"^(?:(?:[^$#>\n]{0,80}[$#>] *)?(?:(?:ba)?sh +)?(?:[\w./~-]{0,200}/)?mqadmin +[a-z]\w+ |RocketMQLog:WARN (?:No appenders|Please)"
    rb"|#(?:Cluster Name|Topic|Broker Name|Message ID|Group|Type|ClientId|Index|brokerName) +#|#Consumer (?:Properties|Subscription)#|\d{3}  \S{1,200}@\S{1,200} +\S+ +(?:[A-Z]\w+ +)?[V\d]|OffsetID: {5,}|Topic: {10,}|TopicConfig \[topicName=|={4,}[^=\n]{3,200}={4,}\r?$"
    rb"|(?:\S{1,80} +)?(?:brokerVersionDesc|bootTimestamp|EndTransactionQueueSize) *: |create topic to \S+ success|MSGID: \w+ MessageExt|ip=\S{1,60}date="
    rb"|org\.apache\.rocketmq\.tools\.command\.SubCommandException)",
    re.MULTILINE,
)
_LOG_LINE: Final = re.compile(
    rb"^\W{0,3}\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\S{0,10} +(?:\[.{1,80}\] +)?(?:TRACE|DEBUG|INFO|WARN|ERROR|- \[)",
    re.MULTILINE,
)


def sniff(head: bytes) -> bool:
    """Return whether a file begins with the output of an mqadmin command, and is not a text that quotes one between log
    lines.
    """
    head = head[:8192]
    return bool(_HEAD.search(head)) and not _LOG_LINE.search(head)


@attrs.define
class State:
    """The state of the parser."""

    command: str | None = None
    block: int = 0
    columns: list[tuple[int, str]] = attrs.field(factory=list)
    apart: bool = False
    """An empty line came since the columns' heads or the last row."""
    labels: set[str] = attrs.field(factory=set)
    section: str | None = None
    """Title inside a running info file."""


Field = tuple[int, str | None, int, str, str | None]
"""(line, command, block, name, value)."""


def read(
    files: Iterable[tuple[str, str, dt.datetime | None]], how: Callable[[bytes], Iterator[Field]] | None = None
) -> pa.Table:
    """Return the rows (`SCHEMA`) of outputs given as (name to show, path, when it was written). `how`: `parse`, or that of `mqadmin_quoted`."""
    rows: list[tuple[str, int, str | None, int, str, str | None, dt.datetime | None]] = []
    for name, path, time in files:
        with open_readonly(path) as file:
            raw = file.read(LIMIT)
        rows += [(name, *field, time) for field in (how or parse)(raw)]
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def parse(raw: bytes) -> Iterator[Field]:
    """Yield the fields of one output."""
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    state = State()
    lines = wrapped.tables(raw.decode(encoding, "backslashreplace").removeprefix("\ufeff").split("\n"))
    route = _route(lines)
    yield from route.fields
    state.block = max((block for _, _, block, _, _ in route.fields), default=0)
    for number, line in enumerate(lines, 1):
        if number in route.lines or line == wrapped.TAKEN:
            continue
        text = line.rstrip("\r ").replace("\0", "")
        if not text:
            state.apart = True
            continue
        if text.startswith(_PREAMBLE) or re.match(r"\s+(?:at |\.\.\. \d+ more)", text):
            continue
        for block, name, value in fields(text, state):
            yield number, state.command, block, name, value


@attrs.frozen
class _Route:
    """A route printed as JSON over several lines: its fields, and the lines they take."""

    fields: tuple[Field, ...] = ()
    lines: range = range(0)


def _route(lines: list[str]) -> _Route:
    first = next((n for n, line in enumerate(lines) if line.startswith("{")), None)
    if first is None:
        return _Route()
    last = next((n for n in range(first, len(lines)) if lines[n].rstrip("\r ") == "}"), first)
    try:
        whole = parse_json("\n".join(lines[first : last + 1]))
    except ValueError:
        return _Route()
    if not isinstance(whole, dict) or "brokerDatas" not in whole:
        return _Route()
    fields: list[Field] = []
    for block, cells in enumerate(mqadmin_consumers.routes(whole), 1):
        shown = json.dumps(next((value for name, value in cells if name in ("#Addr", "#Broker Name")), ""))
        address = json.dumps(dict(cells).get("#Addr", "")) if "#Addr" in dict(cells) else shown
        line = next((n for n in range(first, last + 1) if address in lines[n]), first) + 1
        fields += [(line, "topicRoute", block, name, value) for name, value in cells]
    return _Route(tuple(fields), range(first + 1, last + 2))


def fields(text: str, state: State) -> Iterator[tuple[int, str, str | None]]:
    if call := CALL.match(text):
        state.command, state.columns, state.labels, state.section = call["command"], [], set(), None
        yield from ((0, f"argument:{name}", value) for name, value in _arguments(call["rest"]))
        return
    if section := mqadmin_consumers.SECTION.match(text):
        state.command, state.section, state.columns = "consumerRunningInfo", section["name"], []
        return
    if state.section and (cells := mqadmin_consumers.running_info(text, state.section)) is not None:
        state.block += state.section != "Consumer Properties"
        block = 0 if state.section == "Consumer Properties" else state.block
        yield from ((block, name, value) for name, value in cells)
        return
    if text.startswith("#"):
        state.columns, state.apart = [(m.start(), m.group().strip()) for m in _COLUMN.finditer(text)], False
        joined = " ".join(name for _, name in state.columns)
        state.command = state.command or next((command for start, command in TABLES if joined.startswith(start)), None)
        return
    if failed := _FAILED.match(text):
        state.columns = []
        named = failed["command"]
        state.command = state.command or (named[:1].lower() + named[1:] if named else None)
        yield 0, "failed", failed["what"]
        return
    if cause := _CAUSE.match(text):
        yield 0, "exception", cause["class"]
        yield 0, "error", cause["value"]
        return
    if total := TOTAL.match(text):
        state.columns = []
        yield 0, total["name"], total["value"]
        return
    if state.apart and (len(state.columns) < WIDE or len(_CELL.findall(text)) != len(state.columns)):
        state.columns = []
    named = [name for _, name in state.columns]
    if state.columns and (cells := mqadmin_consumers.wide(text, named) or _cells(text, state.columns)):
        state.block += 1
        state.apart = False
        yield from ((state.block, name, value) for name, value in cells)
        return
    yield from _other(text, state)


def _other(text: str, state: State) -> Iterator[tuple[int, str, str | None]]:
    """Yield the fields of a line that is in no table."""
    if headless := mqadmin_consumers.headless(text):
        command, cells = headless
        state.command = state.command or command
        block = 0 if command == "resetOffsetByTime" else state.block + 1
        state.block = max(state.block, block)
        yield from ((block, name, value) for name, value in cells)
    elif tracks := list(_TRACK.finditer(text)):
        for track in tracks:
            state.block += 1
            yield from ((state.block, name, value) for name, value in track.groupdict().items())
    elif text.startswith("WARN: "):
        yield state.block, "WARN", text[6:]
    elif title := _TITLE.match(text):
        state.command = state.command or "getBrokerConfig"
        state.block += 1
        yield state.block, "title", title["value"]
    elif printed := _PRINTED.match(text):
        state.block += 1
        yield from ((state.block, name, value) for name, value in printed.groupdict().items())
    elif decoded := _DECODED.match(text):
        state.command = state.command or "decodeMessageId"
        yield from ((state.block, name, value) for name, value in decoded.groupdict().items())
    elif created := _CREATED.match(text):
        state.command = state.command or ("updateTopic" if created["name"] == "create topic" else None)
        yield 0, created["name"], created["value"]
    elif fields := _FIELDS.match(text):
        state.block += 1
        yield from ((state.block, name, value) for name, value in _pairs(fields["fields"]))
    elif state.command in (None, "getBrokerConfig") and (config := _CONFIG.match(text)):
        yield max(state.block, 1), config["name"], config["value"] or ""
    elif _is_status(text, state) and (status := _STATUS.match(text)):
        state.command = state.command or "brokerStatus"
        yield (
            max(state.block, 1),
            f"{status['address']} {status['name']}" if status["address"] else status["name"],
            status["value"].rstrip(),
        )
    elif label := _LABEL.match(text):
        name = label["name"]
        state.command = state.command or (
            "queryMsgById"
            if name == "OffsetID"
            else "queryMsgByUniqueKey"
            if name == "Topic" and not state.labels
            else None
        )
        if not state.labels or name in state.labels:
            state.block += 1
            state.labels = set()
        state.labels.add(name)
        yield state.block, name, label["value"] or ""
    else:
        yield state.block, "text", text


def _is_status(text: str, state: State) -> bool:
    return state.command == "brokerStatus" or (
        state.command is None and any(re.search(rf"(?:^|\s){key} *: ", text) for key in _STATUS_KEYS)
    )


def _arguments(rest: str) -> Iterator[tuple[str, str]]:
    """Yield (option, value) of a command line; the value is empty for an option without one."""
    try:
        words = shlex.split(rest)
    except ValueError:
        words = rest.split()
    at = 0
    while at < len(words):
        word = words[at]
        if word.startswith("-") and at + 1 < len(words) and not re.match(r"-[A-Za-z]", words[at + 1]):
            yield word, words[at + 1]
            at += 2
        else:
            yield word, ""
            at += 1


def _cells(text: str, columns: list[tuple[int, str]]) -> list[tuple[str, str]] | None:
    """Return (column, value) of a table row, by the positions of the column heads if cells are empty; None if the line
    is not a row.
    """
    cells = list(_CELL.finditer(text))
    if len(cells) == len(columns):
        return [(name, cell.group()) for (_, name), cell in zip(columns, cells, strict=True)]
    if not max(2, len(columns) - EMPTY) <= len(cells) <= len(columns) or text.startswith((" ", "\t")):
        return None
    out: dict[str, str] = {}
    for cell in cells:
        name = next((n for start, n in reversed(columns) if start < cell.end()), columns[0][1])
        out[name] = f"{out[name]} {cell.group()}" if name in out else cell.group()
    return list(out.items())


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and value of `a=1, b=2`; a value may contain commas and brackets."""
    for pair in re.split(r", (?=\w+=)", text):
        name, _, value = pair.partition("=")
        yield name, value
