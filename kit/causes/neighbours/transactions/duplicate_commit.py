"""duplicate-commit: one transaction is stored twice in its topic, committed by the producer's answer and by a check.

Deciding step: one UNIQ_KEY with more than one committed record in a real topic. Two ways there, told apart by offsets:
the commit came after a check had
renewed the half message (a slow local transaction), or before, but its op record was not written yet (batched op
records, 5.1.0+).
Source: broker/processor/EndTransactionProcessor, broker/transaction/queue/TransactionalMessageServiceImpl (reference
§4.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.analysis.transactions import owners, totals
from kit.case import setup
from kit.causes import collect_next
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding, supporting
from kit.i18n import T
from kit.inventory.references import Ref

if TYPE_CHECKING:
    import pandas as pd

    from kit.case.case import Case

SLUG = "duplicate-commit"
KIND: Kind = "neighbour"

TITLE = T("Transactions committed twice")
SUMMARY = T(
    "{count} {count:transaction is|transactions are} stored more than once in their topic: {late} because the commit came after a check, {early} because the op record was not written yet."
)
NONE = T("No transaction was committed twice.")
TWICE = T("{count} UNIQ_KEYs have more than one committed record in their topic.")
NOT_TWICE = T("A UNIQ_KEY has more than one committed record in its topic.")
LATE = T(
    "{count} {count:time|times} the local transaction outlasted the transaction timeout: its commit names the half record that a check had already renewed."
)
EARLY = T(
    "{count} {count:time|times} the commit was stored before the check, but its op record came later: the check asked again."
)
WANT = T("it holds the committed records and the half records they name")
ACTION = T("Make consumers idempotent by business key; any transaction may arrive twice.")
WHY = T("The broker does not check whether another copy of the half message was ended before.")
RISK = T("It needs a store of handled keys.")
VERIFY = T("The two records of each key in committed_twice.csv had one effect.")
SLOWER = T(
    "Set CHECK_IMMUNITY_TIME_IN_SECONDS on slow transactions, or raise transactionTimeOut above their longest time (now {value} ms, {known})."
)
SLOWER_WHY = T("The first check then comes after the answer.")
SLOWER_RISK = T("Lost answers are noticed later.")
SLOWER_VERIFY = T("committed_twice stays 0 under load.")

LOOKS_LIKE = (
    (
        "producer-retry-duplicate",
        T("plain messages (sysFlag & 0xC = 0); here both carry the COMMIT bit and different preparedTransactionOffset"),
    ),
    ("message-identity", T("one stored message handled twice by its consumer; here two are stored")),
    ("half-topic-blowup", T("commits of leaked records target the half topic, not a business topic")),
)

FIGURES: Final = {
    "committed_twice": Figure(T("committed twice", "个事务被提交两次"), "repeated"),
    "late_commits": Figure(T("committed twice because the local transaction was slow")),
    "late_op_records": Figure(T("committed twice because the op record came late")),
}


def examine(case: Case) -> Finding:
    """Report which transactions were committed more than once, and how it happened."""
    from kit.causes.neighbours.transactions.check_unknown_until_discard import KNOWN

    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    if not case.has("messages"):
        finding.steps = [deciding("committed-twice", NOT_TWICE, None)]
        finding.figures = {"committed_twice": None, "late_commits": None, "late_op_records": None}
        finding.missing = [collect_next.commitlog(WANT)]
        return finding
    count = totals.summary(case).total("committed_twice")
    found = case.facts("committed_twice") if count else None
    late = int((found["way"] == "late_commit").sum()) if found is not None else 0
    early = int((found["way"] == "late_op").sum()) if found is not None else 0
    finding.figures = {"committed_twice": count, "late_commits": late, "late_op_records": early}
    if found is None:
        finding.steps = [deciding("committed-twice", NOT_TWICE, False)]
        return finding
    finding.steps = [
        deciding("committed-twice", TWICE.say(count=count), True, _refs(found)),
        *(
            supporting(way.replace("_", "-"), text.say(count=n), True, _refs(found[found["way"] == way])[:2])
            for way, text, n in (("late_commit", LATE, late), ("late_op", EARLY, early))
            if n
        ),
    ]
    finding.summary = SUMMARY.say(count=count, late=late, early=early)
    timeout = setup.setting(case, "transactionTimeOut", owners.addresses(case))
    finding.remedies = [
        Remedy(ACTION, WHY, RISK, VERIFY),
        Remedy(SLOWER.say(value=timeout.value, known=KNOWN[timeout.known]), SLOWER_WHY, SLOWER_RISK, SLOWER_VERIFY),
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
