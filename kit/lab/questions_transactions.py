"""Lab 84, message and row that disagree: the consumer is suspected, then every transaction is given an end and held against its row."""

from __future__ import annotations

from typing import Any, Final

import attrs

from kit.lab.bench import Bench
from kit.lab.question import Lab, Question, Slip
from kit.show.placement import PLACES
from kit.texts import T

CAUSE: Final = "transaction-consistency"

REPAIRS: Final = {
    "re-send": T("send the message again, from the row", "根据业务数据重新发送消息"),
    "compensate": T("undo what consumers did with the message", "对消费者已做的事进行补偿"),
    "delete-row": T("delete the row", "删除业务数据"),
    "wait": T("nothing: the check will finish it", "不处理：回查会收尾"),
}


def facts(bench: Bench) -> dict[str, Any]:
    """Return the figures of the cause, counts of the store beside them, and what they are mistaken for."""
    from pyspark.sql import functions as F  # noqa: N812

    from kit.facts import names
    from kit.inquiry import transactions
    from kit.inquiry.leaks import is_commit

    figures = bench.figures(CAUSE)
    records = bench.case.records
    commits = records.where(is_commit() & (F.col("reconsume_times") == 0) & transactions.is_real(F.col("topic"))).count()
    return {
        "halves": figures["half_messages"],
        "half_records": records.where(F.col("topic") == names.HALF_TOPIC).count(),
        "committed": figures["committed"],
        "commits": commits,
        "rolled_back": figures["rolled_back"],
        "discarded": figures["discarded"],
        "twice": figures["committed_twice"],
        "dead": figures["dead_lettered"],
        "rows": figures["rows_without_message"],
        "alone": figures["messages_without_row"],
        "thrown": figures["exceptions_in_local_transaction"],
        "unsafe": _unsafe(),
        "unsafe_unchecked": _unsafe(checked=False),
        **_wrong(bench),
    }


def _unsafe(*, checked: bool = True) -> frozenset[str]:
    """Return the placements that can end inconsistent, by the kit's model of client and broker under the published failures."""
    from kit.model import placement

    given = attrs.evolve(placement.PUBLISHED_ASSUMPTIONS, looks_at_status=checked)
    return frozenset(p for p in placement.PLACEMENTS if not placement.safe(p, given))


def _wrong(bench: Bench) -> dict[str, Any]:
    wrong = bench.table("inconsistent")
    if wrong.empty:
        return {"dead_of_rows": None, "group": None, "repair": None}
    rows = wrong[(wrong["kind"] == "row_without_message") & (wrong["state"] != "discarded")]
    dead = bench.table("dead_letters")
    keys = set(dead["keys"].dropna().str.split().explode()) if len(dead) else set()
    groups = rows["producer_group"].dropna()
    return {
        "dead_of_rows": int(rows["key"].isin(list(keys)).sum()),
        "group": str(groups.mode().iloc[0]) if len(groups) else None,
        "repair": str(rows["repair"].mode().iloc[0]) if len(rows) else None,
    }


QUESTIONS: Final = (
    Question(
        "84-1", "count", "halves",
        T("“The consumer missed some orders.” Before that: how many transactions were begun?", "“消费者漏掉了一些订单。”先问：开始了多少个事务？"),
        T("Half records that a producer wrote. The check writes copies into the same topic.", "由生产者写入的 half 记录。回查会向同一主题写入副本。"),
        T("Each of them must end somewhere: committed, rolled back, discarded or pending.", "每个都必有去向：已提交、已回滚、被放弃或未决。"),
        (Slip(T("That counts put-backs too: each check writes another copy of the same transaction.",
                "这把放回也算了进去：每次回查都会为同一事务再写一份副本。"), "half_records"),),
    ),
    Question(
        "84-2", "count", "committed",
        T("How many of them were committed?", "其中有多少已提交？"),
        T("Count transactions, by UNIQ_KEY, not records.", "按 UNIQ_KEY 数事务，而不是数记录。"),
        T("{twice} of them were committed twice: a slow local transaction, finished by the check and once more by its own answer.",
          "其中 {twice} 个被提交了两次：本地事务过慢，先由回查、再由自己的应答提交。"),
        (Slip(T("Those are committed records. Some transactions have two of them.", "那是提交的记录数。有的事务有两条。"), "commits"),),
    ),
    Question(
        "84-3", "count", "dead_of_rows",
        T("{rows} rows have no message. The consumer is suspected, for {dead} messages are dead letters: how many of the rows are explained by them?",
          "{rows} 条业务数据没有消息。因为有 {dead} 条死信，消费者受到怀疑：其中多少条可由死信解释？"),
        T("A dead letter was committed and delivered. Compare keys, not totals.", "死信曾被提交并投递。请比较键，而不是总数。"),
        T("That was the wrong turn: dead letters are messages that exist, and their rows agree with them.", "这就是弯路：死信是存在的消息，与业务数据相符。"),
        (
            Slip(T("That is the number of dead letters. Their messages were committed; compare the keys.",
                   "这是死信的数目。那些消息已提交；请比较键。"), "dead"),
            Slip(T("None of these rows has a message that could have become a dead letter.", "这些业务数据都没有消息，谈不上成为死信。"), "rows"),
        ),
    ),
    Question(
        "84-4", "count", "alone",
        T("The other way round: how many messages were committed without a row?", "反过来：有多少条消息已提交却没有业务数据？"),
        T("Keys of committed messages that no business table holds, within the time the tables cover.", "已提交消息的键，在业务表覆盖的时段内却没有对应数据。"),
        T("Consumers acted on orders that do not exist.", "消费者处理了并不存在的订单。"),
        (
            Slip(T("Those are the rows without a message.", "那是没有消息的业务数据。"), "rows"),
            Slip(T("Discarded ones were given up: nobody received them.", "被放弃的没有人收到。"), "discarded"),
        ),
    ),
    Question(
        "84-5", "count", "thrown",
        T("How many exceptions of local transactions did the clients swallow?", "客户端吞掉了多少个本地事务的异常？"),
        T("rocketmq_client.log, at INFO: executeLocalTransactionBranch exception.",
          "rocketmq_client.log，INFO 级别：executeLocalTransactionBranch exception。"),
        T("Caught, logged at INFO, answered UNKNOW, and the caller was told nothing.", "被捕获，以 INFO 记日志，应答 UNKNOW，而调用方一无所知。"),
        (
            Slip(T("Those were rolled back. The code may have asked for it, and an exception can end otherwise.",
                   "这是回滚的事务。回滚可能是代码主动要求的，而异常也可能有别的结局。"), "rolled_back"),
            Slip(T("Those are the rows that remained. Not every exception leaves one, and not each of them came from an exception.",
                   "那是遗留的业务数据。并非每个异常都会遗留，也并非每条都源于异常。"), "rows"),
            Slip(T("It is logged at INFO, so that a search for errors does not find it.", "它以 INFO 级别记录，搜索 ERROR 是找不到的。"), value="0"),
        ),
    ),
    Question(
        "84-6", "word", "group",
        T("Which producer group do the rows without a message belong to?", "没有消息的业务数据属于哪个生产者组？"),
        T("PGROUP of the rolled back half records with these keys.", "这些键对应的已回滚 half 记录的 PGROUP。"),
        T("One service: so look at where it sends its half message.", "只有一个服务：所以要看它在哪里发送 half 消息。"),
    ),
    Question(
        "84-7", "words", "unsafe",
        T("Half message first, in the middle or last: which placement can leave them apart even if the application looks at the send status?",
          "half 消息在前、居中或在后：即使应用检查发送状态，哪种位置仍可能使二者不一致？"),
        T("Where is the row written when executeLocalTransaction fails, and who hears of it?", "executeLocalTransaction 失败时，业务数据写在哪里？谁会知道？"),
        T("The row is written outside; the exception inside never reaches it. Without looking at the status: {unsafe_unchecked}.",
          "业务数据写在外层，而内层的异常传不到外层。若不检查发送状态：{unsafe_unchecked}。"),
        (
            Slip(T("Only where nobody looks at SEND_OK: then the row stays although the client rolled back by itself.",
                   "只有不检查 SEND_OK 时才会：客户端已自行回滚，业务数据却留下了。"), value="last"),
            Slip(T("Everything is inside: a failure takes the row along. Its price is needless checks, and a second commit where it is slow.",
                   "一切都在内层：失败时数据一并撤销。代价是多余的回查，缓慢时还会提交两次。"), value="first"),
        ),
        PLACES, {"half-first": "first", "half-last": "last", "half-in-the-middle": "middle"},
    ),
    Question(
        "84-8", "word", "repair",
        T("What repairs a row whose message was rolled back?", "消息已回滚而业务数据仍在，如何修复？"),
        T("The row is the truth of the business; what is missing?", "业务数据才是业务事实；缺的是什么？"),
        T("With the same key, so that consumers that know it handle it once.", "使用相同的键，使认得它的消费者只处理一次。"),
        (
            Slip(T("That is for the other direction: a message without a row.", "那是针对另一方向：有消息而没有数据。"), value="compensate"),
            Slip(T("The customer has ordered and paid. The row is right.", "客户已下单并付款。数据是对的。"), value="delete-row"),
            Slip(T("It is finished: rolled back, with its op record. No check comes again.", "它已经结束：已回滚，有 op 记录。不会再有回查。"), value="wait"),
        ),
        REPAIRS, {"resend": "re-send"},
    ),
)  # fmt: skip

LAB: Final = Lab(84, T("Message and row that disagree", "消息与业务数据不一致"), lambda bench: QUESTIONS, facts)
