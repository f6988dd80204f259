"""The times that outputs print, and the lines with nothing but a time that scripts put in front of them."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from kit.formats.logs.entries import instants
from kit.formats.logs.fallback_layouts import when
from kit.formats.logs.fields import NO_ZONE
from kit.formats.printed_times import MONTHS
from kit.formats.values import instant

DATE_TIME: Final = re.compile(
    r"^(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})[ T,]+(\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?)(?: ([AP]M))?(Z|[+-]\d\d:?\d\d)?$"
)
_DAY: Final = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +"
_MONTH: Final = rf"(?P<month>{'|'.join(MONTHS)})"
_REST: Final = r"(?P<clock>\d\d:\d\d:\d\d)(?: (?P<half>[AP]M))?(?: (?P<zone>[A-Z]{2,5}|[+-]\d\d(?:\d\d)?))?"
_DATE: Final = (
    re.compile(rf"^{_DAY}{_MONTH} +(?P<day>\d{{1,2}}) {_REST} (?P<year>\d{{4}})$"),
    re.compile(rf"^{_DAY}(?P<day>\d{{1,2}}) {_MONTH} (?P<year>\d{{4}}) {_REST}$"),
)
"""What `date` prints in the locales C and en."""
_ALONE: Final = re.compile(
    r"^[\s=#*>\[(-]{0,40}(?P<iso>\d{4}[-/]\d\d[-/]\d\d[ T_]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)[\s=#*<\])-]{0,40}$"
)


def time_of(line: str) -> str | None:
    """Return the time in a line that holds nothing else: of `date`, or between dashes."""
    line = line.strip()
    if alone := _ALONE.match(line):
        return alone["iso"].replace("_", " ")
    return line if any(rule.match(line) for rule in _DATE) else None


def with_date(clock: str, before: str | None) -> str:
    """Return a time of day with the date of the time that was printed before it."""
    found = before and (DATE_TIME.match(before) or _named(before))
    if not found:
        return clock
    date = found if isinstance(found, str) else found[1]
    return f"{date.partition(' ')[0]} {clock}"


def moment(text: str, zone: str | int | None) -> int | None:
    """Return a printed date and time as ms since 1970 UTC, None if it is incomplete."""
    text = text.strip()
    if text.isdecimal() and len(text) in (10, 13):
        return instant(int(text) * (1000 if len(text) == 10 else 1))
    found = DATE_TIME.match(_named(text) or text)
    if not found:
        return None
    date, clock, half, offset = found.groups()
    parts = re.split(r"[-/.]", date)
    if len(parts[0]) == 4:
        year, month, day = parts
    elif "." in date:
        day, month, year = parts
    else:  # The C locale prints month/day/year.
        month, day, year = parts
    hour = int(clock.split(":")[0])
    if half:
        hour = hour % 12 + (12 if half == "PM" else 0)
    iso = f"{2000 + int(year) if len(year) <= 2 else int(year):04d}-{int(month):02d}-{int(day):02d} {hour:02d}:{clock.split(':', 1)[1]}{offset or ''}"
    ms, printed, _ = when(iso)
    if instant(ms) is None:
        return None
    if printed != NO_ZONE:
        return instant(ms - printed * 60000)
    return instant(int(instants(np.array([ms], np.int64), zone if zone is not None else 0)[0]))


def _named(text: str) -> str | None:
    """Return what `date` printed with the month as a number. Of the abbreviations of zones only UTC and GMT name one."""
    found = next((found for rule in _DATE if (found := rule.match(text))), None)
    if not found:
        return None
    zone = found["zone"] or ""
    offset = "Z" if zone in ("UTC", "GMT") else f"{zone}00"[:5] if zone[:1] in ("+", "-") else ""
    month = MONTHS.index(found["month"]) + 1
    half = f" {found['half']}" if found["half"] else ""
    return f"{found['year']}-{month:02d}-{int(found['day']):02d} {found['clock']}{half}{offset}"
