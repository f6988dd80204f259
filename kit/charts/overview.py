"""Charts of a whole evidence set: what it covers, its timeline, rows over time."""

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import LABELS, Chart, Declared, escape, figure
from kit.charts.figures import BLUE, GREEN, GREY, INK, MAX_POINTS, VERMILLION, segments
from kit.i18n import Lang

COVERAGE = Declared.of("coverage")
OVERVIEW = Declared.of("over time")
MOST_MOMENTS: Final = 60


def coverage(frame: pd.DataFrame, window: tuple[pd.Timestamp, pd.Timestamp] | None = None, lang: Lang = "en") -> Chart:
    """Chart the time span of each kind of evidence, the incident shaded. `frame`: kind, first, last of each file."""
    timed = frame.dropna(subset=["first", "last"])
    if timed.empty:
        return COVERAGE.nothing(lang)
    spans = timed.groupby("kind", as_index=False).agg(
        files=("kind", "size"), first=("first", "min"), last=("last", "max")
    )
    spans = spans.sort_values(["first", "kind"], ignore_index=True)
    chart = COVERAGE.figure(spans, lang)
    first, last = spans["first"].min(), spans["last"].max()
    margin = max((last - first) * 0.02, pd.Timedelta(seconds=2))
    chart.update_xaxes(range=[first - margin, last + margin]).update_layout(bargap=0.6)
    values = {"files": len(timed), "first": f"{first:%Y-%m-%d %H:%M:%S}", "last": f"{last:%Y-%m-%d %H:%M:%S}"}
    if window is not None:
        chart.add_vrect(x0=window[0], x1=window[1], fillcolor=VERMILLION, opacity=0.18, line_width=0, layer="below")
        values |= {"begin": f"{window[0]:%H:%M:%S}", "end": f"{window[1]:%H:%M:%S}"}
    return COVERAGE.chart(spans, lang, values, chart)


def over_time(frame: pd.DataFrame, moments: pd.DataFrame, what: str, lang: Lang = "en") -> Chart:
    """Chart counts over time. `frame`: ts (naive UTC, start of the step), by, rows; `moments`: ts, what."""
    if frame.empty:
        return OVERVIEW.nothing(lang, what=what)
    kinds = frame.assign(by=frame["by"].fillna("–"))
    order = kinds.groupby("by")["rows"].sum().rank(ascending=False, method="first")
    chart = OVERVIEW.figure(kinds.sort_values("by", key=lambda by: by.map(order), kind="stable"), lang)
    marked = moments.head(MOST_MOMENTS)
    line = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {"color": GREEN, "width": 1, "dash": "dot"}}
    chart.update_layout(bargap=0, shapes=[{**line, "x0": at, "x1": at} for at in marked["ts"]])
    look = {"marker": {"color": GREEN, "symbol": "diamond", "size": 7}, "mode": "markers", "showlegend": False}
    words = [escape(each, 100) for each in marked["what"]]
    chart.add_scatter(x=marked["ts"], y=[0] * len(marked), text=words, hoverinfo="text", **look)
    steps = frame.groupby("ts")["rows"].sum()
    times = {"first": steps.index.min(), "last": steps.index.max(), "peak": steps.idxmax()}
    values = {name: f"{time:%Y-%m-%d %H:%M:%S}" for name, time in times.items()}
    about = {"what": what}
    return OVERVIEW.chart(frame, lang, values | about | {"rows": int(steps.sum())}, chart, title=about, alt=about)


# --- the timeline -----------------------------------------------------------------------------------------------------

TIMELINE = Declared.of("timeline")
LANES: Final = LABELS["timeline lanes"]
NAME: Final = 60
"""Most characters of an event in its hover text."""
LANE: Final = 50
"""Most characters of the name of a lane, for a phone."""
ABOVE: Final = {"x": 0, "xref": "paper", "xanchor": "left", "xshift": -42, "yanchor": "bottom", "yshift": 11}
"""Where the name of a lane stands."""


def rows(frame: pd.DataFrame, lang: Lang = "en", titles: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return the timeline as readers see it.

    `frame`: columns of `kit.causes.timeline`; `lane` may also be the slug of a cause. `titles`: what causes are called.
    """
    decides = frame["decides"].astype(bool).map({True: "◆", False: ""})
    lanes = [lane_name(lane, lang, titles) for lane in frame["lane"]]
    places = [place(*each) for each in zip(frame["file"], frame["line"], frame["physical_offset"], strict=True)]
    return frame.assign(what=frame[lang], lane=lanes, place=places, decides=decides)[list(TIMELINE.columns)]


def lane_name(lane: str, lang: Lang, titles: Mapping[str, str] | None = None) -> str:
    return LANES[lane].render(lang) if lane in LANES else (titles or {}).get(lane, lane)


def place(file: Any, line: Any, offset: Any) -> str:
    if pd.isna(file):
        return ""
    return f"{file}:{line}" if not pd.isna(line) else f"{file} @ {offset}" if not pd.isna(offset) else str(file)


def timeline(frame: pd.DataFrame, lang: Lang = "en", titles: Mapping[str, str] | None = None) -> Chart:
    """Chart the timeline. Lane names are above their lanes, so that a narrow screen keeps its width for time."""
    if frame.empty:
        return TIMELINE.nothing(lang)
    table = rows(frame, lang, titles)
    lanes = list(dict.fromkeys(frame.sort_values("at", kind="stable")["lane"]))
    drawn = table.assign(y=[-lanes.index(lane) for lane in frame["lane"]]).head(MAX_POINTS)
    first, last = frame["at"].min(), frame[["at", "until"]].max().max()
    lasting = drawn.dropna(subset="until")[["at", "y", "until", "y"]].itertuples(index=False, name=None)
    bars = segments(lasting, line={"color": BLUE, "width": 6}, opacity=0.45)
    decides = drawn["decides"] != ""
    marks = [_marks(drawn[~decides], "circle", BLUE, 7), _marks(drawn[decides], "diamond", VERMILLION, 13)]
    every = [trace for trace in (bars, *marks) if len(trace.x)]
    chart = figure(*every, height=70 + 44 * len(lanes), showlegend=False)
    for number, lane in enumerate(lanes):
        name = escape(lane_name(lane, lang, titles), LANE)
        chart.add_annotation(text=name, showarrow=False, font={"size": 12, "color": INK}, y=-number, **ABOVE)
    chart.update_yaxes(visible=False, range=[0.4 - len(lanes), 0.8])
    # Room for the first label of the axis, which says the day.
    chart.update_layout(margin={"l": 44, "r": 10, "t": 10, "b": 40})
    margin = max((last - first) * 0.03, pd.Timedelta(seconds=1))
    chart.update_xaxes(range=[first - margin, last + margin])
    values = {
        "rows": len(frame),
        "first": f"{first:%Y-%m-%d %H:%M:%S}",
        "last": f"{last:%H:%M:%S}" if last.date() == first.date() else f"{last:%Y-%m-%d %H:%M:%S}",
        "lanes": len(lanes),
        "decides": int(frame["decides"].sum()),
    }
    return TIMELINE.chart(table, lang, values, chart)


def _marks(rows: pd.DataFrame, symbol: str, colour: str, size: int) -> go.Scatter:
    marker = {"color": colour, "symbol": symbol, "size": size, "line": {"width": 1, "color": GREY}}
    hover = {
        "customdata": [escape(what, NAME) for what in rows["what"]],
        "hovertemplate": "%{x}<br>%{customdata}<extra></extra>",
    }
    return go.Scatter(x=rows["at"], y=rows["y"], mode="markers", marker=marker, **hover)
