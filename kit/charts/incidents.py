"""Incidents in order of time: one lane for each cause, one mark for each incident that had it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd

from kit.charts import MAX_POINTS, ORANGE, VERMILLION, Captions, Chart, escape, figure, marks, named
from kit.i18n import Lang, T

OCCURRENCES = Captions.of("incidents")
MARKS: Final = {"confirmed": (VERMILLION, "circle"), "suspected": (ORANGE, "circle-open")}


def occurrences(frame: pd.DataFrame, verdicts: Mapping[str, T], lang: Lang = "en") -> Chart:
    """Chart the incidents. `frame`: began (UTC), name, cause (title), verdict (`confirmed`, `suspected`), one row a finding;
    `verdicts`: the label of each verdict.
    """
    timed = frame.dropna(subset=["began"]).sort_values(["began", "name"], kind="stable").head(MAX_POINTS)
    if timed.empty:
        return OCCURRENCES.nothing(lang)
    traces = []
    for verdict, (colour, symbol) in MARKS.items():
        part = timed[timed["verdict"] == verdict]
        if len(part):
            causes, hover = [escape(cause, 48) for cause in part["cause"]], [escape(name, 60) for name in part["name"]]
            look = {
                "size": 12,
                "marker": {"line": {"width": 2}},
                "hovertemplate": "%{customdata}<br>%{x}<extra></extra>",
            }
            name = verdicts[verdict].render(lang)
            traces.append(marks(part["began"], causes, name, colour, symbol, hover=hover, **look))
    counts = timed["cause"].value_counts()
    chart = figure(*traces, height=110 + 40 * len(counts))
    chart.update_yaxes(type="category", autorange="reversed", automargin=True)
    reading = OCCURRENCES["reading"].say(
        incidents=int(timed["name"].nunique()),
        first=f"{timed['began'].iloc[0]:%Y-%m-%d}",
        last=f"{timed['began'].iloc[-1]:%Y-%m-%d}",
        cause=str(counts.index[0]),
        count=int(counts.iloc[0]),
    )
    table = timed[list(OCCURRENCES.columns)].assign(verdict=named(timed["verdict"], verdicts, lang))
    return OCCURRENCES.chart(chart, table, reading, lang, min_width=560)
