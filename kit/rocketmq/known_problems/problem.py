"""What a known problem is: `Problem`, the texts it is recognised by, and what its lines mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final, Literal

import attrs

from kit.i18n import T

Verdict = Literal["confirmed", "suspected"]

ANY: Final = "{}"
"""What stands for a printed value in a text."""
GAP: Final = r"[^\n]{0,400}?"
SHORTEST: Final = 8
"""Bytes of the shortest literal piece that is looked for."""


def _sentence(english: str | None) -> T | None:
    return None if english is None else T(english)


def _texts(given: Iterable[str] | str) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


@attrs.define(frozen=True, slots=False)
class Problem:
    """One thing that can be wrong with a RocketMQ system, or one family of log lines that only sounds so.

    Its sentences are given as plain English, without `T`. `texts` are pieces of log lines, answers or exceptions, or one such piece; `{}` stands for a printed
    value. `classes` are `module/Class` whose remaining WARN and ERROR lines belong here as well. `verdict`: what seeing a text shows (None: routine, explained but never reported); it is reported from `least` entries on
    that span at least `lasts` seconds. `unless`: a regular expression of entries that are normal. `cause`: the cause module that judges these texts.
    `normal_with`: a known text that is printed beside each entry that is normal: so many entries do not count.
    `passing`: known texts of `kit.rocketmq.log_events.passing`; it is reported where one of these goes on, whatever `cause` says.
    `since`, `until`: first and last release with the fault ("" = no bound known); `fixed`: by which change. `printed`: where, for texts of no RocketMQ class.
    """

    slug: str
    title: T = attrs.field(converter=T)
    texts: tuple[str, ...] = attrs.field(converter=_texts)
    meaning: T = attrs.field(converter=T)
    next: T = attrs.field(converter=T)
    reference: str
    classes: tuple[str, ...] = ()
    decides: T | None = attrs.field(default=None, converter=_sentence)
    remedy: T | None = attrs.field(default=None, converter=_sentence)
    risk: T | None = attrs.field(default=None, converter=_sentence)
    unlike: T | None = attrs.field(default=None, converter=_sentence)
    verdict: Verdict | None = None
    least: int = 1
    lasts: float = 0.0
    unless: str = ""
    normal_with: str = ""
    cause: str = ""
    passing: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    fixed: str = ""
    printed: str = ""
    example: str = ""

    @property
    def reported(self) -> bool:
        """Return whether its texts, seen often and long enough, make a finding of its own."""
        return self.verdict is not None and not self.cause and not self.passing

    @cached_property
    def needles(self) -> tuple[str, ...]:
        """The longest literal piece of each text."""
        return tuple(longest(text) for text in self.texts)

    @cached_property
    def normal(self) -> re.Pattern[str] | None:
        return re.compile(self.unless) if self.unless else None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches where one of the texts is."""
        return re.compile(self._expression)

    @property
    def _expression(self) -> str:
        return "|".join(expression(text) for text in self.texts) or r"(?!)"

    @property
    def has_condition(self) -> bool:
        """Return whether finding a needle does not settle it: values inside a text, or entries that are normal."""
        return bool(self.unless) or any(ANY in text for text in self.texts)

    @cached_property
    def in_bytes(self) -> re.Pattern[bytes]:
        """Matches the bytes of an entry that `in_text` is true for."""
        normal = rf"(?![\s\S]*(?:{self.unless}))" if self.unless else ""
        return re.compile(rf"\A{normal}[\s\S]*?(?:{self._expression})".encode())

    def in_entry(self, said: bytes) -> bool:
        """Return whether `in_text` is true for these bytes."""
        return self.in_bytes.search(said) is not None

    def in_text(self, text: str) -> bool:
        """Return whether a log entry holds one of the texts and is not one of the normal ones."""
        return bool(self.pattern.search(text)) and not (self.normal and self.normal.search(text))

    def in_frame(self, line: str) -> bool:
        """Return whether a stack trace frame holds a text that is about frames: a method with the file behind it."""
        return any(text.endswith(".java") and text in line for text in self.texts)


def longest(text: str) -> str:
    """Return the longest literal piece of a text with values."""
    return max(text.split(ANY), key=len)


def expression(text: str) -> str:
    """Return a text with values as a regular expression that reads the same in Python and Java."""
    return GAP.join(re.escape(piece) for piece in text.split(ANY))
