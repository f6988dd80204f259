"""The runner, and what every table has to have."""

import re

import asked
import pytest

from kit.tables.queries import HERE, catalogue
from kit.tables.runner import TableFailed


def test_what_fails_is_named_and_costs_only_itself() -> None:
    case = asked.case(messages_within=[{"file": "f"}])
    case.given["files"] = case.given["messages_within"]  # no such columns
    with pytest.raises(TableFailed, match="table records"):
        case.tables.frame("records")
    assert case.facts("known_texts").empty


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_every_table_says_what_it_is(name: str) -> None:
    query = catalogue()[name]
    head = (
        query.text.split('"""')[1]
        if query.module or query.fold
        else "\n".join(re.findall(r"^--.*", query.text, re.MULTILINE))
    )
    assert len(head.strip("- \n")) > 40, f"{name}: one row per what?"
    if query.layer == "gold" and not (query.module or query.fold):
        assert re.search(r"\border by\b|^-- One row(:|\b.*\bin all\b)", query.text, re.IGNORECASE | re.MULTILINE), (
            f"{name}: in no order"
        )
    assert HERE.exists()


def test_the_first_forty_starts_are_moments() -> None:
    events = [{"event": "client-started", "file": "f", "line": n, "ts": asked.at(100 - n)} for n in range(50)]
    found = asked.rows("first_moments", events=[*events, {"event": "broker-boot", "file": "f", "line": 99}])
    assert [row["line"] for row in found] == list(range(49, 9, -1))
