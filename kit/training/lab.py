"""What is asked: the labs of `questions/*.yaml`, English and Chinese side by side.

`answer`, `taken_for`, `also` and the placeholders of texts are facts (`kit.training.facts`). One that this evidence
does not show is None: its question is marked and not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from string import Formatter
from typing import Any, Final, Literal

import msgspec

from kit import data
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
    """One question. `options`: words to choose from, with what they mean; `also`: fact with further accepted words."""

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
    """One training lab. `figures`: fact → cause.figure; `facts`: queries whose columns are facts."""

    number: int
    title: T
    figures: dict[str, str] = {}
    facts: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()


@cache
def labs() -> dict[int, Lab]:
    """Return the labs by number."""
    files = (data.KIT / "training" / "questions").glob("*.yaml")
    read = [data.read(f"training/questions/{file.name}", Lab) for file in files]
    return {lab.number: lab for lab in sorted(read, key=lambda lab: lab.number)}


def fill(text: T, facts: Mapping[str, Any], lang: Lang) -> str:
    """Return a text with the facts filled in; a fact that this evidence lacks is unknown."""
    values = {name: facts.get(name) for _, name, _, _ in Formatter().parse(text.in_(lang)) if name}
    plain = {name: sorted(value) if isinstance(value, frozenset) else value for name, value in values.items()}
    return text.say(**plain).render(lang)
