"""Small pandas frame → `Chart`. Pure functions: no queries, no `.show()`, nothing read from disk.

All text from evidence passes `escape` before it gets into a figure.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs
import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kit.charts import offline
from kit.charts.safe_text import clean as clean
from kit.charts.safe_text import escape as escape
from kit.charts.table import Table as Table
from kit.i18n import Lang, Sentence, T, labels, rendered

MIME: Final = "application/vnd.rmq-kit.chart+json"
PLOTLY_MIME: Final = "application/vnd.plotly.v1+json"
MAX_POINTS: Final = 5000
LABELS: Final = labels("charts")
UNDRAWN = T(
    "“{title}” could not be drawn ({type}); a table shows its data.",
    "“{title}”无法绘制（{type}）；可显示的内容列在表中。",
)

# Okabe and Ito's palette; colours that stand out on both white and black come first.
BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
PALETTE: Final = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
SYMBOLS: Final = ("circle", "diamond", "square", "triangle-up", "x", "star", "triangle-down", "cross")
ISO: Final = [
    {"dtickrange": [None, 1000], "value": "%H:%M:%S.%L\n%Y-%m-%d"},
    {"dtickrange": [1000, 60_000], "value": "%H:%M:%S\n%Y-%m-%d"},
    {"dtickrange": [60_000, 86_400_000], "value": "%H:%M\n%Y-%m-%d"},
    {"dtickrange": [86_400_000, None], "value": "%Y-%m-%d"},
]
"""How an axis writes times, by the milliseconds between two marks."""
GREY: Final = "#8a8f98"
INK: Final = "#767b84"
"""Text and axes if the background is unknown: contrast 4.2:1 on white and on black. The report replaces them with its own colours."""


@attrs.frozen(init=False)
class Chart:
    """A figure, the table behind it, the sentence that reads it, and a description for those who cannot see it.

    Sentences may be `T` objects: they are rendered in `lang`, like the headings of the table's columns (`names`).
    """

    figure: go.Figure
    table: pd.DataFrame
    reading: str
    alt: str
    title: str
    names: dict[str, str]
    lang: Lang
    min_width: int
    """Smallest readable width in pixels; on narrower screens it scrolls inside its box."""

    def __init__(
        self,
        figure: go.Figure,
        table: pd.DataFrame,
        reading: Sentence | str,
        alt: Sentence | str,
        title: Sentence | str,
        names: Mapping[str, Sentence | str] | None = None,
        lang: Lang = "en",
        min_width: int = 0,
    ) -> None:
        reading, alt, title = (rendered(text, lang) for text in (reading, alt, title))
        heads = {name: rendered(text, lang) for name, text in (names or {}).items()}
        self.__attrs_init__(figure, table, reading, alt, title, heads, lang, min_width)  # type: ignore[attr-defined]

    @property
    def twin(self) -> Table:
        return Table(self.table, self.title, self.names, self.lang)

    def as_dict(self) -> dict[str, Any]:
        """Return what a report needs besides the figure itself."""
        return {
            "title": clean(self.title),
            "reading": clean(self.reading),
            "alt": clean(self.alt),
            "min_width": self.min_width,
            "table": self.twin.as_dict(),
        }

    def widget(self) -> go.FigureWidget:
        """Return the same figure as a live widget."""
        return go.FigureWidget(self.figure)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        figure = json.loads(titled(self.figure, escape(self.title, 120)).to_json())
        return {
            PLOTLY_MIME: figure,
            MIME: self.as_dict(),
            "text/html": offline.drawn(figure, clean(self.alt), self.min_width),
            "text/plain": f"{clean(self.title)}\n{clean(self.reading)}",
        }

    def bundles(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return what a notebook shows, as data and metadata: the chart, then its sentence above the folded table."""
        html = self.twin.as_html(self.reading, folded=True)
        drawn = self.figure.data or self.figure.layout.annotations or self.figure.layout.shapes
        return [
            *([(self._repr_mimebundle_(), {})] if drawn else []),
            ({"text/html": html, "text/plain": clean(self.reading)}, {"rmq-kit": {"twin": True}}),
        ]

    def _ipython_display_(self) -> None:
        from IPython.display import publish_display_data

        try:
            shown = self.bundles()
        except Exception as error:
            shown = [undrawn(error, self.twin)._repr_mimebundle_()]
        for data, metadata in shown:
            publish_display_data(data, metadata)


@attrs.frozen
class Captions:
    """What one chart says, from `labels.yaml`: title, readings and words of its axes; `columns` are the headings of its table."""

    texts: dict[str, T]
    columns: dict[str, T]

    @classmethod
    def of(cls, name: str) -> Captions:
        return cls(LABELS[name], LABELS.get(f"{name} columns", {}))

    def __getitem__(self, name: str) -> T:
        return self.texts[name]

    def chart(
        self,
        figure: go.Figure,
        table: pd.DataFrame,
        reading: Sentence | str,
        lang: Lang,
        min_width: int = 0,
        alt: Sentence | None = None,
        title: Sentence | None = None,
    ) -> Chart:
        """Return the chart; `alt` and `title` only where they have values to fill in."""
        return Chart(figure, table, reading, alt or self["alt"], title or self["title"], self.columns, lang, min_width)

    def nothing(self, lang: Lang, table: pd.DataFrame | None = None, **values: Any) -> Chart:
        """Return the chart of nothing: the sentence that says so. `values`: of the title's placeholders and the sentence's."""
        table = pd.DataFrame(columns=pd.Index(list(self.columns))) if table is None else table
        said = self["nothing"].say(**values)
        return self.chart(figure(), table, said, lang, alt=said, title=self["title"].say(**values))

    def table(self, frame: pd.DataFrame, lang: Lang) -> Table:
        """Return the columns that have a heading as a table."""
        return Table(frame[list(self.columns)], self["title"], self.columns, lang)


def named(values: Iterable[Any], names: Mapping[str, T], lang: Lang) -> list[Any]:
    """Return what each value is called; one without a name stays as it is."""
    return [names[value].render(lang) if value in names else value for value in values]


@attrs.frozen
class Undrawn:
    """Replacement for a chart or table that failed: the table behind it, under a sentence that says so."""

    table: Table
    failure: dict[str, str]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        # The metadata tell the report that something failed.
        return self.table._repr_mimebundle_(), {"rmq-kit": {"failure": self.failure}}


def undrawn(error: Exception, table: Table) -> Undrawn:
    """Return what is shown if drawing `table` failed; one sentence if it has no rows."""
    from kit.evidence.failure import Failure

    failure = Failure.of(clean(table.caption, 120), error)
    said = UNDRAWN.say(title=clean(table.caption, 120), type=failure.type)
    shown = attrs.evolve(table, caption=said)
    try:
        shown.as_html()
    except Exception:
        shown = Table(pd.DataFrame(), said, lang=table.lang)
    return Undrawn(shown, attrs.asdict(failure))


def figure(*data: Any, height: int = 380, **layout: Any) -> go.Figure:
    """Return a figure in the kit's calm layout: no background of its own, thin grid, text that reads on light and dark."""
    axis: dict[str, Any] = {
        "gridcolor": "rgba(138,143,152,0.25)",
        "linecolor": GREY,
        "zeroline": False,
        "automargin": True,
        "ticks": "outside",
        "tickcolor": GREY,
        "title": {"font": {"size": 13}},
    }
    made = go.Figure(data=list(data))
    made.update_layout(
        template=None,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={
            "family": "system-ui, -apple-system, 'Segoe UI', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif",
            "size": 13,
            "color": INK,
        },
        margin={"l": 56, "r": 20, "t": 24, "b": 48},
        height=height,
        colorway=list(PALETTE),
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        hoverlabel={"align": "left", "namelength": -1},
        dragmode=False,
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": INK},
        **layout,
    )
    made.update_xaxes(**axis)
    made.update_yaxes(**axis)
    return made


def titled(given: go.Figure, title: str) -> go.Figure:
    """Return a figure with its title above the legend, however many lines that has, and ISO times on its axes."""
    drawn = go.Figure(given)
    named = [trace.name for trace in drawn.data if trace.name and trace.showlegend is not False]
    wide = max((sum(1 + (ord(c) > 0x2E80) for c in name) for name in named), default=0)
    lines = -(-len(named) // max(1, 860 // (8 * wide + 60))) if len(named) > 1 else 0
    top = {"text": title, "yref": "container", "y": 1, "yanchor": "top", "pad": {"t": 8}, "font": {"size": 15}}
    margin = (36 if title else 12) + 23 * lines + (24 if drawn.layout.xaxis.side == "top" else 0)
    drawn.update_layout(title=top if title else None, margin_t=margin)
    if (drawn.layout.legend.y or 1.0) >= 1:
        drawn.update_layout(legend_y=1, height=(drawn.layout.height or 380) + max(0, margin - 60))
    for axis in {trace.xaxis or "x" for trace in drawn.data if hasattr(trace, "xaxis") and _times(trace.x)}:
        drawn.update_layout(
            {axis.replace("x", "xaxis"): {"tickformatstops": ISO, "hoverformat": "%Y-%m-%d %H:%M:%S.%L"}}
        )
    return drawn


def _times(values: Any) -> bool:
    first = next(
        (value for value in (() if values is None else values) if value is not None and not pd.isna(value)), None
    )
    return hasattr(first, "isoformat") or isinstance(first, np.datetime64)


def bar(labels: Any, values: Any, name: str, colour: str, shape: str = "", **more: Any) -> go.Bar:
    """Return a bar to the right for each label. `shape`: a pattern that tells it apart without its colour, on which a `text` can be read."""
    readable = {"bgcolor": colour, "fgcolor": "#ffffff", "fgopacity": 0.4, "solidity": 0.2} if "text" in more else {}
    marker = {"color": colour, "pattern": {"shape": shape, **readable}}
    if "text" in more:
        # White is read on blue only.
        more = {"insidetextfont": {"color": "#ffffff" if colour == BLUE else "#14171b"}, **more}
    return go.Bar(y=labels, x=values, orientation="h", name=name, marker=marker, **more)


def marks(x: Any, y: Any, name: str, colour: Any, symbol: str = "circle", **more: Any) -> go.Scatter:
    """Return a mark for each point. `hover`: what is said of each, escaped; `size` in pixels; `mode`: with words or lines."""
    hover, size = more.pop("hover", None), more.pop("size", 10)
    more = {"mode": "markers", "hovertemplate": "%{x}<br>%{customdata}<extra></extra>", **more}
    marker = {"color": colour, "symbol": symbol, "size": size, **more.pop("marker", {})}
    return go.Scatter(x=x, y=y, name=name, customdata=hover, marker=marker, **more)


def line(x: Any, y: Any, name: str, colour: str, dash: str = "solid", **more: Any) -> go.Scatter:
    """Return a line through all points. `steps`: it keeps its value until the next point."""
    shape = "hv" if more.pop("steps", False) else "linear"
    look = {"color": colour, "dash": dash, "shape": shape, "width": more.pop("width", 2)}
    return go.Scatter(x=x, y=y, name=name, line=look, **{"mode": "lines", **more})


def lanes(chart: go.Figure, names: Iterable[str]) -> None:
    """Put the lanes of a chart below each other, in this order."""
    order = list(dict.fromkeys(names))
    chart.update_yaxes(type="category", autorange="reversed", categoryorder="array", categoryarray=order)


def log_counts(largest: float, space: float = 0.35) -> dict[str, Any]:
    """Return a logarithmic axis of counts from 1, with space for labels beyond the largest."""
    top = math.log10(max(largest, 10)) + space
    return {"type": "log", "range": [-0.1, top], "dtick": 1, "exponentformat": "none", "tickformat": ",d"}


def bars(
    labels: Any,
    frame: pd.DataFrame,
    names: Mapping[str, T],
    looks: Mapping[str, tuple[str, str]],
    lang: Lang,
    least: int | None = 1,
    **more: Any,
) -> list[go.Bar]:
    """Return bars to the right for several columns. `looks`: colour and pattern of each column; `least`: the smallest number that is written on its bar
    (None: no number is).
    """
    drawn = []
    for column, (colour, shape) in looks.items():
        text = {} if least is None else {"text": [f"{int(n):,}" if n >= least else "" for n in frame[column]]}
        drawn.append(bar(labels, frame[column], names[column].render(lang), colour, shape, **text, **more))
    return drawn


def segments(ends: Iterable[tuple[Any, Any, Any, Any]]) -> tuple[list[Any], list[Any]]:
    """Return x and y of one trace that draws separate lines, each given as (x, y, x, y)."""
    x: list[Any] = []
    y: list[Any] = []
    for x0, y0, x1, y1 in ends:
        x += [x0, x1, None]
        y += [y0, y1, None]
    return x, y


def downsample(x: np.ndarray, y: np.ndarray, limit: int = MAX_POINTS) -> np.ndarray:
    """Return the positions (ascending) of at most `limit` points that keep the outline: lowest and highest `y` in equal steps of `x`, and both ends.

    `x` must be sorted. Equal steps of x, not of position, so that a slow start is not lost.
    """
    n = len(x)
    if n <= limit:
        return np.arange(n)
    x = np.asarray(x, dtype="float64")
    y = np.asarray(y, dtype="float64")
    steps = max(1, (limit - 2) // 2)
    bucket = np.minimum((x - x[0]) / max(x[-1] - x[0], 1e-12) * steps, steps - 1).astype("int64")
    order = np.lexsort((y, bucket))
    first = np.r_[True, bucket[order][1:] != bucket[order][:-1]]
    last = np.r_[first[1:], True]
    return np.unique(np.r_[0, order[first], order[last], n - 1])
