"""What the tables make of a few rows: each YAML file beside this one has the cases of one subject.

A case says in its name what is true, which rows are `given` to which tables, and which rows the `table` then has: at least the columns that are
named, those of a gold table in order unless `order: any`. `!at 5` is five seconds after the beginning; a given row has the `defaults` of its table where it says nothing.
"""

import datetime as dt
from pathlib import Path
from typing import Any

import asked
import pytest
import yaml

from kit.tables.queries import catalogue


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML with times."""


Loader.add_constructor("!at", lambda loader, node: asked.at(float(node.value)))


def cases() -> list[Any]:
    found = []
    for path in sorted(Path(__file__).parent.glob("*.yaml")):
        subject = yaml.load(path.read_text(encoding="utf-8"), Loader)
        found += [
            pytest.param(case, subject.get("defaults", {}), id=f"{path.stem}: {case['name']}")
            for case in subject["cases"]
        ]
    return found


def in_utc(value: Any) -> Any:
    """Times in tables are naive."""
    return value.replace(tzinfo=dt.UTC) if isinstance(value, dt.datetime) else value


@pytest.mark.parametrize(("case", "defaults"), cases())
def test_a_table_makes_of_rows(case: dict[str, Any], defaults: dict[str, dict[str, Any]]) -> None:
    given = {name: [defaults.get(name, {}) | row for row in rows] for name, rows in case["given"].items()}
    made = asked.rows(case["table"], **given)
    expected = case["expect"]
    assert len(made) == len(expected), made
    if case.get("order") == "any" or catalogue()[case["table"]].layer == "silver":
        made = sorted(made, key=lambda row: str([row[name] for name in expected[0]]))
        expected = sorted(expected, key=lambda row: str(list(row.values())))
    for row, wanted in zip(made, expected, strict=True):
        assert {name: in_utc(row[name]) for name in wanted} == wanted
