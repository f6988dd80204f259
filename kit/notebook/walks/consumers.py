"""What follows at each stop of notebooks 61, 62 and 63."""

from __future__ import annotations

import pandas as pd

from kit.i18n import Sentence, T
from kit.notebook.answers import so
from kit.notebook.walks import files

NO_LAG = T("no position of a group with the end of its queue is known.", "不知道任何组的位点及其队列末尾。")


@so("offsets", files.OFFSETS, NO_LAG)
def lag(rows: pd.DataFrame) -> Sentence:
    """Tell whether a lag grows."""
    first, last = (
        rows.sort_values("time").groupby("queue")["lag"].agg(each).astype(float) for each in ("first", "last")
    )
    grown = (last - first).sort_values(ascending=False)
    up = grown[grown > 0]
    if up.empty:
        return T(
            "no queue's lag grew between the first and the last look: a burst that drains is no backlog.",
            "从第一次到最后一次观察，没有队列的积压增长：会消化的突发不是堆积。",
        ).say()
    return T(
        "{up} of {all} queues fell further behind, {queue} the most, by {n}. All queues of the group, or one?",
        "{all} 个队列中有 {up} 个落后更多，最多的是 {queue}，增加 {n}。是该组的全部队列，还是一个？",
    ).say(up=len(up), all=len(grown), queue=str(up.index[0]), n=int(up.iloc[0]))


@so("offsets", files.OFFSETS, T("no group is behind in any queue.", "没有落后的组。"))
def queues(rows: pd.DataFrame) -> Sentence:
    """Tell a slow group from one queue that stands."""
    stand = rows[rows["moved"].fillna(-1).astype(int) == 0]
    moving = rows[rows["moved"].fillna(-1).astype(int) > 0]
    top = rows.iloc[0]
    who = f"{top['topic']} @ {top['group']}"
    if stand.empty:
        return T(
            "every queue's offset goes on, the lag too ({who}): not one message in the way; the group is too slow. Who consumes?",
            "每个队列的位点都在前进，积压也在（{who}）：不是某条消息挡路，而是组太慢。谁在消费？",
        ).say(who=who)
    return T(
        "{n} {n:queue stands|queues stand} while {moving} go on: one message in the way, or nobody who owns the queue. Who consumes?",
        "{n} 个队列停住，{moving} 个在前进：有消息挡路，或队列没有主人。谁在消费？",
    ).say(n=len(stand), moving=len(moving))


@so(
    "entries",
    T("the broker's broker.log, or consumerConnection", "Broker 的 broker.log，或 consumerConnection"),
    T("no consumer is seen to connect.", "没有看到消费者连接。"),
)
def clients(rows: pd.DataFrame) -> Sentence:
    """Tell how many clients a group has, and whether one id stands for several."""
    twice = rows[rows["addresses"].fillna(0).astype(int) > 1]
    if len(twice):
        return T(
            "client id {id} came from {n} addresses: two processes compute the same share of the queues, the other share belongs to nobody.",
            "客户端 id {id} 来自 {n} 个地址：两个进程算出同一份队列，另一份没有主人。",
        ).say(id=str(twice["client_id"].iloc[0]), n=int(twice["addresses"].iloc[0]))
    return T(
        "{n} {n:client|clients} in {groups} {groups:group|groups}, no id twice at the same time as far as this shows. What do their threads do?",
        "{groups} 个组共 {n} 个客户端，就此看来没有重复的 id。它们的线程在做什么？",
    ).say(n=len(rows), groups=int(rows["consumer_group"].nunique()))


@so("threads", files.DUMPS, T("no consuming thread is in these dumps.", "这些转储里没有消费线程。"))
def threads(rows: pd.DataFrame) -> Sentence:
    """Tell what most threads share."""
    row, every = rows.iloc[0], int(rows["threads"].sum())
    return T(
        "{n} of {all} consuming threads are in {frame}: more threads help only if that call is not what is slow.",
        "{all} 个消费线程中有 {n} 个停在 {frame}：如果慢的就是这个调用，加线程没有用。",
    ).say(n=int(row["threads"]), all=every, frame=str(row["frame"]))


@so(
    "rows",
    files.LEDGERS,
    T(
        "every stored message is in a ledger, or no group's ledgers are complete.",
        "存储的消息都在流水里，或没有哪个组的流水是完整的。",
    ),
)
def unhandled(rows: pd.DataFrame) -> Sentence:
    """Tell what lies behind and before the offset."""
    by = rows.drop_duplicates(["group", "topic", "passed"])
    behind, front = (int(by.loc[by["passed"].astype(bool) == side, "messages"].sum()) for side in (True, False))
    return T("{behind} messages are behind the group's offset and in no ledger: passed over, nobody will be given them again; {front} wait in front of it. Who should have handled them?",
             "{behind} 条消息在位点之后却不在任何流水中：被越过，不会再投递；{front} 条在位点之前等待。本该由谁处理？").say(behind=behind, front=front)  # fmt: skip


@so("entries", files.STATUS, T("no client says what it subscribes to.", "没有客户端说明它订阅了什么。"))
def subscriptions(rows: pd.DataFrame) -> Sentence:
    """Tell whether clients of one topic subscribe differently."""
    different = rows.groupby("topic")["expression"].nunique()
    if (different < 2).all():
        return T(
            "all clients that say it subscribe to the same: look at the offset instead.",
            "所有说明了的客户端订阅相同：转而查看位点。",
        ).say()
    return T(
        "clients subscribe differently to {topic} at the same time: the broker keeps one table for a group, and queues are shared out without looking at it.",
        "同时有客户端对 {topic} 的订阅不同：Broker 每组只保存一份订阅表，而分配队列时并不看它。",
    ).say(topic=str(different.idxmax()))


@so(
    "entries",
    files.OFFSETS,
    T(
        "no line or command shows that an offset moved by more than was handled.",
        "没有日志或命令显示位点移动超过已处理的量。",
    ),
)
def moved(rows: pd.DataFrame) -> Sentence:
    """Tell what was skipped and what was handled again."""
    skipped, again = (int(rows[name].fillna(0).astype(int).sum()) for name in ("skipped", "repeated"))
    return T(
        "offsets of {n} {n:queue|queues} moved ({kinds}): {skipped} messages skipped, {again} offered again.",
        "{n} 个队列的位点移动（{kinds}）：跳过 {skipped} 条，重新投递 {again} 条。",
    ).say(n=len(rows), kinds=sorted(set(map(str, rows["kind"]))), skipped=skipped, again=again)


@so(
    "entries",
    T("the clients' logs and the broker's", "客户端与 Broker 的日志"),
    T("the known texts tell of no subscription or offset.", "已知文本没有提到订阅或位点。"),
)
def said(rows: pd.DataFrame) -> Sentence:
    """Tell what logs say most."""
    return T(
        "“{event}” is said most, {n} {n:time|times}; a rolling restart prints some of these as well, so their times decide.",
        "“{event}”出现最多，{n} 次；滚动重启也会打印其中一些，要看时间。",
    ).say(event=str(rows["event"].iloc[0]), n=int(rows["lines"].iloc[0]))


@so("entries", files.CLIENT, T("no client's connect is printed.", "没有打印客户端的连接。"))
def reached(rows: pd.DataFrame) -> Sentence:
    """Tell which addresses nobody reached."""
    never = sorted(
        {str(row["address"]) for row in rows.to_dict("records") if int(row["failed"]) and not int(row["reached"])}
    )
    if not never:
        return T(
            "every address that a file tried was reached from there at some time: a broker that died looks different from one that was never there.",
            "试过的地址都曾连上：宕机的 Broker 与从未可达的不同。",
        ).say()
    return T(
        "{addresses} was tried and never reached. Who told the clients this address?",
        "{addresses} 试过却从未连上。是谁把这个地址告诉客户端的？",
    ).say(addresses=never)


@so("configs", files.NETWORK, T("neither settings nor hosts name an address.", "设置和主机都没有给出地址。"))
def told(rows: pd.DataFrame) -> Sentence:
    """Tell where the addresses come from."""
    names = sorted(set(rows.loc[rows["name"] == "brokerIP1", "value"].dropna().map(str)))
    if not names:
        return T(
            "no brokerIP1 is set: the broker registers the first address of its host, which clients elsewhere may not reach.",
            "没有设置 brokerIP1：Broker 注册主机的第一个地址，别处的客户端可能连不上。",
        ).say()
    return T(
        "the broker registers {names}; compare it with the addresses its host has and clients can reach.",
        "Broker 注册的是 {names}；与主机实际拥有、客户端可达的地址比较。",
    ).say(names=names)


@so(
    "sends", files.LEDGER, T("no acknowledged send is to be compared with a replica.", "没有可与副本比较的已确认发送。")
)
def seconds(rows: pd.DataFrame) -> Sentence:
    """Tell how much of what was acknowledged is missing."""
    missing, sent = int(rows["missing"].sum()), int(rows["acknowledged"].sum())
    if not missing:
        return T("all {sent} acknowledged sends are on the replica.", "{sent} 次已确认的发送都在副本上。").say(
            sent=sent
        )
    return T(
        "{missing} of {sent} acknowledged sends are not on the surviving replica: keep the lost master's disk before anything is sent again.",
        "{sent} 次已确认的发送中有 {missing} 次不在幸存的副本上：重发之前先保住丢失主节点的磁盘。",
    ).say(missing=missing, sent=sent)


@so(
    "entries",
    files.CLIENT,
    T("no topic lacked a route, and no client was denied.", "没有主题缺路由，也没有客户端被拒绝。"),
)
def others(rows: pd.DataFrame) -> Sentence:
    """Tell whether a topic or a right is missing instead."""
    return T(
        "“{what}” is said of {name}: that fails at once and stores nothing, whatever the network does.",
        "“{what}”说的是 {name}：这会立即失败、不存储任何内容，与网络无关。",
    ).say(what=str(rows["what"].iloc[0]), name=str(rows["name"].iloc[0]))


@so(
    "entries",
    files.CLIENT,
    T("clients and applications print no warning and no error.", "客户端和应用没有打印警告或错误。"),
)
def failing(rows: pd.DataFrame) -> Sentence:
    """Tell when it begins and how much it is."""
    return T(
        "{lines} warnings and errors from {first} on, at most {most} in a second. Does the broker refuse?",
        "从 {first} 起有 {lines} 条警告和错误，每秒最多 {most} 条。是 Broker 在拒绝吗？",
    ).say(
        lines=int(rows["lines"].sum()),
        first=rows["second"].min().tz_localize("UTC").to_pydatetime(),
        most=int(rows["lines"].max()),
    )


@so("sends", files.LEDGER, T("no acknowledged send is missing on a replica.", "没有已确认的发送在副本上缺失。"))
def lost(rows: pd.DataFrame) -> Sentence:
    """Tell what to do with the keys that are missing."""
    return T("{n} acknowledged sends are missing, from key {first} on: consumers may have handled some before the master was lost, so process them again by key, a dry run first.",
             "{n} 次已确认的发送缺失，从 key {first} 开始：主节点丢失前消费者可能已处理一部分，应按 key 重新处理，先演练。").say(n=len(rows), first=str(rows["key"].iloc[0]))  # fmt: skip
