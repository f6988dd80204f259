"""The Chinese of a notebook's text cells, which the cells themselves keep beside their English: shown below the code cell before them.

So one file serves both languages, in JupyterLab and headless. A report puts the Chinese into the cells instead (`kit.report.notebooks`).
"""

from __future__ import annotations

import difflib
import re
import sys
from typing import Any, Final

from kit.i18n import Lang

PASSING: Final = {"rmq-kit": {"passing": True}}
"""The mark of outputs that a report leaves out."""
HIDE: Final = "<style>.jp-MarkdownCell, .text_cell { display: none }</style>"
"""In a page made of an executed notebook: its English text cells, whose Chinese is beside the code."""
BEGINS: Final = re.compile(r"\b(?:start|lab\.open)\(")
"""In the cell that opens the evidence, from which the text is said."""
_HOOKS: Final[list[Any]] = []


def speak(book: str, lang: Lang, interactive: bool = True) -> None:
    """From now on show the text between two code cells of a notebook in `lang` below the first of them; that up to here at once.

    `book`: how the notebook's name begins. Charts can be drawn in a page made of it from here on.
    """
    shell = _shell()
    if shell is None:
        return
    library()
    for hook in _HOOKS:
        shell.events.unregister("post_run_cell", hook)
    _HOOKS.clear()
    if lang == "en" or not book:
        return
    texts = _texts(book, lang)
    if not interactive:
        _publish({"text/html": HIDE, "text/plain": ""})
    begun = next((n for n, (source, _) in enumerate(texts) if BEGINS.search(source)), 0)
    _say([text for _, before in texts[: begun + 2] for text in before])
    sources = [source for source, _ in texts[:-1]]

    def after(result: Any) -> None:
        near = difflib.get_close_matches(result.info.raw_cell.strip(), sources, 1, 0.5)
        n = sources.index(near[0]) if near else 0
        if begun < n:
            _say(texts[n + 1][1])

    shell.events.register("post_run_cell", after)
    _HOOKS.append(after)


def library() -> None:
    """Put what draws charts into the notebook, for pages made of it."""
    from kit.charts import offline

    if _shell() is not None:
        _publish({"text/html": offline.library(), "text/plain": ""})


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _texts(book: str, lang: Lang) -> list[tuple[str, list[str]]]:
    """Return each code cell of a notebook of the kit with the text cells before it; at the end those behind the last one."""
    from kit.report import notebooks

    path = next(notebooks.folder().glob(f"{book}*.ipynb"), None)
    cells: list[tuple[str, list[str]]] = []
    before: list[str] = []
    for cell in notebooks.localise(notebooks.read(path), lang).cells if path else ():
        if cell.cell_type == "markdown":
            before.append(cell.source)
        else:
            cells.append((cell.source.strip(), before))
            before = []
    return [*cells, ("", before)]


def _say(texts: list[str]) -> None:
    if texts:
        text = "\n\n".join(texts)
        _publish({"text/markdown": text, "text/plain": text})


def _publish(data: dict[str, str]) -> None:
    from IPython.display import publish_display_data

    publish_display_data(data, PASSING)
