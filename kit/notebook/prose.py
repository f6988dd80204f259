"""The Chinese of a notebook's text cells, kept beside their English: shown below the code cell before them.

So one file serves both languages. A report puts the Chinese into the cells instead (`kit.report.notebooks`).
"""

import difflib
import re
from collections.abc import Callable
from typing import Any, Final

from IPython import get_ipython
from IPython.display import publish_display_data

from kit import data
from kit.charts import offline
from kit.i18n import Lang
from kit.report import notebooks

PASSING: Final = {"rmq-kit": {"passing": True}}
"""The mark of outputs that a report leaves out."""
LIBRARY: Final = {"rmq-kit": {"library": True}}
"""The mark of the output that draws the charts of a page."""
HIDE: Final = "<style>.jp-MarkdownCell, .text_cell { display: none }</style>"
"""In a page made of an executed notebook: its English text cells, whose Chinese is beside the code."""
BEGINS: Final = re.compile(r"\b(?:start|lab\.open|speak)\(")
"""In the cell from which the text is said."""
_HOOKS: Final[dict[str, dict[str, Callable[..., None]]]] = {}


def shell() -> Any:
    """Return IPython's shell, None outside of it."""
    return get_ipython()


def listen(who: str, **hooks: Callable[..., None]) -> dict[str, Callable[..., None]]:
    """From now on call these at IPython's events, instead of those that `who` had called before; return those."""
    events, before = shell().events, _HOOKS.pop(who, {})
    for event, hook in before.items():
        events.unregister(event, hook)
    for event, hook in hooks.items():
        events.register(event, hook)
    _HOOKS[who] = hooks
    return before


def speak(book: str, lang: Lang, interactive: bool = True) -> None:
    """From now on show the text between two code cells in `lang` below the first of them; that up to here at once.

    `book`: how the notebook's name begins. A page made of it draws charts from here on, and is dark in a dark window.
    """
    if shell() is None:
        return
    _publish(
        {"text/html": f"<style>{data.text('notebook/dark.css')}</style>{offline.library()}", "text/plain": ""}, LIBRARY
    )
    listen("prose")
    path = next(notebooks.folder().glob(f"{book}*.ipynb"), None)
    if lang == "en" or not book or path is None:
        return
    sources, texts = _texts(notebooks.localise(notebooks.read(path), lang).cells)
    if not interactive:
        _publish({"text/html": HIDE, "text/plain": ""})
    begun = next((n for n, source in enumerate(sources) if BEGINS.search(source)), 0)
    _say([text for before in texts[: begun + 1] for text in before])

    def after(result: Any) -> None:
        near = difflib.get_close_matches(result.info.raw_cell.strip(), sources, 1, 0.5)
        if near and begun <= (n := sources.index(near[0])):
            _say(texts[n + 1])

    listen("prose", post_run_cell=after)


def _texts(cells: list[Any]) -> tuple[list[str], list[list[str]]]:
    """Return the code cells, and the text cells before each of them; at the end those behind the last one."""
    sources: list[str] = []
    texts: list[list[str]] = [[]]
    for cell in cells:
        if cell.cell_type == "markdown":
            texts[-1].append(cell.source)
        else:
            sources.append(cell.source.strip())
            texts.append([])
    return sources, texts


def _say(texts: list[str]) -> None:
    if texts:
        text = "\n\n".join(texts)
        _publish({"text/markdown": text, "text/plain": text})


def _publish(bundle: dict[str, str], marks: dict[str, Any] = PASSING) -> None:
    publish_display_data(bundle, marks)
