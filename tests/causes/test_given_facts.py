"""Causes on a handful of rows: what each makes of its gold tables, without an engine and without files."""

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from table import rows_of

from kit import causes
from kit.causes import shown_by
from kit.inventory.inventory import Inventory
from kit.inventory.model import Item
from kit.tables import frames
from kit.tables.facts import Facts
from kit.tables.queries import catalogue


@pytest.mark.parametrize(("slug", "given", "verdict", "figures"), rows_of(__file__, "causes"))
def test_what_a_cause_makes_of_its_facts(slug, given, verdict, figures):
    found = causes.examine(facts(**given), slug)
    assert (found.verdict, {name: found.figures[name] for name in figures}) == (verdict, figures)
    assert found.as_dict("en") and found.as_dict("zh")


def test_a_cause_whose_table_is_not_there_names_it() -> None:
    with pytest.raises(KeyError, match="dead_letter_groups"):
        causes.examine(facts(has=["messages"]), "dead-letter")


def test_discards_that_only_a_log_prints_are_not_counted_as_discarded() -> None:
    found = causes.examine(facts(**rows_of(__file__, "discards_in_a_log")), "check-unknown-until-discard").as_dict()
    assert "1 of 1" not in found["summary"] and "No store shows the discards" in found["summary"]
    assert str(found["steps"][0]["claim"]).startswith("The broker's log says 2 times")


def test_code_13_alone_does_not_say_that_it_was_the_size() -> None:
    """A DLedger broker before 4.8.0 answers every batch so, and any broker properties that are too long."""
    given = [facts(**rows_of(__file__, name)) for name in ("code_13", "too_large")]
    found = [causes.examine(each, "client-oversize-reject") for each in given]
    assert [each.verdict for each in found] == ["suspected", "confirmed"]
    assert "for the size" not in str(found[0].as_dict()["summary"]).split(".")[0]


def test_a_remedy_names_no_setting_that_is_not_known() -> None:
    found = causes.examine(facts(**rows_of(__file__, "late_commit")), "duplicate-commit").as_dict()
    assert found["verdict"] == "confirmed" and "unknown" not in str(found["remedies"])


def test_a_log_that_was_cut_off_rules_nothing_out() -> None:
    lost = {"start": 0, "end": 4096, "large": True, "cut": False}
    for stretches, verdict, count in (
        ([], "ruled_out", 0), ([lost], "ruled_out", 0), ([lost | {"end": 99_999}], "insufficient_evidence", None),
        ([lost | {"cut": True}], "insufficient_evidence", None),
    ):  # fmt: skip
        known = facts(**rows_of(__file__, "whole"), stretches=stretches)
        found = shown_by.weighed(known, causes.examine(known, "duplicate-commit"))
        assert (found.verdict, found.figures["committed_twice"]) == (verdict, count)


def test_one_cluster_refutes_nothing_that_happened_in_another_of_that_name() -> None:
    rows = rows_of(__file__, "same_names")
    known = facts(**rows)
    assert causes.examine(known, "shared-producer-group").verdict == "ruled_out"
    assert shown_by.weighed(known, causes.examine(known, "shared-producer-group")).verdict != "ruled_out"
    nothing = facts(**rows | {"known_texts": [], "foreign_answers": []})
    assert shown_by.weighed(nothing, causes.examine(nothing, "shared-producer-group")).verdict == "ruled_out"


Rows = list[dict[str, Any]] | str
"""Rows, or the names of the columns of a table without any."""


class Given(Facts):
    """A table that is not given has no rows; as a frame one in SQL has to be given, for its columns."""

    def __init__(
        self, tables: Mapping[str, Rows], present: Iterable[str], files: Inventory, quotes: Mapping[int, str]
    ) -> None:
        super().__init__(SimpleNamespace(lang="en", unzoned=files, inventory=files))  # type: ignore[arg-type]
        self.tables, self.present, self.quotes = tables, frozenset(present), quotes

    def has(self, table: str) -> bool:
        return table in self.present

    def rows(self, name: str) -> list[dict[str, Any]]:
        rows = self.tables.get(name, [])
        return [] if isinstance(rows, str) else [dict(row) for row in rows]

    def __call__(self, name: str) -> pd.DataFrame:
        query = catalogue().get(name)
        if query and query.columns:  # a fold, which says its columns
            return frames.to_pandas(frames.to_arrow(self.rows(name), query.columns))
        rows = self.tables[name]
        if isinstance(rows, str):
            return pd.DataFrame(columns=pd.Index(rows.split()))
        return frames.to_pandas(pa.Table.from_pylist(rows))

    def lines(self, places: Iterable[tuple[str, int]]) -> list[str]:
        return [self.quotes.get(line, f"line {line} of {file}") for file, line in places]

    def record(self, file: str, physical_offset: int, columns: tuple[str, ...]) -> dict[str, Any]:
        return dict.fromkeys(columns) | {"file": file, "physical_offset": physical_offset}


def facts(
    *, has: Iterable[str] = (), sources: Iterable[str] = (), quotes: Mapping[int, str] | None = None, **tables: Rows
) -> Facts:
    """Return facts with these gold tables. `has`: other tables with rows (`messages`); `sources`: of the logs there are (`client`, `store`);
    `quotes`: what stands in a line, by its number.
    """
    logs = [Item(f"{source}.log", f"/{source}.log", 1000, "log", None, source=source) for source in sources]
    return Given(tables, has, Inventory("/evidence", tuple(logs), (), (), ""), quotes or {})
