"""The numba kernel that understands the prefix of one log line: its time, level, thread and logger.

No regular expression: the columns of the time are fixed, the rest is found by its separators. Slugs as in `kit.rocketmq.log_layouts`.
"""

# mypy: disable-error-code="assignment"
from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from kit.formats.logs.clock import (
    FIELDS,
    FRACTION,
    KIND,
    LEVEL0,
    LEVEL1,
    LOGGER0,
    LOGGER1,
    MESSAGE,
    MORE0,
    MORE1,
    MS,
    NO_TIME,
    NO_ZONE,
    THREAD0,
    THREAD1,
    TS0,
    TS1,
    ZONE,
    number,
    time_at,
    word,
)

__all__ = [
    "FIELDS",
    "FRACTION",
    "KIND",
    "LEVEL0",
    "LEVEL1",
    "LOGGER0",
    "LOGGER1",
    "MESSAGE",
    "MORE0",
    "MORE1",
    "MS",
    "NO_TIME",
    "NO_ZONE",
    "THREAD0",
    "THREAD1",
    "TS0",
    "TS1",
    "ZONE",
    "time_at",
]

NONE, BROKER, STATS, WATERMARK, CLIENT_4, CLIENT_5, LOGBACK, THREAD_FIRST, SPRING, LOG4J, LEVEL_ONLY, TIME_ONLY = range(
    12
)
RARE: Final = -1
"""Kind of a line not understood here although there is something like a time in it: for the regular expressions."""

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


@njit("int64(uint8[::1],int64,int64)", cache=True, nogil=True)
def _level(buf, p, e):  # type: ignore[no-untyped-def]
    """Return the length of the level that is at `p` in any case, 0 for none."""
    # A word as a number of base 32: TRACE DEBUG INFO WARN ERROR FATAL WARNING SEVERE NOTICE.
    n = 0
    key = np.int64(0)
    while p + n < e and n < 8:
        c = np.int64(buf[p + n]) & 0xDF
        if c < 65 or c > 90:
            break
        key = key * 32 + (c - 64)
        n += 1
    if p + n < e and word(buf[p + n]):
        return 0
    if key in (21562469, 4360871, 309455, 755278, 5851634, 6344748, 24748959175, 643503685, 486155365):
        return n
    return 0


@njit("int64(uint8[::1],int64,int64)", cache=True, nogil=True)
def _dotted(buf, s, e):  # type: ignore[no-untyped-def]
    """Tell (1 or 0) whether s..e looks like a Java class name with its package."""
    if e <= s or buf[s] < 97 or buf[s] > 122:
        return 0
    dots = 0
    for i in range(s, e):
        c = buf[i]
        if c == 46:
            dots += 1
            if i + 1 >= e or not (65 <= buf[i + 1] <= 90 or 97 <= buf[i + 1] <= 122):
                return 0
        elif not (word(c) or c == 36):
            return 0
    return 1 if dots else 0


@njit("int64(uint8[::1],int64,int64,int64,int64[::1])", cache=True, nogil=True)
def _broker(buf, p, e, mode, row):  # type: ignore[no-untyped-def]
    """Fill `row` for the broker's three layouts, `p` on the blank behind a time without fraction; 0 where none fits."""
    if p + 2 >= e or buf[p] != 32:
        return 0
    p += 1
    if buf[p] == 45 and buf[p + 1] == 32:
        if mode == BROKER_SIDE or (mode == ANY and p + 2 < e and buf[p + 2] == 91):
            row[MESSAGE] = p + 2
            return WATERMARK
        return 0
    n = _level(buf, p, e)
    if n == 0 or p + n + 2 >= e or buf[p + n] != 32:
        return 0
    row[LEVEL0], row[LEVEL1] = p, p + n
    p += n + 1
    if buf[p] == 45 and buf[p + 1] == 32:
        if mode == BROKER_SIDE or (mode == ANY and p + 2 < e and buf[p + 2] == 91):
            row[MESSAGE] = p + 2
            return STATS
        return 0
    if buf[p] == 32:
        return 0
    stop = min(e - 1, p + 200)
    blanks = 0
    for i in range(p, stop):
        if buf[i] != 32:
            continue
        if buf[i + 1] == 45 and (i + 2 >= e or buf[i + 2] == 32):
            if mode != BROKER_SIDE and (blanks or buf[p] == 91 or _dotted(buf, p, i)):
                return 0
            row[THREAD0], row[THREAD1] = p, i
            row[MESSAGE] = min(i + 3, e)
            return BROKER
        blanks += 1
        if blanks > 3:
            return 0
    return 0


@njit("boolean(uint8[::1],int64,int64)", cache=True, nogil=True)
def _rocketmq(buf, s, e):  # type: ignore[no-untyped-def]
    """Tell whether the logger s..e is one of the client's own: Rocketmq…, RocketMQ…, io.netty…"""
    if e - s < 8:
        return False
    if (
        buf[s] == 82
        and buf[s + 1] == 111
        and buf[s + 2] == 99
        and buf[s + 3] == 107
        and buf[s + 4] == 101
        and buf[s + 5] == 116
    ):
        return True
    return (
        buf[s] == 105
        and buf[s + 1] == 111
        and buf[s + 2] == 46
        and buf[s + 3] == 110
        and buf[s + 4] == 101
        and buf[s + 5] == 116
    )


@njit("int64(uint8[::1],int64,int64,int64,int64[::1])", cache=True, nogil=True)
def _general(buf, p, e, mode, row):  # type: ignore[no-untyped-def]
    """Fill `row` from the tokens behind the time: level, [brackets], pid, logger, up to ` - ` or ` : `."""
    start = p
    level_first = False
    spring = False
    brackets = 0
    numbered = False
    hashed = False
    fallback = np.int64(-1)
    kind = np.int64(0)
    for _ in range(14):
        while p < e and (buf[p] == 32 or buf[p] == 9 or buf[p] == 124):
            p += 1
        if p >= e:
            break
        c = buf[p]
        ends = p + 1 >= e or buf[p + 1] == 32
        if (c == 45 and ends) or (c == 58 and ends and row[LEVEL0] >= 0):
            row[MESSAGE] = min(p + 2, e)
            if row[LEVEL0] < 0:
                kind = TIME_ONLY
            elif spring:
                kind = SPRING
            elif numbered and hashed and brackets == 3 and level_first:
                kind = CLIENT_5
            elif row[THREAD0] >= 0:
                kind = LOGBACK if level_first else THREAD_FIRST
            else:
                kind = LOG4J
            return kind
        if c == 45 and p + 2 < e and buf[p + 1] == 45 and buf[p + 2] == 45:
            spring = True
            p += 3
            continue
        if c == 91:
            depth = 0
            close = np.int64(-1)
            for i in range(p, min(e, p + 300)):
                if buf[i] == 91:
                    depth += 1
                elif buf[i] == 93:
                    depth -= 1
                    if depth == 0:
                        close = i
                        break
            if close < 0:
                break
            a, b = p + 1, close
            while a < b and buf[a] == 32:
                a += 1
            while b > a and buf[b - 1] == 32:
                b -= 1
            n = _level(buf, a, b)
            if n and n == b - a and row[LEVEL0] < 0:
                row[LEVEL0], row[LEVEL1] = a, b
                level_first = row[THREAD0] < 0
                fallback = close + 1
            else:
                digits = b > a
                has_hash = False
                for i in range(a, b):
                    if buf[i] < 48 or buf[i] > 57:
                        digits = False
                    if buf[i] == 35:
                        has_hash = True
                brackets += 1
                if digits and brackets == 1:
                    numbered = True
                elif has_hash and row[THREAD0] >= 0 and row[LEVEL0] >= 0:
                    hashed = True
                    row[LOGGER0] = a
                    row[LOGGER1] = b
                    for i in range(a, b):
                        if buf[i] == 35:
                            row[LOGGER1] = i
                            break
                elif row[LOGGER0] < 0:
                    row[THREAD0], row[THREAD1] = a, b
                if row[LOGGER0] < 0:
                    fallback = close + 1
            p = close + 1
            continue
        end = p
        digits = True
        while end < e and buf[end] != 32 and buf[end] != 91 and buf[end] != 124 and end - p < 300:
            if buf[end] < 48 or buf[end] > 57:
                digits = False
            end += 1
        n = _level(buf, p, end)
        if n and row[LEVEL0] < 0 and (n == end - p or (n == end - p - 1 and buf[end - 1] == 58)):
            row[LEVEL0], row[LEVEL1] = p, p + n
            level_first = row[THREAD0] < 0
            fallback = end
        elif digits and row[LOGGER0] < 0:
            numbered = True
        elif row[LOGGER0] < 0 and end > p:
            if buf[end - 1] == 58 and row[LEVEL0] >= 0 and (row[THREAD0] >= 0 or _dotted(buf, p, end - 1)):
                row[LOGGER0], row[LOGGER1] = p, end - 1
                row[MESSAGE] = min(end + 1, e)
                if spring:
                    return SPRING
                if row[THREAD0] >= 0:
                    return LOGBACK if level_first else THREAD_FIRST
                return LOG4J
            row[LOGGER0], row[LOGGER1] = p, end
        else:
            break
        p = end
    row[LOGGER0] = row[LOGGER1] = -1
    p = fallback if fallback >= 0 else start
    if p < e and (buf[p] == 32 or buf[p] == 9):
        p += 1
    while p < e and buf[p] == 32:
        p += 1
    row[MESSAGE] = p
    return LEVEL_ONLY if row[LEVEL0] >= 0 else TIME_ONLY


@njit("boolean(uint8[::1],int64,int64)", cache=True, nogil=True)
def in_trace(buf, p, e):  # type: ignore[no-untyped-def]
    """Tell whether p..e is a line of a Java stack trace: `at …`, `... 12 more`, `Caused by: …`."""
    while p < e and (buf[p] == 32 or buf[p] == 9):
        p += 1
    if e - p < 4:
        return False
    if buf[p] == 97 and buf[p + 1] == 116 and buf[p + 2] == 32:
        return True
    if buf[p] == 46 and buf[p + 1] == 46 and buf[p + 2] == 46 and buf[p + 3] == 32:
        return True
    if e - p <= 10 or buf[p] != 67 or buf[p + 6] != 32:
        return False
    return buf[p + 1] == 97 and buf[p + 2] == 117 and buf[p + 3] == 115 and buf[p + 4] == 101 and buf[p + 5] == 100


@njit("int64(uint8[::1],int64,int64,boolean)", cache=True, nogil=True)
def _rare(buf, p, e, indented):  # type: ignore[no-untyped-def]
    """Return `RARE` where the line has a time of day near its start or is a JSON object, else `NONE`."""
    if p >= e or in_trace(buf, p, e):
        return NONE
    if buf[p] == 123:
        return RARE if e - p > 12 and buf[p + 1] == 34 else NONE
    if indented:
        return NONE
    for i in range(p, min(e - 4, p + 120)):
        if buf[i + 2] == 58 and number(buf, i, 2) >= 0 and number(buf, i + 3, 2) >= 0:
            return RARE
    return NONE


@njit("int64(uint8[::1],int64,int64,int64,int64[::1])", cache=True, nogil=True)
def prefix(buf, s, e, mode, row):  # type: ignore[no-untyped-def]
    """Fill `row` with the fields of the line s..e and return its kind, `NONE` where it starts no entry, `RARE` where others should look."""
    row[:] = -1
    row[KIND] = NONE
    e = min(e, s + HEAD)
    p = s
    if e - p >= 3 and buf[p] == 0xEF and buf[p + 1] == 0xBB and buf[p + 2] == 0xBF:
        p += 3
    # Quoted or indented by whoever pasted it.
    while p < e and p - s < 24 and (buf[p] == 32 or buf[p] == 9 or buf[p] == 62 or buf[p] == 124 or buf[p] == 96):
        p += 1
    bracket = p < e and buf[p] == 91
    t = p + 1 if bracket else p
    q = time_at(buf, t, e, row)
    if q < 0:
        row[TS0] = row[TS1] = -1
        row[KIND] = _rare(buf, p, e, p > s)
        return row[KIND]
    # A time put in front by a container runtime: the entry's own time follows.
    for _ in range(2):
        r = q
        if (
            row[ZONE] == 0
            and r + 10 < e
            and buf[r] == 32
            and (buf[r + 1] == 115)
            and buf[r + 2] == 116
            and buf[r + 3] == 100
        ):
            # "stdout F " / "stderr P "
            r += 9
        if r + 20 < e and buf[r] == 32 and 48 < buf[r + 1] < 51:
            inner = time_at(buf, r + 1, e, row)
            if inner < 0:
                inner = q
                time_at(buf, t, e, row)
                if r != q:
                    q = r
                break
            t = r + 1
            q = inner
        else:
            q = r
            break
    if bracket and q < e and buf[q] == 93:
        q += 1
    kind = np.int64(0)
    if (
        not bracket
        and row[FRACTION] < 0
        and row[ZONE] == NO_ZONE
        and buf[t + 10] == 32
        and buf[t + 4] == 45
        and mode != APP
        and mode != CLIENT
    ):
        kind = _broker(buf, q, e, mode, row)
        if kind == 0:
            row[LEVEL0] = row[LEVEL1] = -1
    if kind == 0:
        kind = _general(buf, q, e, mode, row)
        if (
            kind == LOG4J
            and row[FRACTION] >= 0
            and buf[row[TS0] + 19] == 44
            and (mode == CLIENT or _rocketmq(buf, row[LOGGER0], row[LOGGER1]))
        ):
            kind = CLIENT_4
        if kind == TIME_ONLY and in_trace(buf, row[MESSAGE], e):
            # A stack trace behind a runtime's time belongs to the entry above.
            row[KIND] = NONE
            return NONE
    row[KIND] = kind
    return kind


@njit("void(uint8[::1],int64[::1],int64[::1],int64,int64[:,::1])", cache=True, nogil=True)
def classify(buf, starts, ends, mode, rows):  # type: ignore[no-untyped-def]
    """Fill one row of fields for each line."""
    for i in range(starts.size):
        prefix(buf, starts[i], ends[i], mode, rows[i])
