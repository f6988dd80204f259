"""Lab 80, the half topic that feeds itself: the producer is suspected, then a delayed message, until the refused send-back explains it."""

from __future__ import annotations

import math
from typing import Any, Final

from kit.inquiry.sendback import REASONS
from kit.lab.bench import Bench
from kit.lab.question import Lab, Question, Slip
from kit.texts import T

CAUSE: Final = "half-topic-blowup"

WRITERS: Final = {
    "producer": T("the producer, with a send of its own", "生产者，自己的发送"),
    "consumer": T("a consumer that hands a message back", "交还消息的消费者"),
    "check": T("the broker's check, which puts a half message back", "Broker 的回查，放回 half 消息"),
    "commit": T("a commit", "一次提交"),
}
FIXES: Final = {
    "rollback-unknown-topic": T("answer ROLLBACK, not COMMIT, where the check finds no handler", "回查找不到处理者时应答 ROLLBACK，而非 COMMIT"),
    "client-4.6.1": T("upgrade the consumers' client to 4.6.1", "将消费者的客户端升级到 4.6.1"),
    "split-tags": T("split the consumer's tags, which shortens the name of its group", "拆分消费者的 tag，使组名变短"),
}


def facts(bench: Bench) -> dict[str, Any]:
    """Return the figures of the cause, what the store holds beside them, and what they are mistaken for."""
    figures = bench.figures(CAUSE)
    own = bench.figures("transaction-consistency")
    records, messages = figures["leaked_half_records"], figures["leaked_messages"]
    unfinished = None if own["pending"] is None else own["pending"] + (own["discarded"] or 0)
    found = {"records": records, "messages": messages, "unfinished": unfinished, "producers": own["half_messages"], "doubling": figures["doubling_seconds"]}
    return found | _refusal(bench, figures["retry_topic_length"]) | (_store(bench, records, messages) if records else {})


def _refusal(bench: Bench, length: int | None) -> dict[str, Any]:
    from kit.facts import names
    from kit.inquiry import sendback

    back = sendback.examine(bench.case)
    return {
        "refusals": back.refusals,
        "reason": back.reason if back.refusals else None,
        "length": length,
        "group_length": None if length is None else length - len(names.RETRY_PREFIX),
        "length_limit": sendback.store_limit(bench.case),
    }


def _store(bench: Bench, records: int, messages: int) -> dict[str, Any]:
    from pyspark.sql import functions as F  # noqa: N812

    from kit.facts import names
    from kit.inquiry import leaks

    counts, fixes = bench.table("half_topic_counts"), bench.table("half_topic_fixes")
    kept = counts[counts["place"] != "discarded"]
    # The first one in the order of the store: what the others descend from.
    first: Any = leaks.leaked(bench.case).orderBy("store_timestamp", "physical_offset").first()
    writer = "consumer" if first.reconsume_times else "commit" if first.committed else "check" if first.check_times is not None else "producer"
    window = counts["last"].max() - counts["first"].min()
    through = fixes[fixes["retries_delivered"].astype(bool) & (fixes["left"] == 0)]["fix"]
    return {
        "half_records": bench.case.records.where(F.col("topic") == names.HALF_TOPIC).count(),
        "anywhere": int(kept["records"].sum()),
        "writer": writer,
        "average": window.total_seconds() / math.log2(records / messages) if records > messages else None,
        "commits": int(counts["commits"].sum()),
        "with_bit": int(kept[kept["committed"].astype(bool)]["records"].sum()),
        "half_with_bit": int(counts[(counts["place"] == "half") & counts["committed"].astype(bool)]["records"].sum()),
        "fix": None if through.empty else str(through.iloc[0]),
        "left_by_rollback": _left(fixes, "rollback-unknown-topic"),
    }


def _left(fixes: Any, name: str) -> int | None:
    rows = fixes[fixes["fix"] == name]
    return None if rows.empty else int(rows["left"].iloc[0])


QUESTIONS: Final = (
    Question(
        "80-1", "count", "records",
        T("How many records of the half topic name the half topic itself as their REAL_TOPIC?", "半消息主题中，有多少条记录的 REAL_TOPIC 就是半消息主题本身？"),
        T("Look at RMQ_SYS_TRANS_HALF_TOPIC, and only there; REAL_TOPIC is a property.", "只看 RMQ_SYS_TRANS_HALF_TOPIC；REAL_TOPIC 是一个属性。"),
        T("No producer writes such a record. They are copies of {messages} messages.", "没有生产者会写这样的记录。它们是 {messages} 条消息的副本。"),
        (
            Slip(T("That counts messages (UNIQ_KEY); each of them has many records by now.", "这是消息数（UNIQ_KEY）；每条消息此时已有许多记录。"), "messages"),
            Slip(T("That is every record of the half topic. Ordinary half messages, which name a real topic, are among them.",
                   "这是半消息主题的全部记录，其中也有指向真实主题的普通 half 消息。"), "half_records"),
            Slip(T("That includes their copies in SCHEDULE_TOPIC_XXXX, where the delay takes each of them first.",
                   "这包括了 SCHEDULE_TOPIC_XXXX 中的副本：延时会先把每条带到那里。"), "anywhere"),
        ),
    ),
    Question(
        "80-2", "count", "unfinished",
        T("The business says “not consumed”, so the producer is suspected. How many of its own transactions were never finished (pending or discarded)?",
          "业务方说“没有消费”，于是怀疑生产者。它自己的事务中有多少从未结束（未决或被放弃）？"),
        T("Count transactions whose REAL_TOPIC is a real topic: each has a commit, or an op record, or neither.",
          "统计 REAL_TOPIC 为真实主题的事务：各有提交，或有 op 记录，或两者皆无。"),
        T("Of {producers}. A producer that ends its transactions is no suspect: that was the first wrong turn.",
          "共 {producers} 个。结束了自己事务的生产者没有嫌疑：这是第一个弯路。"),
        (
            Slip(T("Those leaked messages are no transactions of the producer: it committed each of them, and they were delivered once already.",
                   "泄漏的消息不是生产者未结束的事务：每条都已提交，并投递过一次。"), "messages"),
            Slip(T("Those leaked records are copies; the producer's transactions name a real topic.",
                   "泄漏的记录是副本；生产者的事务指向真实主题。"), "records"),
            Slip(T("That is all of the producer's transactions, finished or not.", "这是生产者的全部事务，无论是否结束。"), "producers"),
        ),
    ),
    Question(
        "80-3", "word", "writer",
        T("DELAY is set and the flag says commit: a delayed transaction message? Who wrote the first of the leaked records?",
          "带有 DELAY，标志是提交：难道是延迟的事务消息？最早的泄漏记录是谁写的？"),
        T("Look at the properties of the very first one: RECONSUME_TIME, RETRY_TOPIC.", "看最早那条记录的属性：RECONSUME_TIME、RETRY_TOPIC。"),
        T("It had been consumed: it carries RECONSUME_TIME, and RETRY_TOPIC, which the client sets where its normal send-back has thrown.",
          "它被消费过：带有 RECONSUME_TIME，以及只有正常回发抛出异常时客户端才设置的 RETRY_TOPIC。"),
        (
            Slip(T("A producer sets no delay on a transaction message, and its records name a real topic. This one was consumed before: see RECONSUME_TIME.",
                   "生产者不会给事务消息设延时，其记录指向真实主题。这一条曾被消费过：看 RECONSUME_TIME。"), value="producer"),
            Slip(T("The check only copies what is in the half topic already; the first one has no TRANSACTION_CHECK_TIMES.",
                   "回查只复制半消息主题里已有的记录；第一条没有 TRANSACTION_CHECK_TIMES。"), value="check"),
            Slip(T("A commit names the record it ends, so one must have been there before it.",
                   "提交会指明它所结束的记录，所以此前必有一条。"), value="commit"),
        ),
        WRITERS,
    ),
    Question(
        "80-4", "word", "reason",
        T("The consumer's log says that the broker refused to take messages back. Why?", "消费者日志显示 Broker 拒绝接收回发的消息。为什么？"),
        T("The client prints MESSAGE_ILLEGAL, and two places of the broker answer that. Its own store.log names one of them.",
          "客户端打印 MESSAGE_ILLEGAL，而 Broker 有两处会这样应答。Broker 的 store.log 指明了是哪一处。"),
        T("{refusals} send-backs were refused for it.", "因此有 {refusals} 次回发被拒。"),
        (
            Slip(T("MESSAGE_ILLEGAL is also the answer to properties above 32,767 bytes, but store.log does not say so here.",
                   "属性超过 32,767 字节时也应答 MESSAGE_ILLEGAL，但这里 store.log 并没有这样说。"), value="properties-too-long"),
            Slip(T("A time-out would stand in the consumer's log as RemotingTimeoutException; here the broker answered.",
                   "超时在消费者日志中会是 RemotingTimeoutException；这里 Broker 作了应答。"), value="timeout"),
            Slip(T("A busy broker answers with a kind in brackets, such as [REJECTREQUEST].",
                   "繁忙的 Broker 会用方括号注明种类，如 [REJECTREQUEST]。"), value="busy"),
        ),
        {name: text for name, text in REASONS.items() if name != "other"},
    ),
    Question(
        "80-5", "count", "length",
        T("How many characters has the name that was refused?", "被拒绝的名称有多少个字符？"),
        T("The store prints the length. What is refused is a topic, not a group.", "存储层打印了长度。被拒绝的是主题，而不是组。"),
        T("%RETRY% + group: the group alone has {group_length}, the store takes {length_limit}. The group's name was made of group, topic and all tags.",
          "%RETRY% + 组名：组名本身 {group_length} 个字符，存储层最多接受 {length_limit} 个。组名由组、主题和所有 tag 拼成。"),
        (
            Slip(T("That is the group. The topic is %RETRY% + group.", "这是组名的长度。主题是 %RETRY% + 组名。"), "group_length"),
            Slip(T("That is the limit, not the length.", "这是上限，而不是长度。"), "length_limit"),
        ),
    ),
    Question(
        "80-6", "seconds", "doubling",
        T("Once it runs, after how many seconds have the leaked half records doubled?", "循环起来之后，泄漏的 half 记录多少秒翻一倍？"),
        T("Take the times between the diamonds of the growth chart; the middle one will do.", "取增长图中各菱形之间的时间，用中间的那个。"),
        T("It is the rhythm of the check rounds and of the delay, not of any traffic.", "这是回查轮次与延时的节奏，与流量无关。"),
        (
            Slip(T("That is the average over the whole window, which has a slow start and an end at the check limit in it. Take the median between doublings.",
                   "这是整个时段的平均值，包含缓慢的开始和回查上限处的结尾。请取各次翻倍间隔的中位数。"), "average"),
        ),
        tolerance=0.1,
    ),
    Question(
        "80-7", "count", "commits",
        T("Why does it double? How many commits of leaked messages were diverted into the schedule topic?",
          "为何会翻倍？泄漏消息的提交有多少次被转入延时主题？"),
        T("A commit names the half record it ends (prepared_transaction_offset). A put-back copies the flag of what it copies, but not that.",
          "提交会指明所结束的 half 记录（prepared_transaction_offset）。放回会照抄原记录的标志，但不带它。"),
        T("Each check wrote a put-back and, answered COMMIT, a commit; DELAY survived in both, and both came back.",
          "每次回查都写一份放回，应答 COMMIT 后又写一次提交；两者都保留 DELAY，都会回来。"),
        (
            Slip(T("That counts put-backs as commits: put-backs of a committed copy keep the commit bit. Commits are those that name the record they end.",
                   "这把放回也算成了提交：提交副本被放回后仍带提交位。只有指明所结束记录的才是提交。"), "with_bit"),
            Slip(T("That counts half records with the commit bit. They are what came back from the schedule topic, put-backs of committed copies among them.",
                   "这是带提交位的 half 记录数：它们是从延时主题回来的，其中也有提交副本的放回。"), "half_with_bit"),
            Slip(T("That is every leaked half record, however it was written.", "这是全部泄漏的 half 记录，无论如何写入。"), "records"),
        ),
    ),
    Question(
        "80-8", "word", "fix",
        T("Which fix stops it and lets the consumer's retries through as well?", "哪种修复既能止住它，又能让消费者的重试送达？"),
        T("Two of them leave the send-back refused.", "其中两种之后，回发仍会被拒。"),
        T("It takes away what was refused. The other two only keep the refusal from doing harm.", "它消除了被拒的原因。另外两种只是使拒绝不再造成危害。"),
        (
            Slip(T("It clears TRAN_MSG, so nothing leaks any more; but the send-back is still refused and the retries never come.",
                   "它会清除 TRAN_MSG，不再泄漏；但回发仍被拒，重试永远不会到来。"), value="client-4.6.1"),
            Slip(T("It ends the doubling. Still {left_by_rollback} leaked records would remain: the answer's op message goes to a queue the check never reads, "
                   "so each leaked message is put back until the check limit.",
                   "它止住了翻倍，但仍会剩下 {left_by_rollback} 条泄漏记录：应答的 op 消息进入回查从不读取的队列，每条泄漏消息都会被放回直到回查上限。"),
                 value="rollback-unknown-topic"),
        ),
        FIXES,
    ),
)  # fmt: skip

LAB: Final = Lab(80, T("The half topic that feeds itself", "自我增殖的半消息主题"), lambda bench: QUESTIONS, facts)
