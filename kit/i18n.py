"""Every sentence the kit says, in both languages.

A sentence of the code is `T("English", "中文")`; those of a room's `labels.yaml` and of catalogues are `{en: …, zh: …}`.
"""

import contextlib
import datetime as dt
import operator
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, Final, Literal

import attrs

from kit import data

Lang = Literal["en", "zh"]
LANGS: Final[tuple[Lang, ...]] = ("en", "zh")
_LONG_NAME: Final = re.compile(r"`[^`\n]*`|[\w%|.@#-]{61,}", re.ASCII)
"""A name that drowns the sentence around it; what stands between backticks is there to be copied."""


@attrs.frozen
class Filled:
    """A sentence with its values, not yet in any language. `shown`: False leaves out parts in `<…>` that count 0."""

    text: "T"
    values: dict[str, Any]
    shown: bool = True

    def render(self, lang: Lang = "en") -> str:
        """Return the sentence in `lang`; values that are sentences themselves are rendered too."""
        return _Sentences(lang, shown=self.shown).vformat(self.text.in_(lang), (), self.values)

    def __str__(self) -> str:
        """Return the English sentence: what an error says where no language is known."""
        return self.render()


@attrs.frozen
class T:
    """A sentence with placeholders, `{name}` or `{name.attribute}`; `{name:word|words}` is what agrees with a number.

    `<…>`: said only where the values in it are known: "raise it< by {more} bytes>".
    """

    en: str
    zh: str = ""

    def __attrs_post_init__(self) -> None:
        CATALOGUE.append(self)

    def in_(self, lang: Lang) -> str:
        return _by_clock(self.en if lang == "en" else self.zh or self.en, lang)

    def say(self, **values: Any) -> Filled:
        """Fill the placeholders; a missing one shows up when the sentence is rendered, not silently."""
        return Filled(self, values)

    def render(self, lang: Lang = "en") -> str:
        return self.say().render(lang)


CATALOGUE: Final[list[T]] = []

Clock = Literal["local", "either"] | dt.tzinfo | None
CLOCK: Final[ContextVar[Clock]] = ContextVar("CLOCK", default=None)
"""None: times are UTC. A zone: times are in it, the first of a sentence in UTC too. `local`: no zone is known, so that
sentences say local time wherever they would say UTC. `either`: some have one.
"""
LOCAL: Final[dict[str, dict[Lang, str]]] = {
    "local": {"en": "local time, zone unknown", "zh": "本地时间，时区未知"},
    "either": {"en": "UTC or local time (zone unknown)", "zh": "UTC 或本地时间（时区未知）"},
}
_UTC: Final = re.compile(r"\bUTC\b", re.ASCII)


def _by_clock(text: str, lang: Lang) -> str:
    clock = CLOCK.get()
    return _UTC.sub(LOCAL[clock][lang], text) if isinstance(clock, str) else text


@contextlib.contextmanager
def on_clock(clock: Clock) -> Iterator[None]:
    """Say times by this clock in the block."""
    before = CLOCK.set(clock)
    try:
        yield
    finally:
        CLOCK.reset(before)


Sentence = T | Filled
_PART: Final = re.compile(r"<([^<>]*\{[^<>]*)>")
_NAME: Final = re.compile(r"\{(\w+)")


def rendered(text: Sentence | str, lang: Lang) -> str:
    """Return a sentence in `lang`; what is text already stays as it is."""
    return text if isinstance(text, str) else text.render(lang)


def printable(text: str) -> str:
    """Return evidence text fit for a terminal: a tab as a blank, other control and direction characters replaced."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text.replace("\t", " "))


def brief(text: str) -> str:
    """Return a sentence with its long names cut in the middle: a summary before it has them whole."""
    return _LONG_NAME.sub(lambda hit: hit[0] if hit[0][0] == "`" else f"{hit[0][:28]}…{hit[0][-12:]}", text)


class _Sentences(string.Formatter):
    """Fills the placeholders of one sentence as a reader expects it."""

    def __init__(self, lang: Lang, *, shown: bool) -> None:
        self.lang, self.shown = lang, shown
        self.timed = False
        """Whether the sentence has a time already."""

    def vformat(self, format_string: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """Fill a sentence; a part in `<…>` that names an unknown value is left out."""
        known = partial(operator.is_not, None) if self.shown else bool
        text = _PART.sub(
            lambda part: part[1] if all(map(known, map(kwargs.get, _NAME.findall(part[1])))) else "", format_string
        )
        return super().vformat(text, args, kwargs)

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return the value; for `{count:line|lines}` not itself but the word that fits the number."""
        one, bar, many = format_spec.partition("|")
        if bar:
            return one if value == 1 else many
        if isinstance(value, dt.datetime):
            first, self.timed = not self.timed, True
            return _time(value, self.lang, also_utc=first)
        return format(_plain(value, self.lang), format_spec)


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
        return _time(value, lang)
    if isinstance(value, list | tuple):
        more = [f"… +{len(value) - MOST:,}"] if len(value) > MOST else []
        return LIST_SEPARATOR[lang].join([_plain(v, lang) for v in value[:MOST]] + more)
    return str(value)


def _time(at: dt.datetime, lang: Lang, *, also_utc: bool = True) -> str:
    """Return a time (naive: UTC) by the clock: in UTC, or `2026-11-20 22:34:20 +08:00 (14:34:20 UTC)`."""
    utc = (at if at.tzinfo else at.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)
    clock = CLOCK.get()
    own = utc.astimezone(clock) if isinstance(clock, dt.tzinfo) else utc
    if not own.utcoffset():
        return _by_clock(f"{utc:%Y-%m-%d %H:%M:%S} UTC", lang)
    printed = own.isoformat(" ", "seconds")
    text = f"{printed[:19]} {printed[19:]}"
    there = f"{utc:%H:%M:%S} UTC" if utc.date() == own.date() else f"{utc:%Y-%m-%d %H:%M:%S} UTC"
    return text + IN_BRACKETS[lang].format(there) if also_utc else text


UNKNOWN: Final = T("unknown", "未知")
IN_BRACKETS: Final[dict[str, str]] = {"en": " ({})", "zh": "（{}）"}
MOST: Final = 40
"""Most members of a list that a sentence says: a log may name thousands, and findings.json has them in its figures."""
LIST_SEPARATOR: Final[dict[str, str]] = {"en": ", ", "zh": "、"}


@cache
def labels(room: str) -> dict[str, dict[str, T]]:
    """Return the headings and other fixed texts of a room, `kit/ROOM/labels.yaml`: {group: {name: sentence}}."""
    return data.read(f"{room}/labels.yaml", dict[str, dict[str, T]])


@cache
def headings() -> dict[str, T]:
    """Return what columns are called in every table, if it does not say otherwise."""
    words = data.read("charts/words.yaml", dict[str, str])
    return {word.replace(" ", "_"): T(word, zh) for word, zh in words.items()} | labels("charts")["columns"]
