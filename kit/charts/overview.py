"""Rows over time, coloured by kind: what the explorer shows without interaction."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from kit.charts import GREEN, GREY, PALETTE, Captions, Chart, escape, figure, marks
from kit.i18n import Lang

OVERVIEW = Captions.of("over time")
MOST_MOMENTS = 60


def over_time(
    frame: pd.DataFrame, moments: pd.DataFrame, what: str, colours: Mapping[str, str], lang: Lang = "en"
) -> Chart:
    """Chart counts over time. `frame`: ts (naive UTC, start of the step), by, rows; `moments`: ts, what; `colours`: of values
    of `by` whose colour means something.
    """
    if frame.empty:
        return OVERVIEW.nothing(lang, frame, what=what)
    kinds = frame.groupby(frame["by"].fillna("–"))["rows"].sum().sort_values(ascending=False).index
    spare = iter([*PALETTE, *[GREY] * len(kinds)])
    bars = [
        go.Bar(x=part["ts"], y=part["rows"], name=escape(kind), marker={"color": colours.get(kind) or next(spare)})
        for kind in kinds
        for part in [frame[frame["by"].fillna("–") == kind]]
    ]
    chart = figure(*bars, height=300, barmode="stack", bargap=0)
    chart.update_xaxes(tickformat="%H:%M:%S\n%Y-%m-%d", title_text="UTC")
    marked = moments.head(MOST_MOMENTS)
    line = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {"color": GREEN, "width": 1, "dash": "dot"}}
    chart.update_layout(shapes=[{**line, "x0": at, "x1": at} for at in marked["ts"]])
    hover, look = (
        [escape(what, 100) for what in marked["what"]],
        {"size": 7, "hovertemplate": "%{customdata}<extra></extra>"},
    )
    chart.add_trace(marks(marked["ts"], [0] * len(marked), "", GREEN, "diamond", hover=hover, showlegend=False, **look))
    steps = frame.groupby("ts")["rows"].sum()
    times = {"first": steps.index.min(), "last": steps.index.max(), "peak": steps.idxmax()}
    said = {name: f"{time:%Y-%m-%d %H:%M:%S}" for name, time in times.items()}
    reading = OVERVIEW["reading"].say(rows=int(frame["rows"].sum()), what=what, **said)
    alt, title = (OVERVIEW[name].say(what=what) for name in ("alt", "title"))
    return OVERVIEW.chart(chart, frame, reading, lang, alt=alt, title=title)
