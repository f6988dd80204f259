"""Tables of a report in a real Chromium: sorted and filtered by mouse and keyboard, said to a screen reader."""

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


def test_sorted_and_filtered(visit: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"queue": NAMES, "messages": pd.array(COUNTS, "Int64"), "text": [incidents.HOSTILE] * 12})
    run = [incidents.notebook(tmp_path / "20.ipynb", "half-topic-blowup", Table(frame, "Queues of all"))]
    opened = visit(build(incidents.blow_up(), incidents.tables(), run, tmp_path / "out"))
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    table = page.locator("main .scroll > table").filter(has=page.locator("caption:has-text('Queues of all')"))

    def cells(column: int) -> list[str]:
        return list(table.evaluate(CELLS.format(column)))

    before, known = cells(1), sorted(n for n in COUNTS if n is not None)
    head, button = table.locator("th").nth(1), table.locator("th button").nth(1)
    button.focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending" and cells(1) == [f"{n:,}" for n in known] + ["–"]
    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending" and cells(1) == [f"{n:,}" for n in reversed(known)] + ["–"]
    # Numbers in names count as numbers; only one column is the sorted one.
    table.locator("th button").nth(0).click()
    assert cells(0) == [f"queue {n}" for n in range(1, 13)]
    assert [h.get_attribute("aria-sort") for h in table.locator("th").all()] == ["ascending", "none", "none"]
    for _ in range(2):
        table.locator("th button").nth(0).click()
    assert cells(1) == before

    field = page.locator("input[aria-label*='Queues of all']")
    assert field.evaluate("e => e.closest('label').textContent.trim()") == "Filter these rows"
    field.fill("QUEUE 5,000")
    assert cells(0) == ["queue 5"] and page.locator("p.filter output").filter(has_text="/").inner_text() == "1 / 12"
    for text, left in (("<script>", 12), ("nobody", 0), ("", 12)):
        field.fill(text)
        assert len(cells(0)) == left
    assert page.locator("script:has-text('alert')").count() == 0
    assert opened.requests == [] and opened.complaints == []
