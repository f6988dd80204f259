"""How charts are drawn: columns on axes, declared in `drawings.yaml`, with plotly.express in one calm style."""

import datetime as dt
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final, Literal

import msgspec
import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kit import data
from kit.charts.safe_text import escape

MAX_POINTS: Final = 5000
STYLE: Final = data.read("charts/style.yaml", dict[str, Any])
COLOURS: Final[dict[str, str]] = STYLE["colours"]
BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, GREY = COLOURS.values()
PALETTE: Final = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
INK: Final[str] = STYLE["layout"]["font"]["color"]
SHAPES: Final[dict[str, list[str]]] = STYLE["shapes"]


class Drawing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one chart draws. `x`, `y`, `by` (tells series apart), `until` (end of a span), `hover`: columns.

    `looks`: colour and pattern, dash or symbol of each series. Without `by` its keys are columns, a series each, and
    their numbers are on the axis `value`, which `labels.yaml` calls `title`. `words`: column → group of names for its
    values. `text`: where numbers stand on bars. `columns`: those of its table, if not all have a heading of its own.
    """

    mark: Literal["bars", "columns", "lines", "steps", "marks", "spans"] = "bars"
    x: str = "value"
    y: str = "value"
    by: str | None = None
    until: str = ""
    looks: dict[str, str] = {}
    words: dict[str, str] = {}
    hover: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    title: str = ""
    text: Literal["", "inside", "outside"] = ""
    mode: Literal["stack", "group", "overlay"] = "stack"
    log: bool = False
    height: int = 380
    lane: int = 44
    """Height of each lane or bar."""
    min_width: int = 0

    @property
    def number(self) -> str:
        """The column with what is measured."""
        return self.x if self.mark == "bars" else self.y


DRAWINGS: Final = data.read("charts/drawings.yaml", dict[str, Drawing])


def build(
    drawing: Drawing, frame: pd.DataFrame, labels: Mapping[str, str], series: Mapping[str, str] | None = None
) -> go.Figure:
    """Draw a frame. `labels`: what its columns are called; `series`: what the keys of `looks` are called."""
    import plotly.express as px

    names = {key: escape((series or {}).get(key, key), 60) for key in drawing.looks}
    if drawing.looks and drawing.by is None:
        frame = frame.melt([c for c in frame if c not in names], list(names), "series", "value")
        frame = frame.assign(series=frame["series"].map(names))
        drawing = msgspec.structs.replace(drawing, by="series")
    frame = _safe(frame, drawing)
    given = _series(drawing, names) | {
        "y": drawing.y, "labels": {"series": "", "value": labels.get(drawing.title, ""), **labels},
        "custom_data": list(drawing.hover),
    }  # fmt: skip
    if drawing.mark == "spans":
        chart = px.timeline(frame, x_start=drawing.x, x_end=drawing.until, **given)
        # A moment has no width of its own.
        chart.for_each_trace(lambda bar: bar.update(marker_line={"width": 2, "color": bar.marker.color}))
    elif drawing.mark == "marks":
        chart = px.scatter(frame, x=drawing.x, render_mode="svg", **given).update_traces(marker_size=11)
    elif drawing.mark in ("lines", "steps"):
        shape = "hv" if drawing.mark == "steps" else "linear"
        given |= {"line_shape": shape, "markers": bool(drawing.by and not drawing.looks), "render_mode": "svg"}
        chart = px.line(frame, x=drawing.x, **given)
    else:
        if drawing.text:
            # Nothing is written inside an empty bar.
            inside, numbers = drawing.text == "inside", frame[drawing.number]
            given["text"] = ["" if pd.isna(n) or (inside and not n) else f"{n:,}" for n in numbers]
        chart = px.bar(frame, x=drawing.x, orientation="h" if drawing.mark == "bars" else "v", **given)
        _write_on_bars(chart, drawing)
    more = "".join(f"<br>%{{customdata[{n}]}}" for n in range(len(drawing.hover)))
    chart.update_traces(hovertemplate="%{y}<br>%{x}" + more + "<extra>%{fullData.name}</extra>")
    calm(chart, drawing.height, barmode=drawing.mode, legend_title_text="", showlegend=len(chart.data) > 1)
    _axes(chart, drawing, frame)
    return chart


def _series(drawing: Drawing, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments that tell series apart: by colour, and by a pattern, dash or symbol."""
    lines = drawing.mark in ("lines", "steps")
    shape = "symbol" if drawing.mark == "marks" or (lines and not names) else "line_dash" if lines else "pattern_shape"
    looks = {names[key]: look.split() for key, look in drawing.looks.items()}
    return {
        "color": drawing.by,
        "color_discrete_map": {name: COLOURS[colour] for name, (colour, *_) in looks.items()},
        "color_discrete_sequence": list(PALETTE),
        shape: drawing.by,
        f"{shape}_map": {name: more[0] if more else SHAPES[shape][0] for name, (_, *more) in looks.items()},
        f"{shape}_sequence": SHAPES[shape],
    }


def _axes(chart: go.Figure, drawing: Drawing, frame: pd.DataFrame) -> None:
    """Give axes their form: a lane for each label, numbers from zero or on a logarithmic scale."""
    upright = drawing.mark in ("columns", "lines", "steps")
    if not upright and not pd.api.types.is_numeric_dtype(frame[drawing.y]):
        order = list(dict.fromkeys(frame[drawing.y]))
        chart.update_yaxes(
            type="category", autorange="reversed", categoryorder="array", categoryarray=order, title=None
        )
        chart.update_layout(height=130 + drawing.lane * len(order))
    numbers = chart.update_yaxes if upright else chart.update_xaxes
    if drawing.log:
        # Counts from 1, with space for labels beyond the largest.
        top = math.log10(max(float(frame[drawing.number].max()), 10)) + 0.35
        numbers(type="log", range=[-0.1, top], dtick=1, exponentformat="none", tickformat=",d")
    elif upright or drawing.mark == "bars":
        given = frame[drawing.number]
        # All together: rows of one place lie upon each other, and a tick for each of thousands stops the browser.
        few = pd.api.types.is_integer_dtype(given) and given.sum() < 5
        numbers(tickformat=",", rangemode="tozero", dtick=1 if few else None)


def _safe(frame: pd.DataFrame, drawing: Drawing) -> pd.DataFrame:
    """Return the frame with its words harmless, and the column that tells series apart as words."""
    used = {drawing.x, drawing.y, drawing.by, *drawing.hover}
    words = {
        c: frame[c] for c in map(str, frame.columns) if c in used and (c == drawing.by or frame[c].dtype == object)
    }
    return frame.assign(**{c: [_word(value, c == drawing.by) for value in column] for c, column in words.items()})


def _word(value: Any, series: bool) -> Any:
    """Return a value as harmless text; numbers and times stay what they are."""
    if not series and isinstance(value, int | float | Decimal | dt.date | None):
        return value
    return escape("–" if value is None or value != value else value, 60)


def _write_on_bars(chart: go.Figure, drawing: Drawing) -> None:
    """Make what is written on bars readable: white on blue only, and patterns thin below it."""
    for bar in chart.data if drawing.text else ():
        colour = bar.marker.color
        bar.update(textangle=0, textposition=drawing.text, insidetextanchor="middle", cliponaxis=False)
        bar.insidetextfont.color = "#ffffff" if colour == BLUE else "#14171b"
        bar.marker.pattern.update(bgcolor=colour, fgcolor="#ffffff", fgopacity=0.4, solidity=0.2)


def figure(*data: Any, height: int = 380, **layout: Any) -> go.Figure:
    return calm(go.Figure(data=list(data)), height, **layout)


def calm(chart: go.Figure, height: int, **layout: Any) -> go.Figure:
    """Give a figure the kit's style (`style.yaml`), in place."""
    chart.update_layout(**STYLE["layout"], height=height, **layout)
    return chart.update_xaxes(STYLE["axis"]).update_yaxes(STYLE["axis"])


def titled(given: go.Figure, title: str) -> go.Figure:
    """Return a figure with its title above the legend, however many lines that has, and ISO times on its axes."""
    drawn = go.Figure(given)
    named = [trace.name for trace in drawn.data if trace.name and trace.showlegend is not False]
    wide = max((sum(1 + (ord(c) > 0x2E80) for c in name) for name in named), default=0)
    lines = -(-len(named) // max(1, 640 // (8 * wide + 60))) if len(named) > 1 else 0
    margin = (36 if title else 12) + 23 * lines + (46 if drawn.layout.xaxis.side == "top" else 0)
    drawn.update_layout(title={**STYLE["title"], "text": title} if title else None, margin_t=margin)
    if (drawn.layout.legend.y or 1.0) >= 1:
        drawn.update_layout(legend_y=1, height=(drawn.layout.height or 380) + max(0, margin - 60))
    if any(_times(trace[name]) for trace in drawn.data for name in ("x", "base") if name in trace):
        drawn.update_xaxes(tickformatstops=STYLE["times"], hoverformat="%Y-%m-%d %H:%M:%S.%L")
    return drawn


def _times(values: Any) -> bool:
    known = pd.Series([] if values is None or np.isscalar(values) else list(values), dtype=object).dropna()
    return len(known) > 0 and (hasattr(known.iloc[0], "isoformat") or isinstance(known.iloc[0], np.datetime64))


def segments(ends: Iterable[tuple[Any, Any, Any, Any]], **look: Any) -> go.Scatter:
    """Return one trace that draws separate grey lines, each given as (x, y, x, y)."""
    points = [point for x0, y0, x1, y1 in ends for point in ((x0, y0), (x1, y1), (None, None))]
    x, y = zip(*points, strict=True) if points else ((), ())
    plain = {"mode": "lines", "line": {"color": GREY, "width": 1.5}, "hoverinfo": "skip", "showlegend": False}
    return go.Scatter(x=x, y=y, **plain | look)


def add_arrow(chart: go.Figure, begin: tuple[Any, Any], end: tuple[Any, Any], **look: Any) -> None:
    ends = {"ax": begin[0], "ay": begin[1], "x": end[0], "y": end[1]}
    axes = {"xref": "x", "yref": "y", "axref": "x", "ayref": "y"}
    chart.add_annotation(**ends, **axes, showarrow=True, arrowhead=2, text="", **look)
