"""producer-offline: the broker checks back on transactions and no producer of their group is connected.

Deciding steps: a check found no channel (transaction.log or broker.log); the group was unknown or had no connection left (`channel table
is empty`, `Channel list is empty`). A null channel without either line is a producer flooded with checks, which is connected. Source:
broker/transaction/AbstractTransactionalMessageCheckListener, broker/client/ProducerManager.getAvailableChannel (reference §6.5).
"""

from __future__ import annotations

from typing import Any, Final

from kit.analysis import refs
from kit.analysis.transactions import totals
from kit.causes import collect_next
from kit.causes.findings import Finding, deciding, supporting
from kit.causes.texts import texts_of
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def examine(facts: Facts) -> Finding:
    """Report whether checks reached nobody because their group was offline."""
    null = refs.seen(facts, "check-channel-null")
    empty = refs.seen(facts, "producer-table-empty", "producer-list-empty")
    left = refs.seen(facts, "producer-unregistered", "producer-group-unregistered", "producer-channel-removed")
    looked = facts.has_source("transaction") or facts.has_source("broker")
    groups = [row["producer_group"] for row in facts.rows("offline_groups")] if empty else []
    checks = null.count or empty.count
    finding = TEXTS.finding()
    unreached = deciding("checks-unanswered", TEXTS["no_line"], False if looked else None)
    if checks:
        said = TEXTS.say("unreached", checks=checks)
        unreached = deciding("checks-unanswered", said, True, refs.quote(facts, null or empty))
    if empty:
        said = TEXTS.say("empty", count=empty.count, groups=groups)
        offline = deciding("no-connection", said, True, refs.quote(facts, empty))
    elif (answered := _in_traffic(facts)) is not None:
        said = TEXTS.say("answered", count=answered["in_traffic"], lines=answered["lines"])
        offline = deciding("no-connection", said, False, facts.refs([(answered["file"], answered["line"])]))
    else:
        offline = deciding("no-connection", TEXTS["not_empty"], False if facts.has_source("broker") else None)
    finding.steps = [
        unreached,
        offline,
        supporting("producer-left", TEXTS.say("left", count=left.count), left and empty, refs.quote(facts, left, 2)),
    ]
    open_ = totals.summary(facts) if checks and facts.has("messages") else None
    states = open_.states() if open_ else {}
    finding.figures = {
        "unreached_checks": checks if looked else None,
        "groups": groups,
        "discarded": states.get("discarded"),
        "pending": states.get("pending"),
    }
    finding.actors = tuple(groups)
    if empty:
        ended = {state: states.get(state) for state in ("discarded", "pending")}
        finding.summary = TEXTS.say("summary", checks=checks, groups=groups, **ended)
        finding.remedies = [TEXTS.remedy("action", groups=groups)]
        if states.get("discarded"):
            finding.remedies.append(TEXTS.remedy("resend", discarded=states["discarded"]))
        first, last = (null or empty).first, (null or empty).last
        finding.window = (first, last) if first and last else None
    elif null:
        finding.summary = TEXTS.say("flooded", checks=checks)
    if not facts.has_source("broker") and (null or not looked):
        finding.missing.append(collect_next.ask("broker.log", TEXTS["want_broker"]))
    if not looked:
        finding.missing.append(collect_next.ask("transaction.log", TEXTS["want_transaction"]))
    return finding


def _in_traffic(facts: Facts) -> dict[str, Any] | None:
    """Return the row of `unreached_checks` if producers of the same groups were answering while most checks found no channel."""
    rows = facts.rows("unreached_checks") if refs.seen(facts, "check-channel-null") else []
    return next((row for row in rows if row["in_traffic"] * 2 > row["lines"]), None)
