"""send-back-refused: the broker refuses a consumer's send-back and the client's own re-send fails too; nothing is stored, nothing leaks.

Deciding steps: a send-back was refused (client log); the client's own re-send failed too, so the message is retried in memory, every 5 s.
Source: client/impl/consumer/ConsumeMessageConcurrentlyService.processConsumeResult, DefaultMQPushConsumerImpl.sendMessageBack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.analysis.transactions import send_back
from kit.causes import collect_next, shown_by
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "send-back-refused"
KIND: Kind = "neighbour"
LEADS_TO = ("half-topic-blowup",)

TITLE = T("Refused send-backs are retried only in the consumer's memory")
SUMMARY = T(
    "{count} {count:send-back was|send-backs were} refused ({reason}) and {again} re-sends by the client failed as well: these messages are in the consumer's memory only."
)
NONE = T("No send-back was refused and kept in memory only.")
REFUSED = T("The broker refused {count} {count:send-back|send-backs}: {reason}.")
AGAIN = T(
    "The client's own re-send failed too ({count} {count:time|times}), so nothing was stored; the client retries every 5 s."
)
WANT = T("only the consumer's client log shows refused send-backs")
ACTION = T("Fix the reason for the refusal, then restart nothing until the retries have succeeded.")
WHY = T("The messages exist in the consumer's memory and, still unacknowledged, in their queue.")
RISK = T("A restart continues from the last saved offset: messages after it are consumed again.")
VERIFY = T("The client log shows no further sendMessageBack Exception and the group's offset advances.")

LOOKS_LIKE = (
    ("half-topic-blowup", T("the re-send was accepted and became a half message; here it failed too")),
    ("retry-lost", T("the re-send was accepted and can never be consumed")),
    ("dead-letter", T("the message is stored in %DLQ%; here it is stored nowhere")),
)

FIGURES: Final = {
    "refused_send_backs": Figure(T("send-backs refused by the broker")),
    "failed_resends": Figure(T("re-sends that failed too")),
}

ALERTS: Final = (
    Alert("send-back-exception", T("The broker refuses messages that a consumer sends back for a retry."), "send-back-refused"),
)  # fmt: skip


def examine(case: Case) -> Finding:
    """Report whether refused send-backs stayed in the consumer's memory."""
    back = send_back.examine(case)
    looked = shown_by.would_show(case, SLUG, "send-back-refused")
    reason = send_back.REASONS[back.reason] if back.reason else send_back.REASON_UNKNOWN
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    refused = bool(looked and back.refusals)
    finding.steps = [
        deciding(
            "send-back-refused",
            REFUSED.say(count=back.refusals if looked else None, reason=reason),
            refused if looked else None,
            back.refs if refused else (),
        ),
        deciding(
            "re-send-failed",
            AGAIN.say(count=back.resent_failed if looked else None),
            bool(back.resent_failed) if looked else None,
            back.resent_refs,
        ),
    ]
    finding.figures = {
        "refused_send_backs": back.refusals if looked else None,
        "failed_resends": back.resent_failed if looked else None,
    }
    if refused and back.resent_failed:
        finding.summary = SUMMARY.say(count=back.refusals, reason=reason, again=back.resent_failed)
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
        if back.first and back.last:
            finding.window = (back.first, back.last)
    elif not looked:
        finding.missing = [collect_next.client_log(collect_next.CONSUMER, WANT)]
    return finding
