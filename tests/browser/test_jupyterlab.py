"""JupyterLab itself, driven in a real Chromium: open a notebook on the sample, run all of it, use its widget, see the answer
change; and the page made of a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import recorded
from jupyterlab_server import book, opened, run_all, serving
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook, new_output

import kit
from kit.charts import offline, pictures

pytestmark = [pytest.mark.browser, pytest.mark.spark]

BOOK = "20_half_topic_blowup"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """Return the address of a JupyterLab on a folder with the notebook, its evidence triaged already."""
    evidence, workspace = recorded.archive("half-topic-blowup"), tmp_path / "workspace"
    kit.triage(kit.open_case(evidence, workspace))
    with serving(tmp_path, **{BOOK: book(BOOK, evidence=str(evidence), workspace=str(workspace))}) as address:
        yield address


def test_a_page_made_of_a_notebook_draws_its_charts(browser: Any, tmp_path: Path) -> None:
    rows = pd.DataFrame({"stage": ["half", "commit"], "records": [3, 2]})
    data = [{"text/html": offline.library()}, pictures.bars(rows)._repr_mimebundle_()]
    shown = [new_output("display_data", data=each) for each in data]
    page, _ = HTMLExporter().from_notebook_node(new_notebook(cells=[new_code_cell("1", outputs=shown)]))
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    context = browser.new_context(viewport={"width": 390, "height": 900}, offline=True)
    opened_ = context.new_page()
    opened_.goto((tmp_path / "page.html").as_uri())
    chart = opened_.locator(".js-plotly-plot")
    chart.locator("svg.main-svg").first.wait_for(timeout=60_000)
    assert chart.evaluate("e => e.data[0].x.length || e.data[0].x._inputArray?.length || e._fullData[0].x.length") == 2
    assert chart.bounding_box()["width"] >= 520
    context.close()


def test_run_all_see_the_charts_ask_what_another_group_would_have_done(browser: Any, lab: str) -> None:
    page = opened(browser, lab, BOOK)
    run_all(page)
    page.wait_for_selector(".jp-OutputArea .js-plotly-plot svg.main-svg")
    asked = page.locator(".rmq-kit-live").first
    asked.scroll_into_view_if_needed()
    length = recorded.label("half-topic-blowup")["retry_topic_length"]
    page.wait_for_function(
        "said => document.querySelector('.rmq-kit-live table')?.innerText.includes(said)", arg=f"{length} characters"
    )
    group = asked.locator("input").first
    group.fill("points")
    group.press("Enter")
    # %RETRY% and six letters.
    page.wait_for_function("() => document.querySelector('.rmq-kit-live table')?.innerText.includes('13 characters')")
    page.context.close()
