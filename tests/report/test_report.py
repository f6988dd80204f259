"""The report page: what a reader finds first, that it is complete in both languages, that evidence stays text; one finding in words; what changed between two."""

import copy
import csv
import datetime as dt
import itertools
import json
import re

import incidents
import msgspec
import nbformat
import pandas as pd
import pytest
from click.testing import CliRunner
from page import Page
from table import rows_of

from kit.causes import figures
from kit.charts import Table, pictures, transactions
from kit.cli.main import cli
from kit.i18n import on_clock
from kit.report import notebooks, write
from kit.report.build import build, manifest
from kit.report.compare import ABSENT, Change, compare, read, render, rows
from kit.report.html import finding_view, when
from kit.report.labels import PAGE


def page(tmp_path, found=None, shown=(), lang="en", tables=None):
    run = [incidents.notebook(tmp_path / "nb" / "20_half.ipynb", "half-topic-blowup", *shown)]
    tables = incidents.tables() if tables is None else tables
    html = build(found or incidents.blow_up(), tables, run, tmp_path / "out", lang).read_text()
    return Page(html), html


def test_first_screen_answers_the_five_questions_in_order_and_confirmed_comes_first(tmp_path):
    read, _ = page(tmp_path)
    asked = [read.text.index(PAGE[name].en) for name in ("what", "since", "bad", "why", "now")]
    assert asked == sorted(asked)
    first = read.text[: read.text.index(PAGE["contents"].en) if PAGE["contents"].en in read.text else asked[-1] + 400]
    told = ("4,096", "2024-05-14 02:00:00 UTC to 2024-05-14 02:00:50 UTC", "Shorten the consumer group")
    assert [text for text in told if text not in first] == []
    # Then neighbours, then undecided, then excluded.
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


def test_a_cause_that_is_asked_for_is_shown_whatever_its_verdict_and_a_page_is_complete_in_chinese(tmp_path):
    run = incidents.notebook(tmp_path / "50.ipynb", "broker-busy", Table(pd.DataFrame({"a": [1]}), "of the walk"))
    found = incidents.findings(incidents.finding("broker-busy", "ruled_out"))
    for options, shown in (({}, False), ({"cause": "broker-busy"}, True)):
        read = Page(build(found, {}, [run], tmp_path / "out", options=options).read_text())
        assert (("h2", {"id": "broker-busy"}) in read.tags) is ("of the walk" in read.text) is shown
        assert PAGE["also"].en not in read.text
    read, _ = page(tmp_path, lang="zh")
    assert ("html", {"lang": "zh-CN"}) in read.tags
    english = {text.en for text in PAGE.values() if "{" not in text.en and text.en != text.in_("zh")}
    assert english & set(read.text.split("\n")) == set()


def test_page_is_well_formed_fetches_nothing_and_runs_only_its_own_scripts(tmp_path):
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
    assert not {tag for tag, _ in read.tags} & {"link", "img", "iframe", "base"}
    assert not [attrs for _, attrs in read.tags if {"src", "style"} & attrs.keys()]
    policy = next(attrs["content"] for tag, attrs in read.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy
    assert len(re.findall(r"<script>", html)) == 1 and len(html) < 1_000_000


def test_hostile_evidence_and_html_of_a_notebook_stay_text(tmp_path):
    frame = incidents.life_frame().assign(topic=incidents.HOSTILE)
    table = Table(pd.DataFrame({incidents.HOSTILE: [incidents.HOSTILE]}), incidents.HOSTILE)
    lanes = pictures.lanes(frame[["store_timestamp", "topic"]])
    read, html = page(tmp_path, incidents.hostile(), [lanes, table, incidents.HOSTILE])
    assert not [attrs for _, attrs in read.tags if any(name.startswith("on") for name in attrs)]
    assert "img" not in {tag for tag, _ in read.tags}
    assert "<script>alert" not in html
    assert read.text.count("<script>alert(1)</script>") > 5
    assert not set("\x1b\u202e\u202c") & set(html)
    read, _ = page(tmp_path / "b", shown=["<b onclick='x()'>foreign</b>"])
    assert "<b onclick='x()'>foreign</b>" in read.text
    assert "<b>raw</b>" in read.text and not re.search("http://example.com|javascript:", str(read.tags))


def test_two_runs_give_the_same_bytes_and_a_manifest_and_parameters_say_what_they_are_of(tmp_path):
    chart = transactions.growth(incidents.growth_frame())
    first, second = (page(tmp_path / name, shown=[chart])[1] for name in ("a", "b"))
    assert first == second
    made = [(tmp_path / name / "out" / "manifest.json").read_bytes() for name in ("a", "b")]
    assert made[0] == made[1]
    assert json.loads(made[0])["manifest_sha256"] in first
    found = incidents.blow_up()
    plain = manifest(found, {"lang": "en"})["manifest_sha256"]
    assert plain != manifest(found, {"lang": "en", "tz_app": "Asia/Shanghai"})["manifest_sha256"]
    found["evidence"]["files"][0]["sha256"] = "cd" * 32
    assert plain != manifest(found, {"lang": "en"})["manifest_sha256"]
    # An executed notebook shows the parameters a reader starts from.
    injected = nbformat.v4.new_code_cell("workspace = '/caches/a'", metadata={"tags": ["injected-parameters"]})
    book = nbformat.v4.new_notebook(cells=[injected])
    notebooks.settle(book, {"evidence": "incident", "workspace": ""})
    assert "caches" not in book.cells[0].source and "incident" in book.cells[0].source


@pytest.mark.parametrize(("first", "last", "hours", "lang", "said"), rows_of(__file__, "when_it_happened"))
def test_when_it_happened(first, last, hours, lang, said):
    with on_clock(None if hours is None else dt.timezone(dt.timedelta(hours=hours))):
        assert when([f"2026-11-21T{time}" for time in (first, last)], lang) == said


def test_figures_as_cards_and_tables():
    figures = {"explanations": [{"why": "w", "share": 0.4309}], "lag": {"a@g": 5084, "b@g": 1}}
    figures |= {"replica_end_time": "2026-11-21T23:24:06.869Z", "kind": "first-start"}
    found = incidents.finding("x", "confirmed", figures=figures)
    shown = finding_view(found, [], "en")
    assert shown["number_tables"][0]["rows"] == [["w", "43%"]]
    values = [card["value"] for card in shown["numbers"]]
    assert values == ["5,084", "2026-11-21 23:24:06.869 UTC", "first start of the group"]
    assert shown["numbers"][0]["label"].endswith(": a@g")


@pytest.mark.parametrize("text", rows_of(__file__, "formulas"))
def test_neither_a_cell_nor_a_header_is_a_formula(tmp_path, text):
    write.csv(pd.DataFrame({text: [text, "plain"], "n": [-1, 2.5]}), tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        head, first, second = list(csv.reader(file))
    assert head[0].startswith("'") and first[0].startswith("'")
    assert (head[1], first[1], second) == ("n", "-1.0", ["plain", "2.5"])


def test_a_line_number_is_whole_beside_an_unknown_one_and_what_has_no_column_is_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(write.results, "names", lambda _: ["none", "rows"])
    monkeypatch.setattr(write.results, "table", lambda _, name: pd.DataFrame({"a": [1]} if name == "rows" else {}))
    write.tables(None, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
    columns = {"line": [8, None], "seconds": [8.0, 2.0], "share": [0.5, None], "end": [float("inf"), None]}
    write.csv(pd.DataFrame(columns), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "line,seconds,share,end\n8,8.0,0.5,inf\n,2.0,,\n"


BLOWUP, BUSY = rows_of(__file__, "findings")


def side(*findings, roots=("half-topic-blowup",), files="1"):
    evidence = {"files": [{"sha256": digit} for digit in files]}
    return copy.deepcopy({"schema": 1, "evidence": evidence, "root_causes": roots, "findings": list(findings)})


BEFORE = side(BLOWUP, BUSY)


@pytest.mark.parametrize("row", rows_of(__file__, "differences"), ids=lambda row: row["name"])
def test_differences(row):
    after = side(*(one | row.get(one["cause"], {}) for one in (BLOWUP, BUSY)), **row.get("of_all", {}))
    assert compare(BEFORE, after) == [Change(*each) for each in row["changes"]]


def test_unknown_is_neither_zero_nor_absent_and_the_table_is_safe_for_a_terminal():
    assert compare(BEFORE, side(BLOWUP))[0] == Change("broker-busy", "verdict", "", "insufficient_evidence", ABSENT)
    assert compare(side(BLOWUP), BEFORE)[0] == Change("broker-busy", "verdict", "", ABSENT, "insufficient_evidence")
    told = rows([Change("c", "figure", "x_y", None, ABSENT), Change("c", "figure", "n", 4, 1.5)])
    assert [(row["what"], row["before"], row["after"], row["change"]) for row in told] == [
        ("x y", "unknown", "absent", ""), ("n", "4", "1.5", "-2.5"),
    ]  # fmt: skip
    title = "The half topic \x1b[31mfeeds itself"
    titled = BLOWUP | {"verdict": "ruled_out", "figures": BLOWUP["figures"] | {"leaked_messages": 0}, "title": title}
    text = render(compare(BEFORE, side(titled, BUSY)))
    assert "\x1b" not in text
    assert all(word in text for word in ("confirmed", "ruled out", "messages leaked into the half topic", " -4"))
    assert (render([]), render([], "zh")) == ("No verdict and no figure changed.", "结论与数字均无变化。")


@pytest.mark.parametrize("bad", rows_of(__file__, "no_findings"))
def test_what_is_no_findings_json(bad, tmp_path):
    (tmp_path / "findings.json").write_text(json.dumps(bad))
    with pytest.raises(msgspec.ValidationError):
        read(tmp_path / "findings.json")
    (tmp_path / "findings.json").write_text(json.dumps(BEFORE), encoding="utf-8-sig")  # as Windows saves it
    assert read(tmp_path / "findings.json") == BEFORE | {"root_causes": list(BEFORE["root_causes"])}
    done = CliRunner().invoke(cli, ["compare", "-", str(tmp_path / "findings.json")], input=json.dumps(BEFORE))
    assert done.output == "No verdict and no figure changed.\n"
