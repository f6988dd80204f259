"""The broker that a half message belongs to: hosts that share files are one broker (the table `half_brokers`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kit.rocketmq import ids

if TYPE_CHECKING:
    from kit.analysis.brokers import Hosts
    from kit.tables.facts import Facts


def sharing(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return {host: one name for all hosts that are connected through files} of (file, host)."""
    root: dict[str, str] = {}

    def find(node: str) -> str:
        while root.setdefault(node, node) != node:
            node = root[node]
        return node

    for file, host in pairs:
        a, b = find(f"file {file}"), find(f"host {host}")
        root[max(a, b)] = min(a, b)
    return {host: find(f"host {host}") for _, host in pairs}


def by_host(facts: Facts) -> dict[str, str]:
    """Return {storing host: the host that represents its broker}, hosts as in offset message ids: the table `half_brokers`."""
    return {row["host"]: row["broker"] for row in facts.rows("half_brokers")}


def addresses(facts: Facts, owner: str | None = None) -> Hosts:
    """Return the addresses of a broker (named as in `by_host`); without one those of the only broker with half
    messages, none if several have them.
    """
    known = by_host(facts)
    if owner is None and len(set(known.values())) != 1:
        return frozenset()
    # A damaged record has no address that could be told from its id.
    places = [ids.tried(host + "0" * 16) for host, its in known.items() if owner in (None, its)]
    return frozenset(place[0] for place in places if place)
