"""client-timeout: a send waited in vain for its answer, or its call ran out of time. It says nothing about storage.

Deciding step: the client's own time-out of a send, in a log or in a send ledger (RemotingTimeoutException, RemotingTooMuchRequestException:
client/impl/producer/DefaultMQProducerImpl, remoting/netty/NettyRemotingAbstract).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kit import requests
from kit.findings import Finding, Kind, Remedy, Step
from kit.inquiry import attempts, busy, refs, sends
from kit.texts import T

if TYPE_CHECKING:
    from kit.case import Case

SLUG = "client-timeout"
KIND: Kind = "neighbour"
LEADS_TO = ("producer-retry-duplicate",)

TITLE = T("Sends timed out at the client", "客户端发送超时")
NONE = T("No send timed out at a client.", "没有客户端发送超时。")
SUMMARY = T(
    "{count} sends ended with the client's own time-out; {stored} of them are stored nevertheless, {lost} are not.",
    "{count} 次发送因客户端自身超时而结束；其中 {stored} 次其实已存储，{lost} 次没有。",
)
TIMED_OUT = T(
    "{count} sends ended with a time-out of the client ({attempts} single attempts).",
    "{count} 次发送因客户端超时而结束（单次尝试 {attempts} 次）。",
)
STORED = T("{stored} of them are stored all the same: the answer was late, not the message.", "其中 {stored} 次依然已存储：迟到的是应答，不是消息。")
LATE = T(
    "{count} late answers came after the client had given up; each names a stored record.",
    "客户端放弃之后收到 {count} 个迟到的应答，每个都指出一条已存储的记录。",
)
WANT = T("it prints every time-out of a send", "其中打印每次发送超时")
ACTION = T("Treat a time-out as \"unknown\": look the key up or send again, with consumers that tolerate a second copy.",
           "把超时当作“未知”：按 key 查询或重发，并让消费者容忍第二份。")  # fmt: skip
WHY = T("{stored} of {count} timed-out sends here are stored.", "此处 {count} 次超时的发送中有 {stored} 次已存储。")
RISK = T("A resend of what is stored makes a second copy.", "重发已存储的消息会产生第二份。")
VERIFY = T("Each business key has one effect, whatever the number of copies.", "每个业务 key 只产生一次效果，无论有几份副本。")

LOOKS_LIKE = (
    ("broker-busy", T("a refusal is an answer, and such a send is not stored; a time-out may be stored", "拒绝是一种应答，该发送未存储；超时的发送可能已存储")),
    ("producer-retry-duplicate", T("only the store tells: a UNIQ_KEY with several originals", "只有存储能说明：一个 UNIQ_KEY 有多条原始消息")),
)


def examine(case: Case) -> Finding:
    """Say how many sends timed out, and what became of them."""
    ledger = sends.ledger(case)
    tries = (attempts.by_kind(case) or {}).get("CLIENT_TIMEOUT", 0)
    mine = ledger.of_kind("CLIENT_TIMEOUT")
    count = (ledger.errors_by_kind or {}).get("CLIENT_TIMEOUT", len(mine))
    outcome = (ledger.outcome_by_kind or {}).get("CLIENT_TIMEOUT")
    happened = bool(count or tries)
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    quoted = attempts.quotes(case, ("CLIENT_TIMEOUT",), 2) or (busy.quoted_rows(case, mine, 2) if len(mine) else ())
    late = refs.seen(case, "late-response-stored")
    finding.steps = [Step(TIMED_OUT.say(count=count, attempts=tries), "deciding", True if happened else (False if ledger.knows_kinds else None), quoted if happened else ())]
    if happened:
        finding.steps.append(Step(STORED.say(stored=outcome["stored"] if outcome else None), "supporting", True if outcome and outcome["stored"] else None))
        finding.steps.append(Step(LATE.say(count=late.count), "supporting", True if late else None, refs.quote(case, late, 2)))
        finding.summary = SUMMARY.say(count=count, stored=outcome["stored"] if outcome else None, lost=outcome["lost"] if outcome else None)
        finding.remedies = [Remedy(ACTION, WHY.say(stored=outcome["stored"] if outcome else None, count=count), RISK, VERIFY)]
    elif not ledger.knows_kinds:
        finding.missing = [requests.client_log(requests.PRODUCER, WANT)]
    known = ledger.knows_kinds
    finding.figures = {
        "timed_out_sends": count if known or count else None,
        "timed_out_attempts": tries if attempts.by_kind(case) is not None else None,
        "stored": outcome["stored"] if outcome else (0 if known and not count and case.has("messages") else None),
        "late_answers": late.count if attempts.by_kind(case) is not None else None,
    }
    return finding
