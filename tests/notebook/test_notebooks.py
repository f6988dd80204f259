"""Notebooks: their form, and that they run headless; a failing one is kept as far as it came."""

import ast
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import recorded
from folders import put
from incidents import book
from nbformat.v4 import new_code_cell, new_markdown_cell

import kit
from kit.case import output
from kit.notebook import inquiry, prose
from kit.notebook.walks import walk
from kit.report import build, notebooks

PATHS = sorted(notebooks.folder().glob("*.ipynb"))


def cells(path, kind, lang="en"):
    """Return the cells of a kind of a notebook in a language."""
    return [cell for cell in notebooks.localise(notebooks.read(path), lang).cells if cell.cell_type == kind]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_parameters_come_first_and_prose_has_one_title_no_skipped_level_and_chinese(path):
    code = cells(path, "code")
    assert [cell for cell in code if "parameters" in cell.metadata.get("tags", [])] == code[:1]
    assert all("  # " in line for line in code[0].source.splitlines())
    assigned = {node.target.id: ast.literal_eval(node.value) for node in ast.parse(code[0].source).body}
    assert {"evidence", "workspace", "lang", "interactive"} <= set(assigned)
    # One runs on reports that somebody has kept, which are nobody's sample.
    assert (Path(__file__).parents[2] / assigned["evidence"]).exists()
    for lang in ("en", "zh"):
        prose = [cell.source for cell in cells(path, "markdown", lang)]
        levels = [len(marks) for marks in re.findall("^#+", "\n".join(prose), re.MULTILINE)]
        assert levels[0] == 1 and set(levels[1:]) == {2}
        assert all(any("\u4e00" <= c <= "\u9fff" for c in text) == (lang == "zh") for text in prose)


WALKS = [p for p in PATHS if 20 <= int(p.stem[:2]) < 70]


@pytest.mark.parametrize("path", WALKS, ids=lambda path: path.stem)
def test_a_walk_asks_questions_then_shows_the_chain_then_lets_ask_what_one_likes(path):
    """A query is short, each stop says what follows, and no number of the sample is in the prose."""
    every = notebooks.read(path).cells
    texts, code = [cell.source for cell in every], [cell.source for cell in every if cell.cell_type == "code"]
    prose = [cell for cell in every if cell.cell_type == "markdown"]
    assert sum("inquiry.sql(" in source for source in code) >= 8
    [name] = re.findall(r'^so = walk\("(\w+)"\)', "\n".join(code), re.MULTILINE)
    stops = re.findall(r'\bso\["(\w+)"\]', "\n".join(code))
    assert len(stops) >= 6 and set(stops) <= walk(name).keys()
    assert len(re.findall(r"^## .*\?$", "\n".join(cell.source for cell in prose), re.MULTILINE)) >= 5
    [own] = [n for n, text in enumerate(texts) if "## Ask the evidence yourself" in text]
    chains = [n for n, text in enumerate(texts) if text.startswith("inquiry.chain(")]
    asked = [n for n, text in enumerate(texts) if "so[" in text and text.startswith("inquiry.answer(")]
    assert max(asked) < min(chains) <= max(chains) < own
    after = "\n".join(texts[own:])
    assert after.count("inquiry.answer(") >= 3 and "inquiry.views(" in after and "inquiry.query(" in after
    queries = re.findall(r'"""(.*?)"""', "\n".join(code), re.DOTALL)
    assert max(len(text.strip().splitlines()) for text in queries) <= 12
    told = [cell.source for cell in prose if not cell.metadata["rmq-kit"].get("documented")]
    assert [text for text in told if re.search(r"\d,\d{3}", text)] == []


@pytest.mark.parametrize("path", [p for p in WALKS if p.stem[1] == "0"], ids=lambda path: path.stem)
def test_the_documented_case_is_set_apart_in_both_languages(path):
    for lang, mark in (("en", "> **The documented case.**"), ("zh", "> **公开案例。**")):
        prose = cells(path, "markdown", lang)
        told = [c.source for c in prose if c.metadata["rmq-kit"].get("documented")]
        assert told and all(text.startswith(mark) and "\n" not in text for text in told)
        assert not any(mark in c.source for c in prose if not c.metadata["rmq-kit"].get("documented"))


@pytest.mark.parametrize(("verdict", "told"), [("confirmed", True), ("suspected", False), ("ruled_out", False)])
def test_a_report_tells_the_documented_case_only_beside_a_confirmed_cause(tmp_path, verdict, told):
    story = notebooks.story(notebooks.folder() / "20_half_topic_blowup.ipynb", {"half-topic-blowup": verdict})
    text = "".join(str(block["html"]) for block in story.blocks)
    assert ("documented case" in text) is told and "The loop, drawn" in text


def test_chosen_are_the_overview_and_those_of_causes_that_hold_and_evidence_is_found_from_there(tmp_path, monkeypatch):
    about = {"10_a": {"report": "overview"}, "20_b": {"causes": ["b"]}, "30_c": {"causes": ["c"]}, "80_lab": {}}
    for name, each in about.items():
        book(tmp_path / f"{name}.ipynb", **each)
    found = {"findings": [{"cause": "b", "verdict": "suspected"}, {"cause": "c", "verdict": "ruled_out"}]}
    assert [p.stem for p in notebooks.chosen(found, where=tmp_path)] == ["10_a", "20_b"]
    assert [p.stem for p in notebooks.chosen(found, "c", where=tmp_path)] == ["10_a", "30_c"]
    log = put(tmp_path / "sample_data" / "x.log", "x")
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    assert inquiry.locate("sample_data/x.log") == log
    with pytest.raises(FileNotFoundError, match="nowhere"):
        inquiry.locate("nowhere")


@pytest.mark.seconds
def test_two_at_once_take_parameters_speak_the_language_and_give_the_same_bytes(tmp_path):
    """What a failing cell becomes: tests/report/test_parts_fail.py."""
    over = tmp_path / "over"
    first = new_code_cell('lang: str = "en"  # language', metadata={"tags": ["parameters"]})
    hello = new_markdown_cell("Hello", metadata={"rmq-kit": {"zh": "你好"}})
    end = new_code_cell(f"open({str(over)!r}, 'w').close()")
    # Still at work when the other one has ended and its working folder is cleared away.
    wait = f"import os, time\nwhile not os.path.exists({str(over)!r}): time.sleep(0.05)\ntime.sleep(0.7)"
    good = book(tmp_path / "in" / "1_good.ipynb", first, hello, new_code_cell("print(lang)"), end)
    slow = book(tmp_path / "in" / "2_slow.ipynb", first, new_code_cell(wait), new_code_cell("'done'"))
    ([done, late], [again, _]) = (notebooks.execute([good, slow], tmp_path / n, {"lang": "zh"}) for n in ("a", "b"))
    story = notebooks.story(done)
    assert (story.failed, story.parts_failed, notebooks.story(late).failed) == (None, 0, None)
    assert [block["kind"] for block in story.blocks] == ["markdown", "text"]
    assert "你好" in story.blocks[0]["html"] and story.blocks[1]["text"] == "zh\n"
    assert notebooks.read(late).cells[-1].outputs[0]["data"]["text/plain"] == "'done'"
    assert again.read_bytes() == done.read_bytes()


@pytest.mark.recordings
def test_a_report_on_the_recording_shows_its_numbers_and_all_charts_and_the_second_is_the_first_one(tmp_path):
    """The first triages it, the second finds everything in the workspace."""
    half, evidence, ws = (
        "RMQ_SYS_TRANS_HALF_TOPIC",
        inquiry.locate("sample_data/half-topic-blowup.tar.zst"),
        tmp_path / "ws",
    )
    reports = [build.run(kit.open_case(evidence, ws), tmp_path / name) for name in ("first", "second")]
    records = [(r["topic"], r["properties"]) for r in recorded.truth("half-topic-blowup")]
    leaked = [said["UNIQ_KEY"] for topic, said in records if topic == half == said.get("REAL_TOPIC")]
    page = reports[0].read_text()
    assert f"<b>{len(leaked):,}</b>" in page and f"<b>{len(set(leaked))}</b>" in page
    assert f"<b>{recorded.label('half-topic-blowup')['retry_topic_length']}</b>" in page
    assert page.count("<figure ") == 6
    assert "stopped with an error" not in page
    first, second = (path.parent for path in reports)
    names = sorted(str(path.relative_to(first)) for path in first.rglob("*") if path.is_file())
    assert {
        "findings.json", "manifest.json", "report.html", "notebooks/20_half_topic_blowup.ipynb",
        "tables/half_topic_growth.csv",
    } <= set(names)  # fmt: skip
    differ = [name for name in names if (first / name).read_bytes() != (second / name).read_bytes()]
    assert set(differ) == {"run.json", output.MARKER}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_all_prose_is_said_in_chinese_cell_by_cell(path, monkeypatch):
    said = []
    hooks = []
    events = SimpleNamespace(register=lambda _, hook: hooks.append(hook), unregister=lambda _, hook: hooks.remove(hook))
    monkeypatch.setattr(prose, "shell", lambda: SimpleNamespace(events=events))
    monkeypatch.setattr(prose, "_publish", lambda data, marks=None: said.append(data.get("text/markdown", "")))
    prose.speak(path.stem[:2], "zh")
    every = notebooks.localise(notebooks.read(path), "zh").cells
    begun = next(n for n, cell in enumerate(every) if cell.cell_type == "code" and prose.BEGINS.search(cell.source))
    # What stands behind the first cell may speak of what that shows "above".
    assert [c.source in "".join(said) for c in every if c.cell_type == "markdown"] == [
        n < begun for n, c in enumerate(every) if c.cell_type == "markdown"
    ]
    for cell in cells(path, "code", "zh"):
        for hook in hooks:
            hook(SimpleNamespace(info=SimpleNamespace(raw_cell=cell.source)))
    prose.speak("", "en")
    told = "\n\n".join(said)
    missing = [cell.source for cell in cells(path, "markdown", "zh") if told.count(cell.source) != 1]
    assert not hooks and missing == []
