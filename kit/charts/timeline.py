"""The timeline across all files: one lane for each kind of event, the moments that decide marked and numbered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, GREY, INK, MAX_POINTS, PALETTE, VERMILLION, Chart, escape, figure, segments
from kit.i18n import Lang, T

TITLE = T("What happened when")
READING = T(
    "{rows} {rows:moment|moments} from {first} to {last} UTC, in {lanes} {lanes:lane|lanes}. Those that decide a verdict: {decides}, the numbered diamonds, ◆ in the table."
)
ALT = T(
    "One lane for each kind of event; bars are spans, marks are moments. The same rows, with the line or record of each, are in the table."
)
NOTHING = T("Nothing in this evidence has a time.")
LANES: Final = {
    "deployment": T("starts, stops, changes"),
    "host": T("host and JVM"),
    "store": T("store of the broker"),
    "refusals": T("refusals and time-outs"),
    "transactions": T("transactions", "事务"),
    "consumers": T("consumers"),
    "team": T("team"),
}
HEADS: Final = {
    "number": T("no."),
    "at": T("time (UTC)"),
    "until": T("until"),
    "what": T("what", "事件"),
    "lane": T("lane"),
    "place": T("where it says so", "出处"),
    "decides": T("decides"),
}
NAME: Final = 60
"""Most characters of an event in its hover text."""

NEAR: Final = 0.035
"""Share of the time shown within which the numbers of two marks lie on each other, also on a phone."""


def rows(frame: pd.DataFrame, lang: Lang = "en", titles: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return the timeline as readers see it: number (of the moments that decide), at, until, what, lane, place, decides.

    `frame`: columns of `kit.causes.timeline`; `lane` may also be the slug of a cause. `titles`: what causes are called.
    """
    decides = frame["decides"].astype(bool)
    numbers = decides.cumsum().where(decides).astype("Int64")
    shown = frame.assign(
        number=numbers, what=frame[lang], lane=[lane_name(lane, lang, titles) for lane in frame["lane"]]
    )
    shown["place"] = [
        place(file, line, offset)
        for file, line, offset in zip(frame["file"], frame["line"], frame["physical_offset"], strict=True)
    ]
    shown["decides"] = ["◆" if one else "" for one in decides]
    return shown[list(HEADS)]


def lane_name(lane: str, lang: Lang, titles: Mapping[str, str] | None = None) -> str:
    return LANES[lane].render(lang) if lane in LANES else (titles or {}).get(lane, lane)


def place(file: Any, line: Any, offset: Any) -> str:
    """Return the place of the evidence: file and line, or file and byte offset."""
    if pd.isna(file):
        return ""
    return f"{file}:{line}" if not pd.isna(line) else f"{file} @ {offset}" if not pd.isna(offset) else str(file)


def timeline(frame: pd.DataFrame, lang: Lang = "en", titles: Mapping[str, str] | None = None) -> Chart:
    """Chart the timeline. Lane names are above their lanes, so that a narrow screen keeps its width for time."""
    title = TITLE.render(lang)
    if frame.empty:
        empty = pd.DataFrame(columns=pd.Index(list(HEADS)))
        return Chart(figure(), empty, NOTHING, NOTHING, title, HEADS, lang)
    shown = rows(frame, lang, titles)
    lanes = list(dict.fromkeys(frame.sort_values("at", kind="stable")["lane"]))
    drawn = shown.assign(y=[-lanes.index(lane) for lane in frame["lane"]]).head(MAX_POINTS)
    first, last = frame["at"].min(), frame[["at", "until"]].max().max()
    chart = figure(*_bars(drawn), *_marks(drawn, (last - first) * NEAR), height=70 + 44 * len(lanes), showlegend=False)
    for number, lane in enumerate(lanes):
        chart.add_annotation(
            x=0,
            xref="paper",
            xanchor="left",
            y=-number,
            yanchor="bottom",
            yshift=11,
            text=escape(lane_name(lane, lang, titles), NAME),
            showarrow=False,
            font={"size": 12, "color": INK},
        )
    chart.update_yaxes(visible=False, range=[0.4 - len(lanes), 0.8])
    chart.update_layout(margin={"l": 10, "r": 10, "t": 10, "b": 40})
    margin = max((last - first) * 0.03, pd.Timedelta(seconds=1))
    chart.update_xaxes(range=[first - margin, last + margin])
    reading = READING.say(
        rows=len(frame),
        first=f"{first:%Y-%m-%d %H:%M:%S}",
        last=f"{last:%H:%M:%S}" if last.date() == first.date() else f"{last:%Y-%m-%d %H:%M:%S}",
        lanes=len(lanes),
        decides=int(frame["decides"].sum()),
    )
    return Chart(chart, shown, reading, ALT, title, HEADS, lang)


def _bars(drawn: pd.DataFrame) -> list[go.Scatter]:
    lasting = drawn[drawn["until"].notna()]
    rows = lasting[["at", "until", "y"]].itertuples(index=False, name=None)
    x, y = segments((at, lane, until, lane) for at, until, lane in rows)
    line = {"color": PALETTE[0], "width": 6}
    return [go.Scatter(x=x, y=y, mode="lines", line=line, opacity=0.45, hoverinfo="skip")] if x else []


def _numbers(marks: pd.DataFrame, near: pd.Timedelta) -> list[str]:
    """Return what is written below each mark: its number, and those of later marks in its lane that lie on it."""
    below = [""] * len(marks)
    latest: dict[int, tuple[pd.Timestamp, int]] = {}
    for place, (at, lane, number) in enumerate(marks[["at", "y", "number"]].itertuples(index=False, name=None)):
        if pd.isna(number):
            continue
        if lane in latest and at - latest[lane][0] <= near:
            below[latest[lane][1]] += f", {number}"
        else:
            latest[lane], below[place] = (at, place), str(number)
    return below


def _marks(drawn: pd.DataFrame, near: pd.Timedelta) -> list[go.Scatter]:
    decides = drawn["decides"] != ""
    kinds = (
        (drawn[~decides], "circle", BLUE, 7, "markers"),
        (drawn[decides], "diamond", VERMILLION, 13, "markers+text"),
    )
    return [
        go.Scatter(
            x=part["at"],
            y=part["y"],
            mode=mode,
            text=_numbers(part, near),
            textposition="bottom center",
            textfont={"size": 11},
            customdata=[escape(what, NAME) for what in part["what"]],
            marker={"symbol": symbol, "color": colour, "size": size, "line": {"width": 1, "color": GREY}},
            hovertemplate="%{x}<br>%{customdata}<extra></extra>",
        )
        for part, symbol, colour, size, mode in kinds
        if len(part)
    ]
