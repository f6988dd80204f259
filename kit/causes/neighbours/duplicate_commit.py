"""duplicate-commit: one transaction is stored twice in its topic, committed by the producer's answer and by a check.

Two ways there, told apart by offsets: the commit came after a check had renewed the half message (a slow local
transaction), or before, but its op record was not written yet (batched op records, 5.1.0+). Source:
broker/processor/EndTransactionProcessor, broker/transaction/queue/TransactionalMessageServiceImpl (reference §4.4).
"""

from __future__ import annotations

from typing import Final

import pandas as pd

from kit.analysis import brokers, setup
from kit.analysis.transactions import totals
from kit.causes.declared import Observed, span
from kit.causes.texts import texts_of
from kit.inventory.references import Ref
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def observe(facts: Facts) -> Observed:
    """Count the transactions that were committed more than once, by how it happened."""
    count = totals.summary(facts).total("committed_twice") if facts.has("messages") else 0
    if not count:
        return Observed()
    rows = facts("committed_twice")
    late, early = (rows[rows["way"] == way] for way in ("late_commit", "late_op"))
    timeout = setup.setting(facts, "transactionTimeOut", brokers.half_addresses(facts))
    return Observed(
        {
            "committed_twice": count, "late_commits": len(late), "late_op_records": len(early), "value": timeout.value,
            "known": TEXTS[f"known-{timeout.known}".lower()],
        },
        {"committed-twice": _both(rows), "late-commit": _both(late), "late-op": _both(early)},
        span(rows["first_time"], rows["second_time"]),
        actors=sorted(set(rows["topic"].dropna())),
        tables={"committed_twice": rows},
    )  # fmt: skip


def _both(rows: pd.DataFrame) -> list[Ref]:
    """Quote both commits of the first two transactions."""
    return [
        Ref(
            row[f"{which}_file"],
            f"{which} commit: KEYS={row['key']}, UNIQ_KEY={row['uniq_key']}, topic={row['topic']}",
            physical_offset=int(row[f"{which}_physical_offset"]),
        )
        for row in rows.head(2).to_dict("records")
        for which in ("first", "second")
    ]
