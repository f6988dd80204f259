"""What a stop of an investigation shows: the answer to its query, and one sentence with what follows."""

from collections.abc import Callable
from typing import Any, Final

import attrs
import pandas as pd
from IPython.display import display, publish_display_data

from kit.charts import Chart, Table, clean, undrawn
from kit.charts.table import prose
from kit.explanation.explain import explain
from kit.i18n import Lang, Sentence, labels
from kit.report.labels import COLUMNS

HEADS: Final = COLUMNS | labels("notebook")["heads"]
"""What the columns of the tables of notebooks are called."""
EXPLAINED: Final = ("line", "text", "title", "meaning", "next", "versions")
PLACES: Final = ("line", "offset", "_ms", "made_from", "queue_id")
"""How the names of columns end whose numbers are looked up, not read."""


@attrs.frozen
class Answer:
    """What a cell shows: pictures or a table, then sentences. `frame`: the rows, for who wants to go on with them."""

    frame: pd.DataFrame
    parts: tuple[Chart | Table, ...]
    sentence: str

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        html = f'<p class="rmq-kit-so">{prose(self.sentence)}</p>'
        return {"text/html": html, "text/plain": clean(self.sentence)}

    def _ipython_display_(self) -> None:
        for each in self.parts:
            display(each)
        if self.sentence:
            publish_display_data(self._repr_mimebundle_(), {"rmq-kit": {"sentence": True}})


def sentence(text: Sentence, lang: Lang) -> Answer:
    return Answer(pd.DataFrame(), (), text.render(lang))


def drawn(draw: Callable[..., Chart | Table], frame: pd.DataFrame, caption: str, lang: Lang) -> Chart | Table:
    """Return a chart or table of a frame, or why it could not be drawn."""
    try:
        return draw(frame, lang=lang)
    except Exception as error:
        return undrawn(error, Table(frame, caption, lang=lang))


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows as a reader wants them: places in files as they are searched for, paths short."""
    columns = {}
    for name in frame.columns:
        column = frame[name]
        if name in ("file", "row_file", "half_file") or str(name).endswith("_file"):
            columns[name] = column.map(
                lambda path: "/".join(str(path).split("!/")[-1].split("/")[-3:]), na_action="ignore"
            )
        elif str(name).endswith(PLACES) and pd.api.types.is_integer_dtype(column):
            columns[name] = column.astype("string").astype(object)
        elif len(column) and any(hasattr(value, "tolist") and getattr(value, "ndim", 0) for value in column):
            columns[name] = column.map(lambda value: value.tolist() if hasattr(value, "tolist") else value)
    return frame.assign(**columns)


@attrs.frozen
class Text:
    """The text behind a step or a table, each query with its name."""

    texts: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "\n\n".join(f"-- {name}\n{text}" for name, text in self.texts)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        blocks = [
            f"<details><summary><code>{name}</code></summary>\n\n```{'sql' if text.startswith('--') else 'python'}\n{text}\n```\n\n</details>"
            for name, text in self.texts
        ]
        return {"text/markdown": "\n\n".join(blocks), "text/plain": str(self)}


def explained(text: str, lang: Lang = "en") -> Table:
    """Return the answer of `kit.explain` for each line of a text as a table: no evidence, no engine."""
    rows = [[row[name] for name in EXPLAINED] for row in explain(text, lang)]
    return Table(pd.DataFrame(rows, columns=pd.Index(EXPLAINED), dtype=object), "", HEADS, lang, max_rows=200)
