"""Facts: what a cause may look at: small frames, worked out when asked for, which evidence there is, and quotes."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from kit.i18n import Lang
from kit.inventory import quotes
from kit.inventory.inventory import Inventory
from kit.inventory.model import Ref
from kit.tables import frames
from kit.tables.queries import HERE

if TYPE_CHECKING:
    import pandas as pd

    from kit.case.case import Case

P = ParamSpec("P")
R = TypeVar("R")


class Once:
    """Results by name. The first thread that asks works one out, others wait; what failed fails again the same way."""

    def __init__(self, check: Callable[[], None] = lambda: None) -> None:
        self._check = check
        """Raises where work was cancelled, which makes it fail: that is not kept."""
        self._locks: dict[str, threading.RLock] = {}
        self._results: dict[str, Any] = {}
        self._errors: dict[str, Exception] = {}

    def get(self, name: str, work: Callable[[], R]) -> R:
        """Return the result of this name, of the first `work` that was given for it."""
        with self._locks.setdefault(name, threading.RLock()):
            if name in self._errors:
                raise self._errors[name]
            if name not in self._results:
                try:
                    self._results[name] = work()
                except Exception as error:
                    self._check()
                    self._errors[name] = error
                    raise
            result: R = self._results[name]
        return result


class Facts:
    """The facts of one evidence set. `facts("leak_growth")` is a gold table as a frame of its own."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._memo = Once()

    def __call__(self, name: str, *columns: str) -> pd.DataFrame:
        """Return a gold table, or some of its columns, as a frame. Raise `KeyError`, `TableFailed`, which name it."""
        table = self._case.tables.arrow(name)
        return frames.to_pandas(table.select(columns) if columns else table)

    def rows(self, name: str, **only: Collection[Any]) -> list[dict[str, Any]]:
        """Return a gold table as shared dicts of plain values, times naive in UTC. Raise as a call does.

        `only`: the values of a column whose rows are wanted; of a large table the others are not made.
        """
        return self.once(f"rows {name} {only}", lambda: frames.rows(self._case.tables.arrow(name), only))

    def answers(self, question: str, /, **values: Any) -> list[dict[str, Any]]:
        """Return the few rows that answer one of `kit/tables/questions` about these values, as dicts like `rows`."""
        text = (HERE / "questions" / f"{question}.sql").read_text(encoding="utf-8")
        return self._case.tables.answers(text, **values)

    @property
    def lang(self) -> Lang:
        """The language of texts that are no sentences yet."""
        return self._case.lang

    # --- which evidence there is --------------------------------------------------------------------------------------

    @property
    def files(self) -> Inventory:
        """Every file as it was recognised; the times of files that name no zone have none yet."""
        return self._case.unzoned

    @property
    def zoned(self) -> Inventory:
        """Every file with the zone of its times."""
        return self._case.inventory

    def has(self, table: str) -> bool:
        """Return whether a table has any row."""
        return self.once(f"has {table}", lambda: self._case.has(table))

    def has_source(self, source: str) -> bool:
        """Return whether there is a log of this source (`store`, `transaction`, `client`, …)."""
        return any(item.source == source for item in self.files.items)

    # --- quotes -------------------------------------------------------------------------------------------------------

    def lines(self, places: Iterable[tuple[str, int]]) -> list[str]:
        """Return several lines, each file read once. The first line is 1. Raise `KeyError`, `IndexError`."""
        return quotes.lines(self.files, places)

    def ref(self, file: str, line: int) -> Ref:
        """Return a reference to a line, with the line quoted. Raise as `lines` does."""
        return self.refs([(file, line)])[0]

    def refs(self, places: Iterable[tuple[str, int]]) -> tuple[Ref, ...]:
        """Return references to several lines, given as (file, line), in their order. Raise as `lines` does."""
        wanted = list(places)
        return tuple(Ref(file, text, line=line) for (file, line), text in zip(wanted, self.lines(wanted), strict=True))

    def record(self, file: str, physical_offset: int, columns: tuple[str, ...]) -> dict[str, Any]:
        """Return some columns of one record. Raise `KeyError` without one, `OSError` if the file is gone meanwhile."""
        log = self.once(f"commitlog {file}", lambda: quotes.commitlog(self.files, file))
        return quotes.record(log, physical_offset, columns)

    def once(self, name: str, work: Callable[[], R]) -> R:
        """Return the result of the first `work` called under this name, for several causes; others wait for it."""
        return self._memo.get(name, work)


def memo(work: Callable[Concatenate[Facts, P], R]) -> Callable[Concatenate[Facts, P], R]:
    """Make a function of facts, and of texts, work once for each evidence set."""

    @functools.wraps(work)
    def ask(facts: Facts, *args: P.args, **named: P.kwargs) -> R:
        return facts.once(f"{work.__module__}.{work.__qualname__} {args} {named}", lambda: work(facts, *args, **named))

    return ask
