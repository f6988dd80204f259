"""The catalogue of known problems."""

from __future__ import annotations

from typing import Final

from kit.rocketmq.known_problems import (
    access,
    consumers,
    delay,
    host,
    lifecycle,
    network,
    other_clients,
    pop,
    replication,
    routing,
    sending,
    store,
    transactions,
)
from kit.rocketmq.known_problems.problem import Problem

__all__ = ["BY_SLUG", "PROBLEMS", "Problem"]

PROBLEMS: Final[tuple[Problem, ...]] = tuple(
    each
    for module in (
        store,
        host,
        delay,
        transactions,
        replication,
        consumers,
        pop,
        sending,
        routing,
        network,
        access,
        other_clients,
        lifecycle,
    )
    for each in module.PROBLEMS
)
BY_SLUG: Final = {each.slug: each for each in PROBLEMS}
