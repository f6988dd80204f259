"""Charts of a whole evidence set or several: what it covers, rows over time, two sets side by side, many incidents."""

from __future__ import annotations

from typing import Final

import pandas as pd

from kit.charts import LABELS, Chart, Declared, escape
from kit.charts.figures import GREEN, MAX_POINTS, VERMILLION
from kit.i18n import Lang

COVERAGE = Declared.of("coverage")
OVERVIEW = Declared.of("over time")
GROWTH = Declared.of("comparison")
OCCURRENCES = Declared.of("incidents")
MOST_MOMENTS: Final = 60
SIDES: Final = LABELS["comparison sides"]


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
    reading = (
        COVERAGE["reading"]
        .say(files=len(timed), first=f"{first:%Y-%m-%d %H:%M:%S}", last=f"{last:%Y-%m-%d %H:%M:%S}")
        .render(lang)
    )
    if window is not None:
        chart.add_vrect(x0=window[0], x1=window[1], fillcolor=VERMILLION, opacity=0.18, line_width=0, layer="below")
        reading += " " + COVERAGE["window"].say(first=f"{window[0]:%H:%M:%S}", last=f"{window[1]:%H:%M:%S}").render(
            lang
        )
    return COVERAGE.chart(spans, lang, reading, chart)


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
    values = {name: f"{time:%Y-%m-%d %H:%M:%S}" for name, time in times.items()} | {
        "rows": int(steps.sum()),
        "what": what,
    }
    return OVERVIEW.chart(frame, lang, values, chart, title={"what": what}, alt={"what": what})


def growth(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Draw the records so far, a panel a side (`without`, `with` the fix). `frame`: side, kind, seconds, records."""
    top = frame.groupby(["side", "kind"])["records"].max()
    sides = {
        "bad": ("without", "half"),
        "bad_real": ("without", "business"),
        "good": ("with", "half"),
        "good_real": ("with", "business"),
    }
    values = {name: int(top.get(side, 0)) for name, side in sides.items()}
    ends = frame.sort_values("seconds").groupby(["side", "kind"], sort=False).tail(1).reset_index(drop=True)
    return GROWTH.chart(ends, lang, values, GROWTH.figure(frame, lang))


def occurrences(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart incidents, a lane for each cause. `frame`: began (UTC), name, cause (title), verdict of each finding."""
    timed = frame.dropna(subset=["began"]).sort_values(["began", "name"], kind="stable").head(MAX_POINTS)
    if timed.empty:
        return OCCURRENCES.nothing(lang)
    counts, began = timed["cause"].value_counts(), timed["began"]
    values = {
        "incidents": int(timed["name"].nunique()),
        "first": f"{began.iloc[0]:%Y-%m-%d}",
        "last": f"{began.iloc[-1]:%Y-%m-%d}",
    }
    return OCCURRENCES.chart(timed, lang, values | {"cause": str(counts.index[0]), "count": int(counts.iloc[0])})
