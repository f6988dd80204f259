"""broker.conf, the JSON files of store/config, and the checkpoint file → tables `configs` and `offsets`.

Values are as the broker reads them: `java.util.Properties` keeps a comment or a blank behind a value as part of it.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Iterator
from typing import Any, Final

from kit.formats.tables import store_json
from kit.formats.values import columns_of, integer
from kit.rocketmq.config import BROKER_SETTINGS

CONFIGS: Final = columns_of("config_files")

_CHECKPOINT: Final = (
    "physicMsgTimestamp", "logicsMsgTimestamp", "indexMsgTimestamp", "masterFlushedOffset", "confirmPhyOffset",
)  # fmt: skip
_PAGE: Final = 4096


def sniff(head: bytes, file: str = "", size: int | None = None) -> dict[str, Any] | None:
    """Recognise store JSON ("name", "backup"), broker.conf or the checkpoint by the first bytes; else None."""
    kind = _sniff_checkpoint(head, size)
    if kind:
        return kind
    text = head.decode("utf-8-sig", "replace").strip()
    if text.startswith("{"):
        return store_json.sniff(text, file)
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", "!"))]
    shaped = sum(1 for line in lines if re.match(r"\s*[\w.]+\s*=(?!=)", line))
    if shaped < 0.5 * len(lines) or "=  " in text:
        return None
    known = {name for _, name, _ in properties(text) if name in BROKER_SETTINGS}
    return {"kind": "broker_conf", "known": len(known)} if len(known) >= 2 else None


def _sniff_checkpoint(head: bytes, size: int | None) -> dict[str, Any] | None:
    if (size if size is not None else len(head)) != _PAGE or len(head) < _PAGE or any(head[40:]):
        return None
    physic, logics, index, flushed, confirmed = struct.unpack(">5q", head[:40])
    times = [t for t in (physic, logics, index) if t]
    good = all(10**12 < t < 10**13 for t in times) and physic and flushed >= 0 and confirmed >= 0
    return {"kind": "checkpoint"} if good else None


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
    text = data.decode("utf-8-sig", "replace")
    if kind in ("broker_conf", "text"):
        backup = kind == "broker_conf" and store_json.is_backup(file)
        given = (pair for pair in properties(text) if kind == "broker_conf" or pair[1] in BROKER_SETTINGS)
        return [
            _setting(file, line, "broker.conf", None, name, value) | {"backup": backup} for line, name, value in given
        ]
    if detail["name"] not in ("topics", "subscriptionGroup", "consumerFilter", "exportConfigs"):
        return []
    whole, lines = store_json.parse_json(text), store_json.Lines(text)
    rows = []
    for key in ("topicConfigTable", "subscriptionGroupTable", "brokerConfigs"):
        table, start = whole.get(key), lines.find(key)
        for subject, entry in table.items() if isinstance(table, dict) else ():
            start = at = max(start, lines.find(subject, start))
            for name, value in entry.items() if isinstance(entry, dict) else (("value", entry),):
                line = lines.of(max(at, lines.find(name, at)))
                rows.append(_setting(file, line, store_json.TABLES[key], subject, name, _text(value)))
    for topic, entry in (whole.get("filterDataByTopic") or {}).items():
        for group, filtered in (entry.get("groupFilterData") or {}).items():
            line, subject = lines.of(lines.find(group, lines.find(topic))), f"{topic}@{group}"
            plain = ((name, _text(value)) for name, value in filtered.items() if not isinstance(value, dict))
            rows += [_setting(file, line, "consumerFilter", subject, *each) for each in plain]
    return [row | {"backup": detail["backup"]} for row in rows]


def _setting(file: str, *values: Any) -> dict[str, Any]:
    """Return a row of `configs`: line, origin, subject, name, value."""
    return dict(zip(CONFIGS.names, (file, *values, False), strict=True))


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def offsets(file: str, data: bytes, detail: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return the rows of `offsets` from one file. Raise `ValueError` if its JSON is damaged.

    A queue id or offset that does not fit Java's int or long is null.
    """
    if kind == "checkpoint":
        fields = zip(_CHECKPOINT, struct.unpack(">5q", data[:40]), strict=True) if len(data) >= 40 else ()
        rows: Iterable[Offset] = (("checkpoint", field, None, None, value, None) for field, value in fields if value)
    elif detail["name"] in OFFSETS:
        rows = _stored(data.decode("utf-8-sig", "replace"))
    else:
        rows = ()
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
    lines, at = store_json.Lines(text), 0
    for key, value in (store_json.parse_json(text).get("offsetTable") or {}).items():
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
