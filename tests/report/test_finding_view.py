"""How one finding is put into words on the page, what a chart without anything to draw is there, and result tables as CSV."""

from __future__ import annotations

import csv
import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from kit.i18n import Lang, on_clock
from kit.report import html, write
from kit.report.finding_view import finding_view, when
from kit.report.notebooks import embed


@pytest.mark.parametrize(
    ("last", "lang", "said"),
    [
        ("2026-11-21T23:52:52.401Z", "en", "2026-11-21 23:52:52 UTC"),
        ("2026-11-21T23:52:54.301Z", "en", "2026-11-21 23:52:52 to 23:52:54 UTC (for 1.9 seconds)"),
        ("2026-11-21T23:53:52.398Z", "en", "2026-11-21 23:52:52 to 23:53:52 UTC (for 60 seconds)"),
        ("2026-11-22T01:52:52.398Z", "en", "2026-11-21 23:52:52 to 2026-11-22 01:52:52 UTC (for 2.0 hours)"),
        ("2026-11-21T23:53:02.398Z", "zh", "2026-11-21 23:52:52 至 23:53:02 UTC （持续 10 秒）"),
    ],
)
def test_when_it_happened(last: str, lang: Lang, said: str) -> None:
    assert when(("2026-11-21T23:52:52.398Z", last), lang) == said


@pytest.mark.parametrize(
    ("first", "last", "lang", "said"),
    [
        ("14:34:20", "14:34:20", "en", "2026-11-20 22:34:20 +08:00 (14:34:20 UTC)"),
        (
            "14:34:20",
            "14:34:50",
            "en",
            "2026-11-20 22:34:20 to 22:34:50 +08:00 (14:34:20 to 14:34:50 UTC) (for 30 seconds)",
        ),
        (
            "14:34:20",
            "14:34:50",
            "zh",
            "2026-11-20 22:34:20 至 22:34:50 +08:00（14:34:20 至 14:34:50 UTC） （持续 30 秒）",
        ),
        ("23:34:20", "23:34:20", "en", "2026-11-21 07:34:20 +08:00 (2026-11-20 23:34:20 UTC)"),
    ],
)
def test_when_it_happened_by_the_clock_of_the_evidence(first: str, last: str, lang: Lang, said: str) -> None:
    with on_clock(dt.timezone(dt.timedelta(hours=8))):
        assert when((f"2026-11-20T{first}.000Z", f"2026-11-20T{last}.000Z"), lang) == said


def test_a_time_among_the_figures_is_written_as_the_page_writes_times() -> None:
    figures = {"replica_end_time": "2026-11-21T23:24:06.869Z"}
    texts = {"cause": "replica-loss", "kind": "root_cause", "verdict": "confirmed", "title": "t", "summary": "s"}
    finding = texts | {"window": None, "steps": [], "remedies": [], "missing": [], "figures": figures}
    assert [card["value"] for card in finding_view(finding, [], "en")["numbers"]] == ["2026-11-21 23:24:06.869 UTC"]


REFUSED = {"file": "store.log", "line": 30, "text": "putMessage message topic length too long 149"}
RECORD = {
    "file": "commitlog/0",
    "physical_offset": 18_468,
    "text": "topic=T, body=[123, 34, 111, 114, 100, 101, 114], REAL_TOPIC=HALF",
}
HEAD = {"file": "iostat.txt", "line": 93, "text": "Device r/s"}
ROW = {"file": "iostat.txt", "line": 96, "text": "vda 13.00"}


@pytest.mark.parametrize(
    ("claim", "evidence", "quotes"),
    [
        ("149 characters.", [REFUSED], [("line 30", "putMessage message topic length too long <mark>149</mark>", "")]),
        (
            "30 lines.",
            [{**REFUSED, "text": "2026-11-30 22:30:20 in 30 ms {0:30"}],
            [("line 30", "2026-11-30 22:30:20 in <mark>30</mark> ms {0:<mark>30</mark>", "")],
        ),
        ("1,149 characters.", [REFUSED], [("line 30", REFUSED["text"], "")]),
        (
            "REAL_TOPIC is set.",
            [RECORD],
            [("byte 18,468", "topic=T, body=[…], <mark>REAL_TOPIC=HALF</mark>", RECORD["text"])],
        ),
        ("The disk is busy.", [HEAD, ROW], [("lines 93, 96", "Device r/s\nvda 13.00", "")]),
        ("Both.", [REFUSED, ROW], [("line 30", REFUSED["text"], ""), ("line 96", "vda 13.00", "")]),
        ("<b>", [{**REFUSED, "text": "<b>"}], [("line 30", "&lt;b&gt;", "")]),
    ],
)
def test_what_is_quoted_can_be_read_by_itself(claim: str, evidence: list[Any], quotes: list[Any]) -> None:
    [step] = view_of(("a", claim, evidence))
    assert [(q["place"], q["text"], q["whole"]) for q in step["evidence"]] == quotes


def test_a_line_is_quoted_openly_once() -> None:
    steps = view_of(("a", "One.", [REFUSED]), ("b", "Two.", [REFUSED, RECORD]), ("c", "Three.", [RECORD]))
    assert [(step["open"], step["evidence"][0]["place"]) for step in steps] == [
        (1, "line 30"), (1, "byte 18,468"), (0, "byte 18,468"),
    ]  # fmt: skip


def view_of(*steps: tuple[str, str, list[Any]]) -> list[dict[str, Any]]:
    chain = [{"id": i, "claim": claim, "role": "deciding", "holds": True, "evidence": refs} for i, claim, refs in steps]
    texts = {"cause": "x", "kind": "root_cause", "verdict": "confirmed", "title": "t", "summary": "s", "window": None}
    finding = texts | {"steps": chain, "remedies": [], "missing": [], "figures": {}}
    shown: list[dict[str, Any]] = finding_view(finding, [], "en")["steps"]
    return shown


def test_shares_are_in_percent_and_the_largest_lag_is_a_number_of_its_own() -> None:
    texts = {"cause": "x", "kind": "root_cause", "verdict": "confirmed", "title": "t", "summary": "s", "window": None}
    figures = {"explanations": [{"why": "w", "share": 0.4309}], "lag": {"a@g": 5084, "b@g": 1}}
    view = finding_view(texts | {"steps": [], "remedies": [], "missing": [], "figures": figures}, [], "en")
    assert view["number_tables"][0]["rows"] == [["w", "43%"]]
    assert [card["value"] for card in view["numbers"]] == ["5,084"]
    assert view["numbers"][0]["label"].endswith(": a@g")


def _as_json(figure: go.Figure) -> dict[str, object]:
    spec: dict[str, object] = json.loads(figure.to_json())
    return spec


@pytest.mark.parametrize(
    ("figure", "blank"),
    [
        (go.Figure(), True),
        (go.Figure(go.Bar(x=[], y=[])), True),
        (go.Figure(go.Scatter(x=np.array([]), y=np.array([]))), True),
        (go.Figure(go.Bar(x=["a"], y=[0])), False),
        (go.Figure(go.Scatter(x=np.arange(3), y=np.arange(3))), False),
        (go.Figure(go.Heatmap(z=[[1, 2]])), False),
        (go.Figure(go.Sankey(node={"label": ["a", "b"]}, link={"source": [0], "target": [1], "value": [2]})), False),
        (go.Figure(layout={"annotations": [{"text": "none"}]}), False),
    ],
)
def test_blank(figure: go.Figure, blank: bool) -> None:
    assert (embed(_as_json(figure)) == "") is blank


def test_its_place_on_the_page_is_not_drawn() -> None:
    macro = html.environment().get_template("parts.html.j2").module.chart  # type: ignore[attr-defined]
    words = html.page("en")
    block = {
        "id": "c", "min_width": 0, "title": "t", "reading": "Nothing is known.", "alt": "", "table": None, "figure": "",
    }  # fmt: skip
    blank = str(macro(block, words))
    assert "Nothing is known." in blank and "data-chart" not in blank and "canvas" not in blank
    assert "data-chart" in str(macro({**block, "figure": embed({"data": [{"x": [1]}]})}, words))


HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1＋1", "＋1", "－1", "＠SUM(A1)"]


@pytest.mark.parametrize("text", HOSTILE)
def test_neither_a_cell_nor_a_header_is_a_formula(tmp_path: Path, text: str) -> None:
    write.csv(pd.DataFrame({text: [text, "plain"], "n": [-1, 2.5]}), tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        head, first, second = list(csv.reader(file))
    assert head[0].startswith("'") and first[0].startswith("'")
    assert (head[1], first[1], second) == ("n", "-1.0", ["plain", "2.5"])


def test_a_line_number_is_whole_beside_an_unknown_one(tmp_path: Path) -> None:
    columns = {
        "line": [8, None], "seconds": [8.0, 2.0], "share": [0.5, None], "unknown": [None, None],
        "end": [float("inf"), None],
    }  # fmt: skip
    write.csv(pd.DataFrame(columns), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "line,seconds,share,unknown,end\n8,8.0,0.5,,inf\n,2.0,,,\n"
