"""The catalogue of known log texts. `python -m kit.facts.events` prints it."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from kit.facts import events_broker, events_client, events_lookup, events_noise, events_transaction
from kit.facts.event import Event

if TYPE_CHECKING:
    from kit.read.needles import Needles

__all__ = ["BY_SLUG", "EVENTS", "Event", "needles", "slugs"]

EVENTS: Final[tuple[Event, ...]] = (
    *events_transaction.EVENTS, *events_broker.EVENTS, *events_client.EVENTS, *events_lookup.EVENTS, *events_noise.EVENTS,
)  # fmt: skip
BY_SLUG: Final = {event.slug: event for event in EVENTS}


@cache
def slugs() -> pa.StringArray:
    """Return the slugs in the order of `needles`' groups."""
    return pa.array([event.slug for event in EVENTS], pa.string())


@cache
def needles() -> Needles:
    """Return the tables that find the needles of all events in one pass."""
    from kit.read.needles import compile_needles

    return compile_needles(tuple(event.needles for event in EVENTS))


@cache
def confirmations() -> dict[int, re.Pattern[bytes]]:
    """Return the second conditions of the events that have one, by their number in `EVENTS`."""
    return {number: re.compile(event.confirm.encode()) for number, event in enumerate(EVENTS) if event.confirm}


if __name__ == "__main__":
    for event in EVENTS:
        print(f"{event.slug:28} {' '.join(event.sources):24} {event.level:12} {' | '.join(event.needles)}")
