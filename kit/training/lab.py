"""The labs: questions of `questions/*.yaml` with the misconceptions behind wrong answers, and the facts that answer them.

A question names the fact that answers it: a figure of a cause (`figures` of the lab's file), or one that `kit.training.facts` works out. A fact that is
None is not known from this evidence: its question is marked and not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from string import Formatter
from typing import Any, Final, Literal

import msgspec

from kit.i18n import Lang, T

Kind = Literal["count", "bytes", "seconds", "word", "words", "order"]
MIXED: Final = (85, 86)
"""Labs on several evidence sets: one question for each of them."""


class Slip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wrong answer with a reason. `taken_for`: the fact mistaken for the answer; `value`: the wrong word."""

    feedback: T
    taken_for: str | None = None
    value: str | None = None


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One question. `options`: the words to choose from, each with what it means; `also`: fact with further words that are accepted for `words`."""

    id: str
    kind: Kind
    answer: str
    prompt: T
    hint: T
    explanation: T
    slips: tuple[Slip, ...] = ()
    options: dict[str, T] = {}
    aliases: dict[str, str] = {}
    tolerance: float = 0.0
    also: str | None = None


class Lab(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One training lab. `figures`: fact → cause.figure."""

    number: int
    title: T
    figures: dict[str, str] = {}
    questions: tuple[Question, ...] = ()

    @property
    def several(self) -> bool:
        """Whether it uses several evidence sets."""
        return self.number in MIXED


@cache
def labs() -> dict[int, Lab]:
    """Return the labs by number."""
    files = resources.files("kit.training").joinpath("questions").iterdir()
    read = [msgspec.yaml.decode(file.read_bytes(), type=Lab) for file in files if file.name.endswith(".yaml")]
    return {lab.number: lab for lab in sorted(read, key=lambda lab: lab.number)}


def fill(text: T, facts: Mapping[str, Any], lang: Lang) -> str:
    """Return a text with the facts filled in; a fact that this evidence lacks is unknown."""
    names = [name for _, name, _, _ in Formatter().parse(text.in_(lang)) if name]
    values = {name: facts.get(name) for name in names}
    return text.say(
        **{name: sorted(value) if isinstance(value, frozenset) else value for name, value in values.items()}
    ).render(lang)
