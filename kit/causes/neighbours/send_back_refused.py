"""send-back-refused: the broker refuses a consumer's send-back and the client's own re-send fails too; nothing is stored, nothing leaks.

Deciding steps: a send-back was refused (client log); the client's own re-send failed too, so the message is retried in memory, every 5 s.
Source: client/impl/consumer/ConsumeMessageConcurrentlyService.processConsumeResult, DefaultMQPushConsumerImpl.sendMessageBack.
"""

from __future__ import annotations

from typing import Final

from kit.analysis.transactions import send_back
from kit.causes import collect_next, shown_by
from kit.causes.findings import Finding, deciding, holds
from kit.causes.texts import texts_of
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def examine(facts: Facts) -> Finding:
    """Report whether refused send-backs stayed in the consumer's memory."""
    back = send_back.examine(facts)
    looked = shown_by.would_show(facts, TEXTS.slug, "send-back-refused")
    reason = send_back.REASONS[back.reason or "unknown"]
    finding = TEXTS.finding()
    finding.actors = back.groups
    refusals, again = (back.refusals, back.resent_failed) if looked else (None, None)
    claim = TEXTS.say("refused", count=refusals, reason=reason)
    finding.steps = [
        deciding("send-back-refused", claim, holds(refusals, looked), back.refs if refusals else ()),
        deciding("re-send-failed", TEXTS.say("again", count=again), holds(again, looked), back.resent_refs),
    ]
    finding.figures = {"refused_send_backs": refusals, "failed_resends": again}
    if refusals and again:
        finding.summary = TEXTS.say("summary", count=back.refusals, reason=reason, again=back.resent_failed)
        finding.remedies = [TEXTS.remedy("action")]
        if back.first and back.last:
            finding.window = (back.first, back.last)
    elif not looked:
        finding.missing = [collect_next.ask("consumer's client log", TEXTS["want"])]
    return finding
