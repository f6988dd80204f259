"""Facts of a few rows, without an engine and without files: `facts(unknown_topics=[{"topic": "pay", …}], sources=["client"])`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import pandas as pd
import pyarrow as pa

from kit.i18n import Lang
from kit.inventory.inventory import Inventory
from kit.inventory.model import Item
from kit.tables import frames
from kit.tables.facts import Facts
from kit.tables.queries import catalogue

Rows = list[dict[str, Any]] | str
"""Rows, or the names of the columns of a table without any."""


@attrs.frozen
class Given:
    """Where these facts come from. A table that is not given has no rows; as a frame one in SQL has to be given, for its columns."""

    tables: Mapping[str, Rows]
    present: frozenset[str]
    found: Inventory
    quotes: Mapping[int, str]
    lang: Lang = "en"

    @property
    def inventory(self) -> Inventory:
        return self.found

    def has_rows(self, table: str) -> bool:
        return table in self.present

    def fact_rows(self, name: str) -> list[dict[str, Any]]:
        rows = self.tables.get(name, [])
        return [] if isinstance(rows, str) else [dict(row) for row in rows]

    def fact_frame(self, name: str) -> pd.DataFrame:
        query = catalogue().get(name)
        if query and query.columns:  # a fold, which says its columns
            return frames.to_pandas(frames.to_arrow(self.fact_rows(name), query.columns))
        rows = self.tables[name]
        if isinstance(rows, str):
            return pd.DataFrame(columns=pd.Index(rows.split()))
        return frames.to_pandas(pa.Table.from_pylist(rows))

    def ask(self, question: str, /, **values: Any) -> list[dict[str, Any]]:
        return self.fact_rows(question)

    def lines(self, places: Iterable[tuple[str, int]]) -> list[str]:
        return [self.quotes.get(line, f"line {line} of {file}") for file, line in places]

    def first_with(self, file: str, text: str) -> int | None:
        return 1

    def record(self, file: str, physical_offset: int, columns: tuple[str, ...]) -> dict[str, Any]:
        return dict.fromkeys(columns) | {"file": file, "physical_offset": physical_offset}

    def raw(self, file: str, most: int) -> bytes:
        return b""


def facts(
    *, has: Iterable[str] = (), sources: Iterable[str] = (), quotes: Mapping[int, str] | None = None, **tables: Rows
) -> Facts:
    """Return facts with these gold tables. `has`: other tables with rows (`messages`); `sources`: of the logs there are (`client`, `store`);
    `quotes`: what stands in a line, by its number.
    """
    logs = [Item(f"{source}.log", f"/{source}.log", 1000, "log", None, source=source) for source in sources]
    found = Inventory("/evidence", tuple(logs), (), (), "")
    return Facts(Given(tables, frozenset(has), found, quotes or {}))
