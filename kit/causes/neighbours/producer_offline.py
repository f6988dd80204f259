"""producer-offline: the broker checks back on transactions and no producer of their group is connected.

A null channel without either line is a producer flooded with checks, which is connected. Source:
broker/transaction/AbstractTransactionalMessageCheckListener, broker/client/ProducerManager.getAvailableChannel
(reference §6.5).
"""

from __future__ import annotations

from kit.analysis import refs
from kit.analysis.transactions import totals
from kit.causes.declared import Observed
from kit.tables.facts import Facts


def observe(facts: Facts) -> Observed:
    """Count the checks that reached nobody because their group was offline."""
    null = refs.seen(facts, "check-channel-null")
    empty = refs.seen(facts, "producer-table-empty", "producer-list-empty")
    left = refs.seen(facts, "producer-unregistered", "producer-group-unregistered", "producer-channel-removed")
    looked = facts.has_source("transaction") or facts.has_source("broker")
    groups = [row["producer_group"] for row in facts.rows("offline_groups")] if empty else []
    checks = null.count or empty.count
    states = totals.summary(facts).states() if checks and facts.has("messages") else {}
    rows = facts.rows("unreached_checks") if null and not empty else []
    # Producers of the same groups were answering while most checks found no channel.
    busy = next((row for row in rows if row["in_traffic"] * 2 > row["lines"]), None)
    offline = facts.refs([(busy["file"], busy["line"])]) if busy else refs.quote(facts, empty)
    first, last = (null or empty).first, (null or empty).last
    return Observed(
        {
            **(busy or {}), "checks": checks, "nulls": null.count, "empty": empty.count, "left": left.count,
            "groups": groups,
            "unreached_checks": checks if looked else None, "discarded": states.get("discarded"),
            "pending": states.get("pending"),
        },
        {
            "checks-unanswered": refs.quote(facts, null or empty),
            "no-connection": offline,
            "producer-left": refs.quote(facts, left, 2),
        },
        (first, last) if empty and first and last else None,
        actors=groups,
    )  # fmt: skip
