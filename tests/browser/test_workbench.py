"""Investigating by pointing, in a real JupyterLab: what is clicked narrows everything else and is a value in Python."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import recorded
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook, new_output
from processes import free_port

import kit
from kit.charts import pictures
from kit.notebook import prose
from kit.report import notebooks

pytestmark = [pytest.mark.browser, pytest.mark.spark]

BOOK = "20_half_topic_blowup"
IMAGE = "<img src=x onerror=document.title='taken'>"
FOLLOWS = 60_000
"""Milliseconds in which everything follows on a machine that runs much else as well; docs/explore.md says how long it takes
on one that does not."""
FIRST_CELLS = "() => [...document.querySelectorAll('.rmq-kit-explorer .rmq-kit-rows table')].map(t => t.tBodies[0].rows[0]?.cells[0].innerText ?? '')"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Return the address of a JupyterLab with notebooks on a triaged recording and on hostile evidence."""
    folder = tmp_path_factory.mktemp("workbench")
    evidence, workspace = str(recorded.ARCHIVES["half-topic-blowup"]), str(folder / "workspace")
    kit.triage(kit.open_case(evidence, workspace))
    small = str(recorded.ARCHIVES["message-identity"])
    kit.triage(kit.open_case(small, workspace))
    hostile = folder / "hostile"
    hostile.mkdir()
    lines = [f"2026-11-20 23:19:{n:02},566 WARN [{IMAGE}] o.a.Order - {IMAGE} topic={IMAGE[1:4]}{n}" for n in range(60)]
    (hostile / f"app {IMAGE.replace('/', ' ')}.log").write_text("\n".join(lines) + "\n")
    books = {
        "05_explore": book("05_explore", evidence=evidence, workspace=workspace),
        BOOK: book(BOOK, evidence=evidence, workspace=workspace),
        "claim": of_cells(
            f"from kit import notebook\ninquiry = notebook.start({small!r}, {workspace!r})",
            "inquiry.evidence(inquiry.first(), 1)",
            "inquiry.answer(inquiry.sql('select file, line, ts from entries where ts is not null limit 3'))",
        ),
        "hostile": of_cells(f"import kit\nkit.explore(kit.open_case({str(hostile)!r}, {workspace!r}))"),
    }
    with serving(folder, **books) as address:
        yield address


def drawn(page):
    page.wait_for_function(
        "() => document.querySelectorAll('.rmq-kit-explorer .rmq-kit-rows table tbody tr').length > 40"
    )
    # A chart is drawn empty first, and its rows arrive when its script is loaded.
    page.wait_for_function("() => document.querySelector('.rmq-kit-explorer .js-plotly-plot')?.data?.length > 0")
    page.wait_for_timeout(500)


def brush(page, plot, begin, end):
    """Move the handles of the slider of times to parts of its width."""
    for handle, part in ((0, begin), (1, end)):
        box = page.locator(".rmq-kit-explorer .noUi-base").bounding_box()
        page.locator(".rmq-kit-explorer .noUi-handle").nth(handle).hover()
        page.mouse.down()
        page.mouse.move(box["x"] + part * box["width"], box["y"] + box["height"] / 2, steps=4)
        page.mouse.up()


def follows(page, before):
    """Wait until both tables show something else and are quiet; return their first cells."""
    page.wait_for_function(f"before => ({FIRST_CELLS})().every((t, n) => t !== before[n])", arg=before, timeout=FOLLOWS)
    page.wait_for_timeout(700)
    return list(page.evaluate(FIRST_CELLS))


def second_cells(page, table, wanted):
    """Wait until the second column of a table of rows says nothing but `wanted`."""
    page.wait_for_function(
        "([n, wanted]) => { const t = document.querySelectorAll('.rmq-kit-explorer .rmq-kit-rows table')[n]?.tBodies[0]; return t?.rows.length > 0 && [...t.rows].every(r => r.cells[1].innerText === wanted) }",
        arg=[table, wanted],
        timeout=FOLLOWS,
    )


def test_what_is_brushed_and_clicked_is_followed_by_all_and_is_a_value(browser, lab):
    page = opened(browser, lab, "05_explore")
    run_all(page)
    drawn(page)
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
    page.locator(".rmq-kit-explorer button:has-text('Clear')").click()

    # The place of a row opens it, where one sees it.
    rows = page.locator(".rmq-kit-explorer .rmq-kit-rows").first
    rows.locator(".rmq-kit-link").first.click()
    rows.locator(".rmq-kit-linked").nth(1).wait_for()
    seen = "e => e.getBoundingClientRect().top + 40 < e.closest('.rmq-kit-rows').getBoundingClientRect().bottom"
    assert rows.locator(".rmq-kit-linked").nth(1).evaluate(seen)
    page.context.close()


def test_a_claim_leads_to_its_place_an_id_to_its_life_and_back(browser, lab):
    page = opened(browser, lab, "claim")
    run_all(page)
    assert page.locator(".rmq-kit-trail caption").last.inner_text() == "Times are UTC."
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


def test_hostile_text_is_text_in_it(browser, lab):
    page = opened(browser, lab, "hostile")
    asked = []
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


def test_a_page_made_of_a_notebook_draws_its_charts_and_is_dark_in_a_dark_window(browser, tmp_path, monkeypatch):
    published = []
    events = SimpleNamespace(register=lambda *_: None, unregister=lambda *_: None)
    monkeypatch.setattr(prose, "shell", lambda: SimpleNamespace(events=events))
    monkeypatch.setattr(prose, "_publish", lambda data, marks=None: published.append(data))
    prose.speak("20", "en")
    rows = pd.DataFrame({"stage": ["half", "commit"], "records": [3, 2]})
    shown = [new_output("display_data", data=each) for each in (*published, pictures.bars(rows)._repr_mimebundle_())]
    page, _ = HTMLExporter().from_notebook_node(new_notebook(cells=[new_code_cell("1", outputs=shown)]))
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    for scheme, colour in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(17, 17, 17)")):
        context = browser.new_context(viewport={"width": 390, "height": 900}, offline=True, color_scheme=scheme)
        opened_ = context.new_page()
        opened_.goto((tmp_path / "page.html").as_uri())
        chart = opened_.locator(".js-plotly-plot")
        chart.locator("svg.main-svg").first.wait_for(timeout=60_000)
        assert chart.bounding_box()["width"] >= 520
        assert opened_.evaluate("getComputedStyle(document.body).backgroundColor") == colour
        context.close()


def test_run_all_see_the_charts(browser, lab):
    page = opened(browser, lab, BOOK)
    run_all(page)
    page.wait_for_selector(".jp-OutputArea .js-plotly-plot svg.main-svg")
    boxes = (
        "[...document.querySelectorAll('.jp-RenderedPlotly')].map(e => [e.offsetWidth, e.parentElement.offsetWidth])"
    )
    assert all(chart > 0.9 * box for chart, box in page.evaluate(boxes))
    page.set_viewport_size({"width": 700, "height": 3000})
    wide = page.evaluate(boxes)
    assert wide and all(chart >= 520 > box for chart, box in wide), wide
    page.context.close()


TOKEN = "a-token-of-this-test"
READY = 90
"""Seconds a server, a page or a run of a notebook whose results are known may take on a busy machine."""


def book(name, **parameters):
    """Return one of the kit's notebooks with these parameters."""
    read = json.loads((notebooks.folder() / f"{name}.ipynb").read_text(encoding="utf-8"))
    for cell in read["cells"]:
        if "parameters" in cell["metadata"].get("tags", ()):
            cell["source"] += [f"\n{key} = {value!r}" for key, value in parameters.items()]
    return json.dumps(read)


def of_cells(*cells):
    """Return a notebook of these code cells."""
    made = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    made.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": {"name": "python"}}
    return json.dumps(made)


@contextlib.contextmanager
def serving(folder, **books):
    """Run a JupyterLab on these notebooks (name without suffix: their JSON); yield its address."""
    root = folder / "root"
    root.mkdir()
    for name, book in books.items():
        (root / f"{name}.ipynb").write_text(book, encoding="utf-8")
    port = free_port()
    # Settings, runtime files and workspaces of this test, not of whoever runs it.
    own = {
        name: str(folder / name)
        for name in (
            "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR",
            "JUPYTERLAB_WORKSPACES_DIR",
        )
    }  # fmt: skip
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--port-retries=0",
        f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={root}", "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    path = os.pathsep.join(filter(None, (str(Path(kit.__path__[0]).parent), os.environ.get("PYTHONPATH"))))
    with (folder / "lab.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **own, "PYTHONPATH": path})
    try:
        address = f"http://127.0.0.1:{port}"
        until = time.monotonic() + READY
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=2):
                break
            assert server.poll() is None and time.monotonic() < until, (folder / "lab.log").read_text()[-2000:]
            time.sleep(0.3)
        yield address
    finally:
        server.terminate()
        server.wait(20)
        shutil.rmtree(root, ignore_errors=True)


def opened(browser, address, name, **options):
    """Return the page of a notebook whose kernel is ready."""
    context = browser.new_context(viewport={"width": 1400, "height": 3000}, **options)
    page = context.new_page()
    page.set_default_timeout(READY * 1000)
    page.goto(f"{address}/lab/tree/{name}.ipynb?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    # Before its kernel is there, "run all" asks which one to take.
    page.wait_for_function("() => /\\(ipykernel\\) \\| Idle/.test(document.body.innerText)")
    page.wait_for_timeout(1000)
    return page


def run_all(page):
    """Run every cell and wait until all have run."""
    page.click(".lm-MenuBar-itemLabel:text-is('Run')")
    page.click(".lm-Menu-itemLabel:text-is('Run All Cells')")
    page.wait_for_timeout(500)
    page.wait_for_function(
        "() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].every(p => !p.textContent.includes('*'))"
    )
    stderr = ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']"
    assert page.locator(f"{stderr} >> text=Traceback").count() == 0


def run_cell(page, number):
    """Run one cell again (the first is 0) and return what it prints."""
    cell = page.locator(".jp-CodeCell").nth(number)
    before = cell.locator(".jp-InputPrompt").inner_text()
    cell.locator(".jp-InputArea-editor").click(position={"x": 200, "y": 10})
    page.keyboard.press("Control+Enter")
    page.wait_for_function(
        "([n, before]) => { const p = document.querySelectorAll('.jp-CodeCell')[n].querySelector('.jp-InputPrompt').innerText; return p != before && !p.includes('*') }",
        arg=[number, before],
    )
    page.wait_for_timeout(300)
    return "\n".join(cell.locator(".jp-OutputArea-output").all_inner_texts())
