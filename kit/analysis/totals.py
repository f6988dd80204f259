"""Counts over all transactions of the stores."""

from typing import Any, Final

from kit.analysis import brokers
from kit.tables.facts import Facts, memo

STATES: Final = ("committed", "rolled_back", "discarded", "pending")
COUNTED: Final = ("half_messages", *STATES, "committed_twice", "without_row", "renewed")


@memo
def summary(facts: Facts) -> dict[str, Any]:
    """Return how many transactions the stores have: `half_messages`, each of `STATES`, and of them `committed_twice`,
    `without_row` (committed, without a business row, of groups of which rows are here); how many half records a check
    `renewed`, messages `dead_lettered`. {} without a store.

    `discarded` is None where the version does not keep what it discards and no log reports it; `pending` where the logs
    at hand have a hole (not `whole`) in which the end of an open transaction may lie; what would be 0, where one is cut.
    """
    if not facts.has("messages"):
        return {}
    rows, stretches = facts.rows("transaction_totals"), brokers.stretches(facts)
    groups, whole = [row for row in rows if row["half_messages"]], not stretches
    counts: dict[str, Any] = {name: sum(row[name] or 0 for row in groups) for name in COUNTED}
    if groups and all(row["without_row"] is None for row in groups):
        counts["without_row"] = None
    # CLUSTER is stored by 4.6.0 and later, which all keep what they discard.
    shown = any(row["discarded"] or row["cluster"] for row in rows) or facts.has_source("transaction")
    if groups and not shown and not facts.rows("discards_stored")[0]["kept"]:
        counts["discarded"] = None
    counts["pending"] = counts["pending"] if whole or not counts["pending"] else None
    counts["dead_lettered"] = sum(row["dead"] for row in rows)
    # Behind the end of a file that was cut off there may be more.
    if any(stretch["cut"] for stretch in stretches):
        counts = {name: count or None for name, count in counts.items()}
    return counts | {"whole": whole}
