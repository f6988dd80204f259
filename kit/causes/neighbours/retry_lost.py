"""retry-lost: a consumer's own re-send of a transactional message was accepted, and no consumer will ever get it.

Deciding step: the broker dropped such a message when it was due (`[BUG] the real topic of schedule msg is …`, 4.6.1 and later), or a %RETRY%
record is in the store as PREPARED, which has no consume queue unit (4.6.1, 5.x). The client is older than 4.6.1 and kept TRAN_MSG. Source:
client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack, store/schedule/ScheduleMessageService, broker/util/HookUtils (reference §4.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.analysis import refs
from kit.causes import collect_next
from kit.causes.findings import Finding, deciding, holds
from kit.causes.texts import texts_of

if TYPE_CHECKING:
    from kit.case.case import Case

TEXTS: Final = texts_of(__name__)


def examine(case: Case) -> Finding:
    """Report whether retries were accepted and lost, by the broker's log or by the store."""
    logged, stored = case.has_source("store") or case.has_source("broker"), case.has("messages")
    dropped = refs.seen(case, "schedule-half-discard")
    unread = case.facts("unread_retries")
    count = int(unread["records"].iloc[0]) if len(unread) else 0
    said = {"dropped": dropped.count, "prepared": count}
    quoted = (*refs.quote(case, dropped, 2), *refs.records_at(case, unread, 2))
    finding = TEXTS.finding()
    # Which of the two a broker does depends on its release: only the absence of both rules it out.
    finding.steps = [deciding("retries-lost", TEXTS.say("lost", **said), holds(quoted, logged and stored), quoted)]
    finding.figures = {
        "retries_dropped": dropped.count if logged or dropped else None,
        "retries_unconsumable": count if stored else None,
    }
    if quoted:
        finding.summary = TEXTS.say("summary", **said)
        finding.remedies = [TEXTS.remedy("action"), TEXTS.remedy("resend")]
        if dropped.first and dropped.last:
            finding.window = (dropped.first, dropped.last)
    else:
        finding.missing = [] if logged else [collect_next.broker_log("store.log", TEXTS["want_log"])]
        finding.missing += [] if stored else [collect_next.commitlog(TEXTS["want_store"])]
    return finding
