"""duplicate-commit: one transaction stands twice in its topic, committed by the producer's answer and by a check.

Deciding step: one UNIQ_KEY with more than one committed record in a real topic. Two ways there, told apart by offsets: the commit came after a check had
renewed the half message (a slow local transaction), or before, but its op record was not written yet (batched op records, 5.1.0+).
Source: broker/processor/EndTransactionProcessor, broker/transaction/queue/TransactionalMessageServiceImpl (reference §4.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812

from kit import requests
from kit.findings import Finding, Kind, Ref, Remedy, Step
from kit.inquiry import transactions
from kit.texts import T

if TYPE_CHECKING:
    import pandas as pd

    from kit.case import Case

SLUG = "duplicate-commit"
KIND: Kind = "neighbour"

TITLE = T("Transactions committed twice", "事务被提交两次")
SUMMARY = T(
    "{count} transactions stand more than once in their topic: {late} because the commit came after a check, {early} because the op record was not written yet.",
    "{count} 个事务在其主题中不止一条：{late} 个因为提交晚于回查，{early} 个因为 op 记录尚未写入。",
)
NONE = T("No transaction was committed twice.", "没有事务被提交两次。")
TWICE = T("{count} UNIQ_KEYs have more than one committed record in their topic.", "{count} 个 UNIQ_KEY 在其主题中有多条已提交记录。")
NOT_TWICE = T("A UNIQ_KEY has more than one committed record in its topic.", "有 UNIQ_KEY 在其主题中有多条已提交记录。")
LATE = T("{count} times the local transaction outlasted the transaction timeout: its commit names the half record that a check had already renewed.",
         "{count} 次本地事务超过了事务超时：其提交指向的 half 记录已被回查更新。")  # fmt: skip
EARLY = T("{count} times the commit was stored before the check, but its op record came later: the check asked again.",
          "{count} 次提交早于回查，但 op 记录写得更晚：回查再次询问。")  # fmt: skip
WANT = T("committed records and the half records they name stand there", "其中有已提交记录及其指向的 half 记录")
ACTION = T("Make consumers idempotent by business key; a transaction may always arrive twice.", "消费者按业务键保持幂等；事务消息始终可能到达两次。")
WHY = T("The broker does not look whether another copy of the half message was ended before.", "Broker 不检查该 half 消息的其他副本是否已经结束。")
RISK = T("It needs a store of handled keys.", "需要保存已处理的键。")
VERIFY = T("Both records of a key of committed_twice.csv had one effect.", "committed_twice.csv 中同一键的两条记录只产生一次效果。")
SLOWER = T("Set CHECK_IMMUNITY_TIME_IN_SECONDS on slow transactions, or raise transactionTimeOut above their longest time (now {value} ms, {known}).",
           "为较慢的事务设置 CHECK_IMMUNITY_TIME_IN_SECONDS，或将 transactionTimeOut 调到其最长耗时以上（当前 {value} 毫秒，{known}）。")  # fmt: skip
SLOWER_WHY = T("The first check then comes after the answer.", "这样首次回查会在应答之后。")
SLOWER_RISK = T("Lost answers are noticed later.", "丢失的应答会更晚被发现。")
SLOWER_VERIFY = T("committed_twice stays 0 under load.", "负载下 committed_twice 保持为 0。")

LOOKS_LIKE = (
    ("producer-retry-duplicate", T("plain messages (sysFlag & 0xC = 0); here both carry the COMMIT bit and different preparedTransactionOffset", "普通消息（sysFlag & 0xC = 0）；此处两条都带 COMMIT 位且 preparedTransactionOffset 不同")),
    ("message-identity", T("one stored message handled twice by its consumer; here two are stored", "一条存储的消息被消费者处理两次；此处存储了两条")),
    ("half-topic-blowup", T("commits of leaked records target the half topic, not a business topic", "泄漏记录的提交目标是 half 主题，而不是业务主题")),
)


def examine(case: Case) -> Finding:
    """Say which transactions were committed more than once, and by which way."""
    from kit.causes.check_unknown_until_discard import KNOWN

    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    if not case.has("messages"):
        finding.steps = [Step(NOT_TWICE, "deciding", None)]
        finding.figures = {"committed_twice": None, "late_commits": None, "late_op_records": None}
        finding.missing = [requests.commitlog(WANT)]
        return finding
    count = transactions.summary(case).total("committed_twice")
    found = twice(case) if count else None
    late = int((found["way"] == "late_commit").sum()) if found is not None else 0
    early = int((found["way"] == "late_op").sum()) if found is not None else 0
    finding.figures = {"committed_twice": count, "late_commits": late, "late_op_records": early}
    if found is None:
        finding.steps = [Step(NOT_TWICE, "deciding", False)]
        return finding
    finding.steps = [
        Step(TWICE.say(count=count), "deciding", True, _refs(found)),
        *(Step(text.say(count=n), "supporting", True, _refs(found[found["way"] == way])[:2]) for way, text, n in (("late_commit", LATE, late), ("late_op", EARLY, early)) if n),
    ]
    finding.summary = SUMMARY.say(count=count, late=late, early=early)
    timeout = case.setting("transactionTimeOut")
    finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY),
                        Remedy(SLOWER.say(value=timeout.value, known=KNOWN[timeout.known]), SLOWER_WHY, SLOWER_RISK, SLOWER_VERIFY)]  # fmt: skip
    finding.window = (found["first_time"].min().to_pydatetime(), found["second_time"].max().to_pydatetime())
    finding.tables = {"committed_twice": found}
    return finding


def twice(case: Case) -> pd.DataFrame:
    """Return the transactions committed more than once (100,000 at most): key, uniq_key, topic, commits, way, and place and time of the first two records.

    way: `late_commit` (the commit of the original half record follows the first renewed copy), `late_op` (it precedes that copy), `same_half` (all
    commits name one half record).
    """
    first, second = (F.try_element_at("commit_records", F.lit(n)) for n in (1, 2))
    named = F.transform("commit_records", lambda c: c["half_offset"])
    oldest, newest = F.array_min(named), F.array_max(named)
    of_oldest = F.filter("commit_records", lambda c: c["half_offset"] == F.array_min(F.transform("commit_records", lambda d: d["half_offset"])))
    before = F.try_element_at(of_oldest, F.lit(1))["physical_offset"] < F.col("renewed_half.physical_offset")
    way = F.when(oldest == newest, "same_half").when(before, "late_op").otherwise("late_commit")
    mine = transactions.transactions(case).where(F.col("commits") > 1)
    columns = [part[name].alias(f"{which}_{alias}") for which, part in (("first", first), ("second", second))
               for name, alias in (("store_timestamp", "time"), ("file", "file"), ("physical_offset", "physical_offset"))]  # fmt: skip
    frame = mine.select(F.col("keys").alias("key"), "uniq_key", "topic", "commits", way.alias("way"), F.col("check_times").alias("checks"), *columns)
    return frame.orderBy("first_time", "uniq_key").limit(100_000).toPandas()


def _refs(frame: pd.DataFrame) -> tuple[Ref, ...]:
    rows: list[dict[Any, Any]] = frame.head(2).to_dict("records")
    return tuple(
        Ref(row[f"{which}_file"], f"{which} commit: KEYS={row['key']}, UNIQ_KEY={row['uniq_key']}, topic={row['topic']}", physical_offset=int(row[f"{which}_physical_offset"]))
        for row in rows
        for which in ("first", "second")
    )
