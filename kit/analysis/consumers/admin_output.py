"""mqadmin output about consumers: its rows, and the running info of each client (consumerStatus -s)."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, Final

from kit.formats.values import real
from kit.tables.facts import Facts, memo

_OF_QUEUE: Final = ("#Topic", "#Broker Name", "#QID")
_EPOCH: Final = re.compile(r"(?:^|/)(1[4-9]\d{11})/[^/]+$")


@memo
def admin_blocks(facts: Facts) -> list[dict[str, Any]]:
    """Return the rows of mqadmin outputs as dicts: their cells and `file`, `line`, `time`, `command`, and the command's
    arguments as `-g`, `-t`, …

    brokerConsumeStats prints all groups of a broker: its rows are returned like those of consumerProgress for one
    group.
    """
    blocks: dict[tuple[str, int, str | None], dict[str, Any]] = {}
    arguments: dict[str, dict[str, str]] = {}
    call: dict[str, int] = {}
    for row in facts.rows("admin_cells"):
        file, name = row["file"], row["name"] or ""
        if name.startswith("argument:"):
            if call.get(file) != row["line"]:
                call[file], arguments[file] = row["line"], {}
            arguments[file][name.removeprefix("argument:")] = row["value"]
            continue
        place = {each: row[each] for each in ("file", "line", "time", "command")}
        key = (file, row["block"] or -row["line"], row["command"])
        block = blocks.setdefault(key, {**arguments.get(file, {}), **place})
        block[name] = row["value"]
    for block in blocks.values():
        if block["command"] == "brokerConsumeStats" and "#Group" in block:
            block.update({"command": "consumerProgress", "-g": block.pop("#Group")})
    # A row that was cut says of no queue where its consumer is.
    return [b for b in blocks.values() if "#Consumer Offset" not in b or all(b.get(name) for name in _OF_QUEUE)]


@memo
def running(facts: Facts) -> list[dict[str, Any]]:
    """Return the running info files (consumerStatus -s): {"file", "time", "client_id", "group", "properties", "subscriptions", "queues"}.

    `subscriptions`: {topic: (expression, line)}; `queues`: rows with topic, broker, queue_id, line and the fields of ProcessQueueInfo;
    `rt`: {topic: (ms per message, line)} as the listener took them.
    """
    found: dict[str, dict[str, Any]] = {}
    for block in admin_blocks(facts):
        if block["command"] != "consumerRunningInfo":
            continue
        file = block["file"]
        client = file.rpartition("/")[2] if facts.files.get(file) else ""
        info = found.setdefault(file, {
            "file": file, "time": _printed(file) or block["time"], "client_id": client, "group": "", "properties": {}, "subscriptions": {},
            "queues": [], "rt": {},
        })  # fmt: skip
        if "#SubExpression" in block and "#Topic" in block:
            info["subscriptions"][block["#Topic"]] = (block["#SubExpression"], block["line"])
        elif "commitOffset" in block:
            info["queues"] += [block] if all(block.get(name) for name in _OF_QUEUE) else []
        elif "#Consume RT" in block and "#Topic" in block:
            if (rt := real(block["#Consume RT"])) is not None:
                info["rt"][block["#Topic"]] = (rt, block["line"])
        elif "#Consumer Offset" in block:
            info.setdefault("offsets", []).append(block)
        else:
            own = {name: value for name, value in block.items() if name not in ("file", "line", "time", "command")}
            info["properties"].update(own)
            info["group"] = info["properties"].get("consumerGroup", info["group"])
    return sorted(found.values(), key=lambda i: (str(i["time"]), i["file"]))


def _printed(file: str) -> dt.datetime | None:
    """Return the time in the folder's name: consumerStatus writes its files below the milliseconds of the call."""
    found = _EPOCH.search(file)
    return None if found is None else dt.datetime.fromtimestamp(int(found[1]) / 1000, dt.UTC).replace(tzinfo=None)


def naive(time: dt.datetime | None) -> dt.datetime | None:
    """Return a time in UTC without its zone, as Spark's frames have them."""
    return None if time is None else time.astimezone(dt.UTC).replace(tzinfo=None)
