"""The catalogue of known log texts. `python -m kit.rocketmq.log_events.catalogue` prints it."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from kit.rocketmq.known_problems.catalogue import PROBLEMS
from kit.rocketmq.log_events import (
    broker,
    client,
    consumer,
    grpc_clients,
    lookup,
    noise,
    offsets,
    reach,
    replicas,
    stats,
    transaction,
)
from kit.rocketmq.log_events.event import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pyarrow as pa

__all__ = ["BY_SLUG", "EVENTS", "Event", "literals", "slugs"]

EVENTS: Final[tuple[Event, ...]] = (
    *transaction.EVENTS, *broker.EVENTS, *client.EVENTS, *lookup.EVENTS, *consumer.EVENTS, *offsets.EVENTS, *reach.EVENTS, *replicas.EVENTS, *noise.EVENTS, *grpc_clients.EVENTS, *stats.EVENTS,
)  # fmt: skip
BY_SLUG: Final = {event.slug: event for event in EVENTS}


PROBLEM: Final = "problem:"
"""Stands in front of the slug of a known problem among the texts of an entry."""

SEARCHED: Final = tuple(problem for problem in PROBLEMS if problem.reported)
"""The known problems that are looked for in every log; all others are only explained."""


@cache
def slugs() -> pa.StringArray:
    """Return the slugs in the order of `literals`: known texts, then `problem:` + known problems."""
    import pyarrow as pa

    return pa.array([*(event.slug for event in EVENTS), *(PROBLEM + each.slug for each in SEARCHED)], pa.string())


def literals() -> tuple[tuple[str, ...], ...]:
    """Return the literal texts of each group: those of all events, then those of all known problems."""
    return (*(event.needles for event in EVENTS), *(each.needles for each in SEARCHED))


def own(groups: np.ndarray) -> np.ndarray:
    """Return for each group found whether its texts are RocketMQ's alone; those of the operating system are not."""
    import numpy as np

    foreign = [len(EVENTS) + number for number, each in enumerate(SEARCHED) if each.printed]
    return ~np.isin(groups, foreign)


@cache
def confirmations() -> dict[int, Callable[[bytes], object]]:
    """Return the second conditions of the groups that have one, by their number: whether the bytes of an entry meet it."""
    events = {number: re.compile(event.confirm.encode()).search for number, event in enumerate(EVENTS) if event.confirm}
    # Their patterns are compiled when one is asked for: all of them take longer than a paste.
    return events | {len(EVENTS) + number: each.in_entry for number, each in enumerate(SEARCHED) if each.has_condition}


if __name__ == "__main__":
    for event in EVENTS:
        print(f"{event.slug:28} {' '.join(event.sources):24} {event.level:12} {' | '.join(event.needles)}")
