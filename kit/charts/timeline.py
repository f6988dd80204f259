"""The timeline across all files: one lane for each kind of event, the moments that decide marked and numbered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import LABELS, Chart, Declared, escape, figure
from kit.charts.figures import BLUE, GREY, INK, MAX_POINTS, VERMILLION, segments
from kit.i18n import Lang

TIMELINE = Declared.of("timeline")
LANES: Final = LABELS["timeline lanes"]
NAME: Final = 60
"""Most characters of an event in its hover text."""

NEAR: Final = 0.035
"""Share of the time shown within which the numbers of two marks lie on each other, also on a phone."""


def rows(frame: pd.DataFrame, lang: Lang = "en", titles: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return the timeline as readers see it; `number` counts the moments that decide.

    `frame`: columns of `kit.causes.timeline`; `lane` may also be the slug of a cause. `titles`: what causes are called.
    """
    decides = frame["decides"].astype(bool)
    numbers = decides.cumsum().where(decides).astype("Int64")
    lanes = [lane_name(lane, lang, titles) for lane in frame["lane"]]
    places = [place(*each) for each in zip(frame["file"], frame["line"], frame["physical_offset"], strict=True)]
    table = frame.assign(
        number=numbers, what=frame[lang], lane=lanes, place=places, decides=decides.map({True: "◆", False: ""})
    )
    return table[list(TIMELINE.columns)]


def lane_name(lane: str, lang: Lang, titles: Mapping[str, str] | None = None) -> str:
    return LANES[lane].render(lang) if lane in LANES else (titles or {}).get(lane, lane)


def place(file: Any, line: Any, offset: Any) -> str:
    """Return the place of the evidence: file and line, or file and byte offset."""
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
    marks[1].text = _numbers(drawn[decides], (last - first) * NEAR)
    every = [trace for trace in (bars, *marks) if len(trace.x)]
    chart = figure(*every, height=70 + 44 * len(lanes), showlegend=False)
    for number, lane in enumerate(lanes):
        name = escape(lane_name(lane, lang, titles), NAME)
        place = {"x": 0, "xref": "paper", "xanchor": "left", "y": -number, "yanchor": "bottom", "yshift": 11}
        chart.add_annotation(text=name, showarrow=False, font={"size": 12, "color": INK}, **place)
    chart.update_yaxes(visible=False, range=[0.4 - len(lanes), 0.8])
    chart.update_layout(margin={"l": 10, "r": 10, "t": 10, "b": 40})
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
    below = {"mode": "markers+text", "textposition": "bottom center", "textfont": {"size": 11}}
    hover = {
        "customdata": [escape(what, NAME) for what in rows["what"]],
        "hovertemplate": "%{x}<br>%{customdata}<extra></extra>",
    }
    return go.Scatter(x=rows["at"], y=rows["y"], marker=marker, **below, **hover)


def _numbers(decisive: pd.DataFrame, near: pd.Timedelta) -> list[str]:
    """Return what is written below each mark: its number, and those of later marks in its lane that lie on it."""
    below = [""] * len(decisive)
    latest: dict[int, tuple[pd.Timestamp, int]] = {}
    for place, (at, lane, number) in enumerate(decisive[["at", "y", "number"]].itertuples(index=False, name=None)):
        if lane in latest and at - latest[lane][0] <= near:
            below[latest[lane][1]] += f", {number}"
        else:
            latest[lane], below[place] = (at, place), str(number)
    return below
