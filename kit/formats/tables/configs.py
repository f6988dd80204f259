"""broker.conf, the JSON files of store/config, and the checkpoint file → tables `configs` and `offsets`.

Values are as the broker reads them: `java.util.Properties` keeps a comment or a blank behind a value as part of it.
"""

import bisect
import json
import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from kit.formats.patterns import forms
from kit.formats.values import columns_of, integer
from kit.rocketmq.config import BROKER_SETTINGS

CONFIGS: Final = columns_of("config_files")
TABLES: Final = forms("store_tables")
_KEY: Final = re.compile(r'"(\w{3,40})"\s*:')
_INT_KEY: Final = re.compile(r"([{,]\s*)(-?\d+)(\s*:)")
"""fastjson writes integer keys without quotes (`ConsumerOffsetSerializeWrapper`); names have quotes."""
_COLON: Final = re.compile(r"\s*:")
_CHECKPOINT: Final = (
    "physicMsgTimestamp", "logicsMsgTimestamp", "indexMsgTimestamp", "masterFlushedOffset", "confirmPhyOffset",
)  # fmt: skip


def sniff(head: bytes, file: str = "") -> dict[str, Any] | None:
    """Recognise store JSON ("name", "backup") or broker.conf by the first bytes; else None."""
    text = head.decode("utf-8-sig", "replace").strip()
    if text.startswith("{"):
        return _sniff_json(text, file)
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", "!"))]
    shaped = sum(1 for line in lines if re.match(r"\s*[\w.]+\s*=(?!=)", line))
    if shaped < 0.5 * len(lines) or "=  " in text:
        return None
    known = {name for _, name, _ in properties(text) if name in BROKER_SETTINGS}
    return {"kind": "broker_conf"} if len(known) >= 2 else None


def _is_backup(file: str) -> bool:
    """Return whether a file name is that of the copy before the last save (`common/ConfigManager`)."""
    return PurePosixPath(file).name.lower().endswith(".bak")


def _sniff_json(text: str, file: str) -> dict[str, Any] | None:
    names = {m[1] for m in _KEY.finditer(text[:65536])}
    stem = PurePosixPath(file).name.split(".")[0]
    table = next((name for key, name in TABLES.items() if key in names), None)
    if table == "consumerOffset":
        inside = re.search(r'"offsetTable"\s*:\s*\{\s*("?\{|.)', text)
        if inside and inside[1].endswith("{"):
            table = "localOffset"  # a key that is an object: a broadcasting client's own offsets, which are not read
        elif inside and inside[1] != '"':
            # Integer keys straight below: levels. An empty table is told by its name only.
            table = "delayOffset" if inside[1] != "}" or stem == "delayOffset" else "consumerOffset"
        elif '"%LMQ%' in text or stem == "lmqConsumerOffset":
            table = "lmqConsumerOffset"
    elif table is None and re.match(r'\{\s*"table"\s*:\s*\{', text):
        table = "consumerOrderInfo"
    return {"kind": "store_json", "name": table, "backup": _is_backup(file)} if table else None


def is_checkpoint(data: bytes) -> bool:
    """Return whether a file is the checkpoint: a page with three times and two offsets at its beginning."""
    if len(data) != 4096 or any(data[40:]):
        return False
    *times, flushed, confirmed = struct.unpack(">5q", data[:40])
    plausible = all(not time or 10**12 < time < 10**13 for time in times)
    return plausible and times[0] > 0 and flushed >= 0 and confirmed >= 0


def properties(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, name, value) as `java.util.Properties.load` does: trailing blanks belong to the value."""
    pending, start = "", 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip("\r").lstrip(" \t\f")
        if not pending:
            if not line or line[0] in "#!":
                continue
            start = number
        joined = pending + line
        if (len(joined) - len(joined.rstrip("\\"))) % 2:
            pending = joined[:-1]
            continue
        pending = ""
        match = re.match(r"((?:\\.|[^\\=:\s])*)[ \t\f]*[=:]?[ \t\f]*(.*)$", joined, re.DOTALL)
        if match and match[1]:
            yield start, _unescape(match[1]), _unescape(match[2])


def _unescape(text: str) -> str:
    plain = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
    return re.sub(
        r"\\(u[0-9a-fA-F]{4}|.)", lambda m: chr(int(m[1][1:], 16)) if len(m[1]) == 5 else plain.get(m[1], m[1]), text
    )


def configs(file: str, data: bytes, detail: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return the rows of `configs` from one file. Raise `ValueError` if its JSON is damaged."""
    text, is_conf = data.decode("utf-8-sig", "replace"), kind == "broker_conf"
    if is_conf or kind == "text":
        # A fence around a pasted file (```conf) is no setting.
        given = (each for each in properties(text) if each[1] in BROKER_SETTINGS or (is_conf and each[1][0].isalnum()))
        rows = [_setting(file, line, "broker.conf", None, name, value) for line, name, value in given]
        return [row | {"backup": is_conf and _is_backup(file)} for row in rows]
    if detail["name"] not in ("topics", "subscriptionGroup"):
        return []
    whole, lines = parse_json(text), Lines(text)
    rows = []
    for key in ("topicConfigTable", "subscriptionGroupTable"):
        table, start = whole.get(key), lines.find(key)
        for subject, entry in table.items() if isinstance(table, dict) else ():
            start = at = max(start, lines.find(subject, start))
            for name, value in entry.items() if isinstance(entry, dict) else (("value", entry),):
                line = lines.of(max(at, lines.find(name, at)))
                rows.append(_setting(file, line, TABLES[key], subject, name, _text(value)))
    return [row | {"backup": detail["backup"]} for row in rows]


def _setting(file: str, *values: Any) -> dict[str, Any]:
    """Return a row of `configs`: line, origin, subject, name, value."""
    return dict(zip(CONFIGS.names, (file, *values, False), strict=True))


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def offsets(file: str, data: bytes, detail: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return the rows of `offsets`, null for what fits no Java int or long. Raise `ValueError` if JSON is damaged."""
    if kind == "checkpoint":
        fields = zip(_CHECKPOINT, struct.unpack(">5q", data[:40]), strict=True) if len(data) >= 40 else ()
        rows: Iterable[Offset] = (("checkpoint", field, None, None, value, None) for field, value in fields if value)
    else:
        rows = _stored(data.decode("utf-8-sig", "replace")) if detail["name"] in OFFSETS else ()
    backup = kind != "checkpoint" and detail["backup"]
    return [
        {"file": file, "kind": of, "topic": topic, "group": group, "queue_id": integer(queue, 32), "value": integer(value), "backup": backup, "line": line}
        for of, topic, group, queue, value, line in rows
    ]  # fmt: skip


OFFSETS: Final = ("consumerOffset", "delayOffset", "lmqConsumerOffset")
Offset = tuple[str, str, str | None, Any, Any, int | None]
"""(kind, topic, group, queue id, value, line)."""


def _stored(text: str) -> Iterator[Offset]:
    """Yield the offsets in a file: of groups and of the levels of delayed messages."""
    lines, at = Lines(text), 0
    for key, value in (parse_json(text).get("offsetTable") or {}).items():
        at = max(at, lines.find(key, at))
        line, (topic, is_group, group) = lines.of(at), key.partition("@")
        if isinstance(value, dict):
            yield from (("consumer", topic, group, queue, offset, line) for queue, offset in value.items())
        elif is_group:  # lmqConsumerOffset: one queue each
            yield "consumer", topic, group, 0, value, line
        else:
            level = integer(key, 32)
            yield "delay", "SCHEDULE_TOPIC_XXXX", None, None if level is None else level - 1, value, line


DUMPED: Final = r"^[a-z]\w{2,60}=[^ ]?"
"""A line of the settings that broker.log begins with (`MixAll.printObjectProperties`)."""


# --- JSON as fastjson writes it ---------------------------------------------------------------------------------------


def parse_json(text: str) -> Any:
    """Parse JSON written by fastjson. Raise `ValueError` if it is damaged."""
    text = text.lstrip("\ufeff")
    try:
        try:
            return json.loads(text)
        except ValueError:
            return json.loads(_INT_KEY.sub(r'\1"\2"\3', text))
    except RecursionError as error:
        raise ValueError("nested too deep") from error


class Lines:
    """The lines on which names occur in a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends = [m.start() for m in re.finditer("\n", text)]

    def of(self, position: int) -> int:
        return bisect.bisect_left(self._ends, position) + 1 if position >= 0 else 1

    def find(self, name: str, start: int = 0) -> int:
        """Return where a name stands before a colon, from a position on; -1 if it does not."""
        quoted = json.dumps(name, ensure_ascii=False)
        at = self.text.find(quoted, max(0, start))
        while at >= 0 and not _COLON.match(self.text, at + len(quoted)):
            at = self.text.find(quoted, at + 1)
        return at
