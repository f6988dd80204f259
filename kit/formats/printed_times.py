"""Printed times and zones → instants, for all but lines of logs, which are many (`formats/logs/times`)."""

import contextlib
import datetime as dt
import re
from collections.abc import Callable, Sequence
from typing import Final
from zoneinfo import ZoneInfo

from kit.formats.patterns import patterns
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
_FORMS: Final = patterns("printed_times")
_WHEN: Final = ("ymd", "dense", "dmy", "date", "date_en")


# --- times -----------------------------------------------------------------------------------------------------------


def ms(at: dt.datetime) -> int:
    """Return ms since 1970; a time without a zone is taken as UTC."""
    return (at.replace(tzinfo=at.tzinfo or dt.UTC) - EPOCH) // dt.timedelta(milliseconds=1)


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


def when(text: str | None, *, month_first: bool = False) -> dt.datetime | None:
    """Read a time as tables and `date` print it (ISO, Chinese, day first, digits, epoch); it may have no zone."""
    text = (text or "").strip()
    if not 10 <= len(text) <= 40:
        return None
    if text.isascii() and text.isdigit() and len(text) in (10, 13):
        at = datetime_of(int(text) * (1000 if len(text) == 10 else 1))
        return at if at and 2010 <= at.year < 2100 else None
    match = next((match for form in _WHEN if (match := _FORMS[form].match(text))), None)
    if match is None:
        return None
    part = {"fraction": "", **match.groupdict("")}
    month = part["month"]
    date = [part["year"], MONTHS.index(month) + 1 if month in MONTHS else month, part["day"]]
    if month_first and match.re is _FORMS["dmy"]:
        date[1:] = reversed(date[1:])
    hour = int(part["hour"])
    if half := part["half"].lower():
        hour = hour % 12 + 12 * (half == "pm")
    clock = (hour, part["minute"], part["second"] or 0, 1000 * int(f"{part['fraction']}000"[:3]))
    return _time(*date, *clock, zone=part["zone"])


def of_line(match: re.Match[bytes]) -> dt.datetime | None:
    """Return the time that `IN_LINE` matched, without a zone where none is printed; None where no calendar has it."""
    *fields, own = match.groups()
    at = _time(*fields, zone=(own or b"").decode())
    return at if at and instant(ms(at)) is not None else None


def _time(*fields: int | str | bytes, zone: str) -> dt.datetime | None:
    with contextlib.suppress(ValueError):  # the calendar has no such time, or the world no such zone
        return dt.datetime(*map(int, fields), tzinfo=tzinfo(zone) if zone else None)  # type: ignore[arg-type, misc]
    return None


def instant(ms: float | None) -> int | None:
    """Return ms since 1970 where nanoseconds can hold them, None for any other number."""
    return int(ms) if ms is not None and NANO_FIRST_MS <= ms <= NANO_LAST_MS else None


def moment(at: dt.datetime | None, zone: Callable[[int], int]) -> int | None:
    """Return a printed time as µs since 1970, None where that is not known. `zone`: ms as printed → ms since 1970."""
    known = None if at is None else instant(ms(at))
    if at and known is not None and at.tzinfo is None:
        known = instant(zone(known))
    return None if known is None else 1000 * known


def datetime_of(ms: float | None) -> dt.datetime | None:
    """Return ms since 1970 as a time in UTC, None where nanoseconds cannot hold them."""
    return None if ms is None or instant(ms) is None else EPOCH + dt.timedelta(milliseconds=ms)


def month_first(values: Sequence[str]) -> bool:
    """Tell US dates from European ones by a day that cannot be a month."""
    return any(int(match["month"]) > 12 for match in map(_FORMS["dmy"].match, values) if match)


# --- zones -----------------------------------------------------------------------------------------------------------


def zone(text: str | None) -> str | int | None:
    """Return a declared zone as minutes east (`+08:00`, `GMT+8`, `UTC`) or as its IANA name; None for None."""
    if not text:
        return None
    if text.upper() in ("UTC", "GMT", "Z"):
        return 0
    match = _FORMS["offset"].fullmatch(text)
    if not match:
        return text
    minutes = int(match[2]) * 60 + int(match[3] or 0)
    return minutes if match[1] == "+" else -minutes


def minutes_east(text: str | None) -> int | None:
    """Return the minutes east of a zone behind a time, None for one with summer time, or none at all."""
    if not text:
        return None
    with contextlib.suppress(ValueError):
        place = tzinfo(text)
        winter, summer = (dt.datetime(2026, month, 1, tzinfo=place).utcoffset() for month in (1, 7))
        if winter is not None and winter == summer:
            return winter // dt.timedelta(minutes=1)
    return None


def tzinfo(text: str | None) -> dt.tzinfo:
    """Return the zone that a text names: an offset, an IANA name, UTC if empty. Raise `ValueError`."""
    known = zone(text)
    try:
        if isinstance(known, str):
            return ZoneInfo(known)
        return dt.timezone(dt.timedelta(minutes=known)) if known else dt.UTC
    except (KeyError, ValueError, OSError):
        raise ValueError(NO_ZONE.say(zone=str(text)[:60])) from None


def converter(declared: str | None) -> Callable[[int], int]:
    """Return a function from ms as printed in a zone (None: UTC) to ms since 1970. Raise `ValueError`."""
    place = tzinfo(declared)

    def local(printed: int) -> int:
        at = datetime_of(printed)
        return printed if at is None else ms(at.replace(tzinfo=place))  # No zone matters to what is out of range.

    return local
