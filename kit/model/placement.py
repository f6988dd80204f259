"""Where the half message stands in the business code, and what every failure then leaves.

Three placements. *first*: everything inside executeLocalTransaction. *middle*: the order in an outer database transaction,
the log row inside executeLocalTransaction. *last*: order, log row and send in one database transaction, the answer given at once
(COMMIT) or left to the check (UNKNOWN). `kit.model.transaction_model` follows each path; nothing here is drawn by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from kit.model.transaction_model import NOT_OK, STEPS, Assumptions, End, Outcome, Placement, run
from kit.texts import Sentence, T

PLACEMENTS: Final[tuple[Placement, ...]] = ("first", "middle", "last")
OUTCOMES: Final[dict[Outcome, T]] = {
    "consistent": T("consistent", "一致"),
    "row_without_message": T("row without message", "有记录无消息"),
    "message_without_row": T("message without row", "有消息无记录"),
    "waiting": T("waiting", "等待中"),
    "duplicate": T("duplicate", "重复"),
}
WORST: Final[tuple[Outcome, ...]] = ("message_without_row", "row_without_message", "duplicate", "waiting", "consistent")
BROKEN: Final = {"message_without_row", "row_without_message"}

FAILURES: Final[dict[str, T]] = {
    "none": T("nothing fails", "无故障"),
    "business_exception": T("business exception", "业务异常"),
    "exception_after_send": T("business exception after the send", "发送之后的业务异常"),
    "send_throws": T("send throws", "发送抛出异常"),
    "flush_disk_timeout": T("send returns FLUSH_DISK_TIMEOUT", "发送返回 FLUSH_DISK_TIMEOUT"),
    "flush_slave_timeout": T("send returns FLUSH_SLAVE_TIMEOUT", "发送返回 FLUSH_SLAVE_TIMEOUT"),
    "slave_not_available": T("send returns SLAVE_NOT_AVAILABLE", "发送返回 SLAVE_NOT_AVAILABLE"),
    "local_throws": T("executeLocalTransaction throws", "executeLocalTransaction 抛出异常"),
    "local_swallows": T("executeLocalTransaction fails but returns COMMIT", "executeLocalTransaction 失败却返回 COMMIT"),
    "local_rollback": T("executeLocalTransaction returns ROLLBACK", "executeLocalTransaction 返回 ROLLBACK"),
    "local_unknown": T("executeLocalTransaction returns UNKNOW", "executeLocalTransaction 返回 UNKNOW"),
    "local_slow": T("the local transaction outlasts the transaction timeout", "本地事务超过事务超时时间"),
    "local_slow_answer_lost": T("slow, and its late answer is lost or refused", "本地事务过慢，且迟到的应答丢失或被拒绝"),
    "outer_commit_fails": T("the outer database commit fails", "外层数据库提交失败"),
    "commit_lost": T("the answer is lost", "事务应答丢失"),
    "op_late": T("checked before the op record is written (5.1+)", "op 记录写入前被回查（5.1+）"),
    "crash_before_send": T("crash before the send", "发送前崩溃"),
    "crash_after_send": T("crash after the send", "发送后崩溃"),
    "crash_in_local": T("crash within the local transaction", "本地事务执行中崩溃"),
    "crash_before_answer": T("crash after the local transaction, before the answer", "本地事务完成后、应答前崩溃"),
    "crash_after_answer": T("crash after the answer, before the outer commit", "应答后、外层提交前崩溃"),
    "crash_at_end": T("crash after everything", "全部完成后崩溃"),
    "check_commit": T("the check always answers COMMIT", "回查总是返回 COMMIT"),
    "check_rollback": T("the check always answers ROLLBACK", "回查总是返回 ROLLBACK"),
    "check_unknown": T("the check always answers UNKNOW", "回查总是返回 UNKNOW"),
    "check_other_application": T("another application of the group answers the check", "同组的另一个应用应答回查"),
    "consumer_fails_once": T("the consumer fails once", "消费者失败一次"),
    "consumer_fails_always": T("the consumer fails until the dead letter queue", "消费者一直失败直到死信队列"),
}
_PUBLISHED: Final = ("none", "business_exception", "send_throws", *NOT_OK, "commit_lost", "consumer_fails_once")
DOCUMENTED: Final[dict[Placement, tuple[str, ...]]] = {
    "first": (*_PUBLISHED, "local_throws", "local_rollback", "local_unknown"),
    "middle": (*_PUBLISHED, "local_throws", "local_rollback", "local_unknown"),
    "last": _PUBLISHED,
}
"""Failures the published comparison of the placements thinks of; with the half message last nothing local can fail."""
PUBLISHED_ASSUMPTIONS: Final = Assumptions(copies_apart=False)
"""The published comparison knows one record a transaction, whose first answer stands."""


def paths(placement: Placement, failure: str, given: Assumptions | None = None) -> Iterator[End]:
    """Yield the end of every path of one failure, each once."""
    pending: list[list[int]] = [[]]
    while pending:
        script = pending.pop()
        taken: list[int] = []

        def choose(options: Sequence[Any], script: list[int] = script, taken: list[int] = taken) -> Any:
            at = len(taken)
            if at >= len(script):
                pending.extend([*taken, other] for other in range(len(options) - 1, 0, -1))
            taken.append(script[at] if at < len(script) else 0)
            return options[taken[at]]

        yield run(placement, failure, given or Assumptions(), choose)


def table(given: Assumptions | None = None, failures: Sequence[str] = tuple(FAILURES)) -> list[dict[str, Any]]:
    """Return one row a placement and failure: `placement`, `failure`, `text`, `worst`, `outcomes` {outcome: shortest path}.

    A path is a tuple of the keys of `STEPS`; `describe` makes sentences of it.
    """
    rows = []
    for placement in PLACEMENTS:
        for failure in failures:
            found: dict[Outcome, tuple[str, ...]] = {}
            for end in paths(placement, failure, given):
                if end.outcome not in found or len(end.path) < len(found[end.outcome]):
                    found[end.outcome] = end.path
            ordered = {outcome: found[outcome] for outcome in WORST if outcome in found}
            rows.append({"placement": placement, "failure": failure, "text": FAILURES[failure], "worst": next(iter(ordered)), "outcomes": ordered})
    return rows


def safe(placement: Placement, given: Assumptions = PUBLISHED_ASSUMPTIONS, failures: Sequence[str] | None = None) -> bool:
    """Tell whether no path of these failures (None: the published ones) leaves a row without a message or a message without a row."""
    chosen = DOCUMENTED[placement] if failures is None else failures
    return not any(end.outcome in BROKEN for failure in chosen for end in paths(placement, failure, given))


def beyond(given: Assumptions | None = None) -> list[dict[str, Any]]:
    """Return the rows of `table` outside the published comparison that can end inconsistent or twice."""
    return [row for row in table(given) if row["failure"] not in DOCUMENTED[row["placement"]] and row["worst"] in BROKEN | {"duplicate"}]


def describe(path: Sequence[str]) -> list[Sentence]:
    """Return the transitions of a path as sentences."""
    return [STEPS[step] for step in path]
