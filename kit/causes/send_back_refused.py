"""send-back-refused: the broker refuses a consumer's send-back and the client's own re-send fails too; nothing is stored, nothing leaks.

Deciding steps: a send-back was refused (client log); the client could not send the message anew either, so it is retried in memory, every 5 s.
Source: client/impl/consumer/ConsumeMessageConcurrentlyService.processConsumeResult, DefaultMQPushConsumerImpl.sendMessageBack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kit import requests
from kit.findings import Finding, Kind, Remedy, Step
from kit.inquiry import sendback
from kit.texts import T

if TYPE_CHECKING:
    from kit.case import Case

SLUG = "send-back-refused"
KIND: Kind = "neighbour"
LEADS_TO = ("half-topic-blowup",)

TITLE = T("Refused send-backs are retried only in the consumer's memory", "回发被拒，消息只在消费者内存中重试")
SUMMARY = T("{count} send-backs were refused ({reason}) and {again} re-sends of the client failed as well: these messages live in the consumer's memory only.",
            "{count} 次回发被拒绝（{reason}），客户端重新发送也失败 {again} 次：这些消息只存在于消费者内存中。")  # fmt: skip
NONE = T("No send-back was refused and kept in memory only.", "没有被拒绝且仅保留在内存中的回发。")
REFUSED = T("The broker refused {count} send-backs: {reason}.", "Broker 拒绝了 {count} 次回发：{reason}。")
AGAIN = T("The client's own re-send failed too ({count} times), so nothing was stored; it tries again every 5 s.",
          "客户端自行重新发送也失败（{count} 次），因此没有任何存储；它每 5 秒重试一次。")  # fmt: skip
WANT = T("only the consumer's client log tells of refused send-backs", "只有消费者的客户端日志记录被拒绝的回发")
ACTION = T("Remove the reason of the refusal, then restart nothing until the retries are through.", "先消除拒绝原因；在重试完成之前不要重启消费者。")
WHY = T("The messages exist in the consumer's memory and, still unacknowledged, in their queue.", "这些消息只在消费者内存中，以及尚未确认的队列里。")
RISK = T("A restart begins again at the last saved offset: messages after it are consumed again.", "重启会从最后保存的位点重新开始：其后的消息会被重复消费。")
VERIFY = T("The client log shows no further sendMessageBack Exception and the group's offset advances.", "客户端日志不再出现 sendMessageBack Exception，组位点继续前进。")

LOOKS_LIKE = (
    ("half-topic-blowup", T("the re-send was accepted and became a half message; here it failed too", "重新发送被接受并变成 half 消息；此处也失败了")),
    ("retry-lost", T("the re-send was accepted and can never be consumed", "重新发送被接受，但永远无法消费")),
    ("dead-letter", T("the message is stored in %DLQ%; here it is stored nowhere", "消息存于 %DLQ%；此处没有存储在任何地方")),
)


def examine(case: Case) -> Finding:
    """Say whether refused send-backs stayed in the consumer's memory."""
    back = sendback.examine(case)
    looked = case.has_source("client")
    reason = sendback.REASONS[back.reason] if back.reason else sendback.REASON_UNKNOWN
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    refused = bool(looked and back.refusals)
    finding.steps = [
        Step(REFUSED.say(count=back.refusals if looked else None, reason=reason), "deciding", refused if looked else None, back.refs if refused else ()),
        Step(AGAIN.say(count=back.resent_failed if looked else None), "deciding", bool(back.resent_failed) if looked else None, back.resent_refs),
    ]
    finding.figures = {"refused_send_backs": back.refusals if looked else None, "failed_resends": back.resent_failed if looked else None}
    if refused and back.resent_failed:
        finding.summary = SUMMARY.say(count=back.refusals, reason=reason, again=back.resent_failed)
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
        if back.first and back.last:
            finding.window = (back.first, back.last)
    elif not looked:
        finding.missing = [requests.client_log(requests.CONSUMER, WANT)]
    return finding
