"""Charts of the half-topic blow-up: how fast the leaked half records double, who writes them, what one of them went through, what each fix prevents."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kit.facts import names
from kit.show import BLUE, GREEN, ORANGE, VERMILLION, Chart, common, downsample, figure
from kit.texts import Lang, T

GROWTH = T("Leaked half records over time", "泄漏的半消息记录随时间的增长")
GROWTH_READING = T(
    "{messages} leaked messages became {records} half records in {seconds} s; the number doubled {doublings} times, typically every {median} s.",
    "{messages} 条泄漏的消息在 {seconds} 秒内变成了 {records} 条半消息记录，共翻倍 {doublings} 次，通常每 {median} 秒翻一倍。",
)
GROWTH_FEW = T(
    "{messages} leaked messages, {records} half records in {seconds} s: too few to speak of doubling.",
    "{messages} 条泄漏的消息，{seconds} 秒内共 {records} 条半消息记录：数量太少，谈不上翻倍。",
)
GROWTH_ALT = T(
    "Line on a logarithmic scale, rising from {first} to {last} half records; each doubling is marked with a diamond and its number.",
    "对数坐标折线，从 {first} 条上升到 {last} 条半消息记录；每次翻倍以菱形和数字标出。",
)
NOTHING = T("No half record leaked.", "没有泄漏的半消息记录。")
RECORDS = T("leaked half records", "泄漏的半消息记录数")
TIME = T("store time (UTC)", "存储时间（UTC）")
DOUBLED = T("doubled", "翻倍")
COUNTED = T("leaked half records so far", "累计泄漏的半消息记录")
ROUND = T("doubling", "翻倍次序")
REACHED = T("reached at", "达到时间")
TOOK = T("seconds since the last", "距上次（秒）")

FLOW = T("Who wrote the leaked records, and where they went", "泄漏的记录由谁写入、去了哪里")
FLOW_READING = T(
    "{consumer} fresh copies of the consumer started it; checks put back {check} more, commits, diverted like them, added {commit}, "
    "and {limit} were given up after their last check.",
    "起因是消费者新发的 {consumer} 份副本；回查放回了 {check} 条，同样被转移的提交又增加了 {commit} 条，{limit} 条在最后一次回查后被放弃。",
)
WRITERS: Final = {
    "consumer": T("consumer: send-back failed", "消费者：回发失败"),
    "check": T("check: put-back", "回查：放回"),
    "commit": T("commit: answer to the check", "提交：对回查的答复"),
    "limit": T("check: given up", "回查：放弃"),
}

STAGES: Final = {
    "half": T("half message", "半消息"),
    "committed": T("committed to its topic", "提交到真实主题"),
    "resent": T("sent anew by the consumer", "消费者重新发送"),
    "put_back": T("put back by a check", "被回查放回"),
    "committed_again": T("commit, diverted by DELAY", "提交，被 DELAY 转移"),
    "leaked": T("back in the half topic", "回到半消息主题"),
    "given_up": T("given up after the last check", "回查用尽后放弃"),
    "stored": T("stored", "已存储"),
}
WHY: Final = {
    "half": T("the producer's transaction", "生产者的事务"),
    "committed": T("the producer answered COMMIT", "生产者答复 COMMIT"),
    "resent": T("the send-back was refused; TRAN_MSG and a delay are still set", "回发被拒；TRAN_MSG 和延时仍在"),
    "put_back": T("a check writes a copy first; DELAY diverts it", "回查先写一份副本；DELAY 使其转移"),
    "committed_again": T("the answer COMMIT writes a copy; DELAY diverts it too", "答复 COMMIT 写出副本；同样被 DELAY 转移"),
    "leaked": T("its delay is over; REAL_TOPIC names the half topic", "延时到期；REAL_TOPIC 指向半消息主题"),
    "given_up": T("the check limit is reached", "达到回查上限"),
    "stored": T("a record like any other", "普通记录"),
}

FIXES = T("What each fix would have prevented", "各修复措施本可避免的记录")
FIXES_READING = T(
    "“{best}” would have prevented all {records} leaked records and let the retries through; the weakest, “{worst}”, still leaves {left}.",
    "“{best}”本可避免全部 {records} 条泄漏记录，并让重试送达；最弱的“{worst}”仍会留下 {left} 条。",
)
FIXES_ALT = T("One bar for each fix, prevented and remaining records; the numbers are in the table.", "每项措施一条横条，分为避免的与剩余的记录；数字见表格。")
PREVENTED, LEFT = T("prevented", "可避免"), T("would still be written", "仍会写入")
FIX, RETRIES = T("fix", "措施"), T("retries reach the consumer", "重试能送达消费者")
FIX_NAMES: Final = {
    "rollback-unknown-topic": T("listener answers ROLLBACK", "监听器答复 ROLLBACK"),
    "client-4.6.1": T("client 4.6.1 or newer", "客户端 4.6.1 或更高"),
    "split-tags": T("shorter group name", "缩短消费者组名"),
}


def growth(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the leaked half records over time, doublings marked.

    `frame`: leaked half records in offset order, possibly thinned, with `seq` (1…), `store_timestamp`, `half_queue_offset`, `check_times`,
    `uniq_key` and `doubling` (the rows with seq = leaked messages × 2^k, never thinned out).
    """
    frame = frame.sort_values("seq", kind="stable")
    seq, when = frame["seq"].to_numpy("int64"), frame["store_timestamp"]
    at = frame[frame["doubling"].astype(bool)]
    marks = pd.DataFrame({"doubling": range(len(at)), "records": at["seq"].to_numpy(), "reached": at["store_timestamp"].to_numpy()})
    marks["seconds"] = pd.to_timedelta(marks["reached"].diff()).dt.total_seconds()
    named = {k: v.render(lang) for k, v in {"doubling": ROUND, "records": RECORDS, "reached": REACHED, "seconds": TOOK}.items()}
    if frame.empty:
        return Chart(figure(), marks, NOTHING.render(lang), NOTHING.render(lang), GROWTH.render(lang), named, lang)
    ticks = when.astype("datetime64[ns]").astype("int64").to_numpy()
    kept = downsample(np.maximum.accumulate(ticks), seq)
    chart = figure(
        go.Scatter(
            x=when.iloc[kept], y=seq[kept], mode="lines", line={"color": BLUE, "width": 2.5, "shape": "hv"},
            name=COUNTED.render(lang), hovertemplate="%{x}<br>%{y:,}<extra></extra>",
        ),
        go.Scatter(
            x=marks["reached"], y=marks["records"], mode="markers+text", text=[f"{m:,}" for m in marks["records"]], textposition="top left",
            textfont={"size": 11}, marker={"color": VERMILLION, "symbol": "diamond", "size": 9}, name=DOUBLED.render(lang), cliponaxis=False,
            customdata=marks["seconds"].fillna(0), hovertemplate="%{y:,}<br>%{x}<br>+%{customdata:.1f} s<extra></extra>",
        ),
        height=420,
    )
    _log(chart, int(seq[-1]), lang)
    chart.update_xaxes(title=TIME.render(lang))
    seconds = (when.iloc[-1] - when.iloc[0]).total_seconds()
    messages = int(marks["records"].iloc[0]) if len(marks) else int(frame["uniq_key"].nunique())
    said = {"messages": messages, "records": int(seq[-1]), "seconds": round(seconds), "doublings": max(0, len(marks) - 1)}
    # Below three terms the interface knows no doubling time.
    reading = GROWTH_READING.say(**said, median=float(marks["seconds"].median())) if len(marks) > 3 else GROWTH_FEW.say(**said)
    alt = GROWTH_ALT.say(first=int(seq[0]), last=int(seq[-1]))
    return Chart(chart, marks, reading.render(lang), alt.render(lang), GROWTH.render(lang), named, lang)


def flow(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart who wrote the leaked records and where the schedule topic took them.

    `frame`: `writer` (`consumer`, `check`, `commit`), `target` (the REAL_TOPIC the record carries), `records`; one row per pair.
    """
    given_up = (frame["target"] == names.DISCARD_TOPIC) & (frame["writer"] == "check")
    frame = frame.assign(writer=frame["writer"].mask(given_up, "limit"))
    into = pd.DataFrame({"source": [WRITERS[w].render(lang) for w in frame["writer"]], "target": names.SCHEDULE_TOPIC, "count": frame["records"]})
    out = pd.DataFrame({"source": names.SCHEDULE_TOPIC, "target": frame["target"], "count": frame["records"]})
    chart = common.flow(pd.concat([into, out], ignore_index=True), lang)
    by = frame.groupby("writer")["records"].sum()
    reading = FLOW_READING.say(**{writer: int(by.get(writer, 0)) for writer in WRITERS}).render(lang)
    floor = common.FLOW_FLOOR.render(lang)
    return Chart(
        chart.figure, chart.table, f"{reading} {floor}" if floor in chart.reading else reading, chart.alt, FLOW.render(lang), chart.names, lang, chart.min_width
    )


def life(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the records of one leaked message in lanes.

    `frame`: `store_timestamp`, `topic`, `queue_id`, `offset_msg_id`, `real_topic`, `check_times`, `committed` (written by a commit), in store order.
    """
    stages = [_stage(row) for row in frame.to_dict("records")]
    told = frame.assign(stage=[STAGES[s].render(lang) for s in stages], why=[WHY[s].render(lang) for s in stages])
    return common.timeline(told, lang)


def _stage(row: dict[Hashable, Any]) -> str:
    """Return which of `STAGES` a record of a leaked message is."""
    topic, real = row["topic"], row["real_topic"]
    if topic == names.DISCARD_TOPIC or (topic == names.SCHEDULE_TOPIC and real == names.DISCARD_TOPIC):
        return "given_up"
    if topic == names.SCHEDULE_TOPIC and real == names.HALF_TOPIC:
        return "committed_again" if row["committed"] else "resent" if pd.isna(row["check_times"]) else "put_back"
    if topic == names.HALF_TOPIC:
        return "leaked" if real == names.HALF_TOPIC else "half"
    return "committed" if row["committed"] else "stored"


def fixes(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart, for each documented fix, how many leaked records of this incident it would have prevented.

    `frame`: `fix`, `prevented`, `left`, `retries_delivered`.
    """
    table = frame.assign(fix=[FIX_NAMES[f].render(lang) if f in FIX_NAMES else str(f) for f in frame["fix"]])
    named = {"fix": FIX.render(lang), "prevented": PREVENTED.render(lang), "left": LEFT.render(lang), "retries_delivered": RETRIES.render(lang)}
    if table.empty:
        return Chart(figure(), table, NOTHING.render(lang), NOTHING.render(lang), FIXES.render(lang), named, lang)

    def bar(column: str, colour: str, pattern: str) -> go.Bar:
        return go.Bar(
            y=table["fix"], x=table[column], orientation="h", name=named[column], text=[f"{n:,}" if n else "" for n in table[column]],
            textposition="auto", marker={"color": colour, "pattern": {"shape": pattern, "bgcolor": colour, "fgcolor": "#ffffff", "solidity": 0.2}},
            hovertemplate="%{y}: %{x:,}<extra></extra>",
        )

    chart = figure(bar("prevented", GREEN, ""), bar("left", ORANGE, "/"), barmode="stack", height=150 + 50 * len(table))
    chart.update_yaxes(type="category", gridcolor="rgba(0,0,0,0)")
    chart.update_xaxes(tickformat=",d")
    best = table.sort_values(["retries_delivered", "prevented"], ascending=False).iloc[0]
    worst = table.sort_values("prevented").iloc[0]
    reading = FIXES_READING.say(best=best["fix"], records=int(best["prevented"]), worst=worst["fix"], left=int(worst["left"]))
    return Chart(chart, table, reading.render(lang), FIXES_ALT.render(lang), FIXES.render(lang), named, lang)


def _log(chart: go.Figure, largest: int, lang: Lang) -> None:
    """Give the chart a logarithmic count axis with room for labels above the largest value."""
    top = float(np.log10(max(largest, 10)) + 0.35)
    chart.update_yaxes(type="log", title=RECORDS.render(lang), range=[-0.1, top], dtick=1, exponentformat="none", tickformat=",d")
