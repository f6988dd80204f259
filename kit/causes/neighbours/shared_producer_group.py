"""shared-producer-group: applications that do not know each other's orders share one producer group, so checks are
answered by the wrong one.

Instances of one application answer for each other all the time; only the disagreement shows it. Source:
broker/client/ProducerManager.getAvailableChannel picks any channel of the group (reference §6.5).
"""

from __future__ import annotations

from typing import Final

from kit.analysis import refs
from kit.causes.declared import Observed, span
from kit.tables.facts import Facts

BY_CHECK: Final = ("check-answer-commit", "check-answer-rollback", "check-answer-pending")
HALF: Final = "half: KEYS={key}, UNIQ_KEY={uniq_key}, bornHost={born_host}"


def observe(facts: Facts) -> Observed:
    """Count the checks that were answered by hosts of another application."""
    rows = facts("foreign_answers") if facts.has("messages") and refs.seen(facts, *BY_CHECK) else None
    if rows is None or rows.empty:
        return Observed()
    wrong = rows[rows["wrong"]]
    groups = sorted(set(wrong["producer_group"].dropna()))
    hosts = rows[["born_host", "address"]].map(lambda address: str(address).rsplit(":", 1)[0])
    return Observed(
        {
            "foreign_answers": len(rows),
            "wrong_answers": len(wrong),
            # Other hosts that only ever commit are instances of the same application.
            "only_commits": (rows["said"] == "COMMIT").all(),
            "hosts": sorted({f"{born} → {answering}" for born, answering in hosts.itertuples(index=False)})[:5],
            "groups": groups,
        },
        {
            "foreign-answers": refs.lines(facts, rows, 2) + refs.transactions(rows, HALF, 1, "half_"),
            "wrong-answers": refs.lines(facts, wrong, 2) if len(wrong) else (),
        },
        span(wrong["ts"], wrong["ts"]),
        actors=groups,
        tables={"foreign_answers": rows},
    )
