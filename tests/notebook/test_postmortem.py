"""The team's notes are read as text and never changed; the postmortem merges them with what the kit found, and hostile words stay words."""

import datetime as dt
from types import SimpleNamespace

import incidents
import nbformat
import pytest
import recorded
from click.testing import CliRunner
from nbformat.v4 import new_markdown_cell, new_notebook, new_output
from page import Page
from table import rows_of

from kit.case.options import Options
from kit.cli.main import cli
from kit.notebook import notes
from kit.notebook.answers import Answer
from kit.notebook.inquiry import Inquiry
from kit.notebook.postmortem import Postmortem
from kit.report import html, notebooks

SHANGHAI = dt.timezone(dt.timedelta(hours=8))
LINE = "2026-11-20 23:19:20,000 WARN [main] o.a.Order - refused"
WRITTEN = rows_of(__file__, "written")


@pytest.mark.parametrize(("text", "wanted"), rows_of(__file__, "times_with_and_without_offset"))
def test_times_with_and_without_offset(text, wanted):
    """Of that day, in that zone, where nothing else is said."""
    at = wanted and dt.datetime.fromisoformat(f"2024-05-14T{wanted}")
    assert notes.moment(text, SHANGHAI, dt.date(2024, 5, 14)) == at
    assert notes.moment("10:02", dt.UTC) is None


def written(folder, text):
    path = folder / "notes.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_yaml_is_text_only_and_what_nobody_reads_is_kept(tmp_path):
    text = "timeline:\n- {time: 22:34, what: yes, link: wiki}\ndate: 2024-05-14\nactions: [a sentence]\nauthors: one\nmood: bad\n"
    read = notes.read(written(tmp_path, text))
    assert read.tables["timeline"] == [{"time": "22:34", "what": "yes (link: wiki)", "who": ""}]
    assert (read.texts["date"], read.lists["authors"], read.unknown) == ("2024-05-14", ["one"], ("mood",))
    assert read.tables["actions"][0]["what"] == "a sentence"
    # A tag is no order: the value is its text.
    assert notes.read(written(tmp_path, "title: !!python/object/apply:os.system [true]\n")).texts["title"] == "true"


@pytest.mark.parametrize(
    ("text", "why"),
    rows_of(__file__, "bad_notes") + [("a: " + "[" * 1500, "mapping"), ("x" * ((1 << 20) + 1), "larger")],
)
def test_bad_notes_are_refused_in_one_line(tmp_path, text, why):
    with pytest.raises(notes.BadNotes, match=why) as caught:
        _ = notes.read(written(tmp_path, text.encode("latin-1"))).zone
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_example_reads_as_empty_notes_and_is_never_written_twice(tmp_path, lang):
    path = notes.template(tmp_path / "new" / "notes.yaml", lang)
    read = notes.read(path)
    assert read.unknown == () and not any(read.tables.values()) and not any(read.lists.values())
    path.write_text("title: mine\n")
    assert notes.template(path, lang).read_text() == "title: mine\n"


def page(folder, text, monkeypatch, lang="en"):
    """Return the page of notebook 90, its cells evaluated here."""
    monkeypatch.setattr(Inquiry, "table", lambda self, name, *_: incidents.result_table(name))
    monkeypatch.setattr(Inquiry, "draw", lambda self, chart, name: chart(incidents.result_table(name), lang=lang))
    case = SimpleNamespace(path=folder, lang="en", options=Options(), clock=None)
    inquiry = Inquiry(case, incidents.blow_up(), lang, False)
    look = Postmortem(inquiry, notes.read(written(folder, text)))
    book = notebooks.localise(notebooks.read(notebooks.folder() / "90_postmortem.ipynb"), lang)
    for cell in book.cells:
        last = cell.source.split("\n")[-1]
        if cell.cell_type == "code" and last.startswith("look."):
            shown = eval(last, {"look": look})
            parts = [(one, {}) for one in (shown.parts if isinstance(shown, Answer) else ())]
            each = [*parts, (shown, {"rmq-kit": {"sentence": True}})]
            cell.outputs = [new_output("display_data", data=o._repr_mimebundle_(), metadata=about) for o, about in each]
    nbformat.write(new_notebook(cells=[new_markdown_cell("# T"), *book.cells]), folder / "90.ipynb")
    story = notebooks.story(folder / "90.ipynb", shift=0)
    about = {"title": "Title", "stories": [story]}
    return html.shell("notebook.html.j2", inquiry.findings, lang, {"notes": "notes.yaml"}, "0", "postmortem", **about)


HOSTILE = "<img src=x onerror=alert(1)>\"'{{ 7 * 7 }}{% raw %}</script><script>alert(2)</script>$x$\u202e[link](javascript:alert(3))\x85"


def test_hostile_notes_stay_text(tmp_path, monkeypatch):
    said = HOSTILE.replace("'", "''")
    text = "".join(f"{name}: '{said}'\n" for name in notes.TEXTS if name != "timezone")
    text += "".join(f"{name}: ['{said}']\n" for name in notes.LISTS)
    for name, columns in notes.TABLES.items():
        text += f"{name}:\n- " + "\n  ".join(f"{column}: '{said}'" for column in columns) + "\n"
    made = page(tmp_path, text, monkeypatch)
    read = Page(made)
    assert not {tag for tag, _ in read.tags} & {"img", "iframe", "object", "form", "link", "base"}
    own = [a for tag, a in read.tags if tag == "script" and a.get("type") not in ("application/json", "text/plain")]
    assert own == [{}]
    assert not any(name.startswith("on") for _, each in read.tags for name in each)
    assert all((each.get("href") or "#").startswith("#") for tag, each in read.tags if tag == "a")
    assert read.text.count("{{ 7 * 7 }}") > 10 and read.text.count("onerror=alert(1)") > 10
    assert "\u202e" not in made and "\x85" not in made
    assert any("default-src 'none'" in (each.get("content") or "") for _, each in read.tags)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_has_every_section_and_says_what_is_not_used(tmp_path, monkeypatch, lang):
    made = page(tmp_path, WRITTEN + "mood: bad\n", monkeypatch, lang)
    read = Page(made)
    assert [tag for tag, _ in read.tags].count("h2") == 14 and len(made) < 1_000_000
    for text in ("Li Na, Ana", "the alarm rang", "nobody was paid twice", "hotel team", "2026-12-01", "4,096", "mood"):
        assert text in read.text, text
    assert {"en": "a valid time: 1", "zh": "有 1 条没有可识别的时间"}[lang] in read.text
    assert {"en": "Nobody has written this down yet", "zh": "尚未有人填写"}[lang] in read.text
    assert {"en": "first start of the group", "zh": "消费者组首次启动"}[lang] in read.text
    assert "The broker refused" in read.text and "putMessage message topic length too long" in read.text


@pytest.mark.seconds
@pytest.mark.spark
def test_notes_and_evidence_merge_in_order_of_time(tmp_path):
    path, evidence = written(tmp_path, WRITTEN), str(recorded.whole("transaction-consistency"))
    done = CliRunner().invoke(cli, ["postmortem", evidence, "--notes", str(path), "--out", str(tmp_path / "a")])
    assert done.exit_code == 0 and done.stdout.strip() == str(tmp_path / "a" / "postmortem.html"), done.output
    assert path.read_text() == WRITTEN
    cells = notebooks.read(tmp_path / "a" / "notebooks" / "90_postmortem.ipynb").cells
    [output] = [output for cell in cells if cell.source == "look.events()" for output in cell.outputs]
    events = output["data"]["application/vnd.rmq-kit.table+json"]["rows"]
    at = {what: time for time, _, what, *_ in events}
    assert [time for time, *_ in events if time != "–"] == sorted(time for time, *_ in events if time != "–")
    assert events[-1][2] == "coffee" and at["alarm (on call)"] == "2026-11-20 15:36:00"
    assert at["Stopped the hotel service. Why: to stop more rows"] == "2026-11-20 15:40:00"
    # A line of a log is timed by its entry: GMT+8 by layout.
    assert next(at[what] for what in at if what.startswith("Contributing: the client caught")) == "2026-11-20 15:36:52"
    assert {source for _, source, *_ in events} == {"evidence", "team", "decision"}
    [suspected] = [cell for cell in cells if cell.source == 'look.chains("suspected")']
    assert [output["data"]["text/plain"] for output in suspected.outputs] == ["Nothing else is suspected."]
