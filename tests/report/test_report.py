"""The report page: what a reader finds first, that it is complete in both languages, and that evidence stays text."""

import itertools
import json
import re
from pathlib import Path

import incidents
import nbformat
import pandas as pd
from page import Page

from kit.causes import figures
from kit.charts import Table, pictures, transactions
from kit.report import notebooks
from kit.report.build import build, manifest
from kit.report.labels import PAGE


def page(tmp_path: Path, found=None, shown=(), lang="en", tables=None) -> tuple[Page, str]:
    run = [incidents.notebook(tmp_path / "nb" / "20_half.ipynb", "half-topic-blowup", *shown)]
    tables = incidents.tables() if tables is None else tables
    html = build(found or incidents.blow_up(), tables, run, tmp_path / "out", lang).read_text()
    return Page(html), html


def test_first_screen_answers_the_five_questions_in_order(tmp_path: Path) -> None:
    read, _ = page(tmp_path)
    asked = [read.text.index(PAGE[name].en) for name in ("what", "since", "bad", "why", "now")]
    assert asked == sorted(asked)
    first = read.text[: read.text.index(PAGE["contents"].en) if PAGE["contents"].en in read.text else asked[-1] + 400]
    told = ("4,096", "2024-05-14 02:00:00 UTC to 2024-05-14 02:00:50 UTC", "Shorten the consumer group")
    assert [text for text in told if text not in first] == []


def test_confirmed_first_then_neighbours_then_undecided_then_excluded(tmp_path: Path) -> None:
    read, _ = page(tmp_path)
    ids = [attrs["id"] for tag, attrs in read.tags if tag == "h2"]
    assert ids == ["half-topic-blowup", "send-back-refused", "undecided", "excluded", "completeness", "again"]


def test_the_page_says_where_what_is_missing_what_was_not_read_and_all_of_a_remedy(tmp_path: Path) -> None:
    read, _ = page(tmp_path)
    remedy = incidents.blow_up()["findings"][1]["remedies"][0]
    for told in (
        "broker/logs/store.log line 17", "broker/store/commitlog/00000000000000000000 byte 18,468", "iostat -dxt 1 60 > iostat.txt",
        "holiday.jpg", "permission denied", "corrupt", "+08:00 (layout)", "228", *(remedy[field] for field in ("risk", "why", "verify")),
        f"{PAGE['not_known'].en} {figures()['retry_topic_length'].label.en}",
    ):  # fmt: skip
        assert told in read.text


def test_without_a_cause_the_page_says_what_to_fetch_and_sells_no_suspicion(tmp_path: Path) -> None:
    wanted = {"artefact": "the commitlog", "why": "it decides", "command": "tar -czf commitlog.tar.gz commitlog"}
    nothing = incidents.findings(incidents.finding("broker-busy", "insufficient_evidence", missing=[wanted]), files=[])
    read, _ = page(tmp_path, nothing, tables={})
    assert PAGE["no_cause"].en in read.text and PAGE["too_little"].en in read.text and wanted["command"] in read.text
    read, _ = page(tmp_path, incidents.findings(incidents.finding("broker-busy", "suspected")))
    assert PAGE["no_cause"].en in read.text and "Not proven yet; the strongest lead is: Broker busy" in read.text


def test_two_causes_are_both_on_the_first_page(tmp_path: Path) -> None:
    slugs = ("broker-busy", "transaction-consistency")
    read, _ = page(tmp_path, incidents.findings(*(incidents.finding(slug, "confirmed") for slug in slugs)))
    assert "Broker busy · Transaction consistency" in read.text
    places = [read.text.index(said) for said in (*(f"Summary of {slug}." for slug in slugs), PAGE["since"].en)]
    assert places == sorted(places)


def test_a_cause_that_is_asked_for_is_shown_whatever_its_verdict(tmp_path: Path) -> None:
    run = incidents.notebook(tmp_path / "50.ipynb", "broker-busy", Table(pd.DataFrame({"a": [1]}), "of the walk"))
    found = incidents.findings(incidents.finding("broker-busy", "ruled_out"))
    for options, shown in (({}, False), ({"cause": "broker-busy"}, True)):
        read = Page(build(found, {}, [run], tmp_path / "out", options=options).read_text())
        assert (("h2", {"id": "broker-busy"}) in read.tags) is ("of the walk" in read.text) is shown
        assert PAGE["also"].en not in read.text


def test_figures_that_are_maps_and_lists_become_tables(tmp_path: Path) -> None:
    figures = {
        "errors_by_kind": {"PCBUSY_CLEAN_QUEUE": 12},
        "outcome_by_kind": {"OTHER": {"stored": 3, "lost": 4}},
        "stalls": [{"start": "2024-05-14T02:00:00Z", "seconds": 4.2}],
        "explanations": [{"why": "flush", "share": 0.5}, {"why": "of a later version", "share": None}],
        "counted_by_broker": None,
    }
    found = incidents.findings(incidents.finding("broker-busy", "confirmed", figures=figures))
    read, _ = page(tmp_path / "en", found)
    shown = ("PCBUSY_CLEAN_QUEUE", "stored", "4.2", "flushes to disk were slow", "of a later version")
    assert [text for text in shown if text not in read.text] == []
    # In Chinese the card has a measure word, 1 次停顿, and the table's name has none.
    read, _ = page(tmp_path / "zh", found, lang="zh")
    name = "停顿（从 Broker 的记录中看到）"
    assert read.text.count(name) > read.text.count(f"次{name}") > 0
    assert f"{PAGE['not_known'].in_('zh')} 拒绝（Broker 自身的计数）" in read.text


def test_page_is_well_formed_for_readers_of_all_kinds(tmp_path: Path) -> None:
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


def test_nothing_is_fetched_and_only_the_pages_own_scripts_run(tmp_path: Path) -> None:
    read, html = page(tmp_path, shown=[transactions.growth(incidents.growth_frame())])
    assert not {tag for tag, _ in read.tags} & {"link", "img", "iframe", "base"}
    assert not [attrs for _, attrs in read.tags if {"src", "style"} & attrs.keys()]
    policy = next(attrs["content"] for tag, attrs in read.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy
    assert len(re.findall(r"<script>", html)) == 1 and len(html) < 1_000_000


def test_hostile_evidence_stays_text(tmp_path: Path) -> None:
    frame = incidents.life_frame().assign(topic=incidents.HOSTILE)
    table = Table(pd.DataFrame({incidents.HOSTILE: [incidents.HOSTILE]}), incidents.HOSTILE)
    lanes = pictures.lanes(frame[["store_timestamp", "topic"]])
    read, html = page(tmp_path, incidents.hostile(), [lanes, table, incidents.HOSTILE])
    assert not [attrs for _, attrs in read.tags if any(name.startswith("on") for name in attrs)]
    assert "img" not in {tag for tag, _ in read.tags}
    assert "<script>alert" not in html
    assert read.text.count("<script>alert(1)</script>") > 5
    assert not set("\x1b\u202e\u202c") & set(html)


def test_html_of_a_notebook_is_never_taken_over(tmp_path: Path) -> None:
    read, _ = page(tmp_path, shown=["<b onclick='x()'>foreign</b>"])
    assert "<b onclick='x()'>foreign</b>" in read.text
    assert "<b>raw</b>" in read.text and not re.search("http://example.com|javascript:", str(read.tags))


def test_page_is_complete_in_chinese(tmp_path: Path) -> None:
    read, _ = page(tmp_path, lang="zh")
    assert ("html", {"lang": "zh-CN"}) in read.tags
    english = {text.en for text in PAGE.values() if "{" not in text.en and text.en != text.in_("zh")}
    assert english & set(read.text.split("\n")) == set()


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    chart = transactions.growth(incidents.growth_frame())
    first, second = (page(tmp_path / name, shown=[chart])[1] for name in ("a", "b"))
    assert first == second
    made = [(tmp_path / name / "out" / "manifest.json").read_bytes() for name in ("a", "b")]
    assert made[0] == made[1]
    assert json.loads(made[0])["manifest_sha256"] in first


def test_manifest_hash_covers_inputs_and_options() -> None:
    found = incidents.blow_up()
    plain = manifest(found, {"lang": "en"})["manifest_sha256"]
    assert plain != manifest(found, {"lang": "en", "tz_app": "Asia/Shanghai"})["manifest_sha256"]
    found["evidence"]["files"][0]["sha256"] = "cd" * 32
    assert plain != manifest(found, {"lang": "en"})["manifest_sha256"]


def test_causes_that_explain_each_other_are_linked(tmp_path: Path) -> None:
    by = {"broker-busy": [], "client-timeout": ["broker-busy"], "dead-letter": ["broker-busy"], "disk-full": []}
    found = [incidents.finding(slug, "confirmed", explained_by=why) for slug, why in by.items()]
    read, _ = page(tmp_path, incidents.findings(*found))
    said = [line for line in read.text.splitlines() if line.startswith(("This explains", "This follows"))]
    assert said == [
        "This explains: Client timeout (confirmed); Dead letter (confirmed)",
        *["This follows from: Broker busy (confirmed)"] * 2,
    ]


def test_an_executed_notebook_shows_the_parameters_a_reader_starts_from() -> None:
    injected = nbformat.v4.new_code_cell("workspace = '/caches/a'", metadata={"tags": ["injected-parameters"]})
    book = nbformat.v4.new_notebook(cells=[injected])
    notebooks.settle(book, {"evidence": "incident", "workspace": ""})
    assert "caches" not in book.cells[0].source and "incident" in book.cells[0].source
