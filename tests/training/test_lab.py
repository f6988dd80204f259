"""Training labs: how answers are compared, and that every lab knows what is true of its recording."""

import re
from types import SimpleNamespace

import attrs
import msgspec
import nbformat
import pandas as pd
import pytest
import recorded
from folders import put
from table import rows_of

import kit
from kit.charts import Chart, figure, transactions
from kit.report import notebooks
from kit.training import session as sessions
from kit.training.bench import Bench, evidences
from kit.training.lab import Lab, labs
from kit.training.session import LabError, Session

LAB = msgspec.convert(rows_of(__file__, "lab"), Lab)
COPIES = LAB.questions[0].slips["copies"]
FACTS = rows_of(__file__, "facts")
TRUTH = rows_of(__file__, "truth")


@pytest.fixture
def session():
    played = Session(LAB, Bench([]))
    played.facts = FACTS
    return played


@pytest.mark.parametrize(("given", "value"), rows_of(__file__, "numbers_are_read_as_people_write_them"))
def test_numbers_are_read_as_people_write_them(given, value):
    assert sessions.number(given) == (None if value is None else pytest.approx(value))
    assert sessions.number(float("nan")) is None and sessions.number("1" * 500 + "x" * 10_000) is None


@pytest.mark.parametrize(("id_", "given", "truth", "yes"), rows_of(__file__, "words_forgive_form"))
def test_words_forgive_form(id_, given, truth, yes):
    assert sessions.same(given, truth, Session(LAB, Bench([])).question(id_)) is yes


@pytest.mark.parametrize("given", [None, ..., "", " ? ", "…", "？"])
def test_placeholders_are_no_answers(session, given):
    assert session.check("99-1", given).state == "unanswered"


@pytest.mark.parametrize(("id_", "given", "state", "says"), rows_of(__file__, "answers"))
def test_an_answer_is_right_or_its_mistake_is_explained(session, id_, given, state, says):
    """With the numbers of a known mistake; of another the direction, the form or the choice."""
    told = session.check(id_, given)
    assert (told.state, says in told.text) == (state, True), told.text
    assert session.states[id_] == state


def test_the_scorecard_remembers_tries_hints_and_answers_and_hostile_answers_stay_text(session):
    assert session.check("99-5", 3).state == "untold"
    for id_ in ("99-1", "99-2"):
        assert attrs.astuple(session.check(id_, None)) == ("Not answered yet.", "unanswered")
    assert not session.states
    session.check("99-1", 1)
    assert session.hint("99-1").text == "Look at 5,678."
    session.check("99-1", session.answer("99-1"))
    assert session.check("99-3", "uniq-key").state == "right" and session.check("99-3", "offset-id").state == "wrong"
    card = session.scorecard()  # what was right stays so
    # What the evidence does not tell is not counted.
    assert card.caption == "Lab 99: 2 of 6 right, 1 of them with help"
    assert list(card.frame.iloc[0])[:3] == ["99-1", "✓", "hint, answer"]
    session.solve = True
    assert session.check("99-1", None).state == "right"
    assert session.check("99-2", "100").state == "wrong"
    assert session.answer("99-4") == "alpha, beta"
    session.facts = FACTS | {"copies": None}
    assert session.say(COPIES) == "Those are copies: unknown."
    told = session.check("99-1", "<img src=x onerror=alert(1)>\x1b[2J")._repr_mimebundle_()
    assert "<img" not in told["text/html"] and "\x1b" not in told["text/html"] + told["text/plain"]


def test_the_bench_shows_what_it_is_asked_for_and_unknown_labs_are_refused_by_name(tmp_path):
    (tmp_path / "app.log").write_text("2026-11-20 23:19:20,001 WARN [main] o.a.Order - send of 12 failed\n" * 2)
    bench = Bench([tmp_path / "app.log"], str(tmp_path.with_name("ws")), interactive=False)
    assert bench.lines("12 failed", most=1).frame[["file", "line"]].values.tolist() == [["app.log", 1]]
    assert bench.warnings().frame[["level", "entries"]].values.tolist() == [["WARN", 2]]
    assert bench.files().frame["file"].tolist() == ["app.log"]
    assert bench.records("topic = 't'").frame.empty and bench.topics().frame.empty
    with pytest.raises(LabError, match="80, 81"):
        kit.lab.open(1, tmp_path)
    (tmp_path / "x.log").write_text("x")
    opened = kit.lab.open(80, tmp_path, str(tmp_path.with_name("ws")))
    for id_ in ("80-99", "nonsense", "", "99999-1", "80", "80-"):
        with pytest.raises(LabError):
            opened.check(id_, 1)


def test_archives_come_in_an_order_their_names_do_not_decide(tmp_path):
    for name, content in {"b.zip": "22", "a.zip": "1", "c.zip": "333", "README.md": ""}.items():
        put(tmp_path / name, content)
    first = [path.read_bytes() for path in evidences(tmp_path, 2)]
    (tmp_path / "below").mkdir()
    for path in list(tmp_path.glob("*.zip")):
        path.rename(tmp_path / "below" / f"{9 - len(path.read_bytes())}.zip")
    assert [path.read_bytes() for path in evidences(tmp_path, 2)] == first
    draws = {tuple(path.read_bytes() for path in evidences(tmp_path, 2, draw)) for draw in range(20)}
    # Of the six ordered pairs of three archives each comes up sooner or later: none is left out for its size.
    assert {content for pair in draws for content in pair} == {b"1", b"22", b"333"} and len(draws) > 3
    assert evidences([str(tmp_path / "README.md")]) == [tmp_path / "README.md"]


def test_a_lab_draws_without_the_sentence_that_reads_the_chart_and_shows_the_published_answer():
    chart = Chart(figure(), pd.DataFrame({"a": [1]}), "it doubles every 5.0 s", "alt", "title")
    told = SimpleNamespace(inquiry=lambda: SimpleNamespace(draw=lambda draw, name: chart))
    drawn = Bench.draw(told, lambda frame: chart, "growth")
    assert isinstance(drawn, Chart) and (drawn.reading, drawn.title) == ("", "title")
    # The published comparison: the middle is broken; first and last are safe if SEND_OK is looked at.
    cells = transactions.placements(published=True).frame.set_index("failure")
    broken = cells.apply(lambda column: column.str.contains("row without|message without")).any()
    assert set(broken[broken].index) == {"middle"}


def test_every_lab_has_five_to_ten_questions():
    assert list(labs()) == [80, 81, 82, 83, 84, 85, 86]
    for number in TRUTH:
        asked = labs()[number].questions
        assert 5 <= len(asked) <= 10
        for q in asked:
            # A wrong word is one that can be chosen.
            assert q.options.keys() >= q.slips.keys() or q.kind == "number"


LAB_NOTEBOOKS = sorted(notebooks.folder().glob("8*_lab_*.ipynb"))


@pytest.mark.parametrize("path", LAB_NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_ask_every_question_and_hold_no_answer(path):
    number = int(path.stem[:2])
    source = "\n".join(cell.source for cell in notebooks.read(path).cells if cell.cell_type == "code")
    checked = re.findall(r"^answer = None  # .*\nlab\.check\(\"(\d+-\d+)\", answer\)$", source, re.M)
    assert len(checked) == source.count("lab.check(") == source.count("lab.ask(")
    assert checked == [f"{number}-{n}" for n in range(1, {85: 6, 86: 8}.get(number, 1 + len(labs()[number].questions)))]


HEAVY = (*recorded.BIG, "size-mismatch", "message-identity")


@pytest.mark.spark
@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=pytest.mark.recordings) if TRUTH[n]["recording"] in HEAVY else n for n in TRUTH]
)
def test_a_lab_knows_what_is_true_of_its_recording(number):
    lab = kit.lab.open(number, recorded.whole(TRUTH[number]["recording"]), interactive=False)
    wanted = TRUTH[number]["answers"]
    for id_, (truth, wrong, said) in wanted.items():
        told = lab.check(id_, wrong)
        assert (told.state, said in told.text) == ("wrong", True), (id_, told.text)
        told = lab.check(id_, truth)
        assert told.state == "right", (id_, truth, told.text)
    scores = f"Lab {number}: {len(wanted)} of {len(wanted)} right, 0 of them with help"
    assert lab.scorecard().caption == scores


@pytest.mark.recordings
@pytest.mark.spark
def test_the_mixed_lab_on_what_the_labels_say():
    names = ["producer-offline", "transaction-consistency", "healthy"]
    lab = kit.lab.open(85, [str(recorded.whole(name)) for name in names], interactive=False)
    for n, name in enumerate(names, 1):
        wrong = "broker-busy" if n > 1 else "transaction-consistency"
        assert "It is ruled out" in lab.check(f"85-{n}", wrong).text
        assert lab.check(f"85-{n}", ", ".join(recorded.label(name)["root_causes"]) or "none").state == "right"
    assert "neighbour" in lab.check("85-2", "dead-letter").text
    assert "neighbour" in lab.check("85-1", "producer-offline").text
    assert lab.scorecard().caption == "Lab 85: 3 of 3 right, 0 of them with help"


@pytest.mark.recordings
@pytest.mark.parametrize("path", LAB_NOTEBOOKS, ids=lambda path: path.stem)
def test_every_lab_plays_headless_to_a_full_scorecard(path, tmp_path):
    chosen = {"lang": "zh", "interactive": False, "solve": True, "workspace": str(tmp_path / "ws")}
    (evidence,) = re.findall(r'^evidence.*?"(.*?)"', notebooks.read(path).cells[1].source, re.MULTILINE)
    chosen["evidence"] = str(notebooks.folder().parent / evidence)
    [done] = notebooks.execute([path], tmp_path / "out", chosen)
    told = notebooks.story(done)
    assert (told.failed, told.parts_failed) == (None, 0)
    last = nbformat.read(done, as_version=4).cells[-1].outputs[0].data["text/plain"]
    score = re.search(r"(\d+) 题答对 (\d+) 题", last)
    assert score and score[1] == score[2] != "0"


@pytest.mark.spark
@pytest.mark.recordings
def test_an_unanswered_lab_runs_headless_and_says_so_and_again_on_what_is_kept(tmp_path):
    path = notebooks.folder() / "84_lab_transaction_consistency.ipynb"
    evidence = str(recorded.ARCHIVES[TRUTH[84]["recording"]])
    chosen = {"lang": "en", "interactive": False, "evidence": evidence, "workspace": str(tmp_path / "ws")}
    # The second time results are kept and nothing has started Spark before the lab wants it.
    for name in ("first", "again"):
        [done] = notebooks.execute([path], tmp_path / name, chosen)
        told = notebooks.story(done)
        assert (told.failed, told.parts_failed) == (None, 0), told.blocks
    assert sum("Not answered yet." in str(block) for block in told.blocks) == 8
    assert "0 of 8 right" in str(told.blocks)
