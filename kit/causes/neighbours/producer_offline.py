"""producer-offline: the broker checks back on transactions and no producer of their group is connected.

Deciding steps: a check found no channel (transaction.log or broker.log); the group was unknown or had no connection left (`channel table
is empty`, `Channel list is empty`). A null channel without either line is a producer flooded with checks, which is connected. Source:
broker/transaction/AbstractTransactionalMessageCheckListener, broker/client/ProducerManager.getAvailableChannel (reference §6.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.analysis import refs
from kit.analysis.transactions import totals
from kit.causes import collect_next
from kit.causes.findings import Finding, deciding, supporting
from kit.causes.texts import texts_of

if TYPE_CHECKING:
    from kit.case.case import Case

TEXTS: Final = texts_of(__name__)


def examine(case: Case) -> Finding:
    """Report whether checks reached nobody because their group was offline."""
    null, empty = refs.seen(case, "check-channel-null"), refs.seen(case, "producer-table-empty", "producer-list-empty")
    left = refs.seen(case, "producer-unregistered", "producer-group-unregistered", "producer-channel-removed")
    looked = case.has_source("transaction") or case.has_source("broker")
    groups = [row["producer_group"] for row in case.fact_rows("offline_groups")] if empty else []
    checks = null.count or empty.count
    finding = TEXTS.finding()
    if checks:
        unreached = deciding(
            "checks-unanswered", TEXTS.say("unreached", checks=checks), True, refs.quote(case, null or empty)
        )
    else:
        unreached = deciding("checks-unanswered", TEXTS["no_line"], False if looked else None)
    if empty:
        offline = deciding(
            "no-connection", TEXTS.say("empty", count=empty.count, groups=groups), True, refs.quote(case, empty)
        )
    elif (answered := _in_traffic(case)) is not None:
        said = TEXTS.say("answered", count=answered["in_traffic"], lines=answered["lines"])
        offline = deciding("no-connection", said, False, case.refs([(answered["file"], answered["line"])]))
    else:
        offline = deciding("no-connection", TEXTS["not_empty"], False if case.has_source("broker") else None)
    finding.steps = [
        unreached,
        offline,
        supporting("producer-left", TEXTS.say("left", count=left.count), left and empty, refs.quote(case, left, 2)),
    ]
    open_ = totals.summary(case) if checks and case.has("messages") else None
    states = open_.states() if open_ else {}
    finding.figures = {
        "unreached_checks": checks if looked else None,
        "groups": groups,
        "discarded": states.get("discarded"),
        "pending": states.get("pending"),
    }
    if empty:
        finding.summary = TEXTS.say(
            "summary", checks=checks, groups=groups, discarded=states.get("discarded"), pending=states.get("pending")
        )
        finding.remedies = [TEXTS.remedy("action", groups=groups)]
        if states.get("discarded"):
            finding.remedies.append(TEXTS.remedy("resend", discarded=states["discarded"]))
        first, last = (null or empty).first, (null or empty).last
        finding.window = (first, last) if first and last else None
    elif null:
        finding.summary = TEXTS.say("flooded", checks=checks)
    if not case.has_source("broker") and (null or not looked):
        finding.missing.append(collect_next.ask("broker.log", TEXTS["want_broker"]))
    if not looked:
        finding.missing.append(collect_next.ask("transaction.log", TEXTS["want_transaction"]))
    return finding


def _in_traffic(case: Case) -> dict[str, Any] | None:
    """Return the row of `unreached_checks` if producers of the same groups were answering while most checks found no channel."""
    rows = case.fact_rows("unreached_checks") if refs.seen(case, "check-channel-null") else []
    return next((row for row in rows if row["in_traffic"] * 2 > row["lines"]), None)
