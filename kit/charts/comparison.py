"""Charts of two evidence sets side by side: an incident and its twin with the fix applied."""

from __future__ import annotations

from typing import Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, GREEN, VERMILLION, Chart, figure
from kit.i18n import Lang, T

KINDS: Final = {"half": T("half topic"), "schedule": T("schedule topic"), "business": T("business topics")}
SIDES: Final = {"without": T("without the fix"), "with": T("with the fix")}
GROWTH = T("Records stored, without and with the fix")
READING = T(
    "Without the fix the half topic reached {bad} {bad:record|records} for {bad_real} business records; with it {good} for {good_real}."
)
ALT = T(
    "Two panels with the same logarithmic scale: records so far in the half, schedule and business topics over the seconds of each run."
)
SECONDS = T("seconds since the first record")
RECORDS = T("records so far")
SIDE, KIND = T("side"), T("topics")
COLOURS: Final = {"half": VERMILLION, "schedule": BLUE, "business": GREEN}
DASHES: Final = {"half": "solid", "schedule": "dash", "business": "dot"}


def growth(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Draw the records so far. `frame`: side (`without`, `with`), kind (of `KINDS`), seconds (number), records (so far)."""
    gap = 0.06
    half = (1 - gap) / 2
    last = float(frame["seconds"].max()) if len(frame) else 1.0
    # One range for both panels: a run that ended early must look short.
    axis = {"title": {"text": SECONDS.in_(lang)}, "range": [0, last]}
    made = figure(
        height=380, xaxis={**axis, "domain": [0, half]}, xaxis2={**axis, "domain": [half + gap, 1], "anchor": "y"}
    )
    made.update_layout(yaxis={"type": "log", "title": {"text": RECORDS.in_(lang)}, "dtick": 1}, margin_t=64)
    for n, side in enumerate(SIDES):
        for kind, name in KINDS.items():
            of_side = frame[(frame["side"] == side) & (frame["kind"] == kind)]
            made.add_trace(
                go.Scatter(
                    x=of_side["seconds"].tolist(),
                    y=of_side["records"].tolist(),
                    mode="lines",
                    line={"color": COLOURS[kind], "dash": DASHES[kind], "shape": "hv", "width": 2.5},
                    name=name.in_(lang),
                    legendgroup=kind,
                    showlegend=n == 0,
                    xaxis="x2" if n else "x",
                )
            )
        place = {"x": n * (half + gap), "xref": "paper", "xanchor": "left", "xshift": 6}
        # Inside the panel: the legend lies above.
        inside = {"y": 1, "yref": "paper", "yanchor": "top"}
        made.add_annotation(text=SIDES[side].in_(lang), showarrow=False, **place, **inside)
    top = frame.groupby(["side", "kind"])["records"].max().to_dict()
    asked = {
        "bad": ("without", "half"),
        "bad_real": ("without", "business"),
        "good": ("with", "half"),
        "good_real": ("with", "business"),
    }
    said = {name: int(top.get(key, 0)) for name, key in asked.items()}
    ends = frame.sort_values("seconds").groupby(["side", "kind"], sort=False).tail(1).reset_index(drop=True)
    ends = ends.assign(side=[SIDES[s].in_(lang) for s in ends["side"]], kind=[KINDS[k].in_(lang) for k in ends["kind"]])
    names = {"side": SIDE, "kind": KIND, "seconds": SECONDS, "records": RECORDS}
    return Chart(made, ends, READING.say(**said), ALT, GROWTH, names, lang, min_width=640)
