"""Chart of one message's journey in lanes."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, GREEN, GREY, VERMILLION, Captions, Chart, escape, figure, line, marks, segments
from kit.i18n import Lang

JOURNEY = Captions.of("journey")
ENDS: Final = {"success": (GREEN, "star"), "failed": (VERMILLION, "x"), "unknown": (GREY, "diamond")}
"""Colour and symbol of what a consumer recorded."""
WORDS_FIRST: Final = "%{customdata}<br>%{x}<extra></extra>"


def journey(records: pd.DataFrame, handled: pd.DataFrame | None = None, lang: Lang = "en") -> Chart:
    """Chart one message in lanes: a lane for each stage, one for what consumers did with it.

    `records`: `store_timestamp`, `stage`, `topic`, `offset_msg_id`, `copied_from`, `why` as in `kit.trace`; `handled`:
    `time`, `result`, `success`,
    `offset_msg_id`, `consumer`.
    """
    records = records.reset_index(drop=True)
    if not len(records):
        return JOURNEY.nothing(lang)
    at = pd.to_datetime(records["store_timestamp"], utc=True, format="ISO8601")
    lanes = [escape(stage, 40) for stage in records["stage"]]
    done = _deliveries(handled)
    traces = [_links(records, at, lanes), _copies(records, at, lanes, lang), *_ends(done, lang)]
    order = list(dict.fromkeys(lanes)) + ([JOURNEY["consumer_lane"].render(lang)] if len(done) else [])
    chart = figure(*traces, height=150 + 46 * len(order))
    chart.update_yaxes(type="category", categoryorder="array", categoryarray=order[::-1])
    chart.update_layout(legend={"orientation": "h", "y": -0.22, "yanchor": "top"}, margin={"b": 90})
    table = records.assign(at=at)[list(JOURNEY.columns)]
    if len(done):
        delivered = done.assign(stage=JOURNEY["consumer_lane"].render(lang), topic=done["consumer"], why=done["result"])
        table = pd.concat([table, delivered[list(JOURNEY.columns)]], ignore_index=True)
        table = table.sort_values("at", kind="stable", ignore_index=True)
    good = int((done["end"] == "success").sum()) if len(done) else 0
    seconds = round((at.max() - at.min()).total_seconds(), 1)
    reading = JOURNEY["reading"].say(
        records=len(records), ids=records["offset_msg_id"].nunique(), seconds=seconds, handled=len(done), good=good
    )
    return JOURNEY.chart(chart, table, reading, lang, min_width=620)


def life(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the journey of the first message of `frame`: its copies and, where `row` is `delivery`, what consumers did with them."""
    of_message = frame[frame["id"] == frame["id"].iloc[0]] if len(frame) else frame
    copies = of_message[of_message["row"] == "copy"] if len(of_message) else of_message
    return journey(copies, of_message[of_message["row"] == "delivery"] if len(of_message) else None, lang)


def _deliveries(handled: pd.DataFrame | None) -> pd.DataFrame:
    columns = ["time", "result", "success", "offset_msg_id", "consumer"]
    if handled is None or handled.empty:
        return pd.DataFrame(columns=pd.Index(columns))
    done = handled.reindex(columns=columns)
    done = done.assign(
        at=pd.to_datetime(done["time"], utc=True, format="ISO8601"),
        end=["success" if s is True else "failed" if s is False else "unknown" for s in done["success"]],
    )
    return done.dropna(subset=["at"])


def _links(records: pd.DataFrame, at: pd.Series, lanes: list[str]) -> go.Scatter:
    """Draw a line from each copy to those written from it."""
    place = {copy: i for i, copy in enumerate(records["offset_msg_id"])}
    led = [(place[source], i) for i, source in enumerate(records["copied_from"]) if source in place]
    x, y = segments((at.iloc[one], lanes[one], at.iloc[other], lanes[other]) for one, other in led)
    return line(x, y, "", GREY, width=1.5, hoverinfo="skip", showlegend=False)


def _copies(records: pd.DataFrame, at: pd.Series, lanes: list[str], lang: Lang) -> go.Scatter:
    """Draw the copies, each labelled with the end of its offset id, where they differ."""
    said = records[["stage", "topic", "offset_msg_id", "why"]].itertuples(index=False, name=None)
    hover = ["<br>".join(escape(each, 140) for each in row) for row in said]
    tails = ["…" + escape(str(copy)[-6:]) for copy in records["offset_msg_id"]]
    above: dict[str, Any] = {
        "mode": "markers+text",
        "text": tails,
        "textposition": "top center",
        "textfont": {"size": 11},
    }
    look: dict[str, Any] = {"size": 12, "hovertemplate": WORDS_FIRST, "cliponaxis": False}
    return marks(at, lanes, JOURNEY["copy"].render(lang), BLUE, hover=hover, **above, **look)


def _ends(done: pd.DataFrame, lang: Lang) -> list[go.Scatter]:
    drawn = []
    for end, part in done.groupby("end", sort=False) if len(done) else ():
        colour, symbol = ENDS[str(end)]
        hover = [f"{escape(r.consumer)}: {escape(r.result)}<br>{escape(r.offset_msg_id)}" for r in part.itertuples()]
        lane, name = [JOURNEY["consumer_lane"].render(lang)] * len(part), JOURNEY[str(end)].render(lang)
        drawn.append(marks(part["at"], lane, name, colour, symbol, size=14, hover=hover, hovertemplate=WORDS_FIRST))
    return drawn
