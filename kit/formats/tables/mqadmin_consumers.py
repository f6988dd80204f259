"""Lines of mqadmin's consumer commands outside tables with a head: running info files, outputs before 4.8.0, resets,
routes.

Sources: tools/command/consumer/{ConsumerStatusSubCommand,…}, tools/command/connection/ConsumerConnectionSubCommand,
common/protocol/body/ConsumerRunningInfo.formatString, tools/command/offset/ResetOffsetByTimeCommand,
tools/command/topic/TopicRouteSubCommand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

Cells = list[tuple[str, str]]

SECTION: Final = re.compile(r"^#(?P<name>Consumer [A-Za-z&]+(?: [A-Za-z&]+)?|User Consume Info)#$")
"""The titles inside a running info file."""

_PROPERTY: Final = re.compile(r"^(?P<name>[\w.]{2,80}) *: (?P<value>.*)$")
_SUBSCRIPTION: Final = re.compile(
    r"^(?:Below is subscription:)?\s*\d{3,} +Topic: (?P<topic>\S+) +(?:ClassFilter: (?P<filter>\w+) +)?SubExpression: ?(?P<expression>.*)$"
)
_CONNECTION: Final = re.compile(
    r"^\d{3,} +(?P<id>\S+) +(?P<address>\S+:\d+|\S*) +(?P<language>[A-Z]\w*) +(?P<version>[A-Z]\w+)$"
)
CONNECTED: Final = re.compile(
    r"^[ \t>|]{0,12}(?P<id>[^\s|@]+@[^\s|]+)[ \t|]+(?P<address>[^\s|]+:\d+)[ \t|]+(?P<language>[A-Z]\w*)[ \t|]+(?P<version>V\d\w+)[ \t|\r]*$"
)
"""The same as the dashboard shows it: without numbers, and whoever copied it may have put bars between the cells."""
_CLIENT: Final = re.compile(r"^\d{3,} +(?P<id>\S+) +(?P<version>[A-Z]\w+) +(?P<file>\d{10,}/\S+)$")
_DETAIL: Final = re.compile(r"^(?P<topic>\S+) +(?P<broker>\S+) +(?P<queue>-?\d+) +ProcessQueueInfo \[(?P<info>.*)\]$")
_INFO: Final = re.compile(r"(\w+)=([^,\]]*)")
_RESET: Final = re.compile(r"(?P<name>\w+(?:\(\w+\))?)\[(?P<value>[^\]]*)\]")
_RESETS: Final = ("rollback consumer offset by specified", "reset consumer offset by specified")


def headless(text: str) -> tuple[str | None, Cells] | None:
    """Return (command if the line shows it, cells) of a row without a table's head, None for any other line."""
    if found := _SUBSCRIPTION.match(text):
        return None, [("#Topic", found["topic"]), ("#SubExpression", found["expression"].strip())]
    if found := _CLIENT.match(text):
        return "consumerStatus", [
            ("#ClientId", found["id"]),
            ("#Version", found["version"]),
            ("#ConsumerRunningInfoFile", found["file"]),
        ]
    if found := _CONNECTION.match(text) or CONNECTED.match(text):
        return "consumerConnection", [
            ("#ClientId", found["id"]),
            ("#ClientAddr", found["address"]),
            ("#Language", found["language"]),
            ("#Version", found["version"]),
        ]
    if any(start in text for start in _RESETS):
        return "resetOffsetByTime", [
            (name.partition("(")[0] if name != "timestamp(long)" else name, value)
            for name, value in _RESET.findall(text)
        ]
    return None


def running_info(text: str, section: str) -> Cells | None:
    """Return the cells of a line of a running info file: empty for a line of its frame, None for the row of a table."""
    if section == "Consumer jstack":
        return []
    if section == "Consumer Properties":
        found = _PROPERTY.match(text)
        return [(found["name"], found["value"])] if found else []
    if found := _DETAIL.match(text):
        own = [("#Topic", found["topic"]), ("#Broker Name", found["broker"]), ("#QID", found["queue"])]
        return own + _INFO.findall(found["info"])
    if found := _SUBSCRIPTION.match(text):
        return [("#Topic", found["topic"]), ("#SubExpression", found["expression"].strip())]
    return None


def wide(text: str, columns: list[str]) -> Cells | None:
    """Return the cells of a row whose last column may contain blanks (a SQL92 expression, `A || B`), None for other
    tables.
    """
    if not columns or columns[-1] != "#SubExpression":
        return None
    cells = text.split(None, len(columns) - 1)
    return list(zip(columns, cells, strict=True)) if len(cells) == len(columns) else None


def routes(whole: Any) -> Iterator[Cells]:
    """Yield the rows of a route (`TopicRouteData`, printed as JSON): one per broker address, one per broker with its queues."""
    for broker in whole.get("brokerDatas") or ():
        for number, address in (broker.get("brokerAddrs") or {}).items():
            yield [
                ("#Cluster Name", str(broker.get("cluster"))),
                ("#Broker Name", str(broker.get("brokerName"))),
                ("#BID", str(number)),
                ("#Addr", str(address)),
            ]
    for queues in whole.get("queueDatas") or ():
        named = [("#Broker Name", str(queues.get("brokerName")))]
        yield named + [
            (name, str(queues[name])) for name in ("readQueueNums", "writeQueueNums", "perm") if name in queues
        ]
