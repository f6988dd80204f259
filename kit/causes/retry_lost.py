"""retry-lost: a consumer's own re-send of a transactional message was accepted, and no consumer will ever get it.

Deciding step: the broker dropped such a message when its delay was over (`[BUG] the real topic of schedule msg is …`, 4.6.1 and later), or a %RETRY% record
stands in the store as PREPARED, which has no consume queue unit (4.6.1, 5.x). The client is older than 4.6.1 and kept TRAN_MSG.
Source: client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack, store/schedule/ScheduleMessageService, broker/util/HookUtils (reference §4.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from kit import requests
from kit.facts import names
from kit.findings import Finding, Kind, Remedy, Step
from kit.inquiry import refs
from kit.texts import T

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kit.case import Case

SLUG = "retry-lost"
KIND: Kind = "neighbour"

TITLE = T("Retries were accepted and lost", "重试被接受后丢失")
NONE = T("No retry was accepted and lost.", "没有被接受后又丢失的重试。")
SUMMARY = T("{dropped} retries were dropped when their delay was over, {prepared} are stored where no consumer reads them; the consumers saw no error.",
            "{dropped} 条重试在延时到期时被丢弃，{prepared} 条存于消费者读不到的位置；消费者看不到任何错误。")  # fmt: skip
LOST = T("Retries of transactional messages were dropped when due ({dropped} lines) or stored as PREPARED in a retry topic ({prepared} records).",
         "事务消息的重试在到期时被丢弃（{dropped} 行），或以 PREPARED 存入重试主题（{prepared} 条记录）。")  # fmt: skip
WANT_LOG = T("`[BUG] the real topic of schedule msg` names what was dropped", "`[BUG] the real topic of schedule msg` 写明丢弃了什么")
WANT_STORE = T("a lost retry is a %RETRY% record with sysFlag 4", "丢失的重试是 sysFlag 为 4 的 %RETRY% 记录")
ACTION = T("Upgrade the consumers' clients to 4.6.1 or newer.", "将消费者客户端升级到 4.6.1 或更高版本。")
WHY = T("They clear TRAN_MSG before they send a message again.", "新版本在重新发送前会清除 TRAN_MSG。")
RISK = T("Refused send-backs are then retried in the consumer's memory only: remove the reason of the refusal as well.", "之后被拒的回发只在消费者内存中重试：还须消除拒绝的原因。")
VERIFY = T("Let one message fail: its retry is consumed.", "让一条消息消费失败：其重试应被消费。")
RESEND = T("Send the lost messages again from their first topic (RETRY_TOPIC, by UNIQ_KEY).", "根据 RETRY_TOPIC 和 UNIQ_KEY，从最初的主题重新发送丢失的消息。")
RESEND_WHY = T("Nothing else delivers them to the group that failed them.", "没有其他机制会把它们投递给消费失败的组。")
RESEND_RISK = T("Groups that had consumed them get them twice.", "已消费过它们的组会再次收到。")

LOOKS_LIKE = (
    ("half-topic-blowup", T("the same re-send on a broker up to 4.6.0: it is not lost there but comes back every round", "同样的重新发送在 4.6.0 及以前的 Broker 上不会丢失，而是每轮都回来")),
    ("send-back-refused", T("the re-send failed and the consumer knows; here it succeeded and the consumer sees no error", "重新发送失败且消费者知道；此处发送成功，消费者看不到错误")),
    ("dead-letter", T("retries were used up and the message is kept; here it is nowhere a consumer looks", "重试用尽但消息仍保留；此处消息不在任何消费者会读取的地方")),
)


def examine(case: Case) -> Finding:
    """Say whether retries were accepted and lost, by the broker's log or by the store."""
    logged, stored = case.has_source("store") or case.has_source("broker"), case.has("messages")
    dropped = refs.seen(case, "schedule-half-discard")
    unread = _unread(case) if stored else None
    count = unread.count() if unread is not None else 0
    said = {"dropped": dropped.count, "prepared": count}
    quoted = (*refs.quote(case, dropped, 2), *(refs.records(unread, 2) if unread is not None and count else ()))
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    # Which of the two a broker does depends on its release: only both together rule it out.
    finding.steps = [Step(LOST.say(**said), "deciding", True if quoted else (False if logged and stored else None), quoted)]
    finding.figures = {"retries_dropped": dropped.count if logged or dropped else None, "retries_unconsumable": count if stored else None}
    if quoted:
        finding.summary = SUMMARY.say(**said)
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY), Remedy(RESEND, RESEND_WHY, RESEND_RISK, VERIFY)]
        if dropped.first and dropped.last:
            finding.window = (dropped.first, dropped.last)
    else:
        finding.missing = [] if logged else [requests.broker_log("store.log", WANT_LOG)]
        finding.missing += [] if stored else [requests.commitlog(WANT_STORE)]
    return finding


def _unread(case: Case) -> DataFrame:
    prepared = F.col("sys_flag").bitwiseAND(names.TRANSACTION_MASK) == names.TRANSACTION_PREPARED
    return case.records.where(F.startswith("topic", F.lit(names.RETRY_PREFIX)) & prepared)
