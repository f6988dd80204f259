"""Pictures of whatever a query answers: its columns say what is drawn, so that a changed query is drawn too.

The first column is the place (a time or a label), the last one the number, a text between them tells the series apart.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, Final

import attrs
import msgspec
import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, GREY, LABELS, PALETTE, SYMBOLS, VERMILLION, Captions, Chart, escape, figure
from kit.i18n import Lang, T

ANY = Captions.of("any")
WORDS: Final = LABELS["walk columns"]
"""What the columns of the walks are called, by their English words; a column that somebody else names keeps its name."""
SERIES = 8
"""Series that get a colour of their own; the smallest of more are left to the table."""


def lines(frame: pd.DataFrame, lang: Lang = "en", log: bool = False) -> Chart:
    """Chart a number over time, a line for each series."""
    place, value = str(frame.columns[0]), str(frame.columns[-1])
    traces = [
        go.Scatter(
            x=part[place],
            y=part[value],
            mode="lines+markers",
            name=name,
            line={"color": PALETTE[n % len(PALETTE)], "width": 1.5},
            marker={"symbol": SYMBOLS[n % len(SYMBOLS)], "size": 6},
            hovertemplate="%{x}<br>%{y:,}<extra>" + name + "</extra>",
        )
        for n, (name, part) in enumerate(_series(frame))
    ]
    chart = figure(*traces, height=360)
    times = pd.api.types.is_datetime64_any_dtype(frame[place])
    chart.update_xaxes(title=ANY["time"].say(name=_words(place, lang)).render(lang) if times else _words(place, lang))
    chart.update_yaxes(
        title=_words(value, lang),
        **({"type": "log", "dtick": 1, "tickformat": ",d"} if log else {"rangemode": "tozero"}),
    )
    return _chart(chart, frame, lang)


def log_lines(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart a number over time on a logarithmic scale: doubling is a straight line."""
    return lines(frame, lang, log=True)


def bars(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart a number for each label as bars to the right, one for each series."""
    place, value = str(frame.columns[0]), str(frame.columns[-1])
    labels = [escape(each, 60) for each in frame[place].drop_duplicates()]
    traces = [
        go.Bar(
            y=[escape(each, 60) for each in part[place]],
            x=part[value],
            orientation="h",
            name=name,
            marker={"color": PALETTE[n % len(PALETTE)], "pattern": {"shape": ["", "/", ".", "x"][n % 4]}},
            text=[f"{each:,}" if pd.notna(each) else "" for each in part[value]],
            textposition="outside",
            textangle=0,
            cliponaxis=False,
            hovertemplate="%{y}: %{x:,}<extra>" + name + "</extra>",
        )
        for n, (name, part) in enumerate(_series(frame))
    ]
    chart = figure(*traces, height=120 + 30 * len(labels) * (1 if len(traces) < 2 else min(len(traces), 3)))
    chart.update_yaxes(type="category", autorange="reversed", categoryorder="array", categoryarray=labels)
    most, least = float(frame[value].max()), min(0.0, float(frame[value].min()))
    room = 0.08 * (most - least)  # for the number beyond the longest bar
    chart.update_xaxes(title=_words(value, lang), tickformat=",", range=[least - room if least else 0, most + room])
    return _chart(chart, frame, lang)


def lanes(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart moments in lanes: time, lane, then what is said on hovering."""
    time, lane, *more = map(str, frame.columns)
    frame = frame.head(2000)
    names = [escape(each, 40) for each in frame[lane].drop_duplicates()]
    hover = ["<br>".join(f"{name}: {escape(row[name], 120)}" for name in more) for row in frame.to_dict("records")]
    marks = go.Scatter(
        x=frame[time],
        y=[escape(each, 40) for each in frame[lane]],
        mode="markers",
        customdata=hover,
        marker={"size": 10, "color": [PALETTE[names.index(escape(each, 40)) % len(PALETTE)] for each in frame[lane]]},
        hovertemplate="%{x}<br>%{customdata}<extra></extra>",
        showlegend=False,
    )
    chart = figure(marks, height=110 + 42 * len(names))
    chart.update_yaxes(type="category", autorange="reversed", categoryorder="array", categoryarray=names)
    chart.update_xaxes(title=ANY["time"].say(name=_words(time, lang)).render(lang))
    return _chart(chart, frame, lang, lane)


@attrs.frozen
class Box:
    """A box of a diagram, from 0 to 10 and from 0 to 6."""

    at: tuple[float, float]
    words: T


@attrs.frozen
class Arrow:
    """An arrow of a diagram; nothing is counted on one without words."""

    begin: tuple[float, float]
    end: tuple[float, float]
    words: T | None = None
    words_at: tuple[float, float] = (0, 0)


@attrs.frozen
class Diagram:
    """Boxes and arrows, one of `diagrams.yaml`. `strong`: arrows in red."""

    title: T
    alt: T
    strong: list[str]
    boxes: list[Box]
    arrows: dict[str, Arrow]


@cache
def diagrams() -> dict[str, Diagram]:
    text = resources.files("kit.charts").joinpath("diagrams.yaml").read_bytes()
    return msgspec.yaml.decode(text, type=dict[str, Diagram])


def diagram(name: str, frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Draw a diagram; each arrow with words has its number of `frame` (`hop`, `records`), a question mark where there is none."""
    drawing = diagrams()[name]
    # Rows of a query without an order come as they like; its table follows the picture.
    order = {arrow: n for n, arrow in enumerate(drawing.arrows)}
    frame = frame.sort_values("hop", key=lambda hop: hop.map(order), ignore_index=True)
    counts = dict(zip(frame["hop"], frame["records"], strict=True))
    top = max(box.at[1] for box in drawing.boxes) + 0.8
    chart = figure(height=int(90 + 60 * top), showlegend=False)
    chart.update_xaxes(visible=False, range=[0, 10], fixedrange=True)
    chart.update_yaxes(visible=False, range=[0, top], fixedrange=True)
    for hop, arrow in drawing.arrows.items():
        colour = VERMILLION if hop in drawing.strong else GREY
        add_arrow(chart, arrow.begin, arrow.end, arrowcolor=colour, arrowwidth=2.2)
        if arrow.words is None:
            continue
        count = counts.get(hop)
        number = "?" if count is None or pd.isna(count) else f"{int(count):,}"
        (x, y), words = arrow.words_at, arrow.words.render(lang)
        chart.add_annotation(x=x, y=y, text=f"{words}<br>{number}", showarrow=False, font={"size": 12})
    boxed = {"font": {"weight": "bold"}, "bgcolor": "rgba(0,114,178,0.14)", "bordercolor": BLUE, "borderpad": 6}
    for box in drawing.boxes:
        chart.add_annotation(x=box.at[0], y=box.at[1], text=box.words.render(lang), showarrow=False, **boxed)
    return Chart(chart, frame, "", drawing.alt, drawing.title, lang=lang, min_width=760)


def add_arrow(chart: go.Figure, begin: tuple[Any, Any], end: tuple[Any, Any], **look: Any) -> None:
    """Add an arrow between two points of the axes."""
    ends = {"ax": begin[0], "ay": begin[1], "x": end[0], "y": end[1]}
    axes = {"xref": "x", "yref": "y", "axref": "x", "ayref": "y"}
    chart.add_annotation(**ends, **axes, showarrow=True, arrowhead=2, text="", **look)


def _series(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each series; the column between the first and the last tells them apart."""
    between = [str(name) for name in frame.columns[1:-1]]
    if not between:
        return [("", frame)]
    parts = [(escape(name, 60), part) for name, part in frame.groupby(between[0], sort=False, dropna=False)]
    value = frame.columns[-1]
    return sorted(parts, key=lambda each: -float(each[1][value].sum()))[:SERIES]


def _words(column: object, lang: Lang) -> str:
    name = str(column).replace("_", " ")
    return WORDS[name].in_(lang) if name in WORDS else name


def _chart(chart: go.Figure, frame: pd.DataFrame, lang: Lang, value: str = "") -> Chart:
    said = {"place": _words(frame.columns[0], lang), "value": _words(value or frame.columns[-1], lang)}
    alt, title = ANY["alt"].say(count=len(frame), **said), ANY["title"].say(**said)
    return ANY.chart(chart, frame, "", lang, min_width=520, alt=alt, title=title)
