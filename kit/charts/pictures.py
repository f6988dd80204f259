"""Pictures of whatever a query answers, so that a changed query is drawn too; diagrams.

The first column is the place (a time or a label), the last one the number, a column between them tells the series
apart: of several the first text.
"""

from functools import partial
from typing import Final

import attrs
import pandas as pd

from kit import data
from kit.charts import Chart, Declared, figure
from kit.charts.figures import BLUE, GREY, VERMILLION, Drawing, add_arrow, build
from kit.i18n import Lang, T

ANY = Declared.of("any")
WORDS: Final = data.read("charts/words.yaml", dict[str, str])
SERIES = 8
"""Series that are drawn; the smallest of more are left to the table."""


def lines(frame: pd.DataFrame, lang: Lang = "en", log: bool = False) -> Chart:
    """Chart a number over time, a line for each series."""
    first, by, value = _columns(frame)
    return _any(frame, Drawing("lines", first, value, by, log=log, height=360), lang)


log_lines = partial(lines, log=True)
"""Charts a number over time on a logarithmic scale: doubling is a straight line."""


def bars(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart a number for each label as bars to the right, one for each series."""
    first, by, value = _columns(frame)
    lane = 30 * (min(3, frame[by].nunique()) if by else 1)
    drawing = Drawing("bars", value, first, by, text="outside", mode="group" if by else "stack", lane=lane)
    chart = _any(frame, drawing, lang)
    most, least = float(frame[value].max()), min(0.0, float(frame[value].min()))
    room = 0.02 * len(f"{most:,.0f}") * (most - least)  # for the number beyond the longest bar
    chart.figure.update_xaxes(range=[least - room if least else 0, most + room])
    return chart


def lanes(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart moments in lanes: time, lane, then what is said on hovering."""
    time, lane, *more = map(str, frame.columns)
    drawing = Drawing("marks", time, lane, lane, hover=tuple(more))
    chart = _any(frame.head(2000), drawing, lang, lane)
    chart.figure.update_layout(showlegend=False)
    return chart


def _columns(frame: pd.DataFrame) -> tuple[str, str | None, str]:
    first, *between, value = map(str, frame.columns)
    if len(between) > 1:
        between = [name for name in between if not pd.api.types.is_numeric_dtype(frame[name])]
    return first, between[0] if between else None, value


def _any(frame: pd.DataFrame, drawing: Drawing, lang: Lang, value: str = "") -> Chart:
    """Draw the largest series of a frame; its table has all. `value`: the column the title names, else the last."""
    # Spark's decimals are objects.
    rows = frame if value else frame.assign(**{drawing.number: pd.to_numeric(frame[drawing.number])})
    if drawing.by and not value:
        rows = rows.assign(**{drawing.by: rows[drawing.by].astype(object).where(rows[drawing.by].notna(), "–")})
        sums = rows.groupby(drawing.by)[drawing.number].sum().nlargest(SERIES)
        order = {series: n for n, series in enumerate(sums.index)}
        rows = rows[rows[drawing.by].isin(sums.index)].sort_values(
            drawing.by, key=lambda by: by.map(order), kind="stable"
        )
    plain = {str(name): str(name).replace("_", " ") for name in frame.columns}
    words = {name: WORDS.get(word, word) if lang == "zh" else word for name, word in plain.items()}
    first = str(frame.columns[0])
    values = {"place": words[first], "value": words[value or str(frame.columns[-1])]}
    if pd.api.types.is_datetime64_any_dtype(frame[first]):
        words[first] = ANY["time"].say(name=words[first]).render(lang)
    alt, title = ANY["alt"].say(count=len(frame), **values), ANY["title"].say(**values)
    return Chart(build(drawing, rows, words), frame, "", alt, title, lang=lang, min_width=520)


# --- diagrams ---------------------------------------------------------------------------------------------------------


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


DIAGRAMS: Final = data.read("charts/diagrams.yaml", dict[str, Diagram])


def diagram(name: str, frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Draw a diagram; each arrow with words has its number of `frame` (hop, records), else a question mark."""
    drawing = DIAGRAMS[name]
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
