"""producer-offline: the broker checks back on transactions and no producer of their group is connected.

Deciding steps: a check found no channel (transaction.log, or broker.log's own words); the group was unknown or had no connection left
(`channel table is empty`, `Channel list is empty`). A null channel without either line is a producer flooded with checks, which is connected.
Source: broker/transaction/AbstractTransactionalMessageCheckListener, broker/client/ProducerManager.getAvailableChannel (reference §6.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from kit import requests
from kit.findings import Finding, Kind, Remedy, Step
from kit.inquiry import refs, transactions
from kit.texts import T

if TYPE_CHECKING:
    from kit.case import Case

SLUG = "producer-offline"
KIND: Kind = "neighbour"

TITLE = T("The broker's checks reach no producer", "Broker 的回查找不到生产者")
SUMMARY = T(
    "{checks} checks of group {groups} reached nobody; {discarded} transactions were given up, {pending} are still open.",
    "组 {groups} 的 {checks} 次回查无人接收；{discarded} 个事务被放弃，{pending} 个仍未决。",
)
NONE = T("No check was lost for want of a producer.", "没有因缺少生产者而落空的回查。")
FLOODED = T(
    "{checks} checks found no usable channel, but no group was offline: their producers were connected and could not be written to.",
    "{checks} 次回查没有可用通道，但没有组离线：生产者已连接，只是通道不可写。",
)
UNREACHED = T("{checks} checks found no channel to a producer.", "{checks} 次回查找不到通往生产者的通道。")
NO_LINE = T("A check found no channel to a producer.", "有回查找不到通往生产者的通道。")
EMPTY = T("The group had no connection ({count} lines; groups {groups}).", "该组没有连接（{count} 行；组 {groups}）。")
NOT_EMPTY = T("The group had no connection. Not said anywhere: where checks found no channel, the producers were connected but could not be written to.",
              "该组没有连接。日志未如此说明：回查找不到通道时，生产者仍连接，只是通道不可写。")  # fmt: skip
LEFT = T("A producer left: unregistered or its connection was lost ({count} lines).", "有生产者离开：注销或连接断开（{count} 行）。")
WANT_BROKER = T("it says why a check found no channel: group unknown, connections lost, or neither", "其中说明回查为何没有通道：组未知、连接断开，或都不是")
WANT_TRANSACTION = T("each check without a channel is a line there", "每次没有通道的回查都是其中一行")
ACTION = T("Start a producer of group {groups} again before the check limit is reached.", "在达到回查上限之前重新启动组 {groups} 的生产者。")
WHY = T("Any instance of the group can answer for transactions of another; each check is a new chance.", "组内任一实例都可以替其他实例应答；每次回查都是新的机会。")
RISK = T("An instance that cannot see the rows must answer UNKNOW, not ROLLBACK.", "看不到业务数据的实例必须返回 UNKNOW，而不是 ROLLBACK。")
VERIFY = T("transaction.log shows `Check producer[…]` lines and `channel is null` stops.", "transaction.log 出现 `Check producer[…]`，`channel is null` 不再出现。")
RESEND = T("Send the {discarded} given-up messages again from TRANS_CHECK_MAX_TIME_TOPIC, after a look at their rows.", "核对业务数据后，从 TRANS_CHECK_MAX_TIME_TOPIC 重新发送被放弃的 {discarded} 条消息。")
RESEND_WHY = T("Nothing else will deliver them.", "没有其他机制会再投递它们。")
RESEND_RISK = T("Some were to be rolled back: send only those whose row stands.", "其中有些本应回滚：只发送业务数据仍在的。")
RESEND_VERIFY = T("rows_without_message is 0.", "rows_without_message 为 0。")

LOOKS_LIKE = (
    ("check-unknown-until-discard", T("somebody answers, with UNKNOW", "有应答，只是应答为 UNKNOW")),
    ("shared-producer-group", T("somebody answers, from the wrong application", "有应答，但来自错误的应用")),
    ("half-topic-blowup", T("`channel is null` appears under its flood as well: the producers are connected but cannot be written to", "其洪流中也会出现 `channel is null`：生产者已连接但无法写入")),
)


def examine(case: Case) -> Finding:
    """Say whether checks reached nobody because their group was offline."""
    null, empty = refs.seen(case, "check-channel-null"), refs.seen(case, "producer-table-empty", "producer-list-empty")
    left = refs.seen(case, "producer-unregistered", "producer-group-unregistered", "producer-channel-removed")
    looked = case.has_source("transaction") or case.has_source("broker")
    groups = _groups(case) if empty else []
    checks = null.count or empty.count
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    if checks:
        unreached = Step(UNREACHED.say(checks=checks), "deciding", True, refs.quote(case, null or empty))
    else:
        unreached = Step(NO_LINE, "deciding", False if looked else None)
    if empty:
        offline = Step(EMPTY.say(count=empty.count, groups=groups), "deciding", True, refs.quote(case, empty))
    else:
        offline = Step(NOT_EMPTY, "deciding", False if case.has_source("broker") else None)
    finding.steps = [unreached, offline, Step(LEFT.say(count=left.count), "supporting", True if left and empty else None, refs.quote(case, left, 2))]
    open_ = transactions.summary(case) if checks and case.has("messages") else None
    states = open_.states() if open_ else {}
    finding.figures = {"unreached_checks": checks if looked else None, "groups": groups, "discarded": states.get("discarded"), "pending": states.get("pending")}
    if empty:
        finding.summary = SUMMARY.say(checks=checks, groups=groups, discarded=states.get("discarded"), pending=states.get("pending"))
        finding.remedies = [Remedy(ACTION.say(groups=groups), WHY, RISK, VERIFY)]
        if states.get("discarded"):
            finding.remedies.append(Remedy(RESEND.say(discarded=states["discarded"]), RESEND_WHY, RESEND_RISK, RESEND_VERIFY))
        first, last = (null or empty).first, (null or empty).last
        finding.window = (first, last) if first and last else None
    elif null:
        finding.summary = FLOODED.say(checks=checks)
    if not case.has_source("broker") and (null or not looked):
        finding.missing.append(requests.broker_log("broker.log", WANT_BROKER))
    if not looked:
        finding.missing.append(requests.broker_log("transaction.log", WANT_TRANSACTION))
    return finding


def _groups(case: Case) -> list[str]:
    slugs = ("producer-table-empty", "producer-list-empty")
    found = [case.event(slug).select("group") for slug in slugs if refs.seen(case, slug)]
    every = found[0].union(found[1]) if len(found) > 1 else found[0]
    return [row.group for row in every.where(F.col("group").isNotNull()).distinct().orderBy("group").limit(50).collect()]
