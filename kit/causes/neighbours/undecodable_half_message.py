"""undecodable-half-message: a compressed half message was put back uncompressed with the flag still set; the checker
cannot read its own copy.
"""

from __future__ import annotations

from kit.analysis import refs, setup
from kit.analysis.transactions import totals
from kit.causes.declared import Observed
from kit.rocketmq.versions import rule
from kit.tables.facts import Facts


def observe(facts: Facts) -> Observed:
    """Count the put-back copies of compressed half messages that cannot be read."""
    versions = list(setup.broker_versions(facts))
    faulty = not versions or any(rule("decompressesOnPutBack", version) for version in versions)
    # Only copies that a check renewed can be broken; most stores have none.
    renewed = facts.has("messages") and totals.summary(facts).total("renewed") and faulty
    rows = facts("unreadable_copies") if renewed else None
    if rows is None or rows.empty:
        return Observed()
    errors, again = refs.seen(facts, "check-round-error"), rows[rows["again"]]
    return Observed(
        {
            "copies": len(rows), "messages": rows["uniq_key"].nunique(), "errors": errors.count, "again": len(again),
            "broken": errors.count + len(again), "versions": versions,
        },
        {
            "other-body": refs.records_at(facts, rows, 2),
            "rounds-broken": refs.records_at(facts, again, 2) if len(again) else refs.quote(facts, errors, 2),
        },
    )  # fmt: skip
