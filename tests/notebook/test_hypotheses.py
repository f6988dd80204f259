"""Hypotheses and overruled verdicts: added to the end of the team's notes, with references that lead somewhere, and carried
into the postmortem as the team's words."""

from __future__ import annotations

from pathlib import Path

import attrs
import incidents
import pytest

import kit
from kit.evidence.workspace import WorkspaceInside
from kit.explorer import Selection
from kit.notebook import notes
from kit.notebook.inquiry import Inquiry, NoSuchCause
from kit.notebook.places import BadReference
from kit.postmortem import page as postmortem

HOSTILE = "<img src=x onerror=alert(1)>: '\"{{ 7*7 }}\n--- \u202e # no"
LINE = "2026-11-20 23:19:20,000 WARN [main] o.a.Order - refused"


@pytest.fixture
def inquiry(tmp_path: Path) -> Inquiry:
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    (evidence / "app.log").write_text(f"{LINE}\n{LINE} again {HOSTILE!r}\n")
    case = kit.open_case(evidence, tmp_path / "ws", tz_app="UTC")
    findings = incidents.blow_up()
    for finding in findings["findings"]:
        for n, step in enumerate(finding["steps"]):
            step["id"] = f"step-{n}"
    return Inquiry(case, findings, "en", False, tmp_path / "out" / "notes.yaml")


def test_a_note_keeps_what_it_is_about(inquiry: Inquiry) -> None:
    inquiry.note("It began here.", "app.log:1", who="Li Na")
    steps = inquiry.finding("half-topic-blowup")["steps"]
    step = next(s for s in steps if s["evidence"])
    inquiry.note("This decides it.", ("half-topic-blowup", step["id"]))
    shown = inquiry.note("Look at this minute.", Selection("2026-11-20T23:19", "2026-11-20T23:20", levels="WARN"))
    rows = notes.read(inquiry.notes).tables["hypotheses"]
    assert [row["what"] for row in rows] == ["It began here.", "This decides it.", "Look at this minute."]
    assert (rows[0]["who"], rows[0]["about"], rows[0]["references"]) == ("Li Na", LINE, "app.log:1")
    assert (
        rows[1]["about"] == f"half-topic-blowup: {step['claim']}"
        and step["evidence"][0]["file"] in rows[1]["references"]
    )
    assert "levels: ['WARN']" in rows[2]["about"] and "2026-11-20T23:20:00+00:00" in rows[2]["about"]
    assert len(shown.frame) == 3


def test_nothing_is_written_before_and_nothing_that_leads_nowhere(inquiry: Inquiry) -> None:
    path = Path(inquiry.notes)
    assert inquiry.verdicts() is not None and not path.exists()
    for about in ("app.log:99", "gone.log:1", "nonsense", ("half-topic-blowup", "no-such-step")):
        with pytest.raises(BadReference):
            inquiry.note("x", about)
    with pytest.raises(NoSuchCause):
        inquiry.overrule("no-such-cause", "us", "because")
    assert not path.exists()


def test_what_the_team_wrote_stays_byte_for_byte(inquiry: Inquiry) -> None:
    path = notes.template(inquiry.notes)
    path.write_text(path.read_text() + 'decisions:\n- {time: "10:20", what: waited}  # ours')  # no line end
    before = path.read_bytes()
    inquiry.note(HOSTILE, "app.log:2")
    inquiry.note("second")
    assert path.read_bytes().startswith(before)
    kept = notes.read(path)
    assert [row["what"] for row in kept.tables["hypotheses"]] == [HOSTILE, "second"]
    assert kept.tables["decisions"] == [{"time": "10:20", "what": "waited", "why": "", "who": ""}]
    assert kept.texts["status"] == "draft" and kept.unknown == ()


def test_notes_are_never_in_the_evidence_nor_added_to_what_is_no_notes(inquiry: Inquiry, tmp_path: Path) -> None:
    inside = attrs.evolve(inquiry, notes=inquiry.case.path / "notes.yaml")
    with pytest.raises(WorkspaceInside):
        inside.note("x")
    assert sorted(p.name for p in inquiry.case.path.iterdir()) == ["app.log"]
    other = tmp_path / "other.yaml"
    other.write_text("- a list\n")
    with pytest.raises(notes.BadNotes):
        attrs.evolve(inquiry, notes=other).note("x")
    assert other.read_text() == "- a list\n"


def test_an_overruled_verdict_is_marked_and_the_finding_stays(inquiry: Inquiry) -> None:
    before = inquiry.finding("half-topic-blowup")["verdict"]
    inquiry.overrule("half-topic-blowup", "Ana, on call", "the broker had been patched")
    assert inquiry.finding("half-topic-blowup")["verdict"] == before
    (row,) = notes.read(inquiry.notes).tables["overruled"]
    assert (row["cause"], row["verdict"], row["who"]) == ("half-topic-blowup", before, "Ana, on call")
    shown = inquiry.verdicts().as_text()
    assert "Overruled by the team (Ana, on call): the broker had been patched" in shown


def test_the_postmortem_carries_both_as_the_teams_words(inquiry: Inquiry, monkeypatch: pytest.MonkeyPatch) -> None:
    inquiry.note(HOSTILE, "app.log:1", who=HOSTILE)
    inquiry.overrule("half-topic-blowup", HOSTILE, "patched")
    monkeypatch.setattr(Inquiry, "table", lambda self, name: incidents.result_table(name))
    page = postmortem.Postmortem(inquiry, notes.read(inquiry.notes)).page()
    assert "<img" not in page and "&lt;img src=x" in page and "\u202e" not in page and "{{ 7*7 }}" in page
    for heading in ("hypotheses", "overruled"):
        assert f'<h2 id="{heading}">' in page
    assert "in the team&#39;s words" in page and "app.log:1" in page and "Overruled by the team" in page
    # The cause itself is still there, under the mark.
    section = page[page.index('<h2 id="chain">') : page.index('<h2 id="hypotheses">')]
    assert "Overruled by the team" in section
    without = postmortem.Postmortem(inquiry, None).page()
    assert 'id="hypotheses"' not in without and "Overruled" not in without
