"""undecodable-half-message: a compressed half message was put back uncompressed with the flag still set; the checker cannot read its own copy.

Deciding steps: a put-back copy with the COMPRESSED flag whose body is not the original's; check rounds that break off over it (NullPointerException, or
the same check count written again and again). 4.3.0–4.5.2 only: broker/transaction/queue/TransactionalMessageBridge.decodeMsgList (reference §6.6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from kit import requests
from kit.facts import names
from kit.findings import Finding, Kind, Remedy, Step
from kit.inquiry import refs, transactions
from kit.inquiry.leaks import prop
from kit.texts import T

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kit.case import Case

SLUG = "undecodable-half-message"
KIND: Kind = "neighbour"
COMPRESSED = 0x1
"""common/sysflag/MessageSysFlag.COMPRESSED_FLAG."""

TITLE = T("A half message the checker cannot read stops every check round", "回查服务无法读取的 half 消息中断每一轮回查")
SUMMARY = T(
    "{messages} compressed half messages were put back uncompressed with the flag still set; rounds break off and finished transactions are checked again.",
    "{messages} 条压缩的 half 消息在回写时已解压但压缩标志仍在；回查中断，已结束的事务被再次回查。",
)
NONE = T("No half message was put back in a form that cannot be read.", "没有 half 消息被回写成无法读取的形式。")
COPIES = T("{copies} put-back copies of {messages} compressed half messages hold another body than their original.", "{messages} 条压缩 half 消息的 {copies} 份回写副本与原消息体不同。")
NO_COPIES = T("A put-back copy of a compressed half message holds another body than its original.", "有压缩 half 消息的回写副本与原消息体不同。")
BROKEN = T("Check rounds broke off ({errors} `Check error` lines; {again} copies carry a check count that was written before).",
           "回查轮次中断（{errors} 行 `Check error`；{again} 份副本的回查次数与之前重复）。")  # fmt: skip
NOT_BROKEN = T("Check rounds broke off over it.", "回查轮次因此中断。")
FAULTY = T("The broker's release ({versions}) has this fault; 4.6.0 and later have not.", "该 Broker 版本（{versions}）存在此缺陷；4.6.0 及以上没有。")
WANT = T("the put-back copies stand in the half topic", "回写副本位于 half 主题中")
ACTION = T("Upgrade the broker to 4.6.0 or newer.", "将 Broker 升级到 4.6.0 或更高版本。")
WHY = T("It puts the compressed body back as it is.", "新版本按原样回写压缩的消息体。")
RISK = T("Unreadable copies stay in the half topic until they are given up.", "无法读取的副本会留在 half 主题中直到被放弃。")
VERIFY = T("`Check error` stops and the half offset in consumerOffset.json moves.", "`Check error` 不再出现，consumerOffset.json 中的 half 位点前进。")

LOOKS_LIKE = (
    ("message-size-mismatch", T("a put-back is refused; here it is stored and cannot be read", "回写被拒；此处已存储但无法读取")),
    ("half-topic-blowup", T("grows too, but by doubling, with REAL_TOPIC = the half topic", "同样增长，但是成倍增长，且 REAL_TOPIC 为 half 主题")),
    ("duplicate-commit", T("finished transactions are checked again after an aborted round and committed twice", "轮次中断后已结束的事务会再次被回查并提交两次")),
)


def examine(case: Case) -> Finding:
    """Say whether put-back copies of compressed half messages cannot be read."""
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    errors = refs.seen(case, "check-round-error")
    if not case.has("messages"):
        finding.steps = [Step(NO_COPIES, "deciding", None), Step(NOT_BROKEN, "deciding", None)]
        finding.figures = {"messages": None, "copies": None}
        finding.missing = [requests.commitlog(WANT)]
        return finding
    # Only what a check renewed can be broken; in most stores that is nothing.
    found = _changed(case) if transactions.summary(case).total("renewed") and _may_have_fault(case) else None
    row = found.agg(F.count("*").alias("copies"), F.count_distinct("uniq_key").alias("messages"), F.count_if("again").alias("again")).collect()[0] if found is not None else None
    if found is None or row is None or not row.copies:
        finding.steps = [Step(NO_COPIES, "deciding", False), Step(NOT_BROKEN, "deciding", None)]
        finding.figures = {"messages": 0, "copies": 0}
        return finding
    broken = bool(row.again or errors)
    quoted = refs.records(found.where("again"), 2) if row.again else refs.quote(case, errors, 2)
    finding.steps = [
        Step(COPIES.say(copies=row.copies, messages=row.messages), "deciding", True, refs.records(found, 2)),
        Step(BROKEN.say(errors=errors.count, again=row.again) if broken else NOT_BROKEN, "deciding", True if broken else None, quoted if broken else ()),
        Step(FAULTY.say(versions=list(case.broker_versions())), "supporting", True if case.broker_versions() else None),
    ]
    finding.figures = {"messages": row.messages, "copies": row.copies}
    finding.summary = SUMMARY.say(messages=row.messages)
    finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
    return finding


def _may_have_fault(case: Case) -> bool:
    from kit.facts import versions

    known = case.broker_versions()
    return not known or any(versions.rule("decompressesOnPutBack", version) for version in known)


def _changed(case: Case) -> DataFrame:
    """Return the put-back copies, still flagged as compressed, whose stored body differs from the original's: columns of `messages` plus `again`."""
    flagged = transactions.halves(case).where(F.col("sys_flag").bitwiseAND(COMPRESSED) != 0)
    original = flagged.where(~F.col("renewed")).groupBy("uniq_key").agg(F.min("body_crc").alias("crc"), F.min("body_size").alias("size"))
    copies = flagged.where("renewed").join(original, "uniq_key")
    from pyspark.sql import Window

    nth = F.row_number().over(Window.partitionBy("uniq_key", prop(names.CHECK_TIMES)).orderBy("physical_offset"))
    return copies.where((F.col("body_crc") != F.col("crc")) | (F.col("body_size") != F.col("size"))).withColumn("again", nth > 1).drop("crc", "size")
