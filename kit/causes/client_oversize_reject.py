"""client-oversize-reject: a send refused at once for its size, by the client's own limit or by the broker's answer 13.

Deciding step: such a refusal in a client's or application's log, or the store's line from a send thread. The client looks at the raw body
(client/Validators.checkMessage), the broker at the record or the stored body (store/CommitLog, store/MessageExtEncoder); neither is retried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kit import requests
from kit.findings import Finding, Kind, Remedy, Step
from kit.inquiry import refusals, sizes
from kit.texts import T

if TYPE_CHECKING:
    from kit.case import Case

SLUG = "client-oversize-reject"
KIND: Kind = "neighbour"

TITLE = T("Sends were refused at once for their size", "发送因大小当场被拒")
NONE = T("No send was refused for its size.", "没有因大小被拒的发送。")
SUMMARY = T(
    "{broker} sends were refused by the broker and {client} by the client itself for their size; nothing of them is stored.",
    "因大小被拒的发送：Broker 拒绝 {broker} 次，客户端自身拒绝 {client} 次；均未存储。",
)
REFUSED = T(
    "Sends were refused at once for their size: {broker} by the broker (code 13), {client} by the client before sending.",
    "发送因大小当场被拒：Broker 拒绝 {broker} 次（代码 13），客户端在发送前拒绝 {client} 次。",
)
WORDS = T(
    "The broker's answer speaks of 128k and 32k; its real limit here is {limit} bytes.",
    "Broker 的应答写的是 128k 和 32k；此处真正的上限是 {limit} 字节。",
)
WANT = T("it prints each refused send with its message", "其中打印每次被拒的发送及其消息")
WANT_STORE = T("`message size exceeded` of a send thread prints size and limit", "发送线程的 `message size exceeded` 会打印大小和上限")
ACTION = T("Set the producers' maxMessageSize below what the broker stores, and split or offload larger bodies.",
           "把生产者的 maxMessageSize 设得低于 Broker 可存储的大小，更大的消息体拆分或转存。")  # fmt: skip
WHY = T("Both sides then agree, and the sender learns it before anything is sent.", "两端一致，发送方在发送前就能知道。")
RISK = T("Senders must handle the exception: the message is not stored anywhere.", "发送方必须处理该异常：消息没有存储在任何地方。")
VERIFY = T("No answer of code 13 in client logs, no `size exceeded` of a send thread in store.log.",
           "客户端日志中不再有代码 13 的应答，store.log 中不再有发送线程的 `size exceeded`。")  # fmt: skip

LOOKS_LIKE = (
    ("message-size-mismatch", T("the send was accepted; later its put-back is refused, by the check thread", "发送已被接受；之后其回写被回查线程拒绝")),
    ("retry-topic-too-long", T("the same answer (`the message is illegal …`) for a long name: store.log says which", "名称过长也是同样的应答（`the message is illegal …`）：store.log 会写明是哪一种")),
)


def examine(case: Case) -> Finding:
    """Say how many sends were refused at once for their size, and by whom."""
    found = refusals.rejects(case)
    happened = bool(found.by_broker or found.by_client)
    looked = found.by_broker is not None or found.by_client is not None
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    claim = REFUSED.say(broker=found.by_broker, client=found.by_client)
    quoted = (*found.broker_refs, *found.client_refs)[:4]
    finding.steps = [Step(claim, "deciding", True if happened else (False if looked else None), quoted if happened else ())]
    finding.figures = {"refused_by_broker": found.by_broker, "refused_by_client": found.by_client, "largest_refused_record": found.largest}
    if happened:
        limit = sizes.limits(case)
        wordy = bool(found.by_broker) and limit.limit is not None and limit.how == "total"  # 4.9.4+ print the limit
        finding.steps.append(Step(WORDS.say(limit=limit.limit), "supporting", True if wordy else None, (limit.where,) if limit.where else ()))
        finding.summary = SUMMARY.say(broker=found.by_broker, client=found.by_client)
        finding.window = found.window
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
    elif not looked:
        finding.missing = [requests.client_log(requests.PRODUCER, WANT), requests.broker_log("store.log", WANT_STORE)]
    return finding
