"""The numba kernels that recognise single words of a log line: numbers, levels, names of classes, lines of stack traces."""

# mypy: disable-error-code="assignment"
from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

KERNEL: Final[dict[str, Any]] = {"cache": True, "nogil": True, "_nrt": False}
"""Options of a kernel that makes no array: those it hands on to others are not counted, which took most of its time."""


@njit("int64(uint8[::1],int64,int64)", **KERNEL)
def number(buf, p, n):  # type: ignore[no-untyped-def]
    """Return the number of `n` digits at `p`, -1 if any of them is not a digit."""
    value = 0
    for i in range(p, p + n):
        d = np.int64(buf[i]) - 48
        if d < 0 or d > 9:
            return -1
        value = value * 10 + d
    return value


@njit("boolean(uint8)", **KERNEL)
def word(c):  # type: ignore[no-untyped-def]
    """Return whether `c` can be in a word (ASCII letter, digit or `_`)."""
    return (48 <= c <= 57) or (65 <= c <= 90) or (97 <= c <= 122) or c == 95


@njit("int64(uint8[::1],int64,int64)", **KERNEL)
def level(buf, p, e):  # type: ignore[no-untyped-def]
    """Return the length of the level at `p`, upper or lower case; 0 if no level is there."""
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


@njit("int64(uint8[::1],int64,int64)", **KERNEL)
def dotted(buf, s, e):  # type: ignore[no-untyped-def]
    """Return (1 or 0) whether s..e looks like a Java class name with its package."""
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


@njit("boolean(uint8[::1],int64,int64)", **KERNEL)
def clients_logger(buf, s, e):  # type: ignore[no-untyped-def]
    """Return whether the logger s..e is one of the client's own: Rocketmq…, RocketMQ…, io.netty…"""
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


@njit("boolean(uint8[::1],int64,int64)", **KERNEL)
def in_trace(buf, p, e):  # type: ignore[no-untyped-def]
    """Return whether p..e is a line of a Java stack trace: `at …`, `... 12 more`, `Caused by: …`."""
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
