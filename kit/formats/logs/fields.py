"""The fields that a kernel reads from the prefix of one log line, and the kinds of lines. Slugs as in
`kit.rocketmq.log_layouts`.
"""

from __future__ import annotations

from typing import Final

KIND, TS0, TS1, MS, ZONE, FRACTION, LEVEL0, LEVEL1, THREAD0, THREAD1, LOGGER0, LOGGER1, MESSAGE, MORE0, MORE1 = range(
    15
)
"""Columns of a row of fields. `MS` is local time since 1970 in ms, `FRACTION` the ms printed (-1: none), `ZONE` minutes
east (`NO_ZONE`: none printed); `MORE0`..`MORE1` are bytes that belong before the folded lines (the stack trace inside a
JSON entry). Byte positions are -1 where there is nothing."""
FIELDS: Final = 15
NO_ZONE: Final = 9999
NO_TIME: Final = -(2**62)

NONE, BROKER, STATS, WATERMARK, CLIENT_4, CLIENT_5, LOGBACK, THREAD_FIRST, SPRING, LOG4J, LEVEL_ONLY, TIME_ONLY = range(
    12
)
RARE: Final = -1
"""Kind of a line the kernel does not understand although there is something like a time in it: for the regular expressions."""

APP, ANY, BROKER_SIDE, CLIENT = -1, 0, 1, 2
"""What the file is known to be: decides where two layouts look the same."""

HEAD: Final = 4096
"""No prefix is looked for behind so many bytes of a line."""

JSON, NO_DATE, LEVEL_FIRST, SHORT_YEAR, SYSLOG, CHAT, MQADMIN = range(12, 19)
"""Kinds that only `kit.formats.logs.fallback_layouts` gives."""

_KINDS: Final = (
    "unknown",
    "broker",
    "stats",
    "watermark",
    "client-4.8",
    "client-5",
    "logback",
    "logback-thread-first",
    "spring-boot",
    "log4j",
    "level-only",
    "time-only",
    "json",
    "no-date",
    "level-first",
    "short-year",
    "syslog",
    "chat",
    "mqadmin",
)
SLUG_OF_KIND: Final = dict(enumerate(_KINDS))
