"""A chart, a table, a cell of a notebook or a part of the page that fails is a table or a sentence; the page is written."""

from types import SimpleNamespace

import incidents
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from kit.charts import Chart, Table, figure
from kit.charts.table import cell
from kit.notebook import answers
from kit.notebook.inquiry import Inquiry, NoSuchCause
from kit.report import html, notebooks
from kit.report.build import build


def broken(*_, **__):
    raise RecursionError("maximum\nrecursion depth")


class Unreadable:
    def __str__(self):
        raise ValueError("no words")


def inquiry():
    return Inquiry(SimpleNamespace(clock=None), incidents.blow_up(), "en", False)


def test_a_chart_that_cannot_be_drawn_is_its_table_also_of_values_without_words():
    shown = answers.drawn(broken, pd.DataFrame({"topic": ["orders"], "n": [3]}), "topics", "en")
    assert isinstance(shown, Table) and shown.failure
    data, metadata = shown._repr_mimebundle_()
    assert "orders" in data["text/html"] and "RecursionError" in data["text/html"]
    assert metadata["rmq-kit"]["failure"]["type"] == "RecursionError"
    assert cell(Unreadable()) == ("(Unreadable)", "text")
    for frame in (pd.DataFrame({"x": [Unreadable(), 1, None]}), pd.DataFrame({Unreadable(): [1]})):
        data, _ = answers.drawn(broken, frame, "odd", "en")._repr_mimebundle_()
        assert "RecursionError" in data["text/plain"]


def test_a_chart_that_breaks_while_it_is_shown(monkeypatch):
    chart = Chart(figure(), pd.DataFrame({"n": [7]}), "reading", "alt", "Title <b>")
    shown = []
    monkeypatch.setattr(Chart, "bundles", broken)
    monkeypatch.setattr("IPython.display.publish_display_data", lambda *given: shown.append(given))
    chart._ipython_display_()
    [(data, metadata)] = shown
    assert "7" in data["text/plain"] and metadata["rmq-kit"]["failure"]["what"] == "Title <b>"
    assert "Title <b>" not in data["text/html"]


def test_every_table_of_a_notebook_and_what_the_reader_asks_wrongly_raises(monkeypatch):
    asked = inquiry()
    monkeypatch.setattr("kit.notebook.inquiry.PAGE", {})
    monkeypatch.setattr("kit.causes.look_alikes.frame", broken)
    for show in (asked.verdicts, asked.coverage, asked.look_alikes, asked.remedies, lambda: asked.chain("broker-busy")):
        shown = show() if show is not asked.remedies else asked.remedies("half-topic-blowup")
        assert shown.failure and "could not be drawn" in shown.caption
    with pytest.raises(NoSuchCause, match="no-such"):
        asked.chain("no-such")


def book(path, *sources):
    given = "evidence, workspace, lang, interactive = '', '', 'en', False"
    parameters = new_code_cell(given, metadata={"tags": ["parameters"]})
    cells = new_markdown_cell("# Title"), parameters, *map(new_code_cell, sources)
    return incidents.book(path, *cells, report="overview")


@pytest.mark.seconds
def test_a_cell_that_fails_is_a_sentence_and_a_dead_kernel_keeps_what_it_did(tmp_path):
    fails = ("{'a': 1}['secret of the evidence']", "import sys; sys.exit(3)")
    path = book(tmp_path / "10_x.ipynb", "print('before')", fails[0], "print('after')", fails[1], "print('last')")
    failures = []
    [done] = notebooks.execute([path], tmp_path / "out", {"lang": "en"}, failures)
    assert [f.type for f in failures][:1] == ["KeyError"] and "secret" not in failures[0].trace
    kept = notebooks.read(done)
    texts = [o["text"] for c in kept.cells for o in c.get("outputs", ())]
    assert "before\n" in texts and "after\n" in texts and "last\n" in texts
    assert any("KeyError" in text for text in texts)
    assert "Traceback" not in done.read_text() and "raises-exception" not in done.read_text()
    own = [c for c in kept.cells if "injected-parameters" not in c.metadata.get("tags", ())]
    assert [c.cell_type for c in own] == [c.cell_type for c in notebooks.read(path).cells]
    page = build(incidents.blow_up(), incidents.tables(), [done], tmp_path / "report").read_text()
    assert '<p class="banner">' in page and "could not be shown" in page
    # A notebook whose kernel dies is kept as far as it came.
    path = book(tmp_path / "20_x.ipynb", "print('so far')", "import os; os._exit(1)", "print('never')")
    [done] = notebooks.execute([path], tmp_path / "dead", {"lang": "en"})
    story = notebooks.story(done)
    assert story.failed == "DeadKernelError" and [each["text"] for each in story.blocks[1:]] == ["so far\n"]
    page = build(incidents.blow_up(), {}, [done], tmp_path / "died").read_text()
    assert "The notebook 20_x stopped with an error" in page


@pytest.mark.parametrize("part", ["inventory", "apart", "rows_of", "summaries"])
def test_a_part_of_the_page(part, tmp_path, monkeypatch):
    broken.__name__ = part
    monkeypatch.setattr(html, part, broken)
    failures = []
    page = html.render(incidents.blow_up(), incidents.tables(), [], "en", failures=failures)
    assert "could not be shown here (RecursionError)" in page and {f.type for f in failures} == {"RecursionError"}


def test_a_finding_the_page_cannot_show(monkeypatch):
    found = incidents.blow_up()
    found["findings"][0]["window"] = ["not a time", None]
    found["findings"][0]["figures"] = {"x": [1, {"y": Unreadable()}]}
    failures = []
    page = html.render(found, {}, [], "en", failures=failures)
    assert found["findings"][0]["title"] in page and len(failures) == 1
