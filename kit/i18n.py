"""Every sentence the kit says. English is in the code as `T("…")`; other languages are gettext catalogues below `kit/locale`.

`make texts` collects the sentences into the catalogues and lists what is not translated yet (Babel extracts them).
"""

from __future__ import annotations

import datetime as dt
import json
import re
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

import attrs

Lang = Literal["en", "zh"]
LANGS: Final[tuple[Lang, ...]] = ("en", "zh")


@cache
def translations(lang: Lang) -> dict[tuple[str, str], str]:
    """Return {(context, English text): text} of a language from its .po file; English is the code itself."""
    if lang == "en":
        return {}
    text = resources.files("kit").joinpath("locale", lang, "LC_MESSAGES", "kit.po").read_text(encoding="utf-8")
    return entries_of(text)


def entries_of(text: str) -> dict[tuple[str, str], str]:
    """Return what a .po file without plurals holds, entries that are fuzzy or not translated left out.

    Read here as `tools/texts.py` writes it: a general reader needs longer for it than a paste takes to be explained.
    """
    found: dict[tuple[str, str], str] = {}
    for block in text.split("\n\n"):
        before, _, texts = f"\n{block}".partition("\nmsgid ")
        source, _, target = texts.partition("\nmsgstr ")
        comments, _, context = before.partition("\nmsgctxt ")
        meant = _joined(target)
        if meant and not ("fuzzy" in comments and re.search("^#,.*fuzzy", comments, re.MULTILINE)):
            found[_joined(context), _joined(source)] = meant
    return found


def _joined(lines: str) -> str:
    """Return the text of one or several quoted lines."""
    text = lines.replace('"\n"', "").strip()
    return json.loads(text) if "\\" in text else text[1:-1]


@attrs.frozen
class Filled:
    """A sentence with its values, not yet in any language."""

    text: T
    values: dict[str, Any]

    def render(self, lang: Lang = "en") -> str:
        """Return the sentence in `lang`; values that are sentences themselves are rendered too."""
        return self.text.in_(lang).format_map(_Readable(self.values, lang))


@attrs.frozen(init=False)
class T:
    """A sentence with `{name}` placeholders, `{name:word|words}` for what agrees with a number. `context` tells two meanings of one English text apart for translators."""

    en: str
    context: str

    def __init__(self, en: str, context: str = "") -> None:
        self.__attrs_init__(en, context)  # type: ignore[attr-defined]
        CATALOGUE.append(self)

    @property
    def zh(self) -> str:
        return self.in_("zh")

    def in_(self, lang: Lang) -> str:
        """Return the text in a language, the English one where it is not translated."""
        # An empty message id is the header of a catalogue.
        if lang == "en" or not self.en:
            return self.en
        # Texts entered on the way to the catalogue bring their Chinese with them.
        if not self.context.isascii():
            return self.context
        return translations(lang).get((self.context, self.en), self.en)

    def say(self, **values: Any) -> Filled:
        """Fill the placeholders; a missing one shows up when the sentence is rendered, not silently."""
        return Filled(self, values)

    def render(self, lang: Lang = "en") -> str:
        return self.say().render(lang)


CATALOGUE: Final[list[T]] = []

Sentence = T | Filled


def rendered(text: Sentence | str, lang: Lang) -> str:
    """Return a sentence in `lang`; what is text already stays as it is."""
    return text if isinstance(text, str) else text.render(lang)


def printable(text: str) -> str:
    """Return evidence text fit for a terminal: control and direction characters replaced."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


class _Readable(dict[str, Any]):
    """Values as a reader expects them, worked out for the placeholders that a sentence has."""

    def __init__(self, values: dict[str, Any], lang: Lang) -> None:
        super().__init__(values)
        self.lang = lang

    def __getitem__(self, name: str) -> str:
        value = super().__getitem__(name)
        return _Word(_plain(value, self.lang), value == 1)


class _Word(str):
    """A value in a sentence; as `{count:line|lines}` not itself but the word that fits the number."""

    __slots__ = ("one",)
    one: bool

    def __new__(cls, text: str, one: bool) -> _Word:
        made = super().__new__(cls, text)
        made.one = one
        return made

    def __format__(self, words: str) -> str:
        one, bar, many = words.partition("|")
        return (one if self.one else many) if bar else super().__format__(words)


def _plain(value: Any, lang: Lang) -> str:
    """Return a value as a reader expects it: grouped digits, UTC times, "unknown" for None."""
    if value is None:
        return UNKNOWN.in_(lang)
    if isinstance(value, T | Filled):
        return value.render(lang)
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).isoformat(sep=" ", timespec="seconds").replace("+00:00", " UTC")
    if isinstance(value, list | tuple):
        return LIST_SEPARATOR[lang].join(_plain(v, lang) for v in value)
    return str(value)


UNKNOWN: Final = T("unknown")
LIST_SEPARATOR: Final[dict[str, str]] = {"en": ", ", "zh": "、"}
