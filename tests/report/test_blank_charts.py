"""A chart without anything to draw is its sentence alone: empty axes say nothing."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from kit.report import html
from kit.report.notebooks import embed


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
