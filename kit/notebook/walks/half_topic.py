"""What follows at each stop of notebook 20."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from kit.i18n import Sentence, T
from kit.notebook.answers import so
from kit.notebook.walks import files
from kit.rocketmq.names import HALF_TOPIC, RETRY_PREFIX

if TYPE_CHECKING:
    from kit.notebook.inquiry import Inquiry

LONGEST: Final = 127
"""Characters of a topic's name that brokers store."""


@so(
    "records",
    files.COMMITLOG,
    T(
        "the store has no half record: no transaction was sent in this time.",
        "存储中没有半消息记录：这段时间没有事务消息。",
    ),
)
def symptom(rows: pd.DataFrame) -> Sentence:
    """Tell whether one series grows while the others do not."""
    by = {str(topic): part["records"].astype(float).tolist() for topic, part in rows.groupby("real_topic", sort=False)}
    topic, most = max(by.items(), key=lambda each: max(each[1]))
    others = [max(counts) for name, counts in by.items() if name != topic]
    if max(most) < 16 or max(most) < 8 * max(1, most[0]):
        return T(
            "no series grows by itself: {most} records a second at most.",
            "没有自行增长的曲线：每秒最多 {most} 条记录。",
        ).say(most=int(max(most)))
    return T(
        "“{topic}” grows from {first} to {most} records a second while every other series stays below {other}: it is not traffic, something multiplies. Is it the producer?",
        "“{topic}” 从每秒 {first} 条增长到 {most} 条，而其他曲线始终不超过 {other}：这不是流量，是有东西在增殖。是生产者吗？",
    ).say(topic=topic, first=int(most[0]), most=int(max(most)), other=int(max(others, default=0)) + 1)


@so("records", files.TRANSACTIONS, T("no producer began a transaction here.", "这里没有生产者发起过事务。"))
def producer(rows: pd.DataFrame) -> Sentence:
    """Tell whether transactions stay open."""
    by = rows.groupby("state")["transactions"].sum().astype(int).to_dict()
    everything, pending = sum(by.values()), by.get("pending", 0)
    if pending:
        return T(
            "{pending} of {all} transactions are open: look at these producers before anything else (60_transaction_consistency).",
            "{all} 个事务中有 {pending} 个未决：先查这些生产者（60_transaction_consistency）。",
        ).say(pending=pending, all=everything)
    return T("all {all} transactions of producers are ended, none is open: not the producer. Then whose records are these?",
             "生产者的 {all} 个事务全部已结束，没有未决：不是生产者。那么这些记录是谁的？").say(all=everything)  # fmt: skip


@so("records", files.COMMITLOG, T("there is no half record.", "没有半消息记录。"))
def whose(rows: pd.DataFrame) -> Sentence:
    """Tell whether records name the half topic as their own real topic."""
    own = rows[rows["real_topic"] == HALF_TOPIC]
    if own.empty:
        return T(
            "every half record names a topic of the business: nothing leaked.",
            "每条半消息记录的真实主题都是业务主题：没有泄漏。",
        ).say()
    return T(
        "{records} records of only {messages} {messages:message|messages} name the half topic as their own real topic. No producer writes that. Is it a delayed message?",
        "{records} 条记录只属于 {messages} 条消息，它们的真实主题就是半消息主题本身。没有生产者会这样写。是延时消息吗？",
    ).say(records=int(own["records"].sum()), messages=int(own["messages"].max()))


@so(
    "records",
    files.COMMITLOG,
    T(
        "no record names the half topic as its real topic: nothing leaked.",
        "没有记录以半消息主题为真实主题：没有泄漏。",
    ),
)
def first_leaks(rows: pd.DataFrame) -> Sentence:
    """Tell what the first leaked records carry."""
    retry, tran = rows["property_RETRY_TOPIC"].dropna(), rows["property_TRAN_MSG"].eq("true").all()
    if retry.empty:
        return T(
            "they carry no RETRY_TOPIC: this is not a re-sent retry; look at who wrote them (born_host).",
            "它们没有 RETRY_TOPIC：不是重新发送的重试；请看由谁写入（born_host）。",
        ).say()
    return T(
        "they were written on {host}, a consumer: {topic} was consumed (RECONSUME_TIME {times}), failed and was sent anew with DELAY {delay}{tran}. RETRY_TOPIC is only set where the ordinary send-back threw. Why did it?",
        "它们由消费者所在的 {host} 写入：{topic} 已被消费（RECONSUME_TIME {times}）、失败、又带着 DELAY {delay}{tran} 重新发送。只有普通回发抛出异常时才会设置 RETRY_TOPIC。它为何抛出？",
    ).say(
        host=str(rows["born_host"].iloc[0]).rpartition(":")[0], topic=str(retry.iloc[0]), times=str(rows["property_RECONSUME_TIME"].iloc[0]),
        delay=str(rows["property_DELAY"].iloc[0]), tran=T(" and TRAN_MSG", " 和 TRAN_MSG") if tran else "",
    )  # fmt: skip


@so("entries", files.REFUSALS, T("no line of these logs tells of a refused send-back.", "这些日志里没有回发被拒的行。"))
def refused(rows: pd.DataFrame) -> Sentence:
    """Tell why the send-back was refused."""
    lengths = [int(text) for text in rows["length"].dropna() if str(text).isdigit()]
    sent = int((rows["event"] == "send-back-exception").sum())
    if lengths:
        return T(
            "the broker refused a name of {length} characters; it stores {limit}. Properties over 32,767 bytes are the other reason for the same answer, and none is printed. Whose name is that?",
            "Broker 拒绝了 {length} 个字符的名称；它最多存储 {limit} 个。属性超过 32,767 字节也会得到同样的应答，但没有这样的行。这是谁的名称？",
        ).say(length=max(lengths), limit=LONGEST)
    return T("{count} {count:send-back|send-backs} threw in the client; the broker's store.log would say which of the two limits it was.",
             "客户端有 {count} 次回发抛出异常；是哪一个限制，要看 Broker 的 store.log。").say(count=sent)  # fmt: skip


@so(
    "entries",
    files.CLIENT,
    T("no client names a group whose send-back was refused.", "没有客户端指出回发被拒的消费者组。"),
)
def group(rows: pd.DataFrame) -> Sentence:
    """Tell whether the group's name is too long for a retry topic."""
    row = rows.iloc[0]
    if int(row["retry_topic_length"]) <= LONGEST:
        return T(
            "{name} has {length} characters and fits: look for properties over 32,767 bytes, a time-out or a busy broker.",
            "{name} 有 {length} 个字符，没有超限：请查属性是否超过 32,767 字节、超时或 Broker 繁忙。",
        ).say(name=RETRY_PREFIX + str(row["consumer_group"]), length=int(row["retry_topic_length"]))
    return T(
        "%RETRY% + group is {length} characters, {over} too many: the group's name carries the topic and every tag ({parts} parts). That is the root. But how do a few messages become thousands?",
        "%RETRY% + 组名有 {length} 个字符，超出 {over} 个：组名里带着主题和全部 tag（{parts} 段）。这是根因。但几条消息怎么变成成千上万条？",
    ).say(length=int(row["retry_topic_length"]), over=int(row["retry_topic_length"]) - LONGEST, parts=len(row["parts"]))


@so("records", files.COMMITLOG, T("no leaked message, so nothing to follow.", "没有泄漏的消息，无可追踪。"))
def two(rows: pd.DataFrame) -> Sentence:
    """Tell whether commits are diverted beside the put-backs."""
    lanes = rows["lane"].value_counts().to_dict()
    if not lanes.get("commit"):
        return T(
            "each check writes one put-back and no commit is diverted: it circles, but it does not multiply.",
            "每次回查只写一份回写，没有提交被转移：它在循环，但不增殖。",
        ).say()
    return T(
        "each check writes a copy (put back) and its answer COMMIT writes another one, made from that copy: both carry DELAY, both return. One becomes two. COMMIT, because the listener has no handler for the half topic and answers so by default.",
        "每次回查写一份副本（回写），应答 COMMIT 又由这份副本写出一份：两者都带 DELAY，都会回来，一变二。应答 COMMIT，是因为监听器没有半消息主题的处理器，默认如此应答。",
    ).say()


@so("records", files.COMMITLOG, T("nothing leaked, so nothing is bounded.", "没有泄漏。"))
def bounds(rows: pd.DataFrame) -> Sentence:
    """Tell how the rounds grow and where they end."""
    count = rows["half_records"].astype(float)
    ratio = (count / count.shift()).dropna()
    limit = rows["limit"].dropna()
    if ratio.empty or ratio.median() < 1.2:
        return T(
            "the rounds do not grow: the leak ends at the check limit ({limit}) by itself.",
            "各轮不增长：泄漏到回查上限（{limit}）自行结束。",
        ).say(limit=int(limit.iloc[0]) if len(limit) else None)
    return T(
        "{first} become {last} in {rounds} rounds, × {ratio} in a typical one; {megabytes} MB of half records. A copy ends at the check limit, {limit}: up to 2 to the power of {limit} from one message.",
        "{rounds} 轮里从 {first} 条变成 {last} 条，通常每轮 × {ratio}；半消息记录共 {megabytes} MB。副本到回查上限 {limit} 为止：一条消息最多变成 2 的 {limit} 次方份。",
    ).say(
        first=int(count.iloc[0]), last=int(count.iloc[-1]), rounds=len(count) - 1, ratio=float(ratio.median()),
        megabytes=int(rows["bytes"].astype(float).sum() / 1e6), limit=int(limit.iloc[0]) if len(limit) else None,
    )  # fmt: skip


@so("records", files.COMMITLOG, T("nothing leaked, so there is no loop to draw.", "没有泄漏，也就没有循环可画。"))
def drawn(rows: pd.DataFrame) -> Sentence:
    """Tell what keeps the loop going."""
    counts = dict(zip(rows["hop"], rows["records"], strict=True))
    if not counts.get("due"):
        return T("nothing went round here.", "这里没有形成循环。").say()
    return T(
        "{due} arrivals in the half topic from {sent} re-sent {sent:copy|copies}; the two red ways back are what doubles. Break any hop and it ends; which break also brings the retries back?",
        "{sent} 份重新发送的副本带来 {due} 次进入半消息主题；使它翻倍的是两条返回的红色路径。切断任一环都会停；切断哪一环还能让重试回来？",
    ).say(due=int(counts["due"]), sent=None if pd.isna(counts.get("re-sent")) else int(counts["re-sent"]))


@so("records", files.COMMITLOG, T("nothing leaked, so there is nothing to prevent.", "没有泄漏，无需预防。"))
def fixes(rows: pd.DataFrame) -> Sentence:
    """Tell which fix lets the retries through."""
    happened = int(rows.loc[rows["fix"] == "as it happened", "leaked_records"].sum())
    return T(
        "the new client and the shorter name stop all {records}; ROLLBACK only those made by commits. Only the shorter name brings the {retries} {retries:retry|retries} to the consumer: decide for it, and upgrade as well.",
        "升级客户端和缩短组名都能止住全部 {records} 条；ROLLBACK 只止住由提交产生的。只有缩短组名能让 {retries} 次重试送达消费者：选它，同时升级。",
    ).say(records=happened, retries=int(rows["retries"].max()))


def retry(inquiry: Inquiry) -> tuple[str, str, str]:
    """Return group, client and broker release of this evidence, for `resend.explore`; the last releases with the fault where it names none."""
    from kit.analysis import setup

    refusals = inquiry.case.facts("refused_send_backs")["consumer_group"].dropna().tolist()
    consumers = [client for client in setup.clients(inquiry.case.facts) if client.role == "consumer"]
    chosen = refusals[0] if refusals else max((client.group for client in consumers), key=len, default="")
    releases = [client.version for client in consumers if client.group == chosen]
    return chosen, next(iter(releases), "4.6.0"), next(iter(setup.broker_versions(inquiry.case.facts)), "4.6.0")
