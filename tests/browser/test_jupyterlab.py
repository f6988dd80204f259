"""JupyterLab itself, driven in a real Chromium: open a notebook on the sample, run all of it, use its widget, see the
chart change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import recorded
from jupyterlab_server import book, opened, run_all, serving

import kit

pytestmark = [pytest.mark.browser, pytest.mark.spark]

BOOK = "20_half_topic_blowup"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """Return the address of a JupyterLab on a folder with the notebook, its evidence triaged already."""
    evidence, workspace = recorded.archive("half-topic-blowup"), tmp_path / "workspace"
    kit.triage(kit.open_case(evidence, workspace))
    with serving(tmp_path, **{BOOK: book(BOOK, evidence=str(evidence), workspace=str(workspace))}) as address:
        yield address


def test_run_all_use_the_picker_and_see_the_chart_change(browser: Any, lab: str) -> None:
    page = opened(browser, lab, BOOK)
    run_all(page)
    page.wait_for_selector(".jp-Notebook .widget-dropdown select")
    page.wait_for_selector(".jp-OutputArea .js-plotly-plot svg.main-svg")
    picker = page.locator(".jp-Notebook .widget-dropdown select").first
    picker.scroll_into_view_if_needed()
    values = picker.locator("option").all_inner_texts()
    leaked = {
        r["properties"]["UNIQ_KEY"]
        for r in recorded.truth("half-topic-blowup")
        if r["topic"] == "RMQ_SYS_TRANS_HALF_TOPIC" == r["properties"].get("REAL_TOPIC")
    }
    assert set(values) == leaked
    chart = page.locator(".rmq-kit-live .js-plotly-plot").first
    chart.wait_for(timeout=15000)
    first = chart.evaluate("e => JSON.stringify(e.data.map(t => t.x))")
    picker.select_option(index=len(values) - 1)
    page.wait_for_function(
        "first => { const e = document.querySelector('.rmq-kit-live .js-plotly-plot'); return e && e.data && JSON.stringify(e.data.map(t => t.x)) !== first }",
        arg=first,
    )
    page.context.close()
