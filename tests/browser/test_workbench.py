"""Investigating by pointing, in a real JupyterLab: what is brushed or clicked narrows everything else and is a value in
Python."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import recorded
from jupyterlab_server import book, of_cells, opened, run_all, run_cell, serving

import kit

pytestmark = [pytest.mark.browser, pytest.mark.spark]

IMAGE = "<img src=x onerror=document.title='taken'>"
FOLLOWS = 60_000
"""Milliseconds in which everything follows on a machine that runs much else as well; docs/explore.md says how long it takes
on one that does not."""
FIRST_CELLS = "() => [...document.querySelectorAll('.rmq-kit-explorer .rmq-kit-rows table')].map(t => t.tBodies[0].rows[0]?.cells[0].innerText ?? '')"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workbench")


@pytest.fixture(scope="module")
def lab(folder: Path) -> Iterator[str]:
    """Return the address of a JupyterLab with notebooks on a triaged recording and on hostile evidence."""
    evidence, workspace = str(recorded.archive("half-topic-blowup")), str(folder / "workspace")
    kit.triage(kit.open_case(evidence, workspace))
    small, noted = str(recorded.archive("message-identity")), folder / "notes.yaml"
    kit.triage(kit.open_case(small, workspace))
    hostile = folder / "hostile"
    hostile.mkdir()
    lines = [f"2026-11-20 23:19:{n:02},566 WARN [{IMAGE}] o.a.Order - {IMAGE} topic={IMAGE[1:4]}{n}" for n in range(60)]
    (hostile / f"app {IMAGE.replace('/', ' ')}.log").write_text("\n".join(lines) + "\n")
    books = {
        "05_explore": book("05_explore", evidence=evidence, workspace=workspace),
        "claim": of_cells(
            f"from kit import notebook\ninquiry = notebook.start({small!r}, {workspace!r}, notes={str(noted)!r})",
            "inquiry.evidence(inquiry.first(), 1)",
            "inquiry.note('<b>ours</b>', ('message-identity', inquiry.finding('message-identity')['steps'][0]['id']), who='Li Na')",
        ),
        "what_if": of_cells("from kit.charts.transactions import placement\nplacement.explore()"),
        "hostile": of_cells(f"import kit\nkit.explore(kit.open_case({str(hostile)!r}, {workspace!r}))"),
    }
    with serving(folder, **books) as address:
        yield address


@pytest.fixture(scope="module")
def exploring(browser: Any, lab: str) -> Iterator[Any]:
    """The notebook 05_explore after it ran, its widget drawn."""
    page = opened(browser, lab, "05_explore")
    run_all(page)
    drawn(page)
    yield page
    page.context.close()


def drawn(page: Any) -> None:
    page.wait_for_function(
        "() => document.querySelectorAll('.rmq-kit-explorer .rmq-kit-rows table tbody tr').length > 40"
    )
    # A chart is drawn empty first, and its rows arrive when its script is loaded.
    page.wait_for_function("() => document.querySelector('.rmq-kit-explorer .js-plotly-plot')?.data?.length > 0")
    page.wait_for_timeout(500)


def brush(page: Any, plot: int, begin: float, end: float) -> None:
    """Move the handles of the slider of times to parts of its width."""
    for handle, part in ((0, begin), (1, end)):
        box = page.locator(".rmq-kit-explorer .noUi-base").bounding_box()
        page.locator(".rmq-kit-explorer .noUi-handle").nth(handle).hover()
        page.mouse.down()
        page.mouse.move(box["x"] + part * box["width"], box["y"] + box["height"] / 2, steps=4)
        page.mouse.up()


def follows(page: Any, before: list[str]) -> list[str]:
    """Wait until both tables show something else and are quiet; return their first cells."""
    page.wait_for_function(f"before => ({FIRST_CELLS})().every((t, n) => t !== before[n])", arg=before, timeout=FOLLOWS)
    page.wait_for_timeout(700)
    return list(page.evaluate(FIRST_CELLS))


def second_cells(page: Any, table: int, wanted: str) -> None:
    """Wait until the second column of a table of rows says nothing but `wanted`."""
    page.wait_for_function(
        "([n, wanted]) => { const t = document.querySelectorAll('.rmq-kit-explorer .rmq-kit-rows table')[n]?.tBodies[0]; return t?.rows.length > 0 && [...t.rows].every(r => r.cells[1].innerText === wanted) }",
        arg=[table, wanted],
        timeout=FOLLOWS,
    )


def times(text: str) -> list[str]:
    return re.findall(
        r"(\d\d:\d\d:\d\d)", re.sub(r"datetime\.datetime\(2026, 11, 20, (\d+), (\d+), (\d+)[^)]*\)", r"\1:\2:\3", text)
    )


def test_what_is_brushed_and_clicked_is_followed_by_all_and_is_a_value(exploring: Any) -> None:
    page = exploring
    before = page.evaluate(FIRST_CELLS)
    assert len(before) == 2
    brush(page, 0, 0.6, 0.8)
    shown = follows(page, before)
    said = run_cell(page, 2)
    since, until = re.findall(r"14, 3(\d), (\d+)", said)[:2]
    begin, end = (f"14:3{minute}:{int(second):02}" for minute, second in (since, until))
    assert all(begin <= cell[11:19] <= end for cell in shown)
    assert "since=None" not in said and "levels=()" in said

    # A bar of the first chart beside the timeline: a level.
    page.locator(".rmq-kit-explorer .widget-hbox:has(.widget-hprogress) button:text-is('WARN')").click()
    second_cells(page, 0, "WARN")
    assert "levels=('WARN',)" in run_cell(page, 2)
    chip = page.locator(".rmq-kit-explorer button:has-text('level: WARN')")
    chip.click()
    chip.wait_for(state="detached")
    assert "levels=()" in run_cell(page, 2)

    # A menu: every other view follows it too, and what is counted in Python is what is shown.
    menu = page.locator(".rmq-kit-explorer input[placeholder='stage']")
    menu.fill("leaked")
    menu.press("Enter")
    second_cells(page, 1, "leaked")
    assert "stages=('leaked',)" in run_cell(page, 2)
    assert re.search(r"leaked\s+\d+", run_cell(page, 6))
    assert "--since" in run_cell(page, 9)
    page.locator(".rmq-kit-explorer button:has-text('Clear')").click()


def test_a_claim_leads_to_its_place_an_id_to_its_life_and_back(browser: Any, lab: str) -> None:
    page = opened(browser, lab, "claim")
    run_all(page)
    trail = page.locator(".rmq-kit-trail").first
    link = trail.locator(".rmq-kit-linked .rmq-kit-link").first
    label = link.get_attribute("aria-label") or ""
    link.focus()
    page.keyboard.press("Enter")
    opened_ = trail.locator(".rmq-kit-linked").nth(1)
    opened_.wait_for()
    assert label.startswith("Show ")
    place = re.sub(r"^Show ", "", label)
    if " @ " in place:
        assert "properties.UNIQ_KEY" in opened_.inner_text()
    else:
        file, _, number = place.rpartition(":")
        assert f"{file}, line {number}" in opened_.inner_text()
        assert opened_.locator("tr[aria-current]").count() >= 1
    ident = trail.locator(".rmq-kit-link").filter(has_text=re.compile(r"^[0-9A-F]{32}$")).last
    key = ident.inner_text()
    ident.click()
    trail.locator(".js-plotly-plot svg.main-svg").first.wait_for()
    assert trail.locator(f"caption:has-text('{key}')").count() >= 1
    trail.locator("button:has-text('Explore the minutes')").click()
    trail.locator(".rmq-kit-explorer .rmq-kit-rows table tbody tr").first.wait_for()
    for _ in range(3):
        trail.locator("button:has-text('Back')").click()
        page.wait_for_timeout(500)
    assert trail.locator(".rmq-kit-linked").count() == 1
    page.context.close()


def test_what_is_noted_in_a_notebook_is_in_the_postmortem_with_its_place(browser: Any, lab: str, folder: Path) -> None:
    page = opened(browser, lab, "claim")
    run_all(page)
    assert "<b>ours</b>" in page.locator(".jp-CodeCell").nth(2).inner_text()
    page.context.close()
    small, out = recorded.archive("message-identity"), folder / "postmortem"
    command = [
        "postmortem",
        str(small),
        "--workspace",
        str(folder / "workspace"),
        "--notes",
        str(folder / "notes.yaml"),
    ]
    subprocess.run([sys.executable, "-m", "kit", *command, "--out", str(out)], check=True, capture_output=True)
    context = browser.new_context()
    shown = context.new_page()
    shown.goto((out / "postmortem.html").as_uri())
    noted = shown.locator("text=<b>ours</b>").first
    assert noted.count() == 1 and shown.locator("b:text-is('ours')").count() == 0
    said = shown.inner_text("main")
    # The headless twin: what the note is about is the first step, with the place that carries it.
    case = kit.open_case(small, folder / "workspace")
    step = next(f for f in kit.triage(case)["findings"] if f["cause"] == "message-identity")["steps"][0]
    assert "Li Na" in said and step["claim"] in said and step["evidence"][0]["file"] in said
    context.close()


def test_another_assumption_redraws_the_chart_as_the_function_draws_it(browser: Any, lab: str) -> None:
    import attrs

    from kit.charts.transactions import placement
    from kit.rocketmq.placement import Assumptions

    texts = "e => JSON.stringify(e.data[0].text)"
    page = opened(browser, lab, "what_if")
    run_all(page)
    chart = page.locator(".rmq-kit-live .js-plotly-plot").first
    chart.locator("svg.main-svg").first.wait_for()
    assert json.loads(chart.evaluate(texts)) == [list(row) for row in placement.what_if().figure.data[0].text]
    name = next(iter(placement.SWITCHES))
    other = attrs.evolve(Assumptions(), **{name: not getattr(Assumptions(), name)})
    expected = [list(row) for row in placement.what_if(other).figure.data[0].text]
    page.locator(".rmq-kit-live .widget-checkbox input").first.click()
    page.wait_for_function(
        "wanted => { const e = document.querySelector('.rmq-kit-live .js-plotly-plot'); return e?.data && JSON.stringify(e.data[0].text) === wanted }",
        arg=json.dumps(expected, ensure_ascii=False, separators=(",", ":")),
    )
    page.context.close()


def test_hostile_text_is_text_in_it(browser: Any, lab: str) -> None:
    page = opened(browser, lab, "hostile")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    run_all(page)
    drawn(page)
    assert IMAGE in page.locator(".rmq-kit-explorer .rmq-kit-rows table").first.inner_text()
    pictures = page.locator(".rmq-kit-explorer img").evaluate_all(
        "all => all.map(each => each.outerHTML.slice(0, 300))"
    )
    # JupyterLab's own charts leave a picture of themselves.
    assert [each for each in pictures if "plot-img" not in each] == [] and page.title() != "taken"
    # Nothing is asked from anywhere but the server of the notebook.
    assert not [url for url in asked if not re.match(r"(http|ws)://127\.0\.0\.1[:/]|data:|blob:", url)]
    page.context.close()
