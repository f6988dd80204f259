"""Charts of a busy broker: one time axis of what arrived, was stored, failed and stalled; what became of failed sends; a replay under other limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, Chart, Table, bar, escape, figure, pictures
from kit.i18n import Lang, T
from kit.rocketmq.busy_replay import OUTCOMES, what_if

AXIS = T("One time axis: arrivals, failures, queues, host")
AXIS_READING = T("{failed} {failed:send|sends} failed.")
AXIS_STALLED = T(
    "{failed} {failed:send|sends} failed; in the shaded spans nothing was stored although messages waited."
)
AXIS_ALT = T(
    "Five panels over one time axis: messages born and stored per second, failed sends by kind, size of the send queue, bytes written to disk, load of "
    "the host. "
    "Stalls are shaded."
)
TIME = T("time (UTC)")
BORN, STORED = T("sent (born) a second"), T("stored a second")
RATE, FAILED, QUEUE = T("messages / s"), T("failed sends"), T("send queue")
DISK, HOST = T("MB / s"), T("% busy")
STALLED = T("nothing stored")
QUEUE_SIZE = T("send queue size (watermark.log)")
WRITTEN, UTIL, CPU = T("written to disk, MB/s"), T("disk busy, %"), T("CPU busy, %")
NOTHING = T("Nothing failed and nothing stalled.")

OUTCOME = T("What became of the failed sends")
OUTCOME_READING = T("{stored} failed {stored:send is|sends are} stored all the same, {lost} {lost:is|are} lost.")
OUTCOME_ALT = T("One bar for each kind of error, split into stored and lost; the numbers are in the table.")
WAS_STORED, WAS_LOST, KIND = T("stored despite the error"), T("lost"), T("kind of error")
NO_OUTCOME = T("What became of failed sends is not known from this evidence.")

REPLAY = T("The same arrivals under other limits")
REPLAY_READING = T(
    "With sendMsgTimeout {timeout} ms, {retries} {retries:retry|retries} of SYSTEM_BUSY and waitTimeMillsInSendQueue {wait} ms, {bad} of {sends} sends would not succeed "
    "cleanly."
)
REPLAY_ALT = T("One bar on a logarithmic scale for each outcome of the replay.")
REPLAY_NAMES: Final = {
    "stored": T("stored"),
    "refused": T("refused (lost)"),
    "timed out but stored": T("timed out, yet stored"),
    "timed out and refused": T("timed out and refused (lost)"),
}
SENDS = T("sends")
NO_REPLAY = T("No arrivals are known, so nothing can be replayed.")

WHYS = T("Possible explanations, best first")
SAID, SHARE, RANK = T("what the evidence shows"), T("failed sends during it"), T("rank")
CONFIG = T("Settings, and what each would have changed here")
SETTING, VALUE, CHANGED, REASON = T("setting"), T("in force"), T("failed sends concerned"), T("what it does")
KNOWN = T("known from")

COLOURS: Final = {
    "REJECTREQUEST": (VERMILLION, "/"),
    "OVERLOAD": (GREY, "x"),
    "PCBUSY_CLEAN_QUEUE": (ORANGE, "\\"),
    "TIMEOUT_CLEAN_QUEUE": (PURPLE, "."),
    "PC_SYNCHRONIZED": (GREEN, "+"),
    "CLIENT_TIMEOUT": (SKY, "-"),
    "OTHER": (GREY, ""),
}
"""Colour and pattern of each kind of error: the pattern is enough without the colour."""
MOST_SHADES: Final = 60
PANELS: Final = {"y": (RATE, 208), "y2": (FAILED, 152), "y3": (QUEUE, 88), "y4": (DISK, 96), "y5": (HOST, 96)}
"""Title and height of the panel of each axis, in pixels, from the top."""
BETWEEN: Final = 40


def axis(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart one time axis. `frame`: from `kit.analysis.sends.times.axis`, one row per step; columns without evidence are null."""
    series = {
        "time": TIME,
        "born": BORN,
        "stored": STORED,
        "send_queue": QUEUE_SIZE,
        "stalled": STALLED,
        "written_mb": WRITTEN,
        "util": UTIL,
        "cpu": CPU,
    }
    kinds = [kind for kind in COLOURS if kind in frame]
    if frame.empty:
        return Chart(figure(), frame, NOTHING, NOTHING, AXIS, series, lang)
    width = float(frame["step_ms"].iloc[0])
    traces: list[go.Bar | go.Scatter] = []
    for column, colour, dash in (("born", BLUE, "dot"), ("stored", GREEN, "solid")):
        traces += _line(frame, column, series[column].render(lang), colour, dash, "y")
    for kind in kinds:
        colour, shape = COLOURS[kind]
        some = frame[frame[kind] > 0]
        middle = some["time"] + pd.Timedelta(width / 2, unit="ms")
        marker = {"color": colour, "pattern": {"shape": shape}}
        traces.append(
            go.Bar(x=middle, y=some[kind], width=max(width, 400), name=escape(kind), yaxis="y2", marker=marker)
        )
    traces += _line(frame, "send_queue", QUEUE_SIZE.render(lang), PURPLE, "solid", "y3")
    traces += _line(frame, "written_mb", WRITTEN.render(lang), ORANGE, "solid", "y4")
    for column, colour, dash in (("util", VERMILLION, "dot"), ("cpu", BLUE, "dash")):
        traces += _line(frame, column, series[column].render(lang), colour, dash, "y5")
    spans = _spans(frame)
    if spans:
        shade = {"symbol": "square", "size": 12, "color": "rgba(138,143,152,0.45)"}
        traces.append(go.Scatter(x=[None], y=[None], mode="markers", name=STALLED.render(lang), marker=shade))
    chart = figure(*traces, barmode="stack", hovermode="x")
    for start, end in spans[:MOST_SHADES]:
        chart.add_shape(
            type="rect",
            x0=start,
            x1=end,
            y0=0,
            y1=1,
            xref="x",
            yref="paper",
            fillcolor=GREY,
            opacity=0.28,
            line_width=0,
            layer="below",
        )
    chart.update_xaxes(title=TIME.render(lang), anchor=_stack(chart, lang))
    chart.update_layout(legend={"y": 1.03, "traceorder": "normal"})
    shown = frame[frame[kinds].sum(axis=1).gt(0) | frame["stalled"]] if kinds else frame[frame["stalled"]]
    failed = int(frame[kinds].sum().sum()) if kinds else 0
    said = (AXIS_STALLED if frame["stalled"].any() else AXIS_READING).say(failed=failed)
    table = shown.drop(columns=["step_ms"]).reset_index(drop=True)
    return Chart(chart, table, said, AXIS_ALT, AXIS, series, lang, min_width=640)


def _stack(chart: go.Figure, lang: Lang) -> str:
    """Put the panels that have traces below each other, and return the lowest axis."""
    drawn = {trace.yaxis for trace in chart.data}
    shown = [axis for axis in PANELS if axis in drawn] or ["y"]
    heights = [PANELS[axis][1] for axis in shown]
    whole = sum(heights) + BETWEEN * (len(shown) - 1)
    plain, top = chart.layout.yaxis.to_plotly_json(), whole
    for axis, height in zip(shown, heights, strict=True):
        chart.layout[f"yaxis{axis[1:]}"] = {
            **plain,
            "domain": [(top - height) / whole, top / whole],
            "title": {"text": PANELS[axis][0].render(lang)},
            "anchor": "x",
            "rangemode": "tozero",
            "nticks": 4,
        }
        top -= height + BETWEEN
    chart.update_layout(height=whole + chart.layout.margin.t + chart.layout.margin.b)
    return shown[-1]


def _line(frame: pd.DataFrame, column: str, name: str, colour: str, dash: str, yaxis: str) -> list[go.Scatter]:
    known = frame[frame[column].notna()] if column in frame else frame.iloc[:0]
    if known.empty:
        return []
    line = {"color": colour, "dash": dash, "width": 1.6}
    return [
        go.Scatter(x=known["time"], y=known[column].astype("float64"), mode="lines", name=name, line=line, yaxis=yaxis)
    ]


def _spans(frame: pd.DataFrame) -> list[tuple[pd.Timestamp, pd.Timestamp]]:
    """Return start and end of each run of stalled steps."""
    stalled = frame[frame["stalled"]]
    step = pd.Timedelta(float(frame["step_ms"].iloc[0]), unit="ms")
    runs = stalled["time"].groupby((stalled.index.to_series().diff() != 1).cumsum())
    return [(run.iloc[0], run.iloc[-1] + step) for _, run in runs]


def outcome(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart what became of failed sends. `frame`: kind, stored, lost."""
    names = {"kind": KIND, "stored": WAS_STORED, "lost": WAS_LOST}
    if frame.empty:
        return Chart(figure(), frame, NO_OUTCOME, NO_OUTCOME, OUTCOME, names, lang)
    labels = [escape(kind) for kind in frame["kind"]]
    bars = [
        bar(
            labels,
            frame[column],
            names[column].render(lang),
            colour,
            shape,
            text=[f"{n:,}" if n else "" for n in frame[column]],
            textposition="inside",
            insidetextanchor="middle",
        )
        for column, colour, shape in (("stored", GREEN, ""), ("lost", VERMILLION, "/"))
    ]
    chart = figure(*bars, height=140 + 44 * len(frame), barmode="stack")
    chart.update_xaxes(title=FAILED.render(lang))
    chart.update_yaxes(autorange="reversed")
    said = OUTCOME_READING.say(stored=int(frame["stored"].sum()), lost=int(frame["lost"].sum()))
    return Chart(chart, frame, said, OUTCOME_ALT, OUTCOME, names, lang)


def replay(
    arrivals: pd.DataFrame,
    stalls: pd.DataFrame,
    timeout: float = 3000,
    retries: int = 0,
    wait: float = 200,
    lang: Lang = "en",
) -> Chart:
    """Replay recorded arrivals (at_ms, sends) against recorded pauses (start_ms, end_ms) under other limits; see `kit.rocketmq.busy_replay.what_if`."""
    names = {"outcome": OUTCOME, "sends": SENDS}
    if arrivals.empty or stalls.empty:
        nothing = pd.DataFrame(columns=pd.Index(["outcome", "sends"]))
        return Chart(figure(), nothing, NO_REPLAY, NO_REPLAY, REPLAY, names, lang)
    at, each = arrivals["at_ms"].to_numpy("float64"), arrivals["sends"].to_numpy("int64")
    frame = what_if(at, stalls[["start_ms", "end_ms"]].to_numpy("float64"), timeout, retries, wait, each)
    shown = frame.assign(outcome=[REPLAY_NAMES[name].render(lang) for name in frame["outcome"]])
    colours = dict(zip(OUTCOMES, (GREEN, VERMILLION, SKY, PURPLE), strict=True))
    bar = go.Bar(
        y=shown["outcome"],
        x=shown["sends"],
        orientation="h",
        marker={"color": [colours[name] for name in frame["outcome"]]},
        text=[f"{n:,}" for n in shown["sends"]],
        textposition="outside",
        cliponaxis=False,
    )
    chart = figure(bar, height=260, showlegend=False)
    top = math.log10(max(int(shown["sends"].max()), 10)) + 0.6
    chart.update_xaxes(
        type="log", title=SENDS.render(lang), range=[-0.1, top], dtick=1, exponentformat="none", tickformat=",d"
    )
    chart.update_yaxes(autorange="reversed")
    total = int(frame["sends"].sum())
    bad = total - int(frame.loc[frame["outcome"] == "stored", "sends"].sum())
    said = REPLAY_READING.say(timeout=int(timeout), retries=retries, wait=int(wait), sends=total, bad=bad)
    return Chart(chart, shown, said, REPLAY_ALT, REPLAY, names, lang)


def why(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the ranked explanations. `frame`: rank, why, said_en, said_zh, share."""
    share = [None if pd.isna(part) else f"{part:.0%}" for part in frame["share"]]
    shown = pd.DataFrame({"rank": frame["rank"], "said": frame[f"said_{lang}"], "share": share})
    return Table(shown, WHYS, {"rank": RANK, "said": SAID, "share": SHARE}, lang)


def config(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the settings audit. `frame`: setting, value, known, changed, reason, reason_zh."""
    shown = frame.assign(
        reason=frame["reason_zh"] if lang == "zh" else frame["reason"], changed=frame["changed"].astype("Int64")
    ).drop(columns="reason_zh")
    names = {"setting": SETTING, "value": VALUE, "known": KNOWN, "changed": CHANGED, "reason": REASON}
    return Table(shown, CONFIG, names, lang)


COMPARED = T("Sends that do not succeed, under this limit and others", "在这个上限和其他上限下未成功的发送")
COMPARED_ALT = T(
    "Bars for what was recorded and for each replayed limit, by outcome; the numbers are in the table.",
    "实际记录与每个重放的上限各一组横条，按结局区分；数字见表。",
)
RECORDED = T("as recorded", "实际记录")
WAITING = T("replayed: waitTimeMillsInSendQueue = {wait}", "重放：waitTimeMillsInSendQueue = {wait}")
SCENE = T("limit", "上限")


def compare(
    frame: pd.DataFrame, pauses: pd.DataFrame, recorded: pd.DataFrame, waits: Sequence[int], lang: Lang = "en"
) -> Chart:
    """Chart what was recorded beside a replay under each limit. `frame`: arrivals (at_ms, sends); `pauses`: start_ms, end_ms; `recorded`: kind, stored, lost."""
    names = {"limit": SCENE, "outcome": OUTCOME, "sends": SENDS}
    rows: list[tuple[str, str, int]] = []
    if len(recorded):
        late = recorded["kind"] == "CLIENT_TIMEOUT"
        refused = int(recorded.loc[~late, ["stored", "lost"]].sum().sum())
        rows += [
            (RECORDED.render(lang), "refused", refused),
            (RECORDED.render(lang), "timed out but stored", int(recorded.loc[late, "stored"].sum())),
        ]
        rows += [(RECORDED.render(lang), "timed out and refused", int(recorded.loc[late, "lost"].sum()))]
    for wait in waits if len(frame) and len(pauses) else ():
        at, each = frame["at_ms"].to_numpy("float64"), frame["sends"].to_numpy("int64")
        told = what_if(at, pauses[["start_ms", "end_ms"]].to_numpy("float64"), 3000, 0, wait, each)
        label = WAITING.say(wait=wait).render(lang)
        rows += [
            (label, str(row["outcome"]), int(row["sends"]))
            for row in told.to_dict("records")
            if row["outcome"] != "stored"
        ]
    shown = pd.DataFrame(rows, columns=pd.Index(["limit", "outcome", "sends"]))
    if shown.empty:
        return Chart(figure(), shown, NO_REPLAY, NO_REPLAY, COMPARED, names, lang)
    shown["outcome"] = [REPLAY_NAMES[name].render(lang) for name in shown["outcome"]]
    chart = pictures.bars(shown, lang).figure.update_layout(barmode="group")
    return Chart(chart, shown, "", COMPARED_ALT, COMPARED, names, lang, min_width=560)


PATH = T("Where a send can fail", "一次发送会在哪里失败")
PATH_ALT = T(
    "Boxes from the client to the store; an arrow for each way with its number of sends.",
    "从客户端到存储的方框；每条路径一个箭头，标出发送次数。",
)
NODES: Final = (
    (1.0, 3.0, T("client", "客户端")),
    (4.6, 3.0, T("send queue", "发送队列")),
    (8.3, 3.0, T("append, under one lock", "追加，只有一把锁")),
    (8.3, 0.5, T("store", "存储")),
    (1.6, 0.5, T("exception in the application", "应用中的异常")),
)
HOPS: Final[dict[str, pictures.Hop]] = {
    "sent": (1.5, 3.0, 3.9, 3.0, 2.7, 3.5, T("sends", "发送")),
    "taken": (5.3, 3.0, 7.0, 3.0, 0, 0, None),
    "stored": (8.3, 2.65, 8.3, 0.85, 9.1, 1.8, T("stored", "已存储")),
    "REJECTREQUEST": (1.0, 2.65, 1.3, 0.85, 0.3, 1.8, T("REJECTREQUEST", "REJECTREQUEST 拒绝")),
    "cleaned": (4.3, 2.65, 2.5, 0.85, 4.4, 1.7, T("cleaned from the queue (code 2)", "从队列清出（code 2）")),
    "CLIENT_TIMEOUT": (1.2, 2.65, 1.7, 0.85, 2.2, 2.2, T("timed out", "超时")),
}


def path(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Draw where sends failed. `frame`: `hop` (sent, stored, REJECTREQUEST, cleaned, CLIENT_TIMEOUT), `records`."""
    return pictures.diagram(
        frame, NODES, HOPS, PATH, PATH_ALT, lang, strong=("REJECTREQUEST", "cleaned", "CLIENT_TIMEOUT")
    )


def explore(replay: Callable[..., Chart], wait: int, interactive: bool = True) -> Any:
    """Return a replay with a slider for each of its arguments; without interaction the replay itself."""
    if not interactive:
        return replay()
    from ipywidgets import IntSlider

    from kit.charts.controls import live

    wide = {"style": {"description_width": "initial"}}
    return live(
        replay,
        timeout=IntSlider(3000, 500, 15000, 500, description="sendMsgTimeout (ms)", **wide),
        retries=IntSlider(0, 0, 5, description="retries of code 2", **wide),
        wait=IntSlider(wait, 10, 15000, 10, description="waitTimeMillsInSendQueue (ms)", **wide),
    )
