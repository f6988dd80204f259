"""What follows at each stop of notebook 60."""

from __future__ import annotations

import pandas as pd

from kit.i18n import Sentence, T
from kit.notebook.answers import so
from kit.notebook.walks import files

LATE = 1000
"""Milliseconds from the row to the end of the transaction from which on a check has ended it, not the producer's own answer."""
PLACES = {"first": T("half first", "前置"), "middle": T("half in the middle", "中置"), "last": T("half last", "后置")}
AGREE = T("every finished transaction agrees with its row.", "每个已结束的事务都与业务数据一致。")


@so("rows", files.ROWS, T("no transaction has a business row to be compared with.", "没有可与业务数据对照的事务。"))
def symptom(rows: pd.DataFrame) -> Sentence:
    """Tell which services have what the other side lacks."""
    alone = rows[rows["found"].isin(["message only", "row only"])]
    if alone.empty:
        return T(
            "no row without its message, no message without its row.", "没有缺消息的数据，也没有缺数据的消息。"
        ).say()
    each = [f"{row['producer_group']}: {row['transactions']} × {row['found']}" for row in alone.to_dict("records")]
    return T(
        "the two sets differ, and not everywhere: {services}. Was there a message at all?",
        "两个集合不同，而且不是处处如此：{services}。究竟有没有过消息？",
    ).say(services=each)


@so("records", files.TRANSACTIONS, T("this evidence has no transaction.", "证据里没有事务。"))
def accounted(rows: pd.DataFrame) -> Sentence:
    """Tell how all transactions ended."""
    by = rows.groupby("state")["transactions"].sum().astype(int).to_dict()
    pending, gone = by.get("pending", 0), by.get("discarded", 0)
    return T("all {all} transactions are accounted for: {committed} committed, {rolled} rolled back, {gone} discarded, {pending} open. The consumer never saw what was not committed: the search ends at the producer. Which keys disagree?",
             "{all} 个事务全部有着落：提交 {committed}，回滚 {rolled}，丢弃 {gone}，未决 {pending}。没有提交的消费者从未见到：要查的是生产者。哪些键不一致？").say(
        all=sum(by.values()), committed=by.get("committed", 0), rolled=by.get("rolled_back", 0), gone=gone, pending=pending)  # fmt: skip


@so("rows", files.ROWS, AGREE)
def disagree(rows: pd.DataFrame) -> Sentence:
    """Tell how many keys disagree, by service."""
    by = rows.groupby(["kind", "producer_group"]).size()
    words = {
        "row_without_message": T("rows without a message", "缺消息的数据"),
        "message_without_row": T("messages without a row", "缺数据的消息"),
    }
    each = [
        T("{n} {what} at {group}", "{group} 有 {n} 条{what}").say(
            n=row["n"], what=words.get(row["kind"], row["kind"]), group=row["producer_group"]
        )
        for row in by.rename("n").reset_index().astype({"n": int}).to_dict("records")
    ]
    return T("{each}. What happened to one of them?", "{each}。其中一条经历了什么？").say(each=each)


@so("rows", files.ROWS, AGREE)
def story(rows: pd.DataFrame) -> Sentence:
    """Tell how one key came apart."""
    row = rows["what"].astype(str).str.contains("row").any()
    ends = rows.loc[rows["what"].isin(["answer"]), "text"].tolist()
    return T("{row}, and the last answer was {answer}. Logs print whole seconds, so within one second the order is the records'. What made it answer so?",
             "{row}，而最后的应答是 {answer}。日志只精确到秒，同一秒内以记录的顺序为准。是什么让它这样应答？").say(
        row=T("the row is there", "数据在") if row else T("there is no row", "没有数据"), answer=str(ends[-1]) if ends else T("a plain COMMIT, which leaves no line", "直接的 COMMIT（不留日志）"))  # fmt: skip


@so("rows", files.CLIENT, AGREE)
def local(rows: pd.DataFrame) -> Sentence:
    """Tell which local step is behind the keys."""
    known = int(rows.loc[rows["cause"].notna(), "keys"].sum())
    thrown = int(rows.loc[rows["cause"] == "exception", "keys"].sum())
    return T("{known} of {all} keys have a local step that explains them, {thrown} an exception that the client caught and told nobody. Where is the row written, that such a step leaves it behind?",
             "{all} 个键中有 {known} 个能由本地步骤解释，其中 {thrown} 个是被客户端捕获、没有告诉任何人的异常。数据写在哪里，才会这样被留下？").say(
        known=known, all=int(rows["keys"].sum()), thrown=thrown)  # fmt: skip


def places(rows: pd.DataFrame) -> dict[str, str]:
    """Return {service: placement} as far as the times of half record, row, log row and answer tell."""
    read = {}
    for row in rows.to_dict("records"):
        if pd.notna(row["end_after_row_ms"]) and float(row["end_after_row_ms"]) >= LATE:
            read[str(row["producer_group"])] = "last"
        elif pd.notna(row["log_row_after_half_ms"]):
            apart = int(row["rows_without_log_row"]) > 0 or float(row["log_row_after_half_ms"]) < float(
                row["row_after_half_ms"]
            )
            read[str(row["producer_group"])] = "middle" if apart else "first"
    return read


@so("rows", files.ROWS, T("no row has a time to be compared with its half record.", "没有可与半消息比较时间的数据。"))
def placed(rows: pd.DataFrame) -> Sentence:
    """Tell which placement each service uses."""
    read = places(rows)
    if not read:
        return T(
            "the times do not tell first from middle without the rows of the transaction log table.",
            "没有事务日志表的数据，时间分不出前置与中置。",
        ).say()
    each = [
        T("{group}: {place}", "{group}：{place}").say(group=group, place=PLACES[place]) for group, place in read.items()
    ]
    return T("read from the times, {each}. A log row that is missing while the row stands, or is older than it, is written in the local transaction, the row around it: in the middle.",
             "从时间读出，{each}。数据在而日志行缺失，或日志行更早，说明日志行写在本地事务里、数据写在外层：中置。").say(each=each)  # fmt: skip


@so("rows", files.ROWS, AGREE)
def repair(rows: pd.DataFrame) -> Sentence:
    """Tell what to do with which keys now."""
    by = rows.groupby("repair")["key"].agg(list).to_dict()
    each = [f"{repair}: {', '.join(map(str, keys))}" for repair, keys in by.items()]
    return T(
        "repair now: {each}. Then change where the row is written.", "现在修复：{each}。然后修改数据写入的位置。"
    ).say(each=each)


@so("records", files.TRANSACTIONS, T("this evidence has no transaction to draw.", "没有可画的事务。"))
def drawn(rows: pd.DataFrame) -> Sentence:
    """Tell where row and message part."""
    return T("row and message part where the answer is given without looking at the row, or the row is kept without looking at the answer: the two red ways.",
             "应答时没有看数据，或保留数据时没有看应答，二者就在此分离：两条红色路径。").say()  # fmt: skip
