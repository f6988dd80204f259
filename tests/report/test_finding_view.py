"""How one finding is put into words on the page; result tables as CSV."""

import csv
import datetime as dt

import incidents
import pandas as pd
import pytest
from table import rows_of

from kit.i18n import on_clock
from kit.report import write
from kit.report.html import finding_view, when


@pytest.mark.parametrize(("first", "last", "hours", "lang", "said"), rows_of(__file__, "when_it_happened"))
def test_when_it_happened(first, last, hours, lang, said):
    with on_clock(None if hours is None else dt.timezone(dt.timedelta(hours=hours))):
        assert when([f"2026-11-21T{time}" for time in (first, last)], lang) == said


def test_figures_as_cards_and_tables():
    figures = {"explanations": [{"why": "w", "share": 0.4309}], "lag": {"a@g": 5084, "b@g": 1}}
    figures["replica_end_time"] = "2026-11-21T23:24:06.869Z"
    found = incidents.finding("x", "confirmed", figures=figures)
    shown = finding_view(found, [], "en")
    assert shown["number_tables"][0]["rows"] == [["w", "43%"]]
    assert [card["value"] for card in shown["numbers"]] == ["5,084", "2026-11-21 23:24:06.869 UTC"]
    assert shown["numbers"][0]["label"].endswith(": a@g")


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1＋1", "＋1", "－1", "＠SUM(A1)"]
)
def test_neither_a_cell_nor_a_header_is_a_formula(tmp_path, text):
    write.csv(pd.DataFrame({text: [text, "plain"], "n": [-1, 2.5]}), tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        head, first, second = list(csv.reader(file))
    assert head[0].startswith("'") and first[0].startswith("'")
    assert (head[1], first[1], second) == ("n", "-1.0", ["plain", "2.5"])


def test_a_line_number_is_whole_beside_an_unknown_one(tmp_path):
    columns = {"line": [8, None], "seconds": [8.0, 2.0], "share": [0.5, None], "end": [float("inf"), None]}
    write.csv(pd.DataFrame(columns), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "line,seconds,share,end\n8,8.0,0.5,inf\n,2.0,,\n"
