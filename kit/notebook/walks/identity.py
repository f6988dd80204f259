"""What follows at each stop of notebook 40."""

from __future__ import annotations

import pandas as pd

from kit.i18n import Sentence, T
from kit.notebook.answers import so
from kit.notebook.walks import files

NO_RETRY = T("no message of this evidence was retried.", "证据里没有被重试的消息。")


@so("rows", files.LEDGERS, NO_RETRY)
def symptom(rows: pd.DataFrame) -> Sentence:
    """Tell what stays and what changes over a message's deliveries."""
    keys, offsets = rows["uniq_key"].nunique(), rows["offset_msg_id"].nunique()
    if offsets < 2:
        return T("this message was delivered as one record only.", "这条消息只以一条记录投递过。").say()
    return T("{n} deliveries, {keys} UNIQ_KEY, {offsets} offset ids: who says “the id never changes” and who says “it changes at every retry” look at different ids. What is in each?",
             "{n} 次投递，{keys} 个 UNIQ_KEY，{offsets} 个 offset id：说“id 从不改变”的和说“每次重试都变”的，看的是不同的 id。它们各由什么组成？").say(
        n=len(rows), keys=int(keys), offsets=int(offsets))  # fmt: skip


@so(
    "records",
    files.COMMITLOG,
    T("no message was in question here, so none is taken apart.", "这里没有可疑的消息，因此没有拆解。"),
)
def apart(rows: pd.DataFrame) -> Sentence:
    """Tell what the bytes say."""
    return T("the offset id is an address, store host and physical offset: a new record, a new id. The UNIQ_KEY is made once by the producer's client and travels as a property. Who hands out which?",
             "offset id 是地址，即存储主机加物理偏移量：新记录就有新 id。UNIQ_KEY 由生产者客户端生成一次，作为属性随消息走。谁给出哪一个？").say()  # fmt: skip


@so(
    "records",
    files.COMMITLOG,
    T("no message was in question here to show the calls on.", "这里没有可疑的消息可供演示各调用。"),
)
def calls(rows: pd.DataFrame) -> Sentence:
    """Tell which call answers which id."""
    by = rows["which"].value_counts().to_dict() if "which" in rows else {}
    return T("{uniq} calls answer the UNIQ_KEY, {offset} an offset id, under the same name. The listener is handed a MessageClientExt, whose getMsgId answers the UNIQ_KEY. Which one did this consumer compare?",
             "{uniq} 个调用返回 UNIQ_KEY，{offset} 个返回 offset id，名字却相同。监听器拿到的是 MessageClientExt，它的 getMsgId 返回 UNIQ_KEY。这个消费者比较的是哪一个？").say(
        uniq=int(by.get("uniq", 0)), offset=int(by.get("offset", 0)))  # fmt: skip


@so("records", files.COMMITLOG, NO_RETRY)
def life(rows: pd.DataFrame) -> Sentence:
    """Tell how many records one message has."""
    return T("{n} records, as many offset ids; each hop wrote a new one. ORIGIN_MESSAGE_ID and the send-back's originMsgId are no part of that: the broker reads the old record by its offset.",
             "{n} 条记录，就有同样多的 offset id；每一跳都写了新记录。ORIGIN_MESSAGE_ID 和回发的 originMsgId 不参与其中：Broker 按物理偏移量读取旧记录。").say(n=len(rows))  # fmt: skip


@so("entries", files.LEDGERS, T("no application prints what it compares.", "没有应用打印它比较的是什么。"))
def compared(rows: pd.DataFrame) -> Sentence:
    """Tell whether the application compares offset ids."""
    offsets = int((rows["kind"] == "offset").sum())
    if not offsets:
        return T(
            "what it compares stays the same over retries: a good key.", "它比较的在重试间保持不变：是好的键。"
        ).say()
    return T(
        "it remembers offset ids ({n} of {all} seen): a retry copy has a new one, so it looks new. What did that cost?",
        "它记住的是 offset id（所见 {all} 个中的 {n} 个）：重试副本有新的 id，看起来像新消息。代价是什么？",
    ).say(n=offsets, all=len(rows))


@so(
    "rows", files.LEDGERS, T("no group handled a message with success twice.", "没有消费者组把同一条消息成功处理两次。")
)
def cost(rows: pd.DataFrame) -> Sentence:
    """Tell how many messages were handled again."""
    return T(
        "{n} {n:message|messages} of {groups} took effect twice, each the second time as a retry copy.",
        "{groups} 的 {n} 条消息生效了两次，第二次都是重试副本。",
    ).say(n=int(rows["messages"].max()), groups=sorted(map(str, set(rows["consumer"]))))


@so("entries", files.LOOKUPS, T("nobody looked a message up here.", "这里没有人查询过消息。"))
def looked_up(rows: pd.DataFrame) -> Sentence:
    """Tell which look-ups failed."""
    failed = int(rows["event"].isin(["lookup-failed", "query-no-message"]).sum())
    if not failed:
        return T("no look-up failed.", "没有失败的查询。").say()
    return T("{n} lines tell of a failed look-up: queryMsgById takes an offset id, queryMsgByUniqueKey a UNIQ_KEY; the other kind is read as an address and leads to the producer's host, or nowhere.",
             "{n} 行提到查询失败：queryMsgById 要 offset id，queryMsgByUniqueKey 要 UNIQ_KEY；给错种类会被当作地址，连到生产者主机或无处可去。").say(n=failed)  # fmt: skip
