"""Lab 82, which id is the message's: “it never changes”, “it changes at every retry”, and why both were seen."""

from __future__ import annotations

from typing import Any, Final

from kit.lab.bench import Bench
from kit.lab.question import Lab, Question, Slip
from kit.texts import T

CAUSE: Final = "message-identity"

KINDS: Final = {
    "uniq-key": T("a UNIQ_KEY: given once by the producer's client", "UNIQ_KEY：由生产者的客户端一次性给出"),
    "offset-id": T("an offset id: store host and offset, made at every append", "offset id：存储主机与偏移，每次追加都重新生成"),
    "business-key": T("a business key of the application", "应用的业务键"),
}
BY: Final = {
    "offset-id": T("the offset id (getOffsetMsgId)", "offset id（getOffsetMsgId）"),
    "uniq-key": T("UNIQ_KEY, which the consumer's getMsgId answers", "UNIQ_KEY，即消费者 getMsgId 的返回值"),
    "origin-message-id": T("originMsgId of the send-back", "回发请求中的 originMsgId"),
    "reconsume-times": T("the number of retries", "重试次数"),
}
ALIASES: Final = {
    "uniq": "uniq-key", "uniqkey": "uniq-key", "getmsgid": "uniq-key", "msgid": "uniq-key", "unique-key": "uniq-key", "offset": "offset-id",
    "offset-msg-id": "offset-id", "offsetmsgid": "offset-id", "getoffsetmsgid": "offset-id", "originmsgid": "origin-message-id", "key": "business-key",
    "keys": "business-key", "origin-msg-id": "origin-message-id",
}  # fmt: skip


def facts(bench: Bench) -> dict[str, Any]:
    """Return the figures of the cause, what one message went through, and what they are mistaken for."""
    from pyspark.sql import functions as F  # noqa: N812

    figures = bench.figures(CAUSE)
    keyed = bench.case.records.where(F.col("uniq_key").isNotNull())
    per_key = keyed.groupBy("uniq_key").agg(F.count_distinct("offset_msg_id").alias("ids"), F.max("reconsume_times").alias("retries"))
    total: Any = per_key.agg(F.sum("ids").alias("records"), F.max("ids").alias("most"), F.count_if(F.col("retries") > 0).alias("retried")).first()
    dead = bench.figures("dead-letter")["dead_lettered"]
    return {
        "messages": figures["uniq_keys"],
        "several": figures["uniq_keys_with_several_offset_ids"],
        "twice": figures["handled_twice_by_offset_id"],
        "records": total.records,
        "most": total.most,
        "retried": total.retried,
        "dead": dead,
        "by": _steady(bench),
        **_lookup(bench),
    }


def _steady(bench: Bench) -> str | None:
    """Return which id stayed the same over the two deliveries of what was handled twice."""
    twice = bench.table("identity_twice")
    both = twice.dropna(subset=["first_offset_msg_id", "offset_msg_id"]) if len(twice) else twice
    if both.empty:
        return None
    return "uniq-key" if (both["first_offset_msg_id"] != both["offset_msg_id"]).all() else "offset-id"


def _lookup(bench: Bench) -> dict[str, Any]:
    """Return the first look-up that failed for the kind of its id."""
    from kit.inquiry import lookups

    seen = bench.table("identity_lookups")
    if seen.empty:
        return {"asked": None, "kind": None, "address": None, "command": None}
    row = seen.iloc[0]
    asked = str(row["ids"]).split(",")[0]
    kind = lookups.kinds(bench.case, {asked}).get(asked)
    address = row["address"] if isinstance(row["address"], str) else None
    return {"asked": asked, "command": row["command"], "address": address, "kind": {"uniq": "uniq-key", "offset": "offset-id"}.get(kind or "")}


QUESTIONS: Final = (
    Question(
        "82-1", "count", "messages",
        T("Does the id of a message change when it is retried? First: how many messages, by UNIQ_KEY, are in this store?",
          "消息重试时 id 会变吗？先数一数：按 UNIQ_KEY 计，存储中有多少条消息？"),
        T("Distinct values of the property UNIQ_KEY, over all topics.", "统计所有主题中 UNIQ_KEY 属性的不同取值。"),
        T("They lie in {records} records: each write makes another one.", "它们存为 {records} 条记录：每次写入都会产生一条。"),
        (Slip(T("Those are records. One message has one for each time it was written: half, commit, delay, retry, dead letter.",
                "这是记录数。一条消息每写一次就有一条：half、提交、延时、重试、死信。"), "records"),),
    ),
    Question(
        "82-2", "count", "several",
        T("“The msgId always found all retries”, says experience. How many of the messages have more than one offset id?",
          "经验说“用 msgId 总能查到全部重试”。有多少条消息的 offset id 不止一个？"),
        T("Group the records by UNIQ_KEY and count their offset ids.", "按 UNIQ_KEY 分组，统计 offset id 的个数。"),
        T("Normal: CommitLog makes an offset id of store host and offset at every append. That is not the id experience searched by.",
          "这是正常的：CommitLog 每次追加都用存储主机和偏移生成 offset id。凭经验检索所用的不是这个 id。"),
        (
            Slip(T("It looks so in a consumer's log, where getMsgId answers UNIQ_KEY. In the store every copy has an offset id of its own.",
                   "在消费者日志里看似如此，因为那里的 getMsgId 返回 UNIQ_KEY。在存储中，每份副本都有自己的 offset id。"), value="0"),
            Slip(T("That is every message; one that was sent plainly and never retried has a single record.",
                   "这是全部消息；普通发送且从未重试的只有一条记录。"), "messages"),
            Slip(T("Those were retried. A transaction has two ids without any retry: half and committed.",
                   "这是重试过的消息。事务无需重试就有两个 id：half 与提交。"), "retried"),
        ),
    ),
    Question(
        "82-3", "count", "most",
        T("Take the message that was written most often. How many offset ids has it?", "取写入次数最多的那条消息。它有多少个 offset id？"),
        T("One for each of its records, whatever the topic.", "每条记录一个，无论在哪个主题。"),
        T("And one UNIQ_KEY in all of them. So the id does change at every retry, and does not: there are two.",
          "而所有记录中的 UNIQ_KEY 只有一个。所以 id 每次重试既变又不变：因为有两个 id。"),
        (Slip(T("It has one UNIQ_KEY. The offset ids are as many as its records.", "它只有一个 UNIQ_KEY。offset id 则与记录一样多。"), value="1"),),
    ),
    Question(
        "82-4", "word", "kind",
        T("Somebody looked up {asked} with {command} and failed. What kind of id is that?", "有人用 {command} 查询 {asked}，失败了。这是哪种 id？"),
        T("Both kinds have 32 digits for IPv4. Is there a record with this UNIQ_KEY? `python -m kit msgid` takes the id apart.",
          "两种 id 在 IPv4 下都是 32 位。有没有记录的 UNIQ_KEY 就是它？`python -m kit msgid` 可以拆解 id。"),
        T("{command} takes the other kind. It read a host and an offset out of this one all the same.",
          "{command} 需要的是另一种。它照样从这个 id 里读出了主机和偏移。"),
        (
            Slip(T("It looks like one: 32 digits that begin with an address. But the address is the producer's, and what follows is its process, not a port. "
                   "It is the UNIQ_KEY of a stored record.",
                   "看起来像：32 位，以地址开头。但那是生产者的地址，随后是进程号而不是端口。它是某条记录的 UNIQ_KEY。"), value="offset-id"),
            Slip(T("Keys are what the application chose, such as an order number.", "业务键由应用自己决定，如订单号。"), value="business-key"),
        ),
        KINDS, ALIASES,
    ),
    Question(
        "82-5", "word", "address",
        T("Which address (host:port) did that command try to reach?", "那条命令试图连接哪个地址（主机:端口）？"),
        T("It stands in the command's output.", "命令的输出里有。"),
        T("No broker listens there: host and process of the producer, taken for host and port of a broker.",
          "那里没有 Broker：生产者的主机和进程号被当成了 Broker 的主机和端口。"),
    ),
    Question(
        "82-6", "count", "twice",
        T("The consumer remembers what it has handled by its offset id. How many messages did it handle twice?",
          "消费者按 offset id 记住处理过的消息。有多少条被处理了两次？"),
        T("Success, and success again as a retry copy: the consumer's own rows tell.", "成功一次，作为重试副本又成功一次：看消费者自己的记录。"),
        T("It granted, failed in a later step, was retried, and did not know its own message again.",
          "它先完成了发放，后续步骤失败，消息重试，而它认不出自己处理过的消息。"),
        (
            Slip(T("Those were retried. A retry of what had failed is as it should be.", "这是重试过的消息。失败之后重试理所应当。"), "retried"),
            Slip(T("Those were given up: they lie in the dead letter topic.", "这些被放弃了：在死信主题里。"), "dead"),
            Slip(T("That several offset ids exist is normal. It needs somebody who compares them.",
                   "有多个 offset id 是正常的。要有人拿它比较才会出问题。"), "several"),
        ),
    ),
    Question(
        "82-7", "word", "by",
        T("By what should the consumer know its messages again?", "消费者应该凭什么认出自己的消息？"),
        T("Compare the two deliveries of one of them: what stayed the same?", "比较其中一条的两次投递：什么没有变？"),
        T("Or by a business key, which also catches what a producer sent twice.", "也可以用业务键，它还能发现生产者重复发送的消息。"),
        (
            Slip(T("That is what it does now: each copy has another one.", "它现在正是这样做的：每份副本都不同。"), value="offset-id"),
            Slip(T("A wrong turn of the document: the request carries it, and the broker does not use it. The first delivery has none.",
                   "这是文档走过的弯路：请求中带有它，但 Broker 并不使用。首次投递没有它。"), value="origin-message-id"),
            Slip(T("It tells that this is a retry, not of what, nor whether the first try succeeded.",
                   "它说明这是重试，却不说明是什么的重试，也不说明上次是否成功。"), value="reconsume-times"),
        ),
        BY, ALIASES,
    ),
)  # fmt: skip

LAB: Final = Lab(82, T("Which id is the message's", "消息的 id 是哪一个"), lambda bench: QUESTIONS, facts)
