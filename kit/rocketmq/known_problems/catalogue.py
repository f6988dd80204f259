"""The catalogue of known problems."""

from __future__ import annotations

from typing import Final

from kit.rocketmq.known_problems import (
    access,
    administration,
    commitlog,
    consume_queues,
    consumer_groups,
    consumers,
    delay,
    grpc_clients,
    host,
    kernel,
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
        commitlog,
        consume_queues,
        store,
        host,
        kernel,
        delay,
        transactions,
        replication,
        consumer_groups,
        consumers,
        pop,
        sending,
        routing,
        administration,
        network,
        access,
        other_clients,
        grpc_clients,
        lifecycle,
    )
    for each in module.PROBLEMS
)
BY_SLUG: Final = {each.slug: each for each in PROBLEMS}
