"""Charts of two evidence sets side by side: an incident and its twin with the fix applied."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from kit.charts import BLUE, GREEN, LABELS, VERMILLION, Captions, Chart, figure, line, named
from kit.i18n import Lang

GROWTH = Captions.of("comparison")
KINDS: Final = LABELS["comparison kinds"]
SIDES: Final = LABELS["comparison sides"]
LOOKS: Final = {"half": (VERMILLION, "solid"), "schedule": (BLUE, "dash"), "business": (GREEN, "dot")}
"""Colour and dash of each kind of topic."""


def growth(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Draw the records so far. `frame`: side (`without`, `with`), kind (of `KINDS`), seconds (number), records (so far)."""
    gap = 0.06
    half = (1 - gap) / 2
    last = float(frame["seconds"].max()) if len(frame) else 1.0
    # One range for both panels: a run that ended early must look short.
    axis = {"title": {"text": GROWTH.columns["seconds"].in_(lang)}, "range": [0, last]}
    left, right = {**axis, "domain": [0, half]}, {**axis, "domain": [half + gap, 1], "anchor": "y"}
    made = figure(height=380, xaxis=left, xaxis2=right)
    made.update_layout(margin_t=64)
    made.update_yaxes(type="log", title=GROWTH.columns["records"].in_(lang), dtick=1)
    for n, side in enumerate(SIDES):
        for kind, name in KINDS.items():
            of_side = frame[(frame["side"] == side) & (frame["kind"] == kind)]
            x, y = of_side["seconds"].tolist(), of_side["records"].tolist()
            place: dict[str, Any] = {"legendgroup": kind, "showlegend": n == 0, "xaxis": "x2" if n else "x"}
            made.add_trace(line(x, y, name.in_(lang), *LOOKS[kind], steps=True, width=2.5, **place))
        place = {"x": n * (half + gap), "xref": "paper", "xanchor": "left", "xshift": 6}
        # Inside the panel: the legend lies above.
        inside = {"y": 1, "yref": "paper", "yanchor": "top"}
        made.add_annotation(text=SIDES[side].in_(lang), showarrow=False, **place, **inside)
    top = frame.groupby(["side", "kind"])["records"].max().to_dict()
    most = [int(top.get((side, kind), 0)) for side in SIDES for kind in ("half", "business")]
    said = dict(zip(("bad", "bad_real", "good", "good_real"), most, strict=True))
    ends = frame.sort_values("seconds").groupby(["side", "kind"], sort=False).tail(1).reset_index(drop=True)
    ends = ends.assign(side=named(ends["side"], SIDES, lang), kind=named(ends["kind"], KINDS, lang))
    return GROWTH.chart(made, ends, GROWTH["reading"].say(**said), lang, min_width=640)
