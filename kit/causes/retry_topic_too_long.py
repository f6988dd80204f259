"""retry-topic-too-long: %RETRY% + consumer group exceeds what the broker stores, so no message of that group can be sent back.

Deciding steps: the name of the retry topic is too long (group name, or the length the broker prints); a send-back was refused for it.
Limits: store/DefaultMessageStore.putMessage (127 characters, up to 5.0.0), broker/util/HookUtils (255 bytes for %RETRY% topics from 5.1.0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kit import requests
from kit.findings import Finding, Kind, Remedy, Step
from kit.inquiry import sendback
from kit.texts import T

if TYPE_CHECKING:
    from kit.case import Case

SLUG = "retry-topic-too-long"
KIND: Kind = "neighbour"
LEADS_TO = ("half-topic-blowup", "send-back-refused")

TITLE = T("The retry topic's name is too long for the broker", "重试主题名称超出 Broker 限制")
SUMMARY = T("%RETRY% + group is {length} characters long ({limit} allowed): {count} send-backs were refused.",
            "%RETRY% + 组名长 {length} 个字符（上限 {limit}）：{count} 次回发被拒绝。")  # fmt: skip
NONE = T("No send-back was refused for the length of its retry topic.", "没有因重试主题名称过长而被拒绝的回发。")
LONG = T("%RETRY% + group is {length} characters long; the broker stores names up to {limit}.", "%RETRY% + 组名长 {length} 个字符；Broker 的上限为 {limit}。")
REFUSED = T("The broker refused {count} send-backs for it.", "Broker 因此拒绝了 {count} 次回发。")
WANT = T("its sendMessageBack Exception names the group and the broker's answer", "其中的 sendMessageBack Exception 写明组名和 Broker 的应答")
WANT_STORE_LOG = T("`putMessage message topic length too long` names the length", "`putMessage message topic length too long` 会写明长度")
ACTION = T("Shorten the group's name, or split its tags over several groups.", "缩短组名，或将其标签拆分到多个组。")
WHY = T("A retry topic within the limit is accepted; retries reach the consumer again.", "不超限的重试主题会被接受，重试消息重新到达消费者。")
RISK = T("A new group starts at its own offsets: set them before switching.", "新组有自己的位点：切换前须先设置。")
VERIFY = T("Let one message fail: a record appears in the retry topic.", "让一条消息消费失败：重试主题中应出现记录。")

LOOKS_LIKE = (
    ("client-oversize-reject", T("the same MESSAGE_ILLEGAL for properties that are too long: `putMessage message properties length too long`", "属性过长同样返回 MESSAGE_ILLEGAL：`putMessage message properties length too long`")),
    ("send-back-refused", T("what it leads to with clients from 4.6.1; with older ones transactional messages leak instead", "4.6.1 及以上客户端的后果；更早的客户端会使事务消息泄漏")),
    ("half-topic-blowup", T("what it leads to with clients before 4.6.1 and transactional messages", "4.6.1 之前的客户端配合事务消息时的后果")),
)


def examine(case: Case) -> Finding:
    """Say whether a retry topic's name was too long, and what that refused."""
    back = sendback.examine(case)
    limit = sendback.store_limit(case)
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    happened = back.reason == "name-too-long"
    looked = case.has_source("client") or case.has_source("store")
    finding.steps = [
        Step(LONG.say(length=back.retry_topic_length, limit=limit), "deciding", True if happened else (False if looked else None), back.reason_refs),
        Step(REFUSED.say(count=back.refusals if happened else None), "deciding", True if happened else (False if looked else None), back.refs),
    ]
    finding.figures = {"retry_topic_length": back.retry_topic_length, "refused_send_backs": back.refusals if happened else (0 if looked else None)}
    if happened:
        finding.summary = SUMMARY.say(length=back.retry_topic_length, limit=limit, count=back.refusals)
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
        if back.first and back.last:
            finding.window = (back.first, back.last)
    elif not looked:
        finding.missing = [requests.client_log(requests.CONSUMER, WANT), requests.broker_log("store.log", WANT_STORE_LOG)]
    return finding
