"""Charts of a busy broker: one time axis of what arrived, was stored, failed and stalled; what became of failed sends; a replay under other limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import (
    BLUE,
    GREEN,
    GREY,
    LABELS,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Captions,
    Chart,
    Table,
    bars,
    escape,
    figure,
    line,
    log_counts,
    marks,
    named,
    pictures,
)
from kit.i18n import Lang
from kit.rocketmq.busy_replay import OUTCOMES, what_if

AXIS = Captions.of("busy axis")
OUTCOME = Captions.of("failed sends")
REPLAY = Captions.of("replay")
WHYS = Captions.of("explanations")
CONFIG = Captions.of("settings")
COMPARED = Captions.of("replays compared")


REPLAY_NAMES: Final = LABELS["busy replay names"]
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
LINES: Final = {
    "born": (BLUE, "dot", "y"),
    "stored": (GREEN, "solid", "y"),
    "send_queue": (PURPLE, "solid", "y3"),
    "written_mb": (ORANGE, "solid", "y4"),
    "util": (VERMILLION, "dot", "y5"),
    "cpu": (BLUE, "dash", "y5"),
}
"""Colour, dash and panel of each line."""
MOST_SHADES: Final = 60
PANELS: Final = {"y": ("rate", 208), "y2": ("failed", 152), "y3": ("queue", 88), "y4": ("disk", 96), "y5": ("host", 96)}
"""Title and height of the panel of each axis, in pixels, from the top."""
BETWEEN: Final = 40


def axis(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart one time axis. `frame`: from `kit.analysis.sends.times.axis`, one row per step; columns without evidence are null."""
    if frame.empty:
        return AXIS.nothing(lang, frame)
    frame = frame.drop(columns=[kind for kind in COLOURS if kind in frame and not frame[kind].any()])
    kinds = [kind for kind in COLOURS if kind in frame]
    width = float(frame["step_ms"].iloc[0])
    traces: list[go.Bar | go.Scatter] = []
    for column, (colour, dash, yaxis) in LINES.items():
        known = frame[frame[column].notna()] if column in frame else frame.head(0)
        name, values = AXIS.columns[column].render(lang), known.get(column, known["time"]).astype("float64")
        if len(known):
            traces.append(line(known["time"], values, name, colour, dash, width=1.6, yaxis=yaxis))
    for kind in kinds:
        colour, shape = COLOURS[kind]
        some = frame[frame[kind] > 0]
        middle = some["time"] + pd.Timedelta(width / 2, unit="ms")
        marker = {"color": colour, "pattern": {"shape": shape}}
        look = {"x": middle, "y": some[kind], "width": max(width, 400), "marker": marker}
        traces.append(go.Bar(name=escape(kind), yaxis="y2", **look))
    traces.sort(key=lambda trace: trace.yaxis or "y")  # the legend names panel by panel
    spans = _spans(frame)
    if spans:
        name = AXIS.columns["stalled"].render(lang)
        traces.append(marks([None], [None], name, "rgba(138,143,152,0.45)", "square", size=12))
    chart = figure(*traces, barmode="stack", hovermode="x")
    shade = {"fillcolor": GREY, "opacity": 0.28, "line_width": 0, "layer": "below"}
    for start, end in spans[:MOST_SHADES]:
        chart.add_shape(type="rect", x0=start, x1=end, y0=0, y1=1, xref="x", yref="paper", **shade)
    chart.update_xaxes(title=AXIS.columns["time"].render(lang), anchor=_stack(chart, lang))
    chart.update_layout(legend={"y": 1.03, "traceorder": "normal"})
    shown = frame[frame[kinds].sum(axis=1).gt(0) | frame["stalled"]] if kinds else frame[frame["stalled"]]
    failed = int(frame[kinds].sum().sum()) if kinds else 0
    said = (AXIS["stalled"] if frame["stalled"].any() else AXIS["reading"]).say(failed=failed)
    table = shown.drop(columns=["step_ms"]).reset_index(drop=True)
    return AXIS.chart(chart, table, said, lang, min_width=640)


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
            "title": {"text": AXIS[PANELS[axis][0]].render(lang)},
            "anchor": "x",
            "rangemode": "tozero",
            "nticks": 4,
        }
        top -= height + BETWEEN
    chart.update_layout(height=whole + chart.layout.margin.t + chart.layout.margin.b)
    return shown[-1]


def _spans(frame: pd.DataFrame) -> list[tuple[pd.Timestamp, pd.Timestamp]]:
    """Return start and end of each run of stalled steps."""
    stalled = frame[frame["stalled"]]
    step = pd.Timedelta(float(frame["step_ms"].iloc[0]), unit="ms")
    runs = stalled["time"].groupby((stalled.index.to_series().diff() != 1).cumsum())
    return [(run.iloc[0], run.iloc[-1] + step) for _, run in runs]


def outcome(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart what became of failed sends. `frame`: kind, stored, lost."""
    if frame.empty:
        return OUTCOME.nothing(lang, frame)
    labels = [escape(kind) for kind in frame["kind"]]
    looks = {"stored": (GREEN, ""), "lost": (VERMILLION, "/")}
    inside: dict[str, Any] = {"textposition": "inside", "insidetextanchor": "middle"}
    drawn = bars(labels, frame, OUTCOME.columns, looks, lang, **inside)
    chart = figure(*drawn, height=140 + 44 * len(frame), barmode="stack")
    chart.update_xaxes(title=OUTCOME["failed"].render(lang))
    chart.update_yaxes(autorange="reversed")
    said = OUTCOME["reading"].say(stored=int(frame["stored"].sum()), lost=int(frame["lost"].sum()))
    return OUTCOME.chart(chart, frame, said, lang)


def replay(
    arrivals: pd.DataFrame,
    stalls: pd.DataFrame,
    timeout: float = 3000,
    retries: int = 0,
    wait: float = 200,
    lang: Lang = "en",
) -> Chart:
    """Replay recorded arrivals (at_ms, sends) against recorded pauses (start_ms, end_ms) under other limits; see `kit.rocketmq.busy_replay.what_if`."""
    if arrivals.empty or stalls.empty:
        return REPLAY.nothing(lang)
    frame = _replayed(arrivals, stalls, timeout, retries, wait)
    shown = frame.assign(outcome=named(frame["outcome"], REPLAY_NAMES, lang))
    colours = dict(zip(OUTCOMES, (GREEN, VERMILLION, SKY, PURPLE), strict=True))
    drawn = go.Bar(
        y=shown["outcome"],
        x=shown["sends"],
        orientation="h",
        marker={"color": [colours[name] for name in frame["outcome"]]},
        text=[f"{n:,}" for n in shown["sends"]],
        textposition="outside",
        cliponaxis=False,
    )
    chart = figure(drawn, height=260, showlegend=False)
    chart.update_xaxes(title=REPLAY.columns["sends"].render(lang), **log_counts(shown["sends"].max(), space=0.6))
    chart.update_yaxes(autorange="reversed")
    total = int(frame["sends"].sum())
    bad = total - int(frame.loc[frame["outcome"] == "stored", "sends"].sum())
    said = REPLAY["reading"].say(timeout=int(timeout), retries=retries, wait=int(wait), sends=total, bad=bad)
    return REPLAY.chart(chart, shown, said, lang, min_width=520)


def _replayed(arrivals: pd.DataFrame, stalls: pd.DataFrame, timeout: float, retries: int, wait: float) -> pd.DataFrame:
    at, each = arrivals["at_ms"].to_numpy("float64"), arrivals["sends"].to_numpy("int64")
    return what_if(at, stalls[["start_ms", "end_ms"]].to_numpy("float64"), timeout, retries, wait, each)


def why(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the ranked explanations. `frame`: rank, why, said_en, said_zh, share."""
    share = [None if pd.isna(part) else f"{part:.0%}" for part in frame["share"]]
    shown = pd.DataFrame({"rank": frame["rank"], "said": frame[f"said_{lang}"], "share": share})
    return WHYS.table(shown, lang)


def config(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the settings audit. `frame`: setting, value, known, changed, reason, reason_zh."""
    reason = frame["reason_zh" if lang == "zh" else "reason"]
    return CONFIG.table(frame.assign(reason=reason, changed=frame["changed"].astype("Int64")), lang)


def compare(
    frame: pd.DataFrame, pauses: pd.DataFrame, recorded: pd.DataFrame, waits: Sequence[int], lang: Lang = "en"
) -> Chart:
    """Chart what was recorded beside a replay under each limit. `frame`: arrivals (at_ms, sends); `pauses`: start_ms, end_ms; `recorded`: kind, stored, lost."""
    rows: list[tuple[str, str, int]] = []
    if len(recorded):
        late = recorded["kind"] == "CLIENT_TIMEOUT"
        outcomes = {
            "refused": recorded.loc[~late, ["stored", "lost"]].sum().sum(),
            "timed out but stored": recorded.loc[late, "stored"].sum(),
            "timed out and refused": recorded.loc[late, "lost"].sum(),
        }
        rows += [(COMPARED["recorded"].render(lang), outcome, int(sends)) for outcome, sends in outcomes.items()]
    for wait in waits if len(frame) and len(pauses) else ():
        replayed = _replayed(frame, pauses, 3000, 0, wait)
        bad = replayed[replayed["outcome"] != "stored"]
        label = COMPARED["waiting"].say(wait=wait).render(lang)
        rows += [(label, outcome, int(sends)) for outcome, sends in zip(bad["outcome"], bad["sends"], strict=True)]
    shown = pd.DataFrame(rows, columns=pd.Index(list(COMPARED.columns)))
    if shown.empty:
        return COMPARED.nothing(lang, shown)
    shown["outcome"] = named(shown["outcome"], REPLAY_NAMES, lang)
    chart = pictures.bars(shown, lang).figure.update_layout(barmode="group")
    return COMPARED.chart(chart, shown, "", lang, min_width=560)


def path(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Draw where sends failed. `frame`: `hop` (sent, stored, REJECTREQUEST, cleaned, CLIENT_TIMEOUT), `records`."""
    return pictures.diagram("send path", frame, lang)


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
