"""send-back-refused: the broker refuses a consumer's send-back and the client's own re-send fails too; nothing is
stored, nothing leaks.

Source: client/impl/consumer/ConsumeMessageConcurrentlyService.processConsumeResult,
DefaultMQPushConsumerImpl.sendMessageBack.
"""

from __future__ import annotations

from kit.analysis.transactions import send_back
from kit.causes import shown_by
from kit.causes.declared import Observed
from kit.tables.facts import Facts


def observe(facts: Facts) -> Observed:
    """Count the refused send-backs, and those that stayed in the consumer's memory."""
    back = send_back.examine(facts)
    counts: dict[str, int | None] = dict.fromkeys(("refused_send_backs", "failed_resends"))
    if shown_by.has(facts, "consumer's client log"):
        counts = {"refused_send_backs": back.refusals, "failed_resends": back.resent_failed}
    return Observed(
        {**counts, "reason": send_back.REASONS[back.reason or "unknown"]},
        {"send-back-refused": back.refs, "re-send-failed": back.resent_refs},
        (back.first, back.last) if all(counts.values()) and back.first and back.last else None,
        actors=back.groups,
    )
