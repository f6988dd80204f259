"""Chart of a master and its replica: what was acknowledged, and how much of it the replica holds."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, VERMILLION, Captions, Chart, figure
from kit.i18n import Lang

REPLICA = Captions.of("replica")


def beside(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the table `replica_seconds`: second, acknowledged, on_replica, missing."""
    if frame.empty:
        return REPLICA.nothing(lang, frame)
    drawn = []
    for column, colour, shape in (("on_replica", BLUE, ""), ("missing", VERMILLION, "/")):
        name, marker = REPLICA.columns[column].render(lang), {"color": colour, "pattern": {"shape": shape}}
        drawn.append(go.Bar(x=frame["second"], y=frame[column], name=name, marker=marker))
    chart = figure(*drawn, height=360, barmode="stack")
    chart.update_xaxes(title=REPLICA.columns["second"].render(lang))
    chart.update_yaxes(title=REPLICA["sends"].render(lang))
    lacking = frame[frame["missing"] > 0]
    total = int(frame["acknowledged"].sum())
    said = REPLICA["reading_whole"].say(acknowledged=total)
    if len(lacking):
        first = f"{lacking['second'].iloc[0]:%Y-%m-%d %H:%M:%S}"
        said = REPLICA["reading"].say(acknowledged=total, missing=int(frame["missing"].sum()), first=first)
    return REPLICA.chart(chart, frame, said, lang, min_width=560)
