"""producer-retry-duplicate: a timed-out send was retried by the client, and more than one attempt is stored.

Deciding step: originals with one UNIQ_KEY and one body more than once in one real topic, not transactional (sysFlag & 0xC = 0), born within the time of one
call; often on two brokers, and stored at the same moment, since all attempts waited for the same standing broker (reference §7.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kit import requests
from kit.findings import Finding, Kind, Remedy, Step
from kit.inquiry import attempts, busy, sends, stored
from kit.texts import T

if TYPE_CHECKING:
    from kit.case import Case

SLUG = "producer-retry-duplicate"
KIND: Kind = "neighbour"

TITLE = T("Sends retried by the client are stored more than once", "客户端重试的发送被存储多份")
NONE = T("No message of a producer is stored twice under one UNIQ_KEY.", "没有同一 UNIQ_KEY 的消息被存储两份。")
SUMMARY = T(
    "{messages} messages are stored {copies} times in all; {brokers} of them lie on more than one broker.",
    "{messages} 条消息共存储了 {copies} 份；其中 {brokers} 条分布在多个 Broker 上。",
)
TWICE = T(
    "{messages} UNIQ_KEYs stand more than once in their topic with the same body, born up to {apart} ms apart: attempts of one call.",
    "{messages} 个 UNIQ_KEY 在其主题中以相同消息体存了不止一份，bornTimestamp 最多相差 {apart} 毫秒：同一次调用的多次尝试。",
)
NOT_TWICE = T("UNIQ_KEYs stand more than once in their topic with the same body.", "UNIQ_KEY 在其主题中以相同消息体存了不止一份。")
TIMED_OUT = T("The client timed out and tried again ({count} attempts).", "客户端超时后再次尝试（{count} 次）。")
WANT = T("every copy of a retried send stands there", "重试发送的每一份都在其中")
ACTION = T("Make consumers idempotent by business key (or UNIQ_KEY), not by the offset id.", "消费者按业务 key（或 UNIQ_KEY）做幂等，而不是按 offset id。")
WHY = T("The {messages} messages have {copies} offset ids, but one UNIQ_KEY each.", "这 {messages} 条消息有 {copies} 个 offset id，但各只有一个 UNIQ_KEY。")
RISK = T("It needs a store of seen keys that outlives the retries.", "需要一个比重试寿命更长的已处理 key 存储。")
VERIFY = T("The keys of duplicated.csv had one effect each.", "duplicated.csv 中的 key 各只产生一次效果。")

LOOKS_LIKE = (
    ("message-identity", T("one original, a retry copy with another offset id", "只有一条原始消息，重试副本的 offset id 不同")),
    ("duplicate-commit", T("transactional: the COMMIT bit is set on both", "事务消息：两条都有 COMMIT 位")),
    ("client-timeout", T("a time-out alone; the store shows whether it was stored more than once", "仅有超时；是否存了多份要看存储")),
)


def examine(case: Case) -> Finding:
    """Say which messages a client's retry stored more than once."""
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    known = case.has("messages")
    found = stored.repeated(case) if known else None
    tries = (attempts.by_kind(case) or {}).get("CLIENT_TIMEOUT", 0)
    again = Step(TIMED_OUT.say(count=tries), "supporting", True if tries and sends.ledger(case).source else None, attempts.quotes(case, ("CLIENT_TIMEOUT",), 2) if tries else ())
    if found is None or found.empty:
        finding.steps = [Step(NOT_TWICE, "deciding", False if known else None)]
        finding.figures = {"messages": 0 if known else None, "copies": 0 if known else None, "on_several_brokers": 0 if known else None}
        finding.missing = [] if known else [requests.commitlog(WANT)]
        return finding
    by_message = found.groupby("uniq_key")
    born = by_message["born_timestamp"]
    apart = int((born.max() - born.min()).max().total_seconds() * 1000)
    several = int((by_message["store_host"].nunique() > 1).sum())
    messages, copies = int(found["uniq_key"].nunique()), len(found)
    rows = found.sort_values(["uniq_key", "store_timestamp", "offset_msg_id"], ignore_index=True)
    finding.steps = [Step(TWICE.say(messages=messages, apart=apart), "deciding", True, busy.copy_refs(rows)), again]
    finding.figures = {"messages": messages, "copies": copies, "on_several_brokers": several}
    finding.summary = SUMMARY.say(messages=messages, copies=copies, brokers=several)
    finding.remedies = [Remedy(ACTION, WHY.say(messages=messages, copies=copies), RISK, VERIFY)]
    finding.window = (rows["store_timestamp"].min().to_pydatetime(), rows["store_timestamp"].max().to_pydatetime())
    finding.tables = {"retry_duplicates": rows.drop(columns=["body_crc", "body_size"])}
    return finding
