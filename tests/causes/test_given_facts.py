"""Causes on a handful of rows: what each makes of its gold tables, without an engine and without files."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from expected import check, examine
from table import rows_of

from kit.causes import shown_by
from kit.inventory.inventory import Inventory
from kit.inventory.model import Item
from kit.tables import frames
from kit.tables.facts import Facts
from kit.tables.queries import catalogue


@pytest.mark.parametrize("row", rows_of(__file__, "causes"), ids=lambda row: row["name"])
def test_what_a_cause_makes_of_its_facts(row):
    known = facts(**row["given"])
    found = examine(known, row["cause"])
    check(shown_by.weighed(known, found) if row.get("weighed") else found, row["shows"])
    assert found.as_dict("en") and found.as_dict("zh")


def test_a_cause_whose_table_is_not_there_names_it():
    with pytest.raises(KeyError, match="dead_letter_groups"):
        examine(facts(has=["messages"]), "dead-letter")


Rows = list[dict[str, Any]] | str
"""Rows, or the names of the columns of a table without any."""


class Given(Facts):
    """A table that is not given has no rows; as a frame one in SQL has to be given, for its columns."""

    def __init__(self, tables, present, files, quotes):
        super().__init__(SimpleNamespace(lang="en", unzoned=files, inventory=files))
        self.tables, self.present, self.quotes = tables, frozenset(present), quotes

    def has(self, table):
        return table in self.present

    def rows(self, name, **only):
        rows = self.tables.get(name, [])
        rows = () if isinstance(rows, str) else rows
        return [dict(row) for row in rows if all(row.get(column) in values for column, values in only.items())]

    def __call__(self, name, *columns):
        query = catalogue().get(name)
        if query and query.columns:  # a fold, which says its columns
            return frames.to_pandas(frames.to_arrow(self.rows(name), query.columns))
        rows = self.tables[name]
        if isinstance(rows, str):
            return pd.DataFrame(columns=pd.Index(rows.split()))
        return frames.to_pandas(pa.Table.from_pylist(rows))

    def lines(self, places):
        return [self.quotes.get(line, f"line {line} of {file}") for file, line in places]

    def record(self, file, physical_offset, columns):
        return dict.fromkeys(columns) | {"file": file, "physical_offset": physical_offset}


def facts(*, has=(), sources=(), quotes=None, **tables):
    """Return facts with these gold tables. `has`: other tables with rows (`messages`); `sources`: of the logs there are (`client`, `store`);
    `quotes`: what stands in a line, by its number.
    """
    logs = [Item(f"{source}.log", f"/{source}.log", 1000, "log", None, source=source) for source in sources]
    return Given(tables, has, Inventory(tuple(logs), (), (), ""), quotes or {})
