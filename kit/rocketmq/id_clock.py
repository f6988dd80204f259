"""The clock inside a UNIQ_KEY: milliseconds since the start of a month, in the zone of the producer's JVM.

common/message/MessageClientIDSetter.setStartTime and nextID. The id names neither the month nor the zone; a date near the message gives the month,
its bornTimestamp gives both.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterable
from typing import Final

import attrs

LONGEST_MONTH: Final = 31 * 86_400_000 + 3_600_000
"""31 days, one of them of 25 hours."""
WRAP: Final = 1 << 32
ZONES: Final = (dt.UTC, dt.timezone(dt.timedelta(hours=8)))
"""Zones tried if the producer's is unknown: containers run in UTC, most RocketMQ hosts in GMT+8."""
NEARBY: Final = dt.timedelta(days=16)
"""Half a month: two readings of one id are at least 28 days apart, so at most two are this near."""


@attrs.frozen
class Sent:
    """One reading of a UNIQ_KEY's clock: the instant (UTC) if the producer ran in `zone`."""

    at: dt.datetime
    zone: dt.tzinfo


def candidates(millis: int, near: dt.datetime, zones: Iterable[dt.tzinfo] = ZONES) -> tuple[Sent, ...]:
    """Return the possible times `millis` after the start of a month, nearest to `near` first, one set per zone.

    A time longer than any month is negative: the clock stepped back over the month's start. `near` without zone is UTC.
    """
    near = _within(near)
    found: list[Sent] = []
    for zone in zones:
        here = [
            Sent(start + since, zone) for start, end in _months(near, zone) if (since := _since(millis)) < end - start
        ]
        here.sort(key=lambda sent: abs(sent.at - near))
        found += [sent for sent in here if abs(sent.at - near) <= NEARBY] or here[:2]
    return tuple(sorted(found, key=lambda sent: abs(sent.at - near)))


def _since(millis: int) -> dt.timedelta:
    return dt.timedelta(milliseconds=millis if millis < LONGEST_MONTH else millis - WRAP)


def _within(near: dt.datetime) -> dt.datetime:
    """Return an aware `near` far enough from the ends of the calendar to calculate with."""
    aware = near.replace(tzinfo=dt.UTC) if near.tzinfo is None else near
    return min(max(aware, dt.datetime(1970, 1, 2, tzinfo=dt.UTC)), dt.datetime(9000, 1, 1, tzinfo=dt.UTC))


def _months(near: dt.datetime, zone: dt.tzinfo) -> Iterable[tuple[dt.datetime, dt.datetime]]:
    """Yield (start, end), in UTC, of the months around `near` in `zone`."""
    local = near.astimezone(zone)
    first = local.year * 12 + local.month - 1
    return itertools.pairwise(
        _utc(dt.datetime(m // 12, m % 12 + 1, 1, tzinfo=zone)) for m in range(first - 2, first + 3)
    )


def _utc(local: dt.datetime) -> dt.datetime:
    # Differences within one zone are wall-clock differences in Python; the id counts real milliseconds.
    return local.astimezone(dt.UTC)
