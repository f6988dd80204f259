"""Log layouts and the sources of logs: rows of `facts/layouts.yaml` and `facts/log_sources.yaml`."""

import re
from typing import Final, Literal

import msgspec

from kit import data

Files = Literal["broker", "client", "app", "text"]


class Layout(data.Row, frozen=True):
    layout: str
    line: str
    example: str
    source: str
    of: Literal["broker", "client", "app"] = "app"
    regex: str = ""
    files: tuple[Files, ...] = ("broker", "client", "app", "text")
    zone: Literal["GMT+8", "floating"] = "floating"
    fraction: Literal["ms", "none", "seconds twice"] = "ms"
    otherwise: str | None = None
    time: tuple[str, ...] = ()
    members: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    outside: bool = True
    entry: bool = True


LAYOUTS: Final = data.read("rocketmq/facts/layouts.yaml", tuple[Layout, ...])
SLUGS: Final = tuple(dict.fromkeys(row.layout for row in LAYOUTS))
OF: Final = {row.layout: row.of for row in LAYOUTS}
"""Whose each layout is."""
SOURCES: Final = data.read("rocketmq/facts/log_sources.yaml", dict[str, tuple[str, ...]])
"""The log of each broker-side logger, and what is typical of it (reference §8.1, §8.2)."""
BROKER_SIDE: Final = tuple(SOURCES)
"""Sources written by the broker's (or name server's) own loggers."""

NAME_OF_SOURCE: Final = re.compile(
    rf"(?:^|[/!\\._-])({'|'.join(sorted(BROKER_SIDE, key=len, reverse=True))})(?:[._-]\d+)?\.log", re.IGNORECASE
)
NAME_OF_CLIENT: Final = re.compile(r"rocketmq_client|client.*\.log", re.IGNORECASE)
NAME_OF_LOG: Final = re.compile(r"\.log(?:[._-]?\d[\w.-]*|\.gz)?$", re.IGNORECASE)
"""The name of a log, or of one of its rolled files."""
FILES_OF: Final[dict[str, Files]] = {**dict.fromkeys(BROKER_SIDE, "broker"), "client": "client", "app": "app"}
"""Whose layouts hold in a file of a source; `text` where nothing is known of it."""
