"""The parts of a lab: questions, misconceptions behind wrong answers, and the facts they are checked against.

`Lab.facts` computes the facts from the evidence on first use; a question names the fact that answers it. A fact that is None
is not known from this evidence: its question is marked and not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import Formatter
from typing import TYPE_CHECKING, Any

import attrs

from kit.i18n import Filled, Lang, Sentence, T
from kit.training.compare import Kind

if TYPE_CHECKING:
    from kit.training.bench import Bench


@attrs.frozen
class Slip:
    """A wrong answer with a reason. `fact`: the fact mistaken for the answer; `value`: the wrong word. `text` may name any fact."""

    text: Sentence
    fact: str | None = None
    value: str | None = None


@attrs.frozen
class Question:
    """One question. `options`: the words to choose from, each with what it means; `also`: fact with further words that are accepted for `words`."""

    id: str
    kind: Kind
    fact: str
    ask: Sentence
    hint: Sentence
    why: Sentence
    slips: tuple[Slip, ...] = ()
    options: Mapping[str, Sentence] = attrs.field(factory=dict)
    aliases: Mapping[str, str] = attrs.field(factory=dict)
    tolerance: float = 0.0
    also: str | None = None


@attrs.frozen
class Lab:
    """One training lab. `facts`: evidence → everything its questions and explanations need, by name."""

    number: int
    title: T
    questions: Callable[[Bench], tuple[Question, ...]]
    facts: Callable[[Bench], dict[str, Any]]
    several: bool = False
    """Whether it uses several evidence sets."""


def tell(sentence: Sentence, facts: Mapping[str, Any], lang: Lang) -> str:
    """Return a sentence with the facts filled in; its own values win, and a fact that this evidence lacks is unknown."""
    text, own = (sentence.text, sentence.values) if isinstance(sentence, Filled) else (sentence, {})
    wanted = [name for _, name, _, _ in Formatter().parse(text.in_(lang)) if name]
    values = {name: own.get(name, facts.get(name)) for name in wanted}
    return text.say(
        **{name: sorted(value) if isinstance(value, frozenset) else value for name, value in values.items()}
    ).render(lang)
