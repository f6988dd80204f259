"""The report in a real Chromium: it draws, calls nobody, fits the screen, sorts and filters its tables, and runs nothing of the evidence."""

import chart_frames
import incidents
import pandas as pd
import pytest

from kit.charts import Table, overview, pictures, sends, transactions
from kit.report.build import build

pytestmark = pytest.mark.browser

DRAWN = """() => Array.from(document.querySelectorAll('figure[data-chart]:not(.told)')).map(box => {
  const svg = box.querySelector('svg.main-svg');
  const marks = box.querySelectorAll('.trace, .sankey-link, .bars path, .points path, .js-line');
  return {id: box.id, width: svg ? svg.getBoundingClientRect().width : 0, marks: marks.length};
})"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Return a report with every chart and a hostile text wherever evidence can put one."""
    folder = tmp_path_factory.mktemp("report")
    frame = incidents.life_frame()
    spans = incidents.tables()["inventory"].assign(kind=incidents.HOSTILE)
    hostile = frame.assign(topic=frame["topic"].replace("trade", incidents.HOSTILE), offset_msg_id=incidents.HOSTILE)
    flows = chart_frames.frame("accounts").replace("committed", incidents.HOSTILE)
    charts = [
        transactions.growth(incidents.growth_frame()),
        transactions.accounting(flows),
        pictures.lanes(hostile[["store_timestamp", "topic", "offset_msg_id"]]),
        sends.outcome(chart_frames.frame("outcome")),
        transactions.one_becomes_two(chart_frames.frame("two")),
    ]
    run = [
        incidents.notebook(folder / "10.ipynb", None, overview.coverage(spans)),
        incidents.notebook(
            folder / "20.ipynb", "half-topic-blowup", *charts, Table(hostile, incidents.HOSTILE), incidents.HOSTILE
        ),
    ]
    return build(incidents.hostile(), incidents.tables(), run, folder / "out")


CUT = """() => [...document.querySelectorAll('figure:not(.told) .canvas svg.main-svg text')].filter(text =>
  text.getBoundingClientRect().width && text.getBoundingClientRect().left < text.closest('.canvas').getBoundingClientRect().left - 1).map(text => text.textContent)"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_draws_every_chart_and_fits_without_a_request_or_a_complaint(visit, report, width, scheme):
    opened = visit(report, width, color_scheme=scheme)
    charts = opened.page.evaluate(DRAWN)
    assert len(charts) == (6 if width == 1280 else 5)  # flows are too wide for a telephone
    assert all(chart["width"] > 250 and chart["marks"] > 0 for chart in charts), charts
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.page.evaluate(CUT) == []
    assert opened.requests == []
    assert opened.complaints == []


def test_a_flow_is_told_by_its_table_where_the_window_is_narrow(visit, report):
    page = visit(report, 390).page
    flow = page.locator("figure.told")
    assert flow.count() == 1 and flow.locator("table").is_visible() and not flow.locator(".plot").is_visible()
    name = flow.get_attribute("id")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator(f"#{name} .sankey-link").first.wait_for()
    assert page.locator("figure.told").count() == 0


def test_planted_markup_stays_text_also_where_a_chart_is_hovered(visit, report):
    opened = visit(report)
    opened.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    text = opened.page.inner_text("body")
    assert text.count("<script>alert(1)</script>") >= 8
    assert "\\x1b[31mred" in text and "\\u202eevil" in text
    assert not set("\x1b\u202e\u202c") & set(opened.page.content())
    assert opened.page.locator("img, iframe, object, [onerror], a[href^='javascript']").count() == 0
    labels = " ".join(opened.page.locator("svg text").all_text_contents())
    assert "<script>alert(1)</script>" in labels
    assert opened.page.locator("svg a").count() == 0
    assert opened.complaints == []
    box = opened.page.locator("figure", has_text="topic by store timestamp").locator(".canvas").first
    box.scroll_into_view_if_needed()
    opened.page.evaluate("gd => Plotly.Fx.hover(gd, [{curveNumber: 1, pointNumber: 0}])", box.element_handle())
    assert "<script>alert(1)</script>" in " ".join(opened.page.locator("g.hovertext text").all_text_contents())
    assert opened.complaints == []


def test_reached_by_keyboard(visit, report):
    opened = visit(report)
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.className") == "skip"
    opened.page.keyboard.press("Enter")
    assert opened.page.evaluate("document.activeElement.id") == "report"
    reachable = opened.page.evaluate(
        """() => Array.from(document.querySelectorAll('pre, .scroll, .plot')).filter(e => {
             return (e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight) && e.tabIndex < 0 }).length"""
    )
    assert reachable == 0


def test_readable_without_javascript(browser, report):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    # What is open; the other charts wait in folds.
    assert page.locator(".undrawn:visible").count() == 2
    assert page.locator("figure details summary:visible").count() == 2
    context.close()


def test_prints_with_folds_open_and_charts_on_white(visit, report, tmp_path):
    opened = visit(report, 1280, color_scheme="dark")
    opened.page.emulate_media(media="print")
    opened.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert opened.page.locator("details:not([open]):not(.list)").count() == 0
    widths = opened.page.evaluate(
        "Array.from(document.querySelectorAll('svg.main-svg')).map(s => s.getBoundingClientRect().width)"
    )
    assert max(widths) <= 683  # A4 less margins of 11 mm is 710 px, of which the padding and border of a figure take 27
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    opened.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert opened.page.locator("details[open]").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_accessibility_issue(visit, serious, report, scheme):
    # The page lets no foreign script in; the checker comes from the tests.
    assert serious(visit(report, color_scheme=scheme, bypass_csp=True).page) == []


COUNTS = [1200, 30, None, 7, 100, 99, 5000, 12, 8, 1, 2, 3]
NAMES = [f"queue {n}" for n in (10, 9, 2, 1, 3, 4, 5, 6, 7, 8, 11, 12)]
CELLS = "e => Array.from(e.tBodies[0].rows).filter(r => !r.hidden).map(r => r.cells[{}].textContent)"


def test_sorted_and_filtered(visit, tmp_path):
    frame = pd.DataFrame({"queue": NAMES, "messages": pd.array(COUNTS, "Int64"), "text": [incidents.HOSTILE] * 12})
    run = [incidents.notebook(tmp_path / "20.ipynb", "half-topic-blowup", Table(frame, "Queues of all"))]
    opened = visit(build(incidents.blow_up(), incidents.tables(), run, tmp_path / "out"))
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    table = page.locator("main .scroll > table").filter(has=page.locator("caption:has-text('Queues of all')"))

    def cells(column):
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
