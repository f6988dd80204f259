"""Small pandas frame → `Chart`. Pure functions: no queries, no `.show()`, nothing read from disk.

All text from evidence passes `escape` before it gets into a figure.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

import attrs
import pandas as pd
import plotly.graph_objects as go

from kit.charts import figures, offline
from kit.charts.figures import figure as figure
from kit.charts.safe_text import clean as clean
from kit.charts.safe_text import escape as escape
from kit.charts.table import Table as Table
from kit.evidence.failure import Failure
from kit.i18n import Lang, Sentence, T, headings, labels, rendered

MIME: Final = "application/vnd.rmq-kit.chart+json"
PLOTLY_MIME: Final = "application/vnd.plotly.v1+json"
LABELS: Final = labels("charts")
COLUMNS: Final = headings()


@attrs.define
class Chart:
    """A figure, the table behind it, the sentence that reads it, and a description for those who cannot see it.

    Sentences may be `T` objects: they are rendered in `lang`, like the headings of the table's columns (`names`).
    `min_width`: smallest readable width in pixels; on narrower screens it scrolls inside its box.
    """

    figure: go.Figure
    table: pd.DataFrame
    reading: Sentence | str
    alt: Sentence | str
    title: Sentence | str
    names: Mapping[str, Sentence | str] = attrs.field(factory=dict)
    lang: Lang = "en"
    min_width: int = 0
    twin: Table = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.reading, self.alt, self.title = (rendered(t, self.lang) for t in (self.reading, self.alt, self.title))
        self.twin = Table(self.table, self.title, self.names, self.lang)

    def as_dict(self) -> dict[str, Any]:
        """Return what a report needs besides the figure itself."""
        texts = {"title": clean(self.title), "reading": clean(self.reading), "alt": clean(self.alt)}
        return texts | {"min_width": self.min_width, "table": self.twin.as_dict()}

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        figure = json.loads(figures.titled(self.figure, escape(self.title, 120)).to_json())
        return {
            PLOTLY_MIME: figure,
            MIME: self.as_dict(),
            "text/html": offline.drawn(figure, clean(self.alt), self.min_width),
            "text/plain": f"{clean(self.title)}\n{clean(self.reading)}",
        }

    def bundles(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return what a notebook shows, as data and metadata: the chart, then its sentence above the folded table."""
        html = offline.wide(self.min_width) + self.twin.as_html(str(self.reading), folded=True)
        drawn = self.figure.data or self.figure.layout.annotations or self.figure.layout.shapes
        return [
            *([(self._repr_mimebundle_(), {})] if drawn else []),
            ({"text/html": html, "text/plain": clean(self.reading)}, {"rmq-kit": {"twin": True}}),
        ]

    def _ipython_display_(self) -> None:
        from IPython.display import publish_display_data

        try:
            bundles = self.bundles()
        except Exception as error:
            bundles = [undrawn(error, self.twin)._repr_mimebundle_()]
        for data, metadata in bundles:
            publish_display_data(data, metadata)


@attrs.frozen
class Declared:
    """A declared chart or table: what it says (`labels.yaml`) and how it is drawn (`drawings.yaml`)."""

    texts: dict[str, T]
    columns: dict[str, T]
    drawing: figures.Drawing

    @classmethod
    def of(cls, name: str) -> Self:
        drawing, own = figures.DRAWINGS.get(name, figures.Drawing()), LABELS.get(f"{name} columns", {})
        heads = COLUMNS | own
        texts = {"nothing": LABELS["any"]["nothing"], **LABELS[name]}
        return cls(texts, {column: heads[column] for column in drawing.columns or own}, drawing)

    def __getitem__(self, name: str) -> T:
        return self.texts[name]

    def named(self, frame: pd.DataFrame, lang: Lang) -> pd.DataFrame:
        words = {column: LABELS[group] for column, group in self.drawing.words.items()}
        return frame.assign(**{column: named(frame[column], names, lang) for column, names in words.items()})

    def figure(self, frame: pd.DataFrame, lang: Lang) -> go.Figure:
        by = self.drawing.by
        every = {key: text for key, text in {**self.texts, **self.columns}.items() if "{" not in text.en}
        names = LABELS[self.drawing.words[by]] if by in self.drawing.words else every
        translated = self.named(frame, lang)
        if by and self.drawing.looks:
            translated = translated.assign(**{by: named(translated[by], names, lang)})
        heads, series = ({key: text.in_(lang) for key, text in each.items()} for each in (every, names))
        return figures.build(self.drawing, translated, heads, series)

    def chart(
        self,
        frame: pd.DataFrame,
        lang: Lang,
        reading: Sentence | str | Mapping[str, Any] = "",
        figure: go.Figure | None = None,
        **about: Mapping[str, Any],
    ) -> Chart:
        """Return the chart. `frame`: what its table shows, drawn if there is no `figure`; no rows: `nothing`.

        `reading`: a sentence, or the values of the declared one; `title`, `alt`: values of these.
        """
        if frame.empty:
            return self.nothing(lang)
        if isinstance(reading, Mapping):
            reading = self["reading"].say(**reading)
        title, alt = (self[name].say(**about.get(name, {})) for name in ("title", "alt"))
        drawn = figure or self.figure(frame, lang)
        table = self.named(frame, lang)[list(self.columns) or list(frame.columns)]
        return Chart(drawn, table, reading, alt, title, self.columns, lang, self.drawing.min_width)

    def nothing(self, lang: Lang, **values: Any) -> Chart:
        """Return the chart of nothing: the sentence that says so, and the title, filled with `values`."""
        sentence = self["nothing"].say(**values)
        table = pd.DataFrame(columns=pd.Index(list(self.columns)))
        return Chart(figure(), table, sentence, sentence, self["title"].say(**values), self.columns, lang)


def named(values: Iterable[Any], names: Mapping[str, T], lang: Lang) -> list[Any]:
    return [names[value].render(lang) if value in names else value for value in values]


def undrawn(error: Exception, table: Table) -> Table:
    """Return what is shown if drawing `table` failed; one sentence if it has no rows."""
    failure = Failure.of(clean(table.caption, 120), error)
    caption = LABELS["any"]["undrawn"].say(title=clean(table.caption, 120), type=failure.type)
    noted = attrs.evolve(table, caption=caption, failure=attrs.asdict(failure))
    try:
        noted.as_html()
    except Exception:
        noted.frame = pd.DataFrame()
    return noted
