"""Chart of one message's journey in lanes."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, GREEN, GREY, SYMBOLS, VERMILLION, Chart, escape, figure, segments
from kit.i18n import Lang, T

JOURNEY = T("The journey of one message")
JOURNEY_READING = T(
    "{records} {records:copy|copies} with {ids} offset ids and one UNIQ_KEY in {seconds} s; consumers recorded {handled} {handled:delivery|deliveries}, {good} of them successful."
)
JOURNEY_ALT = T(
    "One lane for each stage and one for the consumer; lines lead from each copy to the one written from it; the same rows are in the table."
)
NO_JOURNEY = T("No record of this message is in the evidence.")
CONSUMER_LANE = T("consumer")
SUCCESS, FAILED, UNKNOWN = T("handled with success"), T("failed"), T("end not known")
COPY = T("copy")
STORED, STAGE, TOPIC, OFFSET_ID, WHY = T("at"), T("stage"), T("topic"), T("offset id"), T("why")


def journey(records: pd.DataFrame, handled: pd.DataFrame | None = None, lang: Lang = "en") -> Chart:
    """Chart one message in lanes: a lane for each stage, one for what consumers did with it.

    `records`: `store_timestamp`, `stage`, `topic`, `offset_msg_id`, `copied_from`, `why` as in `kit.trace`; `handled`:
    `time`, `result`, `success`,
    `offset_msg_id`, `consumer`.
    """
    named = {"at": STORED, "stage": STAGE, "topic": TOPIC, "offset_msg_id": OFFSET_ID, "why": WHY}
    records = records.reset_index(drop=True)
    if not len(records):
        empty = pd.DataFrame(columns=pd.Index(list(named)))
        return Chart(figure(), empty, NO_JOURNEY, NO_JOURNEY, JOURNEY, named, lang)
    at = pd.to_datetime(records["store_timestamp"], utc=True, format="ISO8601")
    lanes = [escape(stage, 40) for stage in records["stage"]]
    done = _deliveries(handled)
    traces = [_links(records, at, lanes), *_marks(records, at, lanes, lang), *_ends(done, lang)]
    order = list(dict.fromkeys(lanes)) + ([CONSUMER_LANE.render(lang)] if len(done) else [])
    chart = figure(*traces, height=150 + 46 * len(order))
    chart.update_yaxes(type="category", categoryorder="array", categoryarray=order[::-1])
    chart.update_layout(legend={"orientation": "h", "y": -0.22, "yanchor": "top"}, margin={"b": 90})
    table = records.assign(at=at)[list(named)]
    if len(done):
        delivered = done.rename(columns={"consumer": "topic", "result": "why"}).assign(stage=CONSUMER_LANE.render(lang))
        table = pd.concat([table, delivered[list(named)]], ignore_index=True).sort_values(
            "at", kind="stable", ignore_index=True
        )
    good = int((done["end"] == "good").sum()) if len(done) else 0
    seconds = round((at.max() - at.min()).total_seconds(), 1)
    reading = JOURNEY_READING.say(
        records=len(records), ids=records["offset_msg_id"].nunique(), seconds=seconds, handled=len(done), good=good
    )
    return Chart(chart, table, reading, JOURNEY_ALT, JOURNEY, named, lang, min_width=620)


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
        end=["good" if s is True else "bad" if s is False else "open" for s in done["success"]],
    )
    return done.dropna(subset=["at"])


def _links(records: pd.DataFrame, at: pd.Series, lanes: list[str]) -> go.Scatter:
    """Draw a line from each copy to those written from it."""
    place = {copy: i for i, copy in enumerate(records["offset_msg_id"])}
    led = [
        (place[source], i)
        for i, source in enumerate(records["copied_from"])
        if isinstance(source, str) and source in place
    ]
    x, y = segments((at.iloc[one], lanes[one], at.iloc[other], lanes[other]) for one, other in led)
    return go.Scatter(x=x, y=y, mode="lines", line={"color": GREY, "width": 1.5}, hoverinfo="skip", showlegend=False)


def _marks(records: pd.DataFrame, at: pd.Series, lanes: list[str], lang: Lang) -> list[go.Scatter]:
    """Draw the copies, each labelled with the end of its offset id, where they differ."""
    hover = [
        f"{escape(r.stage)}<br>{escape(r.topic)}<br>{escape(r.offset_msg_id)}<br>{escape(r.why, 140)}"
        for r in records.itertuples()
    ]
    tails = ["…" + escape(str(copy)[-6:]) for copy in records["offset_msg_id"]]
    return [
        go.Scatter(
            x=at,
            y=lanes,
            mode="markers+text",
            text=tails,
            textposition="top center",
            textfont={"size": 11},
            name=COPY.render(lang),
            customdata=hover,
            marker={"size": 12, "color": BLUE, "symbol": SYMBOLS[0]},
            hovertemplate="%{customdata}<br>%{x}<extra></extra>",
            cliponaxis=False,
        )
    ]


def _ends(done: pd.DataFrame, lang: Lang) -> list[go.Scatter]:
    looks = {"good": (SUCCESS, GREEN, "star"), "bad": (FAILED, VERMILLION, "x"), "open": (UNKNOWN, GREY, "diamond")}
    drawn = []
    for end, part in done.groupby("end", sort=False) if len(done) else ():
        name, colour, symbol = looks[str(end)]
        hover = [f"{escape(r.consumer)}: {escape(r.result)}<br>{escape(r.offset_msg_id)}" for r in part.itertuples()]
        drawn.append(
            go.Scatter(
                x=part["at"],
                y=[CONSUMER_LANE.render(lang)] * len(part),
                mode="markers",
                name=name.render(lang),
                customdata=hover,
                marker={"size": 14, "color": colour, "symbol": symbol},
                hovertemplate="%{customdata}<br>%{x}<extra></extra>",
            )
        )
    return drawn
