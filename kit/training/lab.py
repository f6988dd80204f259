"""What is asked: the labs of `questions/*.yaml`, English and Chinese side by side; their questions are numbered from 1.

`answer`, `also`, the names of slips of numbers and the placeholders of texts are facts (`kit.training.facts`). One that
this evidence does not show is None: its question is marked and not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, reduce
from string import Formatter
from typing import Any, Literal

import msgspec

from kit import data
from kit.i18n import Lang, T

Kind = Literal["count", "bytes", "seconds", "word", "words", "order"]


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One question. `options`: words to choose from, with what they mean; `also`: fact with further accepted words.

    `slips`: wrong answers with a reason each: a word, or of a number the fact it is mistaken for, or the number itself.
    `options_in`: further options that the kit has sentences for elsewhere: `FILE.yaml#KEY/KEY`.
    """

    kind: Kind = "count"
    answer: str
    prompt: T
    hint: T
    explanation: T
    slips: dict[str, T] = {}
    options: dict[str, T] = {}
    options_in: str = ""
    aliases: dict[str, str] = {}
    tolerance: float = 0.0
    also: str = ""

    def __post_init__(self) -> None:
        if self.options_in:
            file, _, keys = self.options_in.partition("#")
            rows: Any = reduce(lambda rows, key: rows[key], keys.split("/"), data.read(file, dict[str, Any]))
            self.options.update(msgspec.convert(rows, dict[str, T]))


class Lab(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One training lab. `figures`: fact → cause.figure; `facts`: queries whose columns are facts.

    With a `hint` and without questions it is on several evidence sets: the same question for each of them.
    """

    number: int
    title: T
    hint: T | None = None
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
    names = [name for _, name, _, _ in Formatter().parse(text.in_(lang)) if name]
    return text.say(**{name: facts.get(name) for name in names}).render(lang)
