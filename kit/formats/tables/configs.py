"""broker.conf, the JSON files of store/config, and the checkpoint file → tables `configs` and `offsets`.

Values are as the broker reads them: `java.util.Properties` keeps a comment or a blank behind a value as part of it.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

import pyarrow as pa

from kit.formats.tables import store_json
from kit.formats.values import integer
from kit.rocketmq.parameters import BROKER_SETTINGS

CONFIGS: Final = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int32()),
        ("origin", pa.string()),
        ("subject", pa.string()),
        ("name", pa.string()),
        ("value", pa.string()),
        ("backup", pa.bool_()),
    ]
)
"""`origin`: broker.conf, topics, subscriptionGroup, …; `subject`: the topic or group, null for the broker itself; `backup`: from a .bak."""

OFFSETS: Final = pa.schema(
    [
        ("file", pa.string()),
        ("kind", pa.string()),
        ("topic", pa.string()),
        ("group", pa.string()),
        ("queue_id", pa.int32()),
        ("value", pa.int64()),
        ("backup", pa.bool_()),
        ("line", pa.int32()),
        ("time", pa.timestamp("us", "UTC")),
    ]
)
"""`kind` consumer: next offset of a group in a queue · local: the same, as a broadcasting client keeps it for itself ·
delay: next offset of a level (`queue_id` = level − 1) · checkpoint: `topic` = field, ms or bytes. `line`: where it is written, null in the
checkpoint; `time`: when the file was last changed, as its folder or archive says: that of a copy made with its times kept."""


_CHECKPOINT: Final = (
    "physicMsgTimestamp",
    "logicsMsgTimestamp",
    "indexMsgTimestamp",
    "masterFlushedOffset",
    "confirmPhyOffset",
)
_PAGE: Final = 4096


def sniff(head: bytes, file: str = "", size: int | None = None) -> dict[str, Any] | None:
    """Recognise store JSON ("name", "backup"), broker.conf or the checkpoint file by the first bytes; None for anything
    else.
    """
    found = _sniff_checkpoint(head, size)
    if found:
        return found
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
    """Yield (line, name, value) as `java.util.Properties.load` does: nothing after the separator's blanks is dropped."""
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
        found = re.match(r"((?:\\.|[^\\=:\s])*)[ \t\f]*[=:]?[ \t\f]*(.*)$", joined, re.DOTALL)
        if found and found[1]:
            yield start, _unescape(found[1]), _unescape(found[2])


def _unescape(text: str) -> str:
    plain = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
    return re.sub(
        r"\\(u[0-9a-fA-F]{4}|.)", lambda m: chr(int(m[1][1:], 16)) if len(m[1]) == 5 else plain.get(m[1], m[1]), text
    )


def configs(file: str, data: bytes, detail: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return the rows of `configs` from one file. Raise `ValueError` if its JSON is damaged."""
    text = data.decode("utf-8-sig", "replace")
    if kind == "broker_conf":
        return [
            _config(file, line, "broker.conf", None, name, value, store_json.is_backup(file))
            for line, name, value in properties(text)
        ]
    if kind == "text":
        known = [found for found in properties(text) if found[1] in BROKER_SETTINGS]
        return [_config(file, line, "broker.conf", None, name, value, False) for line, name, value in known]
    origin, backup = detail["name"], detail["backup"]
    if origin not in ("topics", "subscriptionGroup", "consumerFilter", "exportConfigs"):
        return []
    whole, lines = store_json.parse_json(text), store_json.Lines(text)
    rows: list[dict[str, Any]] = []
    for key, name in (
        ("topicConfigTable", "topics"),
        ("subscriptionGroupTable", "subscriptionGroup"),
        ("brokerConfigs", "exportConfigs"),
    ):
        table = whole.get(key)
        start = lines.find(key)
        for subject, entry in table.items() if isinstance(table, dict) else ():
            start = at = max(start, lines.find(subject, start))
            for attribute, value in entry.items() if isinstance(entry, dict) else (("value", entry),):
                line = lines.of(max(at, lines.find(attribute, at)))
                rows.append(_config(file, line, name, subject, attribute, _text(value), backup))
    for topic, entry in (whole.get("filterDataByTopic") or {}).items():
        for group, filtered in (entry.get("groupFilterData") or {}).items():
            at = lines.of(lines.find(group, lines.find(topic)))
            rows += [
                _config(file, at, origin, f"{topic}@{group}", n, _text(v), backup)
                for n, v in filtered.items()
                if not isinstance(v, dict)
            ]
    return rows


def _config(
    file: str, line: int, origin: str, subject: str | None, name: str, value: str | None, backup: bool
) -> dict[str, Any]:
    return dict(zip(CONFIGS.names, (file, line, origin, subject, name, value, backup), strict=True))


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def offsets(file: str, data: bytes, detail: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return the rows of `offsets` from one file. Raise `ValueError` if its JSON is damaged.

    A queue id or offset that does not fit Java's int or long is null.
    """
    if kind == "checkpoint":
        if len(data) < 40:
            return []
        values = struct.unpack(">5q", data[:40])
        return [
            _offset(file, "checkpoint", field, None, None, value, False)
            for field, value in zip(_CHECKPOINT, values, strict=True)
            if value
        ]
    name, backup = detail["name"], detail["backup"]
    text = data.decode("utf-8-sig", "replace")
    if name == "localOffset":
        return list(_local_offsets(file, text, backup))
    if name not in ("consumerOffset", "delayOffset", "lmqConsumerOffset"):
        return []
    table, lines, at = store_json.parse_json(text).get("offsetTable") or {}, store_json.Lines(text), 0
    rows = []
    for key, value in table.items():
        at = max(at, lines.find(key, at))
        line = lines.of(at)
        if isinstance(value, dict):
            topic, _, group = key.partition("@")
            rows += [
                _offset(file, "consumer", topic, group, integer(queue, 32), integer(offset), backup, line)
                for queue, offset in value.items()
            ]
        elif "@" in key:  # lmqConsumerOffset: one queue each
            topic, _, group = key.partition("@")
            rows.append(_offset(file, "consumer", topic, group, 0, integer(value), backup, line))
        else:
            level = integer(key, 32)
            queue_id = None if level is None else level - 1
            rows.append(_offset(file, "delay", "SCHEDULE_TOPIC_XXXX", None, queue_id, integer(value), backup, line))
    return rows


def _local_offsets(file: str, text: str, backup: bool) -> Iterator[dict[str, Any]]:
    """Yield the offsets that a broadcasting client stores itself: `…/.rocketmq_offsets/CLIENT ID/GROUP/offsets.json`
    (client/consumer/store/LocalFileOffsetStore).
    """
    group = PurePosixPath(file).parent.name or None
    lines, at = store_json.Lines(text), 0
    for key, value in (store_json.parse_json(text).get("offsetTable") or {}).items():
        queue = store_json.parse_json(key)
        at = max(at, text.find(key, at), text.find(json.dumps(key), at))
        yield _offset(
            file,
            "local",
            queue.get("topic"),
            group,
            integer(queue.get("queueId"), 32),
            integer(value),
            backup,
            lines.of(at),
        )


def _offset(
    file: str,
    kind: str,
    topic: str,
    group: str | None,
    queue: int | None,
    value: int | None,
    backup: bool,
    line: int | None = None,
) -> dict[str, Any]:
    return dict(zip(OFFSETS.names[:-1], (file, kind, topic, group, queue, value, backup, line), strict=True))


DUMPED: Final = r"^[a-z]\w{2,60}=[^ ]?"
"""A line of the settings that broker.log begins with (`MixAll.printObjectProperties`)."""

_TITLE: Final = re.compile(r"=+\s*(?:Master: |My Master: )?([\w.:\[\]-]+:\d+)?=*")
_SETTING: Final = re.compile(r"(\w+) +=  ?(.*)$")


def broker_config_output(file: str, text: str) -> Iterator[dict[str, Any]]:
    """Yield the settings in the output of `mqadmin getBrokerConfig` (`%-50s=  %s` below a title with the broker's address)."""
    subject = None
    for line, raw in enumerate(text.split("\n"), 1):
        content = raw.rstrip("\r")
        if content.startswith("===="):
            title = _TITLE.match(content)
            subject = title[1] if title else None
        elif len(content) > 50 and (found := _SETTING.match(content)) and content[50:51] in ("=", " "):
            yield _config(file, line, "getBrokerConfig", subject, found[1], found[2], False)
