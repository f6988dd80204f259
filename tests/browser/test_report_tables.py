"""Tables of a report in a real Chromium: sorted and filtered by mouse and keyboard, said to a screen reader, whole without
JavaScript."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import incidents
import pandas as pd
import pytest

from kit.charts import Table
from kit.report.build import build

pytestmark = pytest.mark.browser

COUNTS = [1200, 30, None, 7, 100, 99, 5000, 12, 8, 1, 2, 3]
NAMES = [f"queue {n}" for n in (10, 9, 2, 1, 3, 4, 5, 6, 7, 8, 11, 12)]
CELLS = "e => Array.from(e.tBodies[0].rows).filter(r => !r.hidden).map(r => r.cells[{}].textContent)"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    frame = pd.DataFrame({"queue": NAMES, "messages": pd.array(COUNTS, "Int64"), "text": [incidents.HOSTILE] * 12})
    few = pd.DataFrame({"a": ["x", "y"]})
    run = [
        incidents.notebook(
            folder / "20.ipynb", "half-topic-blowup", Table(frame, "Queues of all"), Table(few, "Only two")
        )
    ]
    return build(incidents.blow_up(), incidents.tables(), run, folder / "out")


def the_table(page: Any, caption: str) -> Any:
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    return page.locator("main .scroll > table").filter(has=page.locator(f"caption:has-text('{caption}')"))


def test_sorted_by_keyboard_up_down_and_back(visit: Any, report: Path) -> None:
    opened = visit(report)
    table = the_table(opened.page, "Queues of all")
    before = table.evaluate(CELLS.format(1))
    head, button = table.locator("th").nth(1), table.locator("th button").nth(1)
    assert head.get_attribute("aria-sort") == "none"
    button.focus()
    opened.page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    known = sorted(n for n in COUNTS if n is not None)
    assert table.evaluate(CELLS.format(1)) == [f"{n:,}" for n in known] + ["–"]
    opened.page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending"
    assert table.evaluate(CELLS.format(1)) == [f"{n:,}" for n in reversed(known)] + ["–"]
    # Numbers in names count as numbers; only one column is the sorted one.
    table.locator("th button").nth(0).click()
    assert table.evaluate(CELLS.format(0)) == [f"queue {n}" for n in range(1, 13)]
    assert [h.get_attribute("aria-sort") for h in table.locator("th").all()] == ["ascending", "none", "none"]
    for _ in range(2):
        table.locator("th button").nth(0).click()
    assert table.evaluate(CELLS.format(1)) == before
    assert opened.requests == [] and opened.complaints == []


def test_filtered_by_words_and_told(visit: Any, report: Path) -> None:
    opened = visit(report)
    table = the_table(opened.page, "Queues of all")
    field = opened.page.locator("input[aria-label*='Queues of all']")
    assert field.evaluate("e => e.closest('label').textContent.trim()") == "Filter these rows"
    field.fill("QUEUE 5,000")
    assert table.evaluate(CELLS.format(0)) == ["queue 5"]
    status = opened.page.locator("p.filter output").filter(has_text="/")
    assert status.inner_text() == "1 / 12"
    field.fill("<script>")
    assert len(table.evaluate(CELLS.format(0))) == 12 and opened.page.locator("script:has-text('alert')").count() == 0
    field.fill("nobody")
    assert table.evaluate(CELLS.format(0)) == []
    field.fill("")
    assert len(table.evaluate(CELLS.format(0))) == 12 and opened.complaints == []


def test_small_tables_stay_plain_and_all_is_there_without_javascript(visit: Any, browser: Any, report: Path) -> None:
    opened = visit(report)
    assert the_table(opened.page, "Only two").locator("th button").count() == 0
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator("th button, p.filter").count() == 0
    assert page.locator("td:has-text('queue 12')").count() == 1
    context.close()
