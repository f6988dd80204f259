"""Columns of printed times → milliseconds. Each second and each fraction is parsed once: logs repeat both."""

import datetime as dt
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.formats.printed_times import EAST, instant, minutes_east

NO_TIME: Final = -(2**62)
NO_ZONE: Final = 9999
_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - as printed
_SECOND: Final = dt.timedelta(seconds=1)
_ISO: Final = 19
_LONGEST: Final = 64
_REST: Final = re.compile(rf"(?:[.,:](\d{{1,9}}))? ?({EAST})?")
_NUMBER: Final = re.compile(r"1\d{9,18}(?:\.\d*)?")
_FRACTION: Final = re.compile(r"(.*?)(?:[.,](\d{1,9}))?")


class Times(NamedTuple):
    """Milliseconds since 1970 as printed (`NO_TIME`: none), their fraction (-1: none), minutes east (`NO_ZONE`)."""

    ms: np.ndarray
    fraction: np.ndarray
    east: np.ndarray


def parse(texts: pa.Array, formats: Sequence[str] = ()) -> Times:
    """Parse printed times (bytes): ISO, epoch seconds to nanoseconds, or one of the formats."""
    if not len(texts):
        return Times(*np.empty((3, 0), np.int64))
    texts = pc.fill_null(texts, b"")
    ms = _each(pc.binary_slice(texts, 0, _ISO), _iso)
    fraction, east = _each(pc.binary_slice(texts, _ISO, _LONGEST), _rest).T
    others = np.flatnonzero(ms == NO_TIME)
    if others.size:
        ms[others], fraction[others], east[others] = _each(texts.take(others), lambda text: _other(text, formats)).T
    return Times(ms + np.maximum(fraction, 0), fraction, east)


def _each(texts: pa.Array, parse: Callable[[str], Any]) -> np.ndarray:
    coded = texts.dictionary_encode()
    values = [parse(text.decode("utf-8", "replace")) for text in coded.dictionary.to_pylist()]
    return np.array(values, np.int64)[np.asarray(coded.indices)]


def _iso(text: str) -> int:
    if len(text) < _ISO or text[4].isdigit():
        return NO_TIME
    try:
        at = dt.datetime.fromisoformat(text[:10].replace("/", "-").replace(".", "-") + text[10:])
    except ValueError:
        return NO_TIME
    return (at - _EPOCH) // _SECOND * 1000


def _rest(text: str) -> tuple[int, int]:
    match = _REST.match(text)
    digits, named = match.groups() if match else (None, None)
    known = minutes_east(named)
    return int(digits.ljust(3, "0")[:3]) if digits else -1, NO_ZONE if known is None else known


def _other(text: str, formats: Sequence[str]) -> tuple[int, int, int]:
    if _NUMBER.fullmatch(text):
        whole = text.partition(".")[0]
        ms = instant(float(text) * 1000 if len(whole) <= 11 else int(whole) // 10 ** max(0, (len(whole) - 13) // 3 * 3))
        return (NO_TIME, -1, NO_ZONE) if ms is None else (ms - ms % 1000, ms % 1000, 0)
    plain, digits = _FRACTION.fullmatch(text).groups() if formats else (text, None)  # type: ignore[union-attr]
    for form in formats:
        try:
            at = dt.datetime.strptime(plain, form)  # noqa: DTZ007 - as printed
        except ValueError:
            continue
        ms, offset = (at.replace(tzinfo=None) - _EPOCH) // _SECOND * 1000, at.utcoffset()
        minutes = NO_ZONE if offset is None else offset // dt.timedelta(minutes=1)
        return ms, int(digits.ljust(3, "0")[:3]) if digits else -1, minutes
    return NO_TIME, -1, NO_ZONE


def instants(local_ms: np.ndarray, place: str | int) -> np.ndarray:
    """Return ms since 1970 UTC of local times in a zone (`place`): minutes east or an IANA name (the earlier of two)."""
    if isinstance(place, int):
        return local_ms - place * 60000
    local = pa.array(local_ms, pa.int64()).cast(pa.timestamp("ms"))
    ambiguous: Literal["earliest"] = "earliest"
    return np.asarray(pc.assume_timezone(local, place, ambiguous=ambiguous, nonexistent="latest").cast(pa.int64()))
