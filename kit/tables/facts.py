"""Facts: what a cause may look at. Small frames, worked out when they are asked for, which kinds of evidence there are,
and quoted lines and records.

Nothing here knows an engine or opens a file. A `Source` does: a case, or the rows of a test.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from kit.inventory.references import Ref

if TYPE_CHECKING:
    import pandas as pd

    from kit.i18n import Lang
    from kit.inventory.inventory import Inventory

R = TypeVar("R")
KEPT: Final = 50_000
"""Rows of a table that stay in memory as dicts."""


class Source(Protocol):
    """Where facts come from."""

    @property
    def lang(self) -> Lang: ...
    @property
    def unzoned(self) -> Inventory: ...
    @property
    def inventory(self) -> Inventory: ...
    def has_rows(self, table: str) -> bool: ...
    def fact_frame(self, name: str) -> pd.DataFrame: ...
    def fact_rows(self, name: str) -> list[dict[str, Any]]: ...
    def ask(self, question: str, /, **values: Any) -> list[dict[str, Any]]: ...
    def lines(self, places: Iterable[tuple[str, int]]) -> list[str]: ...
    def first_with(self, file: str, text: str) -> int | None: ...
    def record(self, file: str, physical_offset: int, columns: tuple[str, ...]) -> dict[str, Any]: ...
    def raw(self, file: str, most: int) -> bytes: ...


class Facts:
    """The facts of one evidence set. `facts("leak_growth")` is a gold table as a frame of its own."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._memo: dict[str, Any] = {}

    def __call__(self, name: str) -> pd.DataFrame:
        """Return a gold table as a frame. Raise `KeyError`, `TableFailed`, which name it."""
        return self._source.fact_frame(name)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return a gold table as shared dicts of plain values, times naive in UTC. Raise as a call does."""
        known: list[dict[str, Any]] | None = self._memo.get(f"rows of {name}")
        rows = self._source.fact_rows(name) if known is None else known
        if len(rows) <= KEPT:
            self._memo[f"rows of {name}"] = rows
        return rows

    def answers(self, question: str, /, **values: Any) -> list[dict[str, Any]]:
        """Return the few rows that answer one of `kit/tables/questions` about these values, as dicts like `rows`."""
        return self._source.ask(question, **values)

    @property
    def lang(self) -> Lang:
        """The language of texts that are no sentences yet."""
        return self._source.lang

    # --- which evidence there is --------------------------------------------------------------------------------------

    @property
    def files(self) -> Inventory:
        """Every file as it was recognised; the times of files that name no zone have none yet."""
        return self._source.unzoned

    @property
    def zoned(self) -> Inventory:
        """Every file with the zone of its times."""
        return self._source.inventory

    def has(self, table: str) -> bool:
        """Return whether a table has any row."""
        return self.once(f"has {table}", lambda: self._source.has_rows(table))

    def has_source(self, source: str) -> bool:
        """Return whether there is a log of this source (`store`, `transaction`, `client`, …)."""
        return any(item.source == source for item in self.files.items)

    # --- quotes -------------------------------------------------------------------------------------------------------

    def lines(self, places: Iterable[tuple[str, int]]) -> list[str]:
        """Return several lines, each file read once. The first line is 1. Raise `KeyError`, `IndexError`."""
        return self._source.lines(places)

    def ref(self, file: str, line: int) -> Ref:
        """Return a reference to a line, with the line quoted. Raise as `lines` does."""
        return self.refs([(file, line)])[0]

    def refs(self, places: Iterable[tuple[str, int]]) -> tuple[Ref, ...]:
        """Return references to several lines, given as (file, line), in their order. Raise as `lines` does."""
        wanted = list(places)
        return tuple(Ref(file, text, line=line) for (file, line), text in zip(wanted, self.lines(wanted), strict=True))

    def first_with(self, file: str, text: str) -> int | None:
        """Return the number of the first line with a text, None if absent. Raise `KeyError`."""
        return self._source.first_with(file, text)

    def record(self, file: str, physical_offset: int, columns: tuple[str, ...]) -> dict[str, Any]:
        """Return some columns of one record. Raise `KeyError` without one, `OSError` if the file is gone meanwhile."""
        return self._source.record(file, physical_offset, columns)

    def raw(self, file: str, most: int) -> bytes:
        """Return the first `most` bytes of a file. Raise `KeyError`."""
        return self._source.raw(file, most)

    # --- what several causes share ------------------------------------------------------------------------------------

    def once(self, name: str, work: Callable[[], R]) -> R:
        """Return the result of the first `work` called under this name; others wait for it."""
        lock: Any = self._memo.setdefault(f"{name} lock", threading.RLock())
        with lock:
            if name not in self._memo:
                self._memo[name] = work()
            result: R = self._memo[name]
        return result


def memo(work: Callable[[Facts], R]) -> Callable[[Facts], R]:
    """Make a function of facts work once for each evidence set."""

    @functools.wraps(work)
    def ask(facts: Facts) -> R:
        return facts.once(f"{work.__module__}.{work.__qualname__}", lambda: work(facts))

    return ask
