"""The numba kernel that reads a printed date and time into a row of fields."""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np
from numba import njit

from kit.formats.logs.fields import FRACTION, MS, NO_ZONE, TS0, TS1, ZONE
from kit.formats.logs.words import KERNEL, number, word


@njit("int64(int64,int64,int64)", **KERNEL)
def days(y, m, d):  # type: ignore[no-untyped-def]
    """Return the days since 1970-01-01 of a date (proleptic Gregorian)."""
    y -= m <= 2
    era = y // 400
    yoe = y - era * 400
    doy = (153 * (m + (-3 if m > 2 else 9)) + 2) // 5 + d - 1
    return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468


@njit("int64(uint8[::1],int64,int64,int64[::1])", **KERNEL)
def time_at(buf, s, e, row):  # type: ignore[no-untyped-def]
    """Read a full date and time at `s` into `row`; return where it ends, -1 if absent."""
    if e - s < 19 or buf[s] < 49 or buf[s] > 50:
        return -1
    sep = buf[s + 4]
    if (sep != 45 and sep != 47 and sep != 46) or buf[s + 7] != sep or buf[s + 13] != 58 or buf[s + 16] != 58:
        return -1
    if buf[s + 10] != 32 and buf[s + 10] != 84:
        return -1
    year, month, day = number(buf, s, 4), number(buf, s + 5, 2), number(buf, s + 8, 2)
    hour, minute, second = number(buf, s + 11, 2), number(buf, s + 14, 2), number(buf, s + 17, 2)
    if (
        year < 0
        or month < 1
        or month > 12
        or day < 1
        or day > 31
        or hour < 0
        or hour > 23
        or minute < 0
        or minute > 59
        or second < 0
        or second > 60
    ):
        return -1
    ms = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60000 + second * 1000
    p = s + 19
    fraction = np.int64(-1)
    if p + 1 < e and (buf[p] == 44 or buf[p] == 46 or buf[p] == 58) and 48 <= buf[p + 1] <= 57:
        p += 1
        digits = 0
        fraction = 0
        while p < e and 48 <= buf[p] <= 57 and digits < 9:
            if digits < 3:
                fraction = fraction * 10 + (np.int64(buf[p]) - 48)
            digits += 1
            p += 1
        while digits < 3:
            fraction *= 10
            digits += 1
    zone = np.int64(NO_ZONE)
    q = p + 1 if p + 5 < e and buf[p] == 32 and (buf[p + 1] == 43 or buf[p + 1] == 45) else p
    if q < e and buf[q] == 90 and (q + 1 == e or not word(buf[q + 1])):
        zone = 0
        p = q + 1
    elif q + 4 < e and (buf[q] == 43 or buf[q] == 45):
        colon = 1 if buf[q + 3] == 58 else 0
        if q + 4 + colon < e + 0:
            h, m = number(buf, q + 1, 2), number(buf, q + 3 + colon, 2)
            end = q + 5 + colon
            if 0 <= h <= 18 and 0 <= m < 60 and end <= e and (end == e or not word(buf[end])):
                zone = (h * 60 + m) * (1 if buf[q] == 43 else -1)
                p = end
    row[TS0] = s
    row[TS1] = p
    row[MS] = ms + (fraction if fraction > 0 else 0)
    row[ZONE] = zone
    row[FRACTION] = fraction
    return p
