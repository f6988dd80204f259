"""Rows over time, coloured by kind: what the explorer shows without interaction."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from kit.charts import GREEN, GREY, PALETTE, Chart, escape, figure
from kit.i18n import Lang, T

TITLE = T("{what} over time")
READING = T("{rows} {what} from {first} to {last}, most of them in the step that starts at {peak}.")
NOTHING = T("No {what} with a time.")
ALT = T(
    "Stacked bars of {what} over time, one colour for each kind; lines mark moments that the causes report. The numbers are in the table."
)
HEADS = {"ts": T("step begins (UTC)"), "by": T("kind"), "rows": T("number")}
MOST_MOMENTS = 60


def over_time(
    frame: pd.DataFrame, moments: pd.DataFrame, what: str, colours: Mapping[str, str], lang: Lang = "en"
) -> Chart:
    """Chart counts over time. `frame`: ts (naive UTC, start of the step), by, rows; `moments`: ts, what; `colours`: of values
    of `by` whose colour means something.
    """
    title = TITLE.say(what=what)
    if frame.empty:
        nothing = NOTHING.say(what=what)
        return Chart(figure(), frame, nothing, nothing, title, HEADS, lang)
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
    chart.add_scatter(
        x=marked["ts"], y=[0] * len(marked), mode="markers", showlegend=False, hoverinfo="text",
        hovertext=[escape(what, 100) for what in marked["what"]], marker={"color": GREEN, "symbol": "diamond", "size": 7},
    )  # fmt: skip
    steps = frame.groupby("ts")["rows"].sum()
    reading = READING.say(
        rows=int(frame["rows"].sum()),
        what=what,
        first=f"{steps.index.min():%Y-%m-%d %H:%M:%S}",
        last=f"{steps.index.max():%Y-%m-%d %H:%M:%S}",
        peak=f"{steps.idxmax():%Y-%m-%d %H:%M:%S}",
    )
    return Chart(chart, frame, reading, ALT.say(what=what), title, HEADS, lang)
