"""Charts of a busy broker: one time axis of what arrived, was stored, failed and stood still; what became of failed sends; a replay under other limits."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kit.model.busyreplay import OUTCOMES, what_if
from kit.show import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, Chart, Table, escape, figure
from kit.texts import Lang, T

AXIS = T("One time axis: arrivals, failures, queues, host", "同一时间轴：到达、失败、队列、主机")
AXIS_READING = T(
    "{failed} sends failed; in the shaded times, {seconds} s together, nothing was stored although messages waited.",
    "{failed} 次发送失败；阴影时段共 {seconds} 秒，消息在等待却没有任何存储。",
)
AXIS_ALT = T(
    "Five panels over one time axis: messages born and stored a second, failed sends by kind, size of the send queue, bytes written to disk, load of "
    "the host. "
    "Stalls are shaded.",
    "同一时间轴上的五个面板：每秒产生与存储的消息、按种类统计的失败发送、发送队列长度、写盘量、主机负载。停顿以阴影标出。",
)
TIME = T("time (UTC)", "时间（UTC）")
BORN, STORED = T("sent (born) a second", "每秒发送（born）"), T("stored a second", "每秒存储")
RATE, FAILED, QUEUE = T("messages / s", "消息 / 秒"), T("failed sends", "失败的发送"), T("send queue", "发送队列")
DISK, HOST = T("MB / s", "MB / 秒"), T("% busy", "繁忙 %")
STALLED = T("nothing stored", "没有存储")
QUEUE_SIZE = T("send queue size (watermark.log)", "发送队列长度（watermark.log）")
WRITTEN, UTIL, CPU = T("written to disk, MB/s", "写盘 MB/秒"), T("disk busy, %", "磁盘繁忙 %"), T("CPU busy, %", "CPU 繁忙 %")
NOTHING = T("Nothing failed and nothing stood still.", "没有失败，也没有停顿。")

OUTCOME = T("What became of the failed sends", "失败发送的结局")
OUTCOME_READING = T("{stored} failed sends are stored all the same, {lost} are lost.", "{stored} 次失败的发送其实已存储，{lost} 次丢失。")
OUTCOME_ALT = T(
    "One bar for each kind of error, split into stored and lost; the numbers are in the table.",
    "每种错误一条横条，分为已存储与丢失；数字见表格。",
)
WAS_STORED, WAS_LOST, KIND = T("stored in spite of the error", "报错但已存储"), T("lost", "丢失"), T("kind of error", "错误种类")
NO_OUTCOME = T("What became of failed sends is not known from this evidence.", "现有证据无法得知失败发送的结局。")

REPLAY = T("The same arrivals under other limits", "同样的到达，换一组上限")
REPLAY_READING = T(
    "With sendMsgTimeout {timeout} ms, {retries} retries of SYSTEM_BUSY and waitTimeMillsInSendQueue {wait} ms, of {sends} sends {bad} would not come "
    "through cleanly.",
    "sendMsgTimeout {timeout} 毫秒、SYSTEM_BUSY 重试 {retries} 次、waitTimeMillsInSendQueue {wait} 毫秒时，{sends} 次发送中有 {bad} 次不能干净完成。",
)
REPLAY_ALT = T("One bar on a logarithmic scale for each outcome of the replay.", "对数坐标，每种重放结局一条横条。")
REPLAY_NAMES: Final = {
    "stored": T("stored", "已存储"),
    "refused": T("refused (lost)", "被拒绝（丢失）"),
    "timed out but stored": T("timed out, yet stored", "超时但已存储"),
    "timed out and refused": T("timed out and refused (lost)", "超时且被拒绝（丢失）"),
}
SENDS = T("sends", "发送次数")
NO_REPLAY = T("No arrivals are known, so nothing can be replayed.", "没有到达记录，无法重放。")

WHYS = T("What can explain it, best first", "可能的解释，从最有力的开始")
SAID, SHARE, RANK = T("what the evidence shows", "证据所示"), T("failed sends that fall into it", "落入其中的失败发送"), T("rank", "次序")
CONFIG = T("Settings, and what each would have changed here", "配置，以及各项在此会改变什么")
SETTING, VALUE, CHANGED, REASON = T("setting", "配置项"), T("in force", "当前值"), T("failed sends concerned", "涉及的失败发送"), T("what it does", "作用")
KNOWN = T("known from", "来源")

COLOURS: Final = {
    "REJECTREQUEST": (VERMILLION, "/"), "OVERLOAD": (GREY, "x"), "PCBUSY_CLEAN_QUEUE": (ORANGE, "\\"), "TIMEOUT_CLEAN_QUEUE": (PURPLE, "."),
    "PC_SYNCHRONIZED": (GREEN, "+"), "CLIENT_TIMEOUT": (SKY, "-"), "OTHER": (GREY, ""),
}  # fmt: skip
"""Colour and pattern of each kind of error: the pattern says it without the colour."""
MOST_SHADES: Final = 60
ROWS: Final = ((0.74, 1.0), (0.50, 0.69), (0.34, 0.45), (0.17, 0.29), (0.0, 0.12))
"""Where each panel stands."""


def axis(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart one time axis. `frame` as from `kit.inquiry.axis.seconds`: one row per step; columns without evidence are null."""
    series = {"time": TIME, "born": BORN, "stored": STORED, "send_queue": QUEUE_SIZE, "stalled": STALLED, "written_mb": WRITTEN, "util": UTIL, "cpu": CPU}
    names = {column: text.render(lang) for column, text in series.items()}
    kinds = [kind for kind in COLOURS if kind in frame]
    if frame.empty:
        return Chart(figure(), frame, NOTHING.render(lang), NOTHING.render(lang), AXIS.render(lang), names, lang)
    width = float(frame["step_ms"].iloc[0])
    traces: list[go.Bar | go.Scatter] = []
    for column, colour, dash in (("born", BLUE, "dot"), ("stored", GREEN, "solid")):
        traces += _line(frame, column, names[column], colour, dash, "y")
    for kind in kinds:
        colour, shape = COLOURS[kind]
        some = frame[frame[kind] > 0]
        middle = some["time"] + pd.Timedelta(width / 2, unit="ms")
        marker = {"color": colour, "pattern": {"shape": shape}}
        traces.append(go.Bar(x=middle, y=some[kind], width=max(width, 400), name=escape(kind), yaxis="y2", marker=marker))
    traces += _line(frame, "send_queue", names["send_queue"], PURPLE, "solid", "y3")
    traces += _line(frame, "written_mb", names["written_mb"], ORANGE, "solid", "y4")
    for column, colour, dash in (("util", VERMILLION, "dot"), ("cpu", BLUE, "dash")):
        traces += _line(frame, column, names[column], colour, dash, "y5")
    shade = {"symbol": "square", "size": 12, "color": "rgba(138,143,152,0.45)"}
    traces.append(go.Scatter(x=[None], y=[None], mode="markers", name=names["stalled"], marker=shade))
    chart = figure(*traces, height=800, barmode="stack", hovermode="x")
    spans = _spans(frame)
    for start, end in spans[:MOST_SHADES]:
        chart.add_shape(type="rect", x0=start, x1=end, y0=0, y1=1, xref="x", yref="paper", fillcolor=GREY, opacity=0.28, line_width=0, layer="below")
    titles = (RATE, FAILED, QUEUE, DISK, HOST)
    for number, (domain, title) in enumerate(zip(ROWS, titles, strict=True), 1):
        name = f"yaxis{number if number > 1 else ''}"
        plain = chart.layout.yaxis.to_plotly_json()
        chart.layout[name] = {**plain, "domain": domain, "title": {"text": title.render(lang)}, "anchor": "x", "rangemode": "tozero", "nticks": 4}
    chart.update_xaxes(title=TIME.render(lang), anchor="y5")
    chart.update_layout(legend={"y": 1.03, "traceorder": "normal"})
    shown = frame[frame[kinds].sum(axis=1).gt(0) | frame["stalled"]] if kinds else frame[frame["stalled"]]
    failed = int(frame[kinds].sum().sum()) if kinds else 0
    said = AXIS_READING.say(failed=failed, seconds=round(float(frame["stalled"].sum()) * width / 1000, 1))
    table = shown.drop(columns=["step_ms"]).reset_index(drop=True)
    return Chart(chart, table, said.render(lang), AXIS_ALT.render(lang), AXIS.render(lang), names, lang, min_width=640)


def _line(frame: pd.DataFrame, column: str, name: str, colour: str, dash: str, yaxis: str) -> list[go.Scatter]:
    known = frame[frame[column].notna()] if column in frame else frame.iloc[:0]
    if known.empty:
        return []
    line = {"color": colour, "dash": dash, "width": 1.6}
    return [go.Scatter(x=known["time"], y=known[column].astype("float64"), mode="lines", name=name, line=line, yaxis=yaxis)]


def _spans(frame: pd.DataFrame) -> list[tuple[pd.Timestamp, pd.Timestamp]]:
    """Return start and end of each run of stalled steps."""
    stalled = frame["stalled"].to_numpy(bool)
    edges = np.flatnonzero(np.diff(np.r_[False, stalled, False].astype("int8")))
    step = pd.Timedelta(float(frame["step_ms"].iloc[0]), unit="ms")
    times = frame["time"].tolist()
    return [(times[a], times[b - 1] + step) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def outcome(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart what became of failed sends. `frame`: kind, stored, lost."""
    names = {"kind": KIND.render(lang), "stored": WAS_STORED.render(lang), "lost": WAS_LOST.render(lang)}
    if frame.empty:
        return Chart(figure(), frame, NO_OUTCOME.render(lang), NO_OUTCOME.render(lang), OUTCOME.render(lang), names, lang)
    labels = [escape(kind) for kind in frame["kind"]]
    bars = [
        go.Bar(y=labels, x=frame[column], orientation="h", name=names[column], marker={"color": colour, "pattern": {"shape": shape}},
               text=[f"{n:,}" if n else "" for n in frame[column]], textposition="inside", insidetextanchor="middle")
        for column, colour, shape in (("stored", GREEN, ""), ("lost", VERMILLION, "/"))
    ]  # fmt: skip
    chart = figure(*bars, height=140 + 44 * len(frame), barmode="stack")
    chart.update_xaxes(title=FAILED.render(lang))
    chart.update_yaxes(autorange="reversed")
    said = OUTCOME_READING.say(stored=int(frame["stored"].sum()), lost=int(frame["lost"].sum()))
    return Chart(chart, frame, said.render(lang), OUTCOME_ALT.render(lang), OUTCOME.render(lang), names, lang)


def replay(arrivals: pd.DataFrame, stalls: pd.DataFrame, timeout: float = 3000, retries: int = 0, wait: float = 200, lang: Lang = "en") -> Chart:
    """Replay recorded arrivals (at_ms, sends) against recorded pauses (start_ms, end_ms) under other limits; see `kit.model.busyreplay.what_if`."""
    names = {"outcome": OUTCOME.render(lang), "sends": SENDS.render(lang)}
    if arrivals.empty or stalls.empty:
        nothing = pd.DataFrame(columns=pd.Index(["outcome", "sends"]))
        return Chart(figure(), nothing, NO_REPLAY.render(lang), NO_REPLAY.render(lang), REPLAY.render(lang), names, lang)
    at, each = arrivals["at_ms"].to_numpy("float64"), arrivals["sends"].to_numpy("int64")
    frame = what_if(at, stalls[["start_ms", "end_ms"]].to_numpy("float64"), timeout, retries, wait, each)
    shown = frame.assign(outcome=[REPLAY_NAMES[name].render(lang) for name in frame["outcome"]])
    colours = dict(zip(OUTCOMES, (GREEN, VERMILLION, SKY, PURPLE), strict=True))
    bar = go.Bar(y=shown["outcome"], x=shown["sends"], orientation="h", marker={"color": [colours[name] for name in frame["outcome"]]},
                 text=[f"{n:,}" for n in shown["sends"]], textposition="outside", cliponaxis=False)  # fmt: skip
    chart = figure(bar, height=260, showlegend=False)
    top = float(np.log10(max(int(shown["sends"].max()), 10))) + 0.6
    chart.update_xaxes(type="log", title=SENDS.render(lang), range=[-0.1, top], dtick=1, exponentformat="none", tickformat=",d")
    chart.update_yaxes(autorange="reversed")
    total = int(frame["sends"].sum())
    bad = total - int(frame.loc[frame["outcome"] == "stored", "sends"].sum())
    said = REPLAY_READING.say(timeout=int(timeout), retries=retries, wait=int(wait), sends=total, bad=bad)
    return Chart(chart, shown, said.render(lang), REPLAY_ALT.render(lang), REPLAY.render(lang), names, lang)


def why(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the ranked explanations. `frame`: rank, why, said_en, said_zh, share."""
    share = [None if pd.isna(part) else f"{part:.0%}" for part in frame["share"]]
    shown = pd.DataFrame({"rank": frame["rank"], "said": frame[f"said_{lang}"], "share": share})
    return Table(shown, WHYS.render(lang), {"rank": RANK.render(lang), "said": SAID.render(lang), "share": SHARE.render(lang)}, lang)


def config(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the settings audit. `frame`: setting, value, known, changed, reason, reason_zh."""
    shown = frame.assign(reason=frame["reason_zh"] if lang == "zh" else frame["reason"], changed=frame["changed"].astype("Int64")).drop(columns="reason_zh")
    names = {"setting": SETTING, "value": VALUE, "known": KNOWN, "changed": CHANGED, "reason": REASON}
    return Table(shown, CONFIG.render(lang), {name: text.render(lang) for name, text in names.items()}, lang)
