"""What follows at each stop of notebook 30."""

from __future__ import annotations

import pandas as pd

from kit.i18n import Sentence, T
from kit.notebook.answers import so
from kit.notebook.walks import files

LOOP = 1000
"""Lines a second of a log from which on something repeats itself."""


@so("entries", files.TRANSACTION_LOG, T("these logs have no times.", "这些日志没有时间。"))
def symptom(rows: pd.DataFrame) -> Sentence:
    """Tell whether a log explodes."""
    top = rows.loc[rows["log_lines"].astype(float).idxmax()]
    if int(top["log_lines"]) < LOOP:
        return T("no log explodes: {most} lines a second at most.", "没有日志暴涨：每秒最多 {most} 行。").say(
            most=int(top["log_lines"])
        )
    return T("{source}.log writes up to {most} lines a second: something is tried again without a pause. Does the half queue move meanwhile?",
             "{source}.log 每秒写到 {most} 行：有东西在不停地重试。此时半消息队列在前进吗？").say(source=str(top["source"]), most=int(top["log_lines"]))  # fmt: skip


@so(
    "entries",
    files.TRANSACTIONS,
    T("neither half records nor rounds of checks are in this evidence.", "证据里没有半消息记录，也没有回查的轮次。"),
)
def stands(rows: pd.DataFrame) -> Sentence:
    """Tell whether the check gets on."""
    by = {
        line: part.dropna(subset=["ts"]).sort_values("ts")["offset"].astype(int).tolist()
        for line, part in rows.groupby("line")
    }
    checked, end = by.get("checked", []), max(by.get("stored", [0]))
    if len(checked) > 1 and checked[-1] == checked[-2] and end > checked[-1]:
        return T("the last rounds begin at the same offset, {at}, while the queue has grown to {end}: the check stands. At which message?",
                 "最后几轮都从同一位点 {at} 开始，而队列已增长到 {end}：回查停住了。停在哪条消息？").say(at=checked[-1], end=end)  # fmt: skip
    return T("the check keeps up with the queue ({at} of {end}).", "回查跟得上队列（{at} / {end}）。").say(
        at=checked[-1] if checked else None, end=end
    )


@so("entries", files.TRANSACTION_LOG, T("no write was refused for its size.", "没有因大小被拒的写入。"))
def which(rows: pd.DataFrame) -> Sentence:
    """Tell which message is refused again and again."""
    again = rows[(rows["writer"] == "put_back") & (rows["lines"].astype(int) > 1)]
    named = again[again["msg_id"] != "-"]
    if again.empty:
        return T(
            "only sends were refused, at once: their senders know, nothing loops.",
            "只有发送被当场拒绝：发送方知道，不会循环。",
        ).say()
    if named.empty:
        return T(
            "a put-back is refused {lines} times, and no line names its message.",
            "有回写被拒 {lines} 次，但没有一行指出是哪条消息。",
        ).say(lines=int(again["lines"].sum()))
    return T(
        "{count} {count:message|messages}, {lines} refusals of the check's put-back: always the same one. A message that is too large is refused when it is sent; this one was accepted. How large is it?",
        "{count} 条消息，回查的回写被拒 {lines} 次：总是同一条。过大的消息在发送时就会被拒，而这条已被接受。它有多大？",
    ).say(count=int(named["msg_id"].nunique()), lines=int(named["lines"].sum()))


@so("records", files.COMMITLOG, T("no half record whose limit is known.", "没有已知上限的半消息记录。"))
def how_large(rows: pd.DataFrame) -> Sentence:
    """Tell how much room each writing leaves."""
    left = [int(n) for n in rows["room_left"]]
    if left[-1] >= 0:
        return T(
            "even the last put-back leaves {left} bytes: nothing can outgrow the limit here.",
            "即使最后一次回写也还剩 {left} 字节：这里没有消息会超限。",
        ).say(left=left[-1])
    return T(
        "it fitted with {stored} {stored:byte|bytes} to spare, and its put-back is {over} too long. What makes an accepted message longer?",
        "存入时还剩 {stored} 字节，回写却超出 {over} 字节。是什么让已被接受的消息变长？",
    ).say(stored=left[1], over=-next(n for n in left if n < 0))


@so("records", files.COMMITLOG, T("no half message is taken apart here.", "这里没有可拆解的半消息。"))
def fields(rows: pd.DataFrame) -> Sentence:
    """Tell what each side measures."""
    by = rows.groupby("field")["bytes"].max()
    check = rows[rows["field"] == "check"]["bytes"].max()
    return T(
        "the client measures the body alone, {body} bytes, before compression; the broker the whole record. The broker's own REAL_TOPIC and the check's TRANSACTION_CHECK_TIMES ({check} bytes) come on top, after the message was accepted. Tags are no part of it: their code goes into the consume queue.",
        "客户端只量压缩前的消息体，{body} 字节；Broker 量整条记录。接受之后，Broker 的 REAL_TOPIC 和回查的 TRANSACTION_CHECK_TIMES（{check} 字节）还要加上去。tag 不算：它的 code 存入 consume queue。",
    ).say(body=int(by.get("body", 0)), check=0 if pd.isna(check) else int(check))


@so("entries", files.TRANSACTION_LOG, T("no round of checks is printed.", "没有打印回查的轮次。"))
def rounds(rows: pd.DataFrame) -> Sentence:
    """Tell why the saved offset does not move."""
    begins = rows["begins_at"].dropna().astype(int).tolist()
    refused = rows["refused_at"].dropna().astype(int).tolist()
    if not refused or len(begins) < 2 or begins[0] != begins[1]:
        return T(
            "each round begins where the one before ended: the offset moves.",
            "每一轮都从上一轮结束处开始：位点在前进。",
        ).say()
    return T(
        "every round begins at {at} and reaches the refused record at {refused}; there it tries again until its minute is over. The offset is saved at the end of a round only, so nothing behind {refused} is asked about. An exception in the put-back (a null result) makes the same loop.",
        "每一轮从 {at} 开始，走到被拒的记录 {refused}，在那里重试直到一分钟用完。位点只在一轮结束时保存，所以 {refused} 之后的都没有被回查。回写抛出异常（返回 null）会造成同样的循环。",
    ).say(at=begins[0], refused=refused[0])


@so("records", files.COMMITLOG, T("no half record whose limit is known.", "没有已知上限的半消息记录。"))
def next_ones(rows: pd.DataFrame) -> Sentence:
    """Tell which open half messages will be refused."""
    fates = rows["fate"].value_counts().to_dict()
    risk = fates.get("at_risk", 0)
    if not risk and not fates.get("refused"):
        return T("no open half message comes near the limit.", "没有未决的半消息接近上限。").say()
    return T("{risk} open {risk:message|messages} will be refused at the next put-backs as soon as the first is out of the way: removing that one does not end it. Which body is safe?",
             "第一条让开之后，还有 {risk} 条未决消息会在回写时被拒：去掉那一条并不能解决。多大的消息体才安全？").say(risk=risk)  # fmt: skip


@so("records", files.COMMITLOG, T("no transaction's topic has a known limit.", "没有已知上限的事务主题。"))
def safe(rows: pd.DataFrame) -> Sentence:
    """Tell the number for the clients' limit."""
    least = rows["safe_body_bytes"].dropna()
    if least.empty:
        return T(
            "this broker measures the body alone: a put-back cannot outgrow what was accepted.",
            "这个 Broker 只量消息体：回写不会超出已接受的大小。",
        ).say()
    return T(
        "bodies up to {safe} bytes survive every put-back with the longest properties seen: set the clients' maxMessageSize below it. It is a number of this evidence: longer keys, tags or group names lower it byte by byte.",
        "按见过的最长属性，不超过 {safe} 字节的消息体经得起每次回写：客户端的 maxMessageSize 应设得更小。这个数属于这份证据：更长的 key、tag 或组名会逐字节降低它。",
    ).say(safe=int(least.min()))


@so(
    "records",
    files.COMMITLOG,
    T("no put-back was refused: there is no loop to draw.", "没有被拒的回写：没有循环可画。"),
)
def drawn(rows: pd.DataFrame) -> Sentence:
    """Tell what would break the loop."""
    return T(
        "the red hop repeats; only a larger limit on the broker, or a body that never comes so near, breaks it.",
        "红色的一跳在重复；只有调大 Broker 的上限，或消息体不再如此接近上限，才能打破它。",
    ).say()
