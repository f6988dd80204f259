"""The report page: what a reader finds first, that it is complete in both languages, and that evidence stays text."""

import itertools
import json
import re

import incidents
import nbformat
import pandas as pd
import pytest
from page import Page
from table import rows_of

from kit.causes import figures
from kit.charts import Table, pictures, transactions
from kit.report import notebooks
from kit.report.build import build, manifest
from kit.report.labels import PAGE


def page(tmp_path, found=None, shown=(), lang="en", tables=None):
    run = [incidents.notebook(tmp_path / "nb" / "20_half.ipynb", "half-topic-blowup", *shown)]
    tables = incidents.tables() if tables is None else tables
    html = build(found or incidents.blow_up(), tables, run, tmp_path / "out", lang).read_text()
    return Page(html), html


def test_first_screen_answers_the_five_questions_in_order(tmp_path):
    read, _ = page(tmp_path)
    asked = [read.text.index(PAGE[name].en) for name in ("what", "since", "bad", "why", "now")]
    assert asked == sorted(asked)
    first = read.text[: read.text.index(PAGE["contents"].en) if PAGE["contents"].en in read.text else asked[-1] + 400]
    told = ("4,096", "2024-05-14 02:00:00 UTC to 2024-05-14 02:00:50 UTC", "Shorten the consumer group")
    assert [text for text in told if text not in first] == []


def test_confirmed_first_then_neighbours_then_undecided_then_excluded(tmp_path):
    read, _ = page(tmp_path)
    ids = [attrs["id"] for tag, attrs in read.tags if tag == "h2"]
    assert ids == ["half-topic-blowup", "send-back-refused", "undecided", "excluded", "completeness", "again"]


@pytest.mark.parametrize("row", rows_of(__file__, "pages"), ids=lambda row: row["name"])
def test_a_page_says(tmp_path, row):
    """`says`: what is in it, `order`: in this order, `times`: so often; `{name}` is a sentence of the page, `{figure_name}` the name of a figure."""
    lang = row.get("lang", "en")
    known = {name: text.in_(lang) for name, text in PAGE.items()}
    known |= {f"figure_{name}": each.label.in_(lang) for name, each in figures().items()}
    found = incidents.blow_up()
    if "findings" in row:
        made = [incidents.finding(**one) for one in row["findings"]]
        found = incidents.findings(*made, files=row.get("files"))
    text = page(tmp_path, found, lang=lang, tables=row.get("tables"))[0].text
    assert [said for said in row.get("says", ()) if said.format(**known) not in text] == []
    places = [text.index(said.format(**known)) for said in row.get("order", ())]
    assert places == sorted(places)
    assert {said: text.count(said) for said in row.get("times", {})} == row.get("times", {})


def test_a_cause_that_is_asked_for_is_shown_whatever_its_verdict(tmp_path):
    run = incidents.notebook(tmp_path / "50.ipynb", "broker-busy", Table(pd.DataFrame({"a": [1]}), "of the walk"))
    found = incidents.findings(incidents.finding("broker-busy", "ruled_out"))
    for options, shown in (({}, False), ({"cause": "broker-busy"}, True)):
        read = Page(build(found, {}, [run], tmp_path / "out", options=options).read_text())
        assert (("h2", {"id": "broker-busy"}) in read.tags) is ("of the walk" in read.text) is shown
        assert PAGE["also"].en not in read.text


def test_page_is_well_formed_for_readers_of_all_kinds(tmp_path):
    chart, table = transactions.growth(incidents.growth_frame()), Table(pd.DataFrame({"a": [1]}), "numbers")
    read, html = page(tmp_path, shown=[chart, table])
    levels = [int(tag[1]) for tag, _ in read.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels)), levels
    assert ("html", {"lang": "en"}) in read.tags
    assert next(attrs["href"] for tag, attrs in read.tags if tag == "a") == "#report"
    assert all(attrs.get("aria-label") for tag, attrs in read.tags if attrs.get("role") == "img")
    assert [tag for tag, _ in read.tags].count("table") == html.count("<caption>") > 3
    ids = [attrs["id"] for _, attrs in read.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = {attrs["href"][1:] for tag, attrs in read.tags if tag == "a" and attrs["href"].startswith("#")}
    assert targets <= set(ids)


def test_nothing_is_fetched_and_only_the_pages_own_scripts_run(tmp_path):
    read, html = page(tmp_path, shown=[transactions.growth(incidents.growth_frame())])
    assert not {tag for tag, _ in read.tags} & {"link", "img", "iframe", "base"}
    assert not [attrs for _, attrs in read.tags if {"src", "style"} & attrs.keys()]
    policy = next(attrs["content"] for tag, attrs in read.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy
    assert len(re.findall(r"<script>", html)) == 1 and len(html) < 1_000_000


def test_hostile_evidence_stays_text(tmp_path):
    frame = incidents.life_frame().assign(topic=incidents.HOSTILE)
    table = Table(pd.DataFrame({incidents.HOSTILE: [incidents.HOSTILE]}), incidents.HOSTILE)
    lanes = pictures.lanes(frame[["store_timestamp", "topic"]])
    read, html = page(tmp_path, incidents.hostile(), [lanes, table, incidents.HOSTILE])
    assert not [attrs for _, attrs in read.tags if any(name.startswith("on") for name in attrs)]
    assert "img" not in {tag for tag, _ in read.tags}
    assert "<script>alert" not in html
    assert read.text.count("<script>alert(1)</script>") > 5
    assert not set("\x1b\u202e\u202c") & set(html)


def test_html_of_a_notebook_is_never_taken_over(tmp_path):
    read, _ = page(tmp_path, shown=["<b onclick='x()'>foreign</b>"])
    assert "<b onclick='x()'>foreign</b>" in read.text
    assert "<b>raw</b>" in read.text and not re.search("http://example.com|javascript:", str(read.tags))


def test_page_is_complete_in_chinese(tmp_path):
    read, _ = page(tmp_path, lang="zh")
    assert ("html", {"lang": "zh-CN"}) in read.tags
    english = {text.en for text in PAGE.values() if "{" not in text.en and text.en != text.in_("zh")}
    assert english & set(read.text.split("\n")) == set()


def test_two_runs_give_the_same_bytes(tmp_path):
    chart = transactions.growth(incidents.growth_frame())
    first, second = (page(tmp_path / name, shown=[chart])[1] for name in ("a", "b"))
    assert first == second
    made = [(tmp_path / name / "out" / "manifest.json").read_bytes() for name in ("a", "b")]
    assert made[0] == made[1]
    assert json.loads(made[0])["manifest_sha256"] in first


def test_manifest_hash_covers_inputs_and_options():
    found = incidents.blow_up()
    plain = manifest(found, {"lang": "en"})["manifest_sha256"]
    assert plain != manifest(found, {"lang": "en", "tz_app": "Asia/Shanghai"})["manifest_sha256"]
    found["evidence"]["files"][0]["sha256"] = "cd" * 32
    assert plain != manifest(found, {"lang": "en"})["manifest_sha256"]


def test_an_executed_notebook_shows_the_parameters_a_reader_starts_from():
    injected = nbformat.v4.new_code_cell("workspace = '/caches/a'", metadata={"tags": ["injected-parameters"]})
    book = nbformat.v4.new_notebook(cells=[injected])
    notebooks.settle(book, {"evidence": "incident", "workspace": ""})
    assert "caches" not in book.cells[0].source and "incident" in book.cells[0].source
