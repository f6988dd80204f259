"""duplicate-commit: one transaction is stored twice in its topic, committed by the producer's answer and by a check.

Deciding step: one UNIQ_KEY with more than one committed record in a real topic. Two ways there, told apart by offsets:
the commit came after a check had
renewed the half message (a slow local transaction), or before, but its op record was not written yet (batched op
records, 5.1.0+).
Source: broker/processor/EndTransactionProcessor, broker/transaction/queue/TransactionalMessageServiceImpl (reference
§4.4).
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from kit.analysis import brokers, setup
from kit.analysis.transactions import totals
from kit.causes import collect_next
from kit.causes.findings import Finding, deciding, supporting
from kit.causes.texts import texts_of
from kit.inventory.references import Ref
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def examine(facts: Facts) -> Finding:
    """Report which transactions were committed more than once, and how it happened."""
    finding = TEXTS.finding()
    if not facts.has("messages"):
        finding.steps = [deciding("committed-twice", TEXTS["not_twice"], None)]
        finding.figures = {"committed_twice": None, "late_commits": None, "late_op_records": None}
        finding.missing = [collect_next.ask("commitlog", TEXTS["want"])]
        return finding
    count = totals.summary(facts).total("committed_twice")
    found = facts("committed_twice") if count else None
    late = int((found["way"] == "late_commit").sum()) if found is not None else 0
    early = int((found["way"] == "late_op").sum()) if found is not None else 0
    finding.figures = {"committed_twice": count, "late_commits": late, "late_op_records": early}
    if found is None:
        finding.steps = [deciding("committed-twice", TEXTS["not_twice"], False)]
        return finding
    finding.steps = [
        deciding("committed-twice", TEXTS.say("twice", count=count), True, _refs(found)),
        *(
            supporting(way.replace("_", "-"), text.say(count=n), True, _refs(found[found["way"] == way])[:2])
            for way, text, n in (("late_commit", TEXTS["late"], late), ("late_op", TEXTS["early"], early))
            if n
        ),
    ]
    finding.actors = tuple(sorted(set(found["topic"].dropna())))
    finding.summary = TEXTS.say("summary", count=count, late=late, early=early)
    timeout = setup.setting(facts, "transactionTimeOut", brokers.half_addresses(facts))
    finding.remedies = [
        TEXTS.remedy("action"),
        TEXTS.remedy("slower", value=timeout.value, known=TEXTS[f"known-{timeout.known}".lower()]),
    ]
    finding.window = (found["first_time"].min().to_pydatetime(), found["second_time"].max().to_pydatetime())
    finding.tables = {"committed_twice": found}
    return finding


def _refs(frame: pd.DataFrame) -> tuple[Ref, ...]:
    rows: list[dict[Any, Any]] = frame.head(2).to_dict("records")
    return tuple(
        Ref(
            row[f"{which}_file"],
            f"{which} commit: KEYS={row['key']}, UNIQ_KEY={row['uniq_key']}, topic={row['topic']}",
            physical_offset=int(row[f"{which}_physical_offset"]),
        )
        for row in rows
        for which in ("first", "second")
    )
