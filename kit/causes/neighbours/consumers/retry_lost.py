"""retry-lost: a consumer's own re-send of a transactional message was accepted, and no consumer will ever get it.

Deciding step: the broker dropped such a message when it was due (`[BUG] the real topic of schedule msg is …`, 4.6.1 and later), or a %RETRY%
record is in the store as PREPARED, which has no consume queue unit (4.6.1, 5.x). The client is older than 4.6.1 and kept TRAN_MSG. Source:
client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack, store/schedule/ScheduleMessageService, broker/util/HookUtils (reference §4.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.analysis import refs
from kit.causes import collect_next
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding, holds
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "retry-lost"
KIND: Kind = "neighbour"

TITLE = T("Retries were accepted and lost")
NONE = T("No retry was accepted and lost.")
SUMMARY = T(
    "{dropped} {dropped:retry was|retries were} dropped when due, {prepared} {prepared:is|are} stored where no consumer reads them; the consumers saw no error."
)
LOST = T(
    "Retries of transactional messages were dropped when due ({dropped} {dropped:line|lines}) or stored as PREPARED in a retry topic ({prepared} {prepared:record|records})."
)
WANT_LOG = T("`[BUG] the real topic of schedule msg` names each dropped message")
WANT_STORE = T("a lost retry is a %RETRY% record with sysFlag 4")
ACTION = T("Upgrade the consumers' clients to 4.6.1 or newer.")
WHY = T("They clear TRAN_MSG before they send a message again.")
RISK = T("Refused send-backs are then retried in the consumer's memory only: fix the reason for the refusal as well.")
VERIFY = T("Let one message fail: its retry is consumed.")
RESEND = T("Send the lost messages again from their original topic (RETRY_TOPIC, by UNIQ_KEY).")
RESEND_WHY = T("Nothing else delivers them to the group again.")
RESEND_RISK = T("Groups that already consumed them get them twice.")

LOOKS_LIKE = (
    (
        "half-topic-blowup",
        T("the same re-send on a broker up to 4.6.0: it is not lost there but comes back every round"),
    ),
    (
        "send-back-refused",
        T("the re-send failed and the consumer knows; here it succeeded and the consumer sees no error"),
    ),
    ("dead-letter", T("retries were used up and the message is kept; here no consumer can reach it")),
)

FIGURES: Final = {
    "retries_dropped": Figure(T("retries dropped when they were due")),
    "retries_unconsumable": Figure(T("retries stored where no consumer reads them")),
}

ALERTS: Final = (
    Alert("schedule-half-discard", T("The broker drops retries when they are due: no consumer gets them again."), "retries-lost", severity="critical"),
)  # fmt: skip


def examine(case: Case) -> Finding:
    """Report whether retries were accepted and lost, by the broker's log or by the store."""
    logged, stored = case.has_source("store") or case.has_source("broker"), case.has("messages")
    dropped = refs.seen(case, "schedule-half-discard")
    unread = case.facts("unread_retries")
    count = int(unread["records"].iloc[0]) if len(unread) else 0
    said = {"dropped": dropped.count, "prepared": count}
    quoted = (*refs.quote(case, dropped, 2), *refs.records_at(case, unread, 2))
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    # Which of the two a broker does depends on its release: only the absence of both rules it out.
    finding.steps = [deciding("retries-lost", LOST.say(**said), holds(quoted, logged and stored), quoted)]
    finding.figures = {
        "retries_dropped": dropped.count if logged or dropped else None,
        "retries_unconsumable": count if stored else None,
    }
    if quoted:
        finding.summary = SUMMARY.say(**said)
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY), Remedy(RESEND, RESEND_WHY, RESEND_RISK, VERIFY)]
        if dropped.first and dropped.last:
            finding.window = (dropped.first, dropped.last)
    else:
        finding.missing = [] if logged else [collect_next.broker_log("store.log", WANT_LOG)]
        finding.missing += [] if stored else [collect_next.commitlog(WANT_STORE)]
    return finding
