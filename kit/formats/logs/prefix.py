"""The numba kernel that parses the prefix of one log line: its time, level, thread and logger.

No regular expression: the columns of the time are fixed, the rest is found by its separators.
"""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np
from numba import njit

from kit.formats.logs.clock import time_at
from kit.formats.logs.fields import (
    ANY,
    APP,
    BROKER,
    BROKER_SIDE,
    CLIENT,
    CLIENT_4,
    CLIENT_5,
    FIELDS,
    FRACTION,
    HEAD,
    KIND,
    LEVEL0,
    LEVEL1,
    LEVEL_ONLY,
    LOG4J,
    LOGBACK,
    LOGGER0,
    LOGGER1,
    MESSAGE,
    NO_ZONE,
    NONE,
    RARE,
    SPRING,
    STATS,
    THREAD0,
    THREAD1,
    THREAD_FIRST,
    TIME_ONLY,
    TS0,
    TS1,
    WATERMARK,
    ZONE,
)
from kit.formats.logs.words import KERNEL, clients_logger, dotted, in_trace, level, number


@njit("int64(uint8[::1],int64,int64,int64,int64[::1])", **KERNEL)
def _broker(buf, p, e, mode, row):  # type: ignore[no-untyped-def]
    """Fill `row` for the broker's three layouts, `p` on the blank after a time without a fraction; return 0 if none
    fits.
    """
    if p + 2 >= e or buf[p] != 32:
        return 0
    p += 1
    if buf[p] == 45 and buf[p + 1] == 32:
        if mode == BROKER_SIDE or (mode == ANY and p + 2 < e and buf[p + 2] == 91):
            row[MESSAGE] = p + 2
            return WATERMARK
        return 0
    n = level(buf, p, e)
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
            if mode != BROKER_SIDE and (blanks or buf[p] == 91 or dotted(buf, p, i)):
                return 0
            row[THREAD0], row[THREAD1] = p, i
            row[MESSAGE] = min(i + 3, e)
            return BROKER
        blanks += 1
        if blanks > 3:
            return 0
    return 0


@njit("int64(uint8[::1],int64,int64,int64,int64[::1])", **KERNEL)
def _general(buf, p, e, mode, row):  # type: ignore[no-untyped-def]
    """Fill `row` from the tokens after the time: level, [brackets], pid, logger, up to ` - ` or ` : `."""
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
            n = level(buf, a, b)
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
        n = level(buf, p, end)
        if n and row[LEVEL0] < 0 and (n == end - p or (n == end - p - 1 and buf[end - 1] == 58)):
            row[LEVEL0], row[LEVEL1] = p, p + n
            level_first = row[THREAD0] < 0
            fallback = end
        elif digits and row[LOGGER0] < 0:
            numbered = True
        elif row[LOGGER0] < 0 and end > p:
            if buf[end - 1] == 58 and row[LEVEL0] >= 0 and (row[THREAD0] >= 0 or dotted(buf, p, end - 1)):
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


@njit("int64(uint8[::1],int64,int64,boolean)", **KERNEL)
def _rare(buf, p, e, indented):  # type: ignore[no-untyped-def]
    """Return `RARE` if the line has a time of day near its start or is a JSON object, else `NONE`."""
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


@njit("int64(uint8[::1],int64,int64,int64,int64[::1])", **KERNEL)
def prefix(buf, s, e, mode, row):  # type: ignore[no-untyped-def]
    """Fill `row` with the fields of the line s..e and return its kind: `NONE` if it starts no entry, `RARE` if
    `fallback_layouts` should look at it.
    """
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
            and (mode == CLIENT or clients_logger(buf, row[LOGGER0], row[LOGGER1]))
        ):
            kind = CLIENT_4
        if kind == TIME_ONLY and in_trace(buf, row[MESSAGE], e):
            # A stack trace behind a runtime's time belongs to the entry above.
            row[KIND] = NONE
            return NONE
    row[KIND] = kind
    return kind


@njit("void(uint8[::1],int64[::1],int64[::1],int64,int64[:,::1])", cache=True, nogil=True)
def _classify(buf, starts, ends, mode, columns):  # type: ignore[no-untyped-def]
    row = np.empty(FIELDS, np.int64)
    for i in range(starts.size):
        prefix(buf, starts[i], ends[i], mode, row)
        for field in range(FIELDS):
            columns[field, i] = row[field]


def classify(buf: np.ndarray, starts: np.ndarray, ends: np.ndarray, mode: int) -> np.ndarray:
    """Return a row of fields for each line, stored column by column: callers use one field of all lines at a time."""
    columns = np.empty((FIELDS, starts.size), np.int64)
    _classify(buf, starts, ends, mode, columns)
    return columns.T
