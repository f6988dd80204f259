"""A box for log lines, codes and ids; `kit.explain` answers, without evidence, Java or Spark."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from kit.charts import Table
from kit.charts.controls import live
from kit.i18n import Lang, labels

TEXTS: Final = labels("notebook")["paste box"]
COLUMNS: Final = labels("notebook")["paste box columns"]
MOST: Final = 200


def paste_box(text: str = "", lang: Lang = "en", interactive: bool = True) -> Any:
    """Return a box to paste into, with `text` in it and the answer below; if not `interactive`, only the answer."""

    def answer(paste: str) -> Table:
        return explained(paste, lang)

    if not interactive:
        return answer(text)
    import ipywidgets

    # On a narrow screen a description takes up the space that the text needs.
    wide = {"width": "100%", "height": "9em"}
    box = ipywidgets.Textarea(value=text, placeholder=TEXTS["paste"].in_(lang), description=" ", layout=wide)
    box.style.description_width = "0"
    shown = live(answer, TEXTS["explain"].in_(lang), paste=box)
    if text:
        shown.children[1].click()
    return shown


def explained(text: str, lang: Lang = "en") -> Table:
    """Return the answer of `kit.explain` for each line of a text as a table."""
    from kit.explanation.explain import explain

    rows = [[row[name] for name in COLUMNS] for row in explain(text, lang)]
    frame = pd.DataFrame(rows, columns=pd.Index(list(COLUMNS)), dtype=object)
    return Table(frame, TEXTS["caption"], COLUMNS, lang, max_rows=MOST)
