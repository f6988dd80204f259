"""Every sentence the kit says, in every language it speaks.

A sentence is written once, where it is used, as `T(english, chinese)`; creating it enters it into `CATALOGUE`,
so that a test can hold every sentence of the kit to the same rules (both languages, same placeholders).
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final, Literal

import attrs

Lang = Literal["en", "zh"]
LANGS: Final[tuple[Lang, ...]] = ("en", "zh")


@attrs.frozen
class Said:
    """A sentence with its values, not yet in any language."""

    text: T
    values: dict[str, Any]

    def render(self, lang: Lang = "en") -> str:
        """Return the sentence in `lang`; values that are sentences themselves are rendered too."""
        return self.text.in_(lang).format(**{k: _plain(v, lang) for k, v in self.values.items()})


@attrs.frozen(init=False)
class T:
    """A sentence in all languages, with `{name}` placeholders."""

    en: str
    zh: str

    def __init__(self, en: str, zh: str) -> None:
        self.__attrs_init__(en, zh)  # type: ignore[attr-defined]
        CATALOGUE.append(self)

    def in_(self, lang: Lang) -> str:
        return self.zh if lang == "zh" else self.en

    def say(self, **values: Any) -> Said:
        """Fill the placeholders; a missing one shows up when the sentence is rendered, not silently."""
        return Said(self, values)

    def render(self, lang: Lang = "en") -> str:
        return self.say().render(lang)


CATALOGUE: Final[list[T]] = []

Sentence = T | Said


def _plain(value: Any, lang: Lang) -> str:
    """Return a value as a reader expects it: grouped digits, UTC times, "unknown" for None."""
    if value is None:
        return "未知" if lang == "zh" else "unknown"
    if isinstance(value, T | Said):
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
        return ("、" if lang == "zh" else ", ").join(_plain(v, lang) for v in value)
    return str(value)
