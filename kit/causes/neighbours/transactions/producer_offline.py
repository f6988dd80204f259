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
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding, supporting
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "producer-offline"
KIND: Kind = "neighbour"

TITLE = T("No producer answers the broker's checks")
SUMMARY = T(
    "{checks} {checks:check|checks} of group {groups} reached nobody; {discarded} {discarded:transaction was|transactions were} discarded, {pending} {pending:is|are} still open."
)
NONE = T("No check was lost because its producer was offline.")
FLOODED = T(
    "{checks} {checks:check|checks} found no usable channel, but no group was offline: their producers were connected and could not be written to."
)
UNREACHED = T("{checks} {checks:check|checks} found no channel to a producer.")
NO_LINE = T("A check found no channel to a producer.")
EMPTY = T("The group had no connection ({count} {count:line|lines}; groups {groups}).")
NOT_EMPTY = T(
    "The group had no connection. No line says so: where checks found no channel, the producers were connected but could not be written to."
)
ANSWERED = T(
    "No producer of the group was connected. {count} of {lines} checks without a channel stand beside answers of the same group: its producers were connected."
)
LEFT = T("A producer left: unregistered or its connection was lost ({count} {count:line|lines}).")
WANT_BROKER = T("it shows why a check found no channel: group unknown, connections lost, or neither")
WANT_TRANSACTION = T("it has a line for each check without a channel")
ACTION = T("Start a producer of group {groups} again before the check limit is reached.")
WHY = T("Any instance of the group can answer for the transactions of another; each check is a new chance.")
RISK = T("An instance that cannot see the rows must answer UNKNOW, not ROLLBACK.")
VERIFY = T("transaction.log shows `Check producer[…]` lines and `channel is null` stops.")
RESEND = T(
    "Check the rows of the {discarded} discarded {discarded:message|messages}, then send them again from TRANS_CHECK_MAX_TIME_TOPIC."
)
RESEND_WHY = T("Nothing else will deliver them.")
RESEND_RISK = T("Some should have been rolled back: send only those whose row exists.")
RESEND_VERIFY = T("rows_without_message is 0.")

LOOKS_LIKE = (
    ("check-unknown-until-discard", T("somebody answers, with UNKNOW")),
    ("shared-producer-group", T("somebody answers, from the wrong application")),
    (
        "half-topic-blowup",
        T("its flood of checks also prints `channel is null`: the producers are connected but cannot be written to"),
    ),
)

FIGURES: Final = {
    "discarded": Figure(T("discarded after the last check"), "lost"),
    "pending": Figure(T("still open"), "pending"),
    "groups": Figure(T("producer groups without a connected producer")),
    "unreached_checks": Figure(T("checks that reached nobody")),
}

ALERTS: Final = (
    Alert("check-channel-null", T("Checks of open transactions reach no producer."), "checks-unanswered", least=3, within=300, lasts=10),
    Alert("producer-table-empty", T("No producer of the group is connected to answer the broker's checks."), "no-connection", least=3, within=300, lasts=10),
)  # fmt: skip


def examine(case: Case) -> Finding:
    """Report whether checks reached nobody because their group was offline."""
    null, empty = refs.seen(case, "check-channel-null"), refs.seen(case, "producer-table-empty", "producer-list-empty")
    left = refs.seen(case, "producer-unregistered", "producer-group-unregistered", "producer-channel-removed")
    looked = case.has_source("transaction") or case.has_source("broker")
    groups = [row["producer_group"] for row in case.fact_rows("offline_groups")] if empty else []
    checks = null.count or empty.count
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    if checks:
        unreached = deciding("checks-unanswered", UNREACHED.say(checks=checks), True, refs.quote(case, null or empty))
    else:
        unreached = deciding("checks-unanswered", NO_LINE, False if looked else None)
    if empty:
        offline = deciding("no-connection", EMPTY.say(count=empty.count, groups=groups), True, refs.quote(case, empty))
    elif (answered := _in_traffic(case)) is not None:
        said = ANSWERED.say(count=answered["in_traffic"], lines=answered["lines"])
        offline = deciding("no-connection", said, False, case.refs([(answered["file"], answered["line"])]))
    else:
        offline = deciding("no-connection", NOT_EMPTY, False if case.has_source("broker") else None)
    finding.steps = [
        unreached,
        offline,
        supporting("producer-left", LEFT.say(count=left.count), left and empty, refs.quote(case, left, 2)),
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
        finding.summary = SUMMARY.say(
            checks=checks, groups=groups, discarded=states.get("discarded"), pending=states.get("pending")
        )
        finding.remedies = [Remedy(ACTION.say(groups=groups), WHY, RISK, VERIFY)]
        if states.get("discarded"):
            finding.remedies.append(
                Remedy(RESEND.say(discarded=states["discarded"]), RESEND_WHY, RESEND_RISK, RESEND_VERIFY)
            )
        first, last = (null or empty).first, (null or empty).last
        finding.window = (first, last) if first and last else None
    elif null:
        finding.summary = FLOODED.say(checks=checks)
    if not case.has_source("broker") and (null or not looked):
        finding.missing.append(collect_next.broker_log("broker.log", WANT_BROKER))
    if not looked:
        finding.missing.append(collect_next.broker_log("transaction.log", WANT_TRANSACTION))
    return finding


def _in_traffic(case: Case) -> dict[str, Any] | None:
    """Return the row of `unreached_checks` if producers of the same groups were answering while most checks found no channel."""
    rows = case.fact_rows("unreached_checks") if refs.seen(case, "check-channel-null") else []
    return next((row for row in rows if row["in_traffic"] * 2 > row["lines"]), None)
