"""mqadmin output about consumers: its rows, and the running info of each client (consumerStatus -s)."""

from __future__ import annotations

import datetime as dt
import re
from itertools import groupby
from typing import Any, Final

from kit.formats.values import integer, real
from kit.tables.facts import Facts, memo

_OF_QUEUE: Final = ("#Topic", "#Broker Name", "#QID")
_TABLES: Final = ("#SubExpression", "commitOffset", "#Consume RT", "#Consumer Offset")
"""The column that each table of a running info file has of its own."""
_CLIENT: Final = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}@.+?(?=\.txt$|$)")
_EPOCH: Final = re.compile(r"(?:^|/)(1[4-9]\d{11})/[^/]+$")
Block = dict[str, Any]


@memo
def admin_blocks(facts: Facts) -> list[Block]:
    """Return the rows of mqadmin outputs as dicts: their cells and `file`, `line`, `time`, `command`, and the command's
    arguments as `-g`, `-t`, … Offsets of groups are in the table `admin_queues`.
    """
    place = ("file", "line", "time", "command")
    return [
        dict(row["arguments"] or ()) | {name: row[name] for name in place} | dict(row["cells"])
        for row in facts.rows("admin_blocks")
    ]


def blocks_of(facts: Facts, command: str) -> list[Block]:
    """Return those of one command."""
    return [block for block in admin_blocks(facts) if block["command"] == command]


def client_of(file: str) -> str:
    """Return the client id that consumerStatus named a file after, whatever a copy put in front; else its name."""
    name = file.rpartition("/")[2]
    named = _CLIENT.search(name)
    return named[0] if named else name


@memo
def running(facts: Facts) -> list[Block]:
    """Return the running info files (consumerStatus -s): file, time, client_id, group, properties, and of their tables

    `subscriptions` {topic: (expression, line)}, `queues` (rows with the fields of ProcessQueueInfo, `queue`, the
    one it is about, and `cached`, the messages in it), `rt` {topic: (ms per message, line)}, as the listener took them.
    """
    infos = []
    for file, group in groupby(blocks_of(facts, "consumerRunningInfo"), lambda block: block["file"]):
        rows: dict[str | None, list[Block]] = {}
        for block in group:
            rows.setdefault(next((name for name in _TABLES if name in block), None), []).append(block)
        subscribed = rows.get("#SubExpression", ())
        properties = {name: value for block in rows.get(None, ()) for name, value in block.items()}
        times = {b.get("#Topic"): (real(b["#Consume RT"]), b["line"]) for b in rows.get("#Consume RT", ())}
        # consumerStatus writes its files below the milliseconds of the call.
        at = _EPOCH.search(file)
        called = at and dt.datetime.fromtimestamp(int(at[1]) / 1000, dt.UTC).replace(tzinfo=None)
        infos.append({
            "file": file, "time": called or next(iter(rows.values()))[0]["time"],
            "client_id": client_of(file) if facts.files.get(file) else "",
            "group": properties.get("consumerGroup", ""), "properties": properties,
            "subscriptions": {b["#Topic"]: (b["#SubExpression"], b["line"]) for b in subscribed if "#Topic" in b},
            "queues": [
                b | {
                    "queue": (b["#Topic"], b["#Broker Name"], integer(b["#QID"])),
                    "cached": integer(b.get("cachedMsgCount")) or 0,
                }
                for b in rows.get("commitOffset", ()) if all(b.get(name) for name in _OF_QUEUE)
            ],
            "rt": {topic: time for topic, time in times.items() if topic and time[0] is not None},
        })  # fmt: skip
    return sorted(infos, key=lambda i: (str(i["time"]), i["file"]))
