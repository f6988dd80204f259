"""Pages of a browser and texts of Word: what somebody saved instead of copying it."""

from __future__ import annotations

import html
import re
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

LARGEST: Final = 64 << 20
"""Characters of a document that is read."""
_PAGE: Final = re.compile(
    r"\ufeff?\s*(?:<\?xml[^>]*>\s*|<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)
_HIDDEN: Final = frozenset({"script", "style", "template", "noscript", "svg", "title"})
_LINES: Final = frozenset(
    [
        "address",
        "article",
        "blockquote",
        "br",
        "dd",
        "div",
        "dl",
        "dt",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "tr",
        "ul",
    ]
)
_WORD: Final = "word/document.xml"
_PIECE: Final = re.compile(r"<w:t(?: [^>]*)?>([^<]*)</w:t>|(</w:p>|<w:(?:br|cr)\b)|(<w:tab/>)")


def is_page(text: str) -> bool:
    """Return whether a text is a page of HTML, not a text with a few tags."""
    return _PAGE.match(text) is not None


def shown(page: str) -> str:
    """Return what a browser shows of a page, a block a line: none of its scripts."""
    return "".join(_read(page).text)


def in_place(page: str) -> str | None:
    """Return the same, each line at the number of the page's line on which it begins; None where two begin on one."""
    reader = _read(page)
    here, out = 1, []
    for number, line in zip(reader.begun, "".join(reader.text).split("\n"), strict=False):
        if not line.strip():
            continue
        if number < here:
            return None
        out.append("\n" * (number - here) + line + "\n")
        here = number + 1
    return "".join(out)


def _read(page: str) -> _Shown:
    reader = _Shown()
    reader.feed(page)
    reader.close()
    return reader


def of_word(path: Path) -> str | None:
    """Return the text of a Word document (`.docx`), None for anything else. Raise `OSError`."""
    try:
        with zipfile.ZipFile(path) as archive:
            if _WORD not in archive.namelist() or archive.getinfo(_WORD).file_size > LARGEST:
                return None
            said = archive.read(_WORD).decode("utf-8", "replace")
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
        return None
    return "".join("\n" if line else "\t" if tab else html.unescape(text) for text, line, tab in _PIECE.findall(said))


class _Shown(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text: list[str] = []
        self.begun: list[int] = [1]
        """The page's line on which each line of the text begins."""
        self._hidden = self._kept = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in _HIDDEN
        self._kept += tag in ("pre", "textarea")
        if tag in _LINES:
            self._end_line()
        elif tag in ("td", "th") and self.text and not self.text[-1].endswith("\n"):
            self.text.append("\t")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - (tag in _HIDDEN))
        self._kept = max(0, self._kept - (tag in ("pre", "textarea")))
        if tag in _LINES:
            self._end_line()

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if not self._kept:
            data = re.sub(r"\s+", " ", data)
            data = data.lstrip() if not self.text or self.text[-1].endswith(("\n", "\t")) else data
        if data:
            at = self.getpos()[0]
            if not self.text or self.text[-1].endswith("\n"):
                self.begun[-1] = at
            self.begun += range(at + 1, at + 1 + data.count("\n"))
            self.text.append(data)

    def _end_line(self) -> None:
        if self.text and not self.text[-1].endswith("\n"):
            self.text.append("\n")
            self.begun.append(self.getpos()[0])
