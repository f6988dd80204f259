"""A stop of a walk: the question it needs evidence for, and the sentence that follows from its answer.

What it says stands in `walks/<walk>.yaml`, both languages side by side; which of its sentences an answer calls for, and with what numbers, is a function of
the same name in `walks/<walk>.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING, Any

import attrs
import msgspec

from kit.i18n import Sentence, T

if TYPE_CHECKING:
    import pandas as pd

    from kit.case.case import Case

Said = tuple[str, dict[str, Any]]
"""The name of a sentence, and what fills it."""
SO = T("So: {sentence}", "所以：{sentence}")
ABSENT = T("Not answered by this evidence. What would: {needs}.", "这份证据答不出来。能回答的是：{needs}。")
NOTHING = T("No row answers this.", "没有符合的行。")
OTHER_COLUMNS = T("The query has other columns now: read the answer yourself.", "查询的列已改变：请自行阅读结果。")


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sentences of a stop. `table`: must have rows for no answer to be one (`log:SOURCE`: there must be such a log); `needs`: what would answer if it
    has none, a name of `files.yaml` or a sentence; `nothing`: what no rows say if it has.
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
            return SO.say(sentence=texts.says[name].say(**values))
        source = texts.table.removeprefix("log:")
        known = case.facts.has_source(source) if source != texts.table else case.has(texts.table)
        needs = files()[texts.needs] if isinstance(texts.needs, str) else texts.needs
        return SO.say(sentence=texts.nothing) if known else ABSENT.say(needs=needs)


def stop(finds: Callable[[pd.DataFrame], Said]) -> Stop:
    """Make a stop of a function that finds what follows from an answer with rows."""
    return Stop(finds, walk(finds.__module__).stops[finds.__name__])


def words(module: str) -> dict[str, T]:
    """Return the parts of sentences of a walk."""
    return walk(module).words


@functools.cache
def walk(module: str) -> Walk:
    """Return the sentences of a walk, by the module's name."""
    return msgspec.yaml.decode(_read(module.rpartition(".")[2]), type=Walk)


@functools.cache
def files() -> dict[str, T]:
    """Return the files that would answer a question, by their names in the walks."""
    return msgspec.yaml.decode(_read("files"), type=dict[str, T])


def _read(name: str) -> bytes:
    return resources.files("kit.notebook.walks").joinpath(f"{name}.yaml").read_bytes()
