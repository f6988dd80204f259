"""What follows at each stop of notebook 50."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from kit.i18n import Sentence, T
from kit.notebook.answers import so
from kit.notebook.walks import files

if TYPE_CHECKING:
    from kit.notebook.inquiry import Inquiry

RAISED = 3000
NO_FAILURE = T("no send failed in this evidence.", "证据中没有失败的发送。")
FAILURES = T("the clients' logs, or the senders' own ledger of sends", "客户端日志，或发送方自己的发送台账")


@so("records", FAILURES, NO_FAILURE)
def symptom(rows: pd.DataFrame) -> Sentence:
    """Tell how much failed, and whether nothing was stored then."""
    kinds = [name for name in rows.columns if str(name).isupper()]
    failed = int(rows[kinds].fillna(0).sum().sum()) if kinds else 0
    still = int(rows["stalled"].fillna(False).astype(bool).sum()) if "stalled" in rows else 0
    if not failed:
        return T(
            "no send failed; whatever else this evidence shows, the broker refused nothing that was logged.",
            "没有失败的发送；不管证据还显示什么，没有日志记录到 Broker 的拒绝。",
        ).say()
    if not still:
        return T(
            "{failed} sends failed while the store went on. Is the limit too low?",
            "{failed} 次发送失败，而存储没有停。是上限太低吗？",
        ).say(failed=failed)
    return T("{failed} sends failed; in the shaded times nothing was stored. Is a limit too low, or did the broker stand?",
             "{failed} 次发送失败；阴影时段里没有存储任何消息。是上限太低，还是 Broker 停住了？").say(failed=failed)  # fmt: skip


@so("configs", files.CONFIG, T("none of these settings is in this evidence.", "证据里没有这些设置。"))
def limits(rows: pd.DataFrame) -> Sentence:
    """Tell how long a request may wait here."""
    value = rows.loc[rows["name"] == "waitTimeMillsInSendQueue", "value"]
    if value.empty:
        return T(
            "the wait in the send queue is not known here; the default is 200 ms.",
            "这里不知道在发送队列里最多等多久；默认 200 毫秒。",
        ).say()
    return T("a request is thrown out of the queue after {wait} ms. Would a higher limit have helped? Replayed below, with what happened beside it.",
             "请求在队列中等 {wait} 毫秒后被清出。调大上限有用吗？下面重放，并与实际并列。").say(wait=str(value.iloc[0]))  # fmt: skip


@so("records", files.COMMITLOG, T("no arrivals and pauses to replay.", "没有可重放的到达和停顿。"))
def raised(rows: pd.DataFrame) -> Sentence:
    """Tell what the higher limit would have changed."""
    return T(
        "with a higher limit refusals become waits, and waits time-outs: a message that timed out and is stored is sent again, and stored twice. No limit makes up for a broker that stands. Did it?",
        "上限调大后，拒绝变成等待，等待变成超时：超时却已存储的消息会被重发，于是存两次。没有哪个上限能弥补停住的 Broker。它停过吗？",
    ).say()


@so("entries", FAILURES, NO_FAILURE)
def kinds(rows: pd.DataFrame) -> Sentence:
    """Tell whether the broker refused, or only clients gave up."""
    by = rows.groupby("kind")["sends"].sum().astype(int).to_dict()
    own = {kind: n for kind, n in by.items() if kind not in ("CLIENT_TIMEOUT", "OTHER")}
    if not own:
        return T(
            "only clients gave up ({n} sends): that alone does not show a busy broker; network and pauses of the client look the same.",
            "只有客户端超时（{n} 次）：这不能说明 Broker 繁忙；网络和客户端自身停顿也是这样。",
        ).say(n=sum(by.values()))
    return T("the broker refused {n} sends, as {kinds}: code 2, which the client does not retry. PC_BUSY and REJECTREQUEST mean that one append held the lock; TIMEOUT_CLEAN_QUEUE, that requests waited. Did it stand still?",
             "Broker 拒绝了 {n} 次发送（{kinds}）：code 2，客户端不会重试。PCBUSY 和 REJECTREQUEST 表示某次追加占着锁；TIMEOUT_CLEAN_QUEUE 表示请求在等。它停住了吗？").say(
        n=sum(own.values()), kinds=sorted(own))  # fmt: skip


@so(
    "records",
    files.COMMITLOG,
    T("the store has no hole behind which messages waited.", "存储时间上没有让消息等待的空洞。"),
)
def stood(rows: pd.DataFrame) -> Sentence:
    """Tell how long nothing was stored."""
    return T("{n} {n:time|times} nothing was stored although messages waited, {longest} s at the longest, {waiters} messages behind the holes. It stood. What else happened in these seconds?",
             "有 {n} 次没有存储任何消息，而消息在等：最长 {longest} 秒，空洞之后共 {waiters} 条。它停住了。这几秒里还发生了什么？").say(
        n=len(rows), longest=float(rows["seconds"].max()), waiters=int(rows["waiters"].sum()))  # fmt: skip


@so("metrics", files.METRICS, T("the host was measured at other times only.", "主机只在别的时间有测量。"))
def host(rows: pd.DataFrame) -> Sentence:
    """Tell which measure differs most between stalls and other times."""
    both = rows.dropna(subset=["in_stalls", "otherwise"])
    if both.empty:
        return T("no measurement lies within a stall.", "没有测量落在停顿之内。").say()
    gap = ((both["in_stalls"].astype(float) + 1) / (both["otherwise"].astype(float) + 1)).map(lambda r: max(r, 1 / r))
    row = both.loc[gap.idxmax()]
    return T("what differs most is {name}: {inside} in the stalls against {outside} otherwise. Who shares this host with the broker?",
             "差别最大的是 {name}：停顿中 {inside}，其余时间 {outside}。还有谁与 Broker 共用这台主机？").say(
        name=" ".join(str(row[each]) for each in ("subject", "name") if row[each] is not None), inside=float(row["in_stalls"]), outside=float(row["otherwise"]))  # fmt: skip


@so(
    "metrics",
    files.METRICS,
    T("no explanation is shown by this evidence; that is an answer too.", "证据没有显示任何解释；这也是一种答案。"),
)
def why(rows: pd.DataFrame) -> Sentence:
    """Tell which explanation covers the failures."""
    share = rows["share"].dropna()
    if share.empty or float(share.max()) < 0.5:
        return T(
            "no explanation covers half of the failures: the cause is not shown.",
            "没有哪个解释覆盖一半的失败：原因没有显示出来。",
        ).say()
    return T("the first one covers {share} % of the failed sends; those further down cover only part of them, they waited as well.",
             "第一个解释覆盖 {share} % 的失败发送；其后的只覆盖一部分，它们也是在等。").say(share=round(100 * float(share.max())))  # fmt: skip


@so("records", files.LEDGER, NO_FAILURE)
def became(rows: pd.DataFrame) -> Sentence:
    """Tell what became of the failed sends."""
    stored, lost = int(rows["stored"].sum()), int(rows["lost"].sum())
    late = int(rows.loc[rows["kind"] == "CLIENT_TIMEOUT", "stored"].sum())
    return T("{lost} failed {lost:send is|sends are} lost; {stored} {stored:is|are} stored all the same, {late} of these after a time-out of the client. A blind resend repeats those: which were stored twice?",
             "{lost} 次失败的发送已丢失；{stored} 次其实已存储，其中 {late} 次是客户端超时。盲目重发会使它们重复：哪些存了两次？").say(
        lost=lost, stored=stored, late=late)  # fmt: skip


@so("records", files.COMMITLOG, T("no message was stored twice.", "没有存两次的消息。"))
def twice(rows: pd.DataFrame) -> Sentence:
    """Tell how many keys were stored more than once."""
    return T("{n} {n:key is|keys are} stored more than once, {copies} records: a resend without a consumer that knows the key is no cure.",
             "{n} 个 key 存了不止一次，共 {copies} 条记录：消费者不认 key，重发就不是办法。").say(n=len(rows), copies=int(rows["copies"].sum()))  # fmt: skip


@so("records", FAILURES, NO_FAILURE)
def drawn(rows: pd.DataFrame) -> Sentence:
    """Tell where it is decided."""
    return T("all red ways begin where an append holds the one lock too long: decide for what lets it go, a host of its own; the limits only choose which red way is taken.",
             "所有红色路径都始于某次追加占锁过久：要解决的是让它放手，即独占主机；上限只决定走哪条红色路径。").say()  # fmt: skip


def waits(inquiry: Inquiry) -> list[int]:
    """Return the limits to replay: this broker's own, the default where it is not known, and a raised one."""
    from kit.analysis import setup

    own = setup.setting(inquiry.case.facts, "waitTimeMillsInSendQueue").value
    return [int(own) if own and str(own).isdigit() else 200, RAISED]
