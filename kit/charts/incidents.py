"""Incidents in order of time: one lane for each cause, one mark for each incident that had it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import MAX_POINTS, ORANGE, VERMILLION, Chart, escape, figure
from kit.i18n import Lang, T

TITLE = T("Which incident had which cause")
READING = T(
    "{incidents} {incidents:incident|incidents} from {first} to {last} UTC; the most common cause is “{cause}” ({count})."
)
ALT = T("One lane for each cause, one mark for each incident that had it; the same rows are in the table.")
NOTHING = T("No incident here has a cause and a time.")
HEADS: Final = {"began": T("began (UTC)"), "name": T("incident"), "cause": T("cause"), "verdict": T("verdict")}
MARKS: Final = {"confirmed": (VERMILLION, "circle"), "suspected": (ORANGE, "circle-open")}


def occurrences(frame: pd.DataFrame, verdicts: Mapping[str, T], lang: Lang = "en") -> Chart:
    """Chart the incidents. `frame`: began (UTC), name, cause (title), verdict (`confirmed`, `suspected`), one row a finding;
    `verdicts`: the label of each verdict.
    """
    timed = frame.dropna(subset=["began"]).sort_values(["began", "name"], kind="stable").head(MAX_POINTS)
    if timed.empty:
        empty = pd.DataFrame(columns=pd.Index(list(HEADS)))
        return Chart(figure(), empty, NOTHING, NOTHING, TITLE, HEADS, lang)
    traces = []
    for verdict, (colour, symbol) in MARKS.items():
        part = timed[timed["verdict"] == verdict]
        if len(part):
            traces.append(
                go.Scatter(
                    x=part["began"],
                    y=[escape(cause, 48) for cause in part["cause"]],
                    mode="markers",
                    name=verdicts[verdict].render(lang),
                    text=[escape(name, 60) for name in part["name"]],
                    marker={"color": colour, "symbol": symbol, "size": 12, "line": {"width": 2}},
                    hovertemplate="%{text}<br>%{x}<extra></extra>",
                )
            )
    counts = timed["cause"].value_counts()
    chart = figure(*traces, height=110 + 40 * len(counts))
    chart.update_yaxes(type="category", autorange="reversed", automargin=True)
    reading = READING.say(
        incidents=int(timed["name"].nunique()),
        first=f"{timed['began'].iloc[0]:%Y-%m-%d}",
        last=f"{timed['began'].iloc[-1]:%Y-%m-%d}",
        cause=str(counts.index[0]),
        count=int(counts.iloc[0]),
    )
    table = timed[list(HEADS)].assign(verdict=[verdicts[verdict].render(lang) for verdict in timed["verdict"]])
    return Chart(chart, table, reading, ALT, TITLE, HEADS, lang, min_width=560)
