"""The catalogue of known log texts. `python -m kit.rocketmq.log_events.catalogue` prints it."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from kit.rocketmq.log_events import broker, client, consumer, lookup, noise, transaction
from kit.rocketmq.log_events.event import Event

if TYPE_CHECKING:
    from kit.formats.logs.literal_matcher import Needles

__all__ = ["BY_SLUG", "EVENTS", "Event", "needles", "slugs"]

EVENTS: Final[tuple[Event, ...]] = (
    *transaction.EVENTS, *broker.EVENTS, *client.EVENTS, *consumer.EVENTS, *lookup.EVENTS, *noise.EVENTS,
)  # fmt: skip
BY_SLUG: Final = {event.slug: event for event in EVENTS}


@cache
def slugs() -> pa.StringArray:
    """Return the slugs in the order of `needles`' groups."""
    return pa.array([event.slug for event in EVENTS], pa.string())


@cache
def needles() -> Needles:
    """Return the tables that find the needles of all events in one pass."""
    from kit.formats.logs.literal_matcher import compile_needles

    return compile_needles(tuple(event.needles for event in EVENTS))


@cache
def confirmations() -> dict[int, re.Pattern[bytes]]:
    """Return the second conditions of the events that have one, by their number in `EVENTS`."""
    return {number: re.compile(event.confirm.encode()) for number, event in enumerate(EVENTS) if event.confirm}


if __name__ == "__main__":
    for event in EVENTS:
        print(f"{event.slug:28} {' '.join(event.sources):24} {event.level:12} {' | '.join(event.needles)}")
