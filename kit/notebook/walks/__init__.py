"""What follows from the answer of a stop: the sentences stand in `<walk>.yaml`; which of them an answer calls for, and
with what numbers, is a function of the same name in `<walk>.py`, one walk a notebook.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import msgspec
import pandas as pd

from kit import data
from kit.i18n import Sentence, T

if TYPE_CHECKING:
    from kit.case.case import Case

Said = tuple[str, dict[str, Any]]
"""The name of a sentence, and what fills it."""
SO = T("So: {sentence}", "所以：{sentence}")
ABSENT = T("Not answered by this evidence. What would: {needs}.", "这份证据答不出来。能回答的是：{needs}。")
NOTHING = T("No row answers this.", "没有符合的行。")
OTHER_COLUMNS = T("The query has other columns now: read the answer yourself.", "查询的列已改变：请自行阅读结果。")


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sentences of a stop. `table`: must have rows for no answer to be one (`log:SOURCE`: there must be such a
    log); `needs`: what would answer if it has none, a name of `files.yaml` or a sentence; `nothing`: what no rows say
    if it has.
    """

    table: str
    needs: str | T
    nothing: T
    says: dict[str, T]


class Walk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sentences of one walk. `words`: parts of sentences."""

    stops: dict[str, Texts]
    words: dict[str, T] = {}


@attrs.frozen
class Stop:
    """What follows from an answer: what it rules out, what to ask next."""

    finds: Callable[[pd.DataFrame], Said]
    texts: Texts

    def of(self, case: Case, frame: pd.DataFrame) -> Sentence:
        """Return the sentence for an answer."""
        texts = self.texts
        if len(frame):
            try:
                name, values = self.finds(frame)
            except (KeyError, AttributeError, TypeError, ValueError, IndexError):
                return OTHER_COLUMNS
            return SO.say(sentence=texts.says[name].say(**{key: _plain(value) for key, value in values.items()}))
        source = texts.table.removeprefix("log:")
        known = case.facts.has_source(source) if source != texts.table else case.has(texts.table)
        needs = files()[texts.needs] if isinstance(texts.needs, str) else texts.needs
        return SO.say(sentence=texts.nothing) if known else ABSENT.say(needs=needs)


def _plain(value: Any) -> Any:
    """Return a value of pandas as one of Python, whole numbers as such."""
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, float):
        return value
    return None if value != value else int(value) if value.is_integer() else value


def stop(finds: Callable[[pd.DataFrame], Said]) -> Stop:
    """Make a stop of a function that finds what follows from an answer with rows."""
    return Stop(finds, walk(finds.__module__).stops[finds.__name__])


def always(module: str, name: str) -> Stop:
    """Return a stop that says its only sentence of whatever rows there are."""
    texts = walk(module).stops[name]
    return Stop(lambda _: (next(iter(texts.says)), {}), texts)


@functools.cache
def walk(module: str) -> Walk:
    """Return the sentences of a walk, by its module's name."""
    return data.read(f"notebook/walks/{module.rpartition('.')[2]}.yaml", Walk)


@functools.cache
def files() -> dict[str, T]:
    """Return the files that would answer a question, by their names in the walks."""
    return data.read("notebook/walks/files.yaml", dict[str, T])
