"""Chart of a master and its replica: what was acknowledged, and how much of it the replica holds."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, VERMILLION, Chart, figure
from kit.i18n import Lang, T

TITLE = T("Acknowledged by the master, and on the replica")
READING = T(
    "{acknowledged} {acknowledged:send was|sends were} acknowledged; {missing} of them {missing:is|are} not on the replica, the first at {first} UTC."
)
READING_WHOLE = T("{acknowledged} {acknowledged:send was|sends were} acknowledged; the replica holds all of them.")
ALT = T("Stacked bars over time: acknowledged sends that the replica holds, and those it lacks.")
NOTHING = T("No acknowledged send can be compared with a replica.")
TIME, SENDS = T("time of the send (UTC)"), T("acknowledged sends")
HELD, LACKED, ALL = T("on the replica"), T("missing on the replica"), T("acknowledged")


def beside(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the table `replica_seconds`: second, acknowledged, on_replica, missing."""
    names = {"second": TIME, "acknowledged": ALL, "on_replica": HELD, "missing": LACKED}
    if frame.empty:
        return Chart(figure(), frame, NOTHING, NOTHING, TITLE, names, lang)
    bars = [
        go.Bar(
            x=frame["second"],
            y=frame[column],
            name=names[column].render(lang),
            marker={"color": colour, "pattern": {"shape": shape}},
        )
        for column, colour, shape in (("on_replica", BLUE, ""), ("missing", VERMILLION, "/"))
    ]
    chart = figure(*bars, height=360, barmode="stack")
    chart.update_xaxes(title=TIME.render(lang))
    chart.update_yaxes(title=SENDS.render(lang))
    lacking = frame[frame["missing"] > 0]
    total = int(frame["acknowledged"].sum())
    said = READING_WHOLE.say(acknowledged=total)
    if len(lacking):
        said = READING.say(
            acknowledged=total,
            missing=int(frame["missing"].sum()),
            first=f"{lacking['second'].iloc[0]:%Y-%m-%d %H:%M:%S}",
        )
    return Chart(chart, frame, said, ALT, TITLE, names, lang, min_width=560)
