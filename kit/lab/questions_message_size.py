"""Lab 81, a message that outgrows the limit: it fits when it is sent, and not when the check puts it back."""

from __future__ import annotations

from typing import Any, Final

from kit.lab.bench import Bench
from kit.lab.question import Lab, Question, Slip
from kit.texts import T

CAUSE: Final = "message-size-mismatch"

MEASURED: Final = {
    "body": T("the body as it was before compression", "压缩前的消息体"),
    "stored-body": T("the body as stored", "存储的消息体"),
    "record": T("the whole record: fixed fields, body, topic and properties", "整条记录：固定字段、消息体、主题与属性"),
}
MEASURES: Final = {"total": "record", "body": "stored-body", "body+64k": "stored-body"}
FIELDS: Final = {
    "body": T("the body", "消息体"),
    "fixed": T("fixed fields", "固定字段"),
    "topic": T("the topic's name", "主题名"),
    "tags-code": T("the tags code (setTagsCode)", "tags code（setTagsCode）"),
    "application": T("properties of the application", "应用的属性"),
    "client": T("properties of the producer's client", "生产者客户端的属性"),
    "broker": T("properties the broker adds when it prepares the transaction", "Broker 准备事务时添加的属性"),
    "check": T("properties the check adds", "回查添加的属性"),
}


def facts(bench: Bench) -> dict[str, Any]:
    """Return the figures of the cause, what one looping record weighs, and what they are mistaken for."""
    from kit.facts.versions import OLDEST, rule
    from kit.inquiry import sizes

    figures = bench.figures(CAUSE)
    told, risk = bench.table("size_refusals"), bench.table("size_at_risk")
    counts = {} if told.empty else _refusals(told)
    safe = [v for v in (figures["safe_body_bytes"] or {}).values() if v is not None]
    how = sizes.limits(bench.case).how
    first: dict[str, Any] = {} if risk.empty else {str(k): v for k, v in risk.sort_values("queue_offset").iloc[0].to_dict().items()}
    return {
        "limit": figures["broker_limit"],
        "default_limit": int(rule("maxMessageSize", OLDEST)),
        "measure": MEASURES.get(how or ""),
        "direct": figures["direct_rejects"],
        "at_risk": figures["at_risk_half_messages"],
        "looping": figures["looping_half_messages"],
        "open": bench.figures("transaction-consistency")["pending"],
        "stored": first.get("store_size"),
        "added": first["next_size"] - first["store_size"] if first else None,
        "added_last": first["last_size"] - first["store_size"] if first else None,
        "safe": min(safe, default=None),
        "planned": 60 << 10,
        **counts,
        **_grown(bench),
    }


def _refusals(told: Any) -> dict[str, Any]:
    put_back = told[told["writer"] == "put_back"].groupby("event")["count"].sum()
    exceeded = told[told["event"] == "message-size-exceeded"]["count"].sum()
    # Each refusal leaves a line in store.log and one in transaction.log; the longer log tells more of them.
    return {"refused": int(put_back.max()) if len(put_back) else None, "lines": int(put_back.sum()), "exceeded": int(exceeded)}


def _grown(bench: Bench) -> dict[str, Any]:
    """Return which field the put-back made longer, and the body of the record that loops."""
    fields = bench.table("size_fields")
    if fields.empty:
        return {"grown": None, "looping_body": None}
    sizes_ = fields.pivot_table(index="field", columns="stage", values="bytes", aggfunc="sum")
    more = sizes_["put_back"] - sizes_["half"]
    return {"grown": str(more.idxmax()) if more.max() > 0 else None, "looping_body": int(sizes_["half"]["body"])}


QUESTIONS: Final = (
    Question(
        "81-1", "bytes", "limit",
        T("The half queue stands still and the logs fill. What is the broker's limit for a message, in bytes?",
          "half 队列停滞，日志暴涨。Broker 的消息大小上限是多少字节？"),
        T("maxMessageSize, as the running broker had it: mqadmin getBrokerConfig, or the refusals themselves.",
          "运行中的 Broker 的 maxMessageSize：见 mqadmin getBrokerConfig，或拒绝日志本身。"),
        T("The clients were not told: theirs is {default_limit} by default.", "客户端并不知道：其默认上限是 {default_limit}。"),
        (
            Slip(T("That is the default, of client and broker alike. This broker was given another limit.",
                   "这是客户端与 Broker 共同的默认值。这个 Broker 另有设定。"), "default_limit"),
            Slip(T("The broker's answer speaks of 128k whatever its limit is.", "无论上限是多少，Broker 的应答都说 128k。"), value="131072"),
        ),
    ),
    Question(
        "81-2", "count", "direct",
        T("At the edge the harmless case: how many sends were refused at once for their size?", "先看边界上无害的情形：有多少次发送因大小当场被拒？"),
        T("In store.log the thread tells who wrote: SendMessageThread for a send, the check's thread for a put-back.",
          "store.log 中的线程说明写入者：SendMessageThread 是发送，回查线程是放回。"),
        T("Their senders were told. Nothing of them is stored, and nothing loops.", "发送方都收到了应答。什么也没存储，也没有循环。"),
        (Slip(T("That counts put-backs too: the same line comes from the check's thread, again and again.",
                "这把放回也算了进去：回查线程会反复打印同样的日志。"), "exceeded"),),
    ),
    Question(
        "81-3", "word", "measure",
        T("What does this broker hold against its limit?", "这个 Broker 用什么与上限比较？"),
        T("A refusal prints two sizes. Which of them is above the limit?", "拒绝日志打印了两个大小。哪一个超过上限？"),
        T("And the client looks at the body before compression: two rulers, and a message can pass one and fail the other.",
          "而客户端看的是压缩前的消息体：两把尺子，一条消息可能通过一把而通不过另一把。"),
        (
            Slip(T("That is what the client checks.", "那是客户端检查的内容。"), value="body"),
            Slip(T("Newer brokers do. This one prints a body below the limit and refuses it all the same.",
                   "较新的 Broker 是这样。这里打印的消息体低于上限，却仍被拒绝。"), value="stored-body"),
        ),
        MEASURED,
    ),
    Question(
        "81-4", "count", "added",
        T("How many bytes does the first put-back add to a half message?", "第一次放回会给 half 消息增加多少字节？"),
        T("Compare the stored record ({stored} bytes) with what the check wants to write.", "比较已存储的记录（{stored} 字节）与回查想写入的大小。"),
        T("A name, a value and two separators. Nothing more is added while the count keeps its digits.",
          "一个名称、一个值和两个分隔符。只要次数的位数不变，就不再增加。"),
        (
            Slip(T("That is what has been added by the last check, when the count has two digits.",
                   "那是到最后一次回查为止的增量，次数已是两位数。"), "added_last"),
            Slip(T("No: something is added at every first check. The record that loops did fit before.",
                   "不对：首次回查总会增加内容。循环的那条记录此前是放得下的。"), value="0"),
            Slip(T("Eight bytes would be the tags code. It stands in the consume queue, not in the record.",
                   "八字节是 tags code 的大小。它在消费队列中，不在记录里。"), value="8"),
        ),
    ),
    Question(
        "81-5", "word", "grown",
        T("The document says setTagsCode makes it grow. Which part of the record did the put-back make longer?",
          "文档说是 setTagsCode 使它变大。放回究竟使记录的哪一部分变长？"),
        T("Compare the stages “half” and “put back” in the table of fields.", "比较字段表中“half”与“放回”两个阶段。"),
        T("TRANSACTION_CHECK_TIMES it is: a property.", "是 TRANSACTION_CHECK_TIMES：一个属性。"),
        (
            Slip(T("That is the document's wrong turn: the tags code is computed for the consume queue and is not stored in the record.",
                   "这正是文档走过的弯路：tags code 是为消费队列计算的，并不存储在记录中。"), value="tags-code"),
            Slip(T("They are there already: the broker added them when it prepared the half message.",
                   "它们早已存在：Broker 在准备 half 消息时添加的。"), value="broker"),
            Slip(T("The body is copied as it is.", "消息体原样复制。"), value="body"),
        ),
        FIELDS,
        {"settagscode": "tags-code", "tagscode": "tags-code", "transaction-check-times": "check", "properties": "check"},
    ),
    Question(
        "81-6", "count", "at_risk",
        T("How many open transactions will be refused at some put-back?", "有多少个未结束的事务会在某次放回时被拒？"),
        T("Open ones whose record plus what the checks add exceeds the limit. The log names only those the check has come to.",
          "未结束的、记录加上回查所加内容会超过上限的。日志只提到回查已经走到的那些。"),
        T("The check stops at the first of them and never comes to the others, nor to whatever stands behind.",
          "回查停在第一条，永远走不到其余的，也走不到它们后面的任何消息。"),
        (
            Slip(T("That is how many the log shows looping. The check has not come to the others yet.",
                   "那是日志显示正在循环的数量。回查还没有走到其余的。"), "looping"),
            Slip(T("That is every open transaction. Some of them fit and only wait behind.", "那是全部未结束的事务。其中有些放得下，只是排在后面。"), "open"),
        ),
    ),
    Question(
        "81-7", "count", "refused",
        T("How often was the put-back refused, as far as the logs go back?", "就现存日志而言，放回被拒绝了多少次？"),
        T("Each refusal is told by store.log and by transaction.log.", "每次拒绝在 store.log 和 transaction.log 中各有记录。"),
        T("In seconds, for one message that is a few bytes too long. Logs roll, and the beginning is the first thing lost.",
          "短短几十秒，只因一条消息超出几个字节。日志会滚动，最先丢失的是开头。"),
        (Slip(T("That counts both logs. Each refusal leaves a line in store.log and another in transaction.log.",
                "这把两份日志相加了。每次拒绝在 store.log 和 transaction.log 中各留一行。"), "lines"),),
        tolerance=0.01,
    ),
    Question(
        "81-8", "bytes", "safe",
        T("The plan was to refuse bodies above 60 KB, “to be confirmed”. What is the largest body whose put-backs all fit?",
          "当时计划拒绝 60 KB 以上的消息体，“待确认”。放回始终放得下的最大消息体是多少字节？"),
        T("The limit, less everything that is no body, less what the checks add until their limit.",
          "上限减去消息体以外的一切，再减去直到回查上限所加的内容。"),
        T("For the longest properties seen on that topic; with longer ones it is less.", "按该主题上见过的最长属性计算；属性更长则更小。"),
        (
            Slip(T("Safe it is, but a guess: it gives away what would have fitted.", "它是安全的，但只是猜测：白白拒绝了放得下的消息。"), "planned"),
            Slip(T("That leaves no room for fixed fields, topic and properties.", "这没有给固定字段、主题和属性留出空间。"), "limit"),
            Slip(T("That is the body of the very record that loops.", "这正是循环的那条记录的消息体。"), "looping_body"),
        ),
    ),
)  # fmt: skip

LAB: Final = Lab(81, T("The message that outgrew the limit", "超出上限的消息"), lambda bench: QUESTIONS, facts)
