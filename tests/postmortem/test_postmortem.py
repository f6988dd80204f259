"""The postmortem: notes are read as text and never written over, times of both sides merge, hostile words stay
words."""

from __future__ import annotations

import datetime as dt
import hashlib
from pathlib import Path
from typing import Any

import incidents
import pytest
import recorded
from table import rows_of
from test_report import Page

import kit
from kit.case.options import Options
from kit.evidence.workspace import WorkspaceInside
from kit.notebook import notes
from kit.postmortem import page as postmortem
from kit.report import notebooks

UTC = dt.UTC
SHANGHAI = dt.timezone(dt.timedelta(hours=8))
WRITTEN = """\
title: The night of the orders
timezone: Asia/Shanghai
authors: [Li Na, Ana]
timeline:
  - {time: "2026-11-20T15:37:00Z", what: looked at the consumer}
  - {time: 23:36, what: alarm, who: on call}
  - {time: some time later, what: coffee}
  - {time: 2026-11-20 10:36:53 -0500, what: called New York}
decisions:
  - {time: 2026-11-20 23:40, what: Stopped the hotel service., why: to stop more rows}
went_well: [the alarm rang]
lucky: [nobody was paid twice]
actions:
  - {what: move the log row, owner: hotel team, due: 2026-12-01, kind: prevent}
"""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2024-05-14 10:02", (10, 2, 0, SHANGHAI)),
        ("2024-05-14T10:02:03", (10, 2, 3, SHANGHAI)),
        ("2024-05-14T10:02:03Z", (10, 2, 3, UTC)),
        ("2024-05-14 10:02:03.250 UTC", (10, 2, 3, UTC)),
        ("2024/5/14 10:02+0530", (10, 2, 0, dt.timezone(dt.timedelta(hours=5, minutes=30)))),
        ("2024-05-14 10:02 -5", (10, 2, 0, dt.timezone(dt.timedelta(hours=-5)))),
        ("10:02", (10, 2, 0, SHANGHAI)),
        ("10:02:03 GMT+8", (10, 2, 3, SHANGHAI)),
        ("2024-05-14", (0, 0, 0, SHANGHAI)),
    ],
)
def test_times_with_and_without_offset(text: str, wanted: tuple[Any, ...]) -> None:
    hour, minute, second, zone = wanted
    assert notes.moment(text, SHANGHAI, dt.date(2024, 5, 14)) == dt.datetime(
        2024, 5, 14, hour, minute, second, tzinfo=zone
    )


@pytest.mark.parametrize("text", rows_of(__file__, "what_is_no_time_is_none"))
def test_what_is_no_time_is_none(text: str) -> None:
    assert notes.moment(text, UTC, dt.date(2024, 5, 14)) is None


def test_a_clock_without_a_day_is_none() -> None:
    assert notes.moment("10:02", UTC) is None


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "notes.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_yaml_is_text_only(tmp_path: Path) -> None:
    read = notes.read(
        written(
            tmp_path,
            "timeline:\n- {time: 22:34, what: yes}\ndate: 2024-05-14\nactions: [just a sentence]\nauthors: one\nmood: bad\n",
        )
    )
    assert read.tables["timeline"] == [{"time": "22:34", "what": "yes", "who": ""}]
    assert read.texts["date"] == "2024-05-14"
    assert read.tables["actions"][0]["what"] == "just a sentence" and read.lists["authors"] == ["one"]
    assert read.unknown == ("mood",)


def test_what_nobody_reads_in_an_entry_is_kept_with_it(tmp_path: Path) -> None:
    read = notes.read(written(tmp_path, "timeline:\n- {time: 1, what: it broke, link: wiki}\n"))
    assert read.tables["timeline"][0]["what"] == "it broke (link: wiki)"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: &x [1]\nb: *x\n", "aliases"), ("a: [", "not YAML"), (b"\xff\xfe\x00", "UTF-8"), ("- a list", "mapping"),
        ("just words", "mapping"), ("a: " + "[" * 5000, "mapping"), ("a: " + "[" * 90 + "]" * 90, "mapping"),
        ('a: "\\UFFFFFFFF"', "not YAML"), ("title: !!python/object/apply:os.system [true]\n", None),
        (b"x" * ((1 << 20) + 1), "larger"), ("a: \x07", "not YAML"),
    ],
)  # fmt: skip
def test_bad_notes_are_refused_in_one_line(tmp_path: Path, text: Any, why: str | None) -> None:
    path = written(tmp_path, text)
    if why is None:
        # A tag is no order: the value is its text.
        assert notes.read(path).texts["title"] == "true"
        return
    with pytest.raises(notes.BadNotes, match=why) as caught:
        notes.read(path)
    assert "notes.yaml" in str(caught.value) and "\n" not in str(caught.value)


def test_a_zone_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(notes.BadNotes, match="Atlantis"):
        _ = notes.read(written(tmp_path, "timezone: Atlantis/Main\n")).zone


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_example_reads_as_empty_notes_and_is_never_written_twice(tmp_path: Path, lang: Any) -> None:
    path = postmortem.template(tmp_path / "new" / "notes.yaml", lang)
    read = notes.read(path)
    assert read.unknown == () and not any(read.tables.values()) and not any(read.lists.values())
    path.write_text("title: mine\n")
    assert postmortem.template(path, lang).read_text() == "title: mine\n"


class Case:
    """As much of a case as a page needs."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "evidence"
        self.path.mkdir(exist_ok=True)
        self.lang = "en"
        self.options = Options()
        self.clock = None


def made(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch, lang: Any = "en") -> postmortem.Postmortem:
    inquiry: Any = kit.notebook.Inquiry(Case(folder), incidents.blow_up(), lang, False)  # type: ignore[arg-type]
    monkeypatch.setattr(kit.notebook.Inquiry, "table", lambda self, name: incidents.result_table(name))
    return postmortem.Postmortem(inquiry, notes.read(written(folder, text)))


HOSTILE = "<img src=x onerror=alert(1)>\"'{{ 7 * 7 }}{% raw %}</script><script>alert(2)</script>$x$\u202e[link](javascript:alert(3))\x85"


def test_hostile_notes_stay_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = HOSTILE.replace("'", "''")
    keys = "".join(
        f"{name}: '{said}'\n"
        for name in ("title", "summary", "impact", "detection", "resolution", "status", "severity", "date")
    )
    lists = "".join(f"{name}: ['{said}']\n" for name in ("authors", "went_well", "went_badly", "lucky"))
    rows = "".join(
        f"{name}: [{{time: '{said}', what: '{said}', who: '{said}', why: '{said}', owner: '{said}'}}]\n"
        for name in ("timeline", "decisions", "actions")
    )
    pm = made(tmp_path, keys + lists + rows + f"'{said[:-1]}': x\n", monkeypatch)
    html = pm.page()
    read = Page(html)
    tags = {tag for tag, _ in read.tags}
    assert not tags & {"img", "iframe", "object", "form", "link", "base"}
    # Only the page's own scripts, which the policy knows by their hashes, and data blocks.
    own = [
        attrs
        for tag, attrs in read.tags
        if tag == "script" and attrs.get("type") not in ("application/json", "text/plain")
    ]
    assert own == [{}]
    assert not any(
        name.startswith("on") or (value or "").strip().lower().startswith("javascript")
        for _, attrs in read.tags
        for name, value in attrs.items()
    )
    assert all((attrs.get("href") or "#").startswith("#") for tag, attrs in read.tags if tag == "a")
    assert "{{ 7 * 7 }}" in read.text and "onerror=alert(1)" in read.text
    assert "\u202e" not in html and "\x85" not in html
    # Nothing is loaded: an address in the evidence is text.
    assert not any({"src", "href", "action", "data"} & set(attrs) for tag, attrs in read.tags if tag != "a")
    assert any("default-src 'none'" in (attrs.get("content") or "") for _, attrs in read.tags)


def test_the_page_has_every_section_in_both_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for lang in ("en", "zh"):
        read = Page(made(tmp_path, WRITTEN, monkeypatch, lang).page())
        ids = [attrs["id"] for tag, attrs in read.tags if tag == "h2"]
        assert ids[:10] == [
            "summary", "impact", "detection", "timeline", "chain", "resolution", "well", "badly", "lucky", "actions",
        ]  # fmt: skip
        for text in (
            "The night of the orders",
            "Li Na, Ana",
            "the alarm rang",
            "nobody was paid twice",
            "hotel team",
            "2026-12-01",
            "4,096",
        ):
            assert text in read.text, text
        assert postmortem.WORDS["unwritten"].in_(lang) in read.text


def test_sections_nobody_reads_and_entries_without_time_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Page(made(tmp_path, WRITTEN + "mood: bad\n", monkeypatch).page()).text
    assert "not used: mood" in text and "a valid time: 1" in text


def test_the_page_is_refused_inside_the_evidence_and_over_the_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pm = made(tmp_path, WRITTEN, monkeypatch)
    with pytest.raises(WorkspaceInside):
        pm.write(tmp_path / "evidence" / "page.html")
    with pytest.raises(ValueError, match="notes"):
        pm.write(tmp_path / "notes.yaml")
    assert (tmp_path / "notes.yaml").read_text() == WRITTEN
    assert pm.write(tmp_path / "new" / "page.html").exists()


@pytest.mark.seconds
def test_notes_and_evidence_merge_in_order_of_time_and_notes_survive(tmp_path: Path) -> None:
    evidence, path = recorded.whole("transaction-consistency"), written(tmp_path, WRITTEN)
    before = (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
    pages = []
    for _ in range(2):
        pm = postmortem.start(evidence, notes=path)
        pages.append(pm.write(tmp_path / "page.html").read_bytes())
    assert pages[0] == pages[1]
    assert (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) == before
    events = pm.events
    timed = events[events["at"].notna()]
    assert timed["at"].is_monotonic_increasing and list(events["what"][events["at"].isna()]) == ["coffee"]
    at = dict(zip(events["what"], events["at"], strict=True))
    assert at["alarm (on call)"].isoformat() == "2026-11-20T15:36:00+00:00"
    assert at["called New York"].isoformat() == "2026-11-20T15:36:53+00:00"
    assert at["Stopped the hotel service. Why: to stop more rows"].isoformat() == "2026-11-20T15:40:00+00:00"
    # The dead letters: the first one's store time, by the decoder.
    dead = min(
        r["store_timestamp"] for r in recorded.truth("transaction-consistency") if r["topic"].startswith("%DLQ%")
    )
    claim = next(what for what in events["what"] if "dead letter topics" in what)
    assert at[claim].timestamp() * 1000 == pytest.approx(dead, abs=1)
    # A line of a log is timed by its entry: GMT+8 by layout.
    exception = next(what for what in events["what"] if what.startswith("Contributing: the client caught"))
    assert at[exception].isoformat() == "2026-11-20T15:36:52+00:00"
    assert {"evidence", "team", "decision"} == set(events["source"])


@pytest.mark.seconds
def test_the_notebook_writes_page_and_example_once(tmp_path: Path) -> None:
    chosen = {"evidence": str(recorded.whole("healthy")), "lang": "zh", "interactive": False}
    chosen |= {"notes": str(tmp_path / "notes.yaml"), "out": str(tmp_path / "page.html")}
    path = notebooks.folder() / "90_postmortem.ipynb"
    [done] = notebooks.execute([path], tmp_path / "first", chosen)
    assert notebooks.story(done).failed is None
    assert "没有确认任何根因" in (tmp_path / "page.html").read_text()
    mine = (tmp_path / "notes.yaml").read_text().replace('title: ""', "title: 平静的一天")
    (tmp_path / "notes.yaml").write_text(mine)
    again = postmortem.start(chosen["evidence"], notes=tmp_path / "notes.yaml", lang="zh")
    assert "平静的一天" in again.write(tmp_path / "page.html").read_text()
    assert (tmp_path / "notes.yaml").read_text() == mine
