"""What follows at a stop of a walk: it never says more than the evidence shows, and names what would answer."""

import asked
import pandas as pd
import pytest
from table import rows_of

from kit.causes import shown_by
from kit.notebook.walks import walk

ROWS = rows_of(__file__, "says")


@pytest.mark.parametrize("row", ROWS, ids=[f"{n}-{each['walk']}-{each['stop']}" for n, each in enumerate(ROWS)])
def test_a_stop_says_what_its_evidence_shows(monkeypatch, row):
    here = row.get("here", shown_by.PRESENT)
    monkeypatch.setattr(shown_by, "PRESENT", {name: lambda _, it=name: it in here for name in shown_by.PRESENT})
    monkeypatch.setattr(shown_by, "_excerpt", lambda _: row.get("paste", False))
    case = asked.case(**row.get("given", {}))
    assert row["says"] in walk(row["walk"])[row["stop"]].of(case, pd.DataFrame(row["rows"])).render("en")
