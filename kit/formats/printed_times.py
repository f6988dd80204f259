"""Printed times and zones → instants, for everything but lines of logs (these have a kernel of their own,
`formats/logs/times`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final
from zoneinfo import ZoneInfo

import attrs

from kit.i18n import T

NO_ZONE = T(
    "`{zone}` is not a time zone; write +08:00 or Asia/Shanghai", "“{zone}”不是时区；请写成 +08:00 或 Asia/Shanghai"
)
EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
NANO_FIRST_MS: Final = -9_214_560_000_000
NANO_LAST_MS: Final = 9_214_646_399_999
"""The years 1678 to 2261: what pandas can count in nanoseconds, with some months to spare for arithmetic."""
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""Months as the C locale abbreviates them."""

EAST: Final = r"Z|UTC|GMT|[+-](?:0\d|1[0-4]):?[0-5]\d|(?:Asia|Europe|America|Australia|Africa|Pacific)/[A-Za-z_]+"
"""A zone as it stands behind a time; a word such as CST is not taken for one: it is China's and Chicago's."""
IN_LINE: Final = re.compile(
    rb"(\d{4})[-/.](\d\d)[-/.](\d\d)[ T](\d\d):(\d\d):(\d\d)(?:(?:[.,:]\d{1,9})? ?(%s))?" % EAST.encode()
)
"""A time in a line of a log, to the second, and the zone it is printed with."""
_ZONE: Final = r"\s*(Z|[+-]\d\d:?\d\d)?\s*([AaPp][Mm])?$"
_YMD: Final = re.compile(
    r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?[T ]*(\d{1,2})[:时点.](\d{1,2})(?:[:分.](\d{1,2})(?:[.,:](\d{1,9}))?)?秒?"
    + _ZONE
)
_DMY: Final = re.compile(
    r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})[T ,]*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?" + _ZONE
)
_DENSE: Final = re.compile(r"(20\d\d)(\d\d)(\d\d)[T ]?(\d\d)(\d\d)(\d\d)(?:[.,]?(\d{3}))?()()$")
_OFFSET: Final = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d\d))?", re.IGNORECASE)


# --- times -----------------------------------------------------------------------------------------------------------


def ms(*fields: int | str | bytes) -> int | None:
    """Return ms since 1970 of year, month, day, hour, … in UTC; None if the calendar has no such time."""
    try:
        at = dt.datetime(*map(int, fields), tzinfo=dt.UTC)  # type: ignore[arg-type, misc]
    except ValueError:
        return None
    return (at - EPOCH) // dt.timedelta(milliseconds=1)


def utc(at: dt.datetime) -> dt.datetime:
    """Return a datetime in UTC; one without a zone is taken as UTC, as Spark and pandas return them."""
    return at.replace(tzinfo=dt.UTC) if at.tzinfo is None else at.astimezone(dt.UTC)


def iso(text: str) -> dt.datetime:
    """Return the datetime of an ISO time, in UTC if it has no offset. Raise `ValueError`."""
    at = dt.datetime.fromisoformat(text)
    return at.replace(tzinfo=dt.UTC) if at.tzinfo is None else at


def utc_text(at: dt.datetime) -> str:
    """Return a datetime in the form of findings.json: ISO 8601 in UTC with milliseconds and a Z."""
    return utc(at).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def local_text(at: dt.datetime) -> str:
    """Return a time of an unknown zone as it was printed: ISO 8601 without an offset."""
    return utc_text(at).removesuffix("Z")


def is_local(time: str | None) -> bool:
    """Return whether an ISO time has no zone."""
    return time is not None and dt.datetime.fromisoformat(time).tzinfo is None


@attrs.frozen
class When:
    """A printed time: `ms` since 1970 as printed; `floating`: without a zone, so `ms` still lacks the offset."""

    ms: int
    floating: bool


def when(text: str | None, *, month_first: bool = False) -> When | None:
    """Read a time as tables print it (ISO, slashes, Chinese, day first, digits, epoch); None for anything else."""
    text = (text or "").strip()
    if not 10 <= len(text) <= 40:
        return None
    if text.isascii() and text.isdigit() and len(text) in (10, 13):
        number = int(text) * (1000 if len(text) == 10 else 1)
        return When(number, False) if 1_262_304_000_000 <= number < 4_102_444_800_000 else None
    match = _YMD.match(text) or _DENSE.match(text)
    if match:
        year, month, day = (int(match[i]) for i in (1, 2, 3))
    else:
        match = _DMY.match(text)
        if not match:
            return None
        day, month, year = (int(match[i]) for i in ((2, 1, 3) if month_first else (1, 2, 3)))
    hour = int(match[4])
    if match[9]:
        hour = hour % 12 + (12 if match[9].lower() == "pm" else 0)
    printed = ms(year, month, day, hour, match[5], match[6] or 0)
    if printed is None:
        return None
    printed += int(((match[7] or "") + "000")[:3])
    east = zone(match[8])
    return When(printed - (east * 60_000 if isinstance(east, int) else 0), not match[8])


def instant(ms: float | None) -> int | None:
    """Return ms since 1970 where nanoseconds can hold them, None for any other number."""
    return int(ms) if ms is not None and NANO_FIRST_MS <= ms <= NANO_LAST_MS else None


def moment(text: str | None, zone: Callable[[int], int], *, month_first: bool = False) -> int | None:
    """Return a printed time as µs since 1970, None where that is not known. `zone`: ms as printed → ms since 1970."""
    printed = when(text, month_first=month_first)
    ms = None if printed is None else instant(printed.ms)
    if printed is not None and ms is not None and printed.floating:
        ms = instant(zone(ms))
    return None if ms is None else 1000 * ms


def datetime_of(ms: float | None) -> dt.datetime | None:
    """Return ms since 1970 as a time in UTC, None where nanoseconds cannot hold them."""
    return None if ms is None or instant(ms) is None else EPOCH + dt.timedelta(milliseconds=ms)


def month_first(values: Sequence[str]) -> bool:
    """Tell US dates from European ones by a day that cannot be a month."""
    second = Counter(int(m[2]) > 12 for m in map(_DMY.match, values) if m)
    return second[True] > 0


# --- zones -----------------------------------------------------------------------------------------------------------


def zone(text: str | None) -> str | int | None:
    """Return a declared zone as minutes east (`+08:00`, `GMT+8`, `UTC`) or as its IANA name; None for None."""
    if not text:
        return None
    if text.upper() in ("UTC", "GMT", "Z"):
        return 0
    match = _OFFSET.fullmatch(text)
    if not match:
        return text
    minutes = int(match[2]) * 60 + int(match[3] or 0)
    return minutes if match[1] == "+" else -minutes


def minutes_east(text: str | None) -> int | None:
    """Return the minutes east of a zone behind a time, None for one with summer time, or none at all."""
    known = zone(text)
    if not isinstance(known, str):
        return known
    try:
        winter, summer = (dt.datetime(2026, month, 1, tzinfo=ZoneInfo(known)).utcoffset() for month in (1, 7))
    except (KeyError, ValueError, OSError):
        return None
    return winter // dt.timedelta(minutes=1) if winter is not None and winter == summer else None


def tzinfo(text: str | None) -> dt.tzinfo:
    """Return the zone that a text names: an offset, an IANA name, UTC if empty. Raise `ValueError`."""
    known = zone(text)
    try:
        if isinstance(known, str):
            return ZoneInfo(known)
        return dt.timezone(dt.timedelta(minutes=known)) if known else dt.UTC
    except (KeyError, ValueError, OSError):
        raise ValueError(NO_ZONE.say(zone=str(text)[:60]).render()) from None


def converter(declared: str | None) -> Callable[[int], int]:
    """Return a function from ms as printed in a zone (None: UTC) to ms since 1970. Raise `ValueError`."""
    known = zone(declared)
    if not isinstance(known, str):
        east = (known or 0) * 60_000
        return lambda printed: printed - east
    place = tzinfo(known)

    def local(printed: int) -> int:
        if instant(printed) is None:
            return printed  # No zone matters to what is out of range.
        return round((EPOCH.replace(tzinfo=place) + dt.timedelta(milliseconds=printed)).timestamp() * 1000)

    return local
