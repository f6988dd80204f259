"""Many findings.json beside each other. Expected values: arithmetic on findings written here."""

import json
import re

import folders
import incidents
import pytest
from click.testing import CliRunner
from table import rows_of

import kit
from kit.cli.main import cli
from kit.incidents import history

BUSY = incidents.finding(**rows_of(__file__, "busy"))
QUIET = {**BUSY, "verdict": "ruled_out", "window": None}


def findings(*found, path="/host/a.zip", first=None):
    return incidents.findings(*found, files=[{"file": "a", "sha256": path, "first": first}], path=path)


def put(folder, name, content, page=False):
    folders.put(folder / name / "findings.json", content if isinstance(content, str) else json.dumps(content))
    if page:
        folders.put(folder / name / "report.html", "")
    return folder / name


def at(day):
    return [f"2026-03-{day:02}T10:00:00.000Z", f"2026-03-{day:02}T10:05:00.000Z"]


@pytest.fixture
def reports(tmp_path):
    put(tmp_path, "b/second", findings({**BUSY, "window": at(9)}), page=True)
    suspected = {**BUSY, "verdict": "suspected", "window": at(2)}
    put(tmp_path, "first", findings(suspected, first="2026-03-02T08:00:00.000Z"))
    put(tmp_path, "quiet", findings(QUIET, first="2026-03-05T00:00:00.000Z"))
    return tmp_path


def test_a_file_that_is_no_findings_json_is_named_and_garbage_times_give_no_time(reports, tmp_path):
    put(reports, "cut", '{"schema": 1, "find')
    put(reports, "other", {"schema": 2})
    put(reports, "deep", "[" * 100_000)
    put(reports, "odd", findings({**BUSY, "steps": [1]}))
    (reports / "linked").symlink_to(reports / "first")
    known, unread = history.read(reports)
    assert len(known) == 3
    assert sorted(said.render().split("/")[0] for said in unread) == ["cut", "deep", "odd", "other"]
    put(tmp_path / "g", "a", findings({**BUSY, "window": ["yesterday", "9999-99-99"]}, first="²"))
    put(tmp_path / "g", "b", findings({**BUSY, "window": ["0001-01-01T00:00:00+08:00", ""], "figures": {"lag": 5}}))
    assert [one.began for one in history.read(tmp_path / "g")[0]] == [None, None]


def test_likeness_is_the_shared_weight_over_all_of_it(reports, tmp_path):
    history = kit.incidents.start(reports)
    with pytest.raises(KeyError, match="b/second"):
        history.alike("nowhere")
    # Shared: the step (1) and the name (2). Beside them: confirmed (4) there, suspected (1.5) here.
    (row,) = kit.incidents.start(reports).likeness("b/second").itertuples()
    assert (row.name, row.likeness) == ("first", pytest.approx(3 / 8.5))
    assert row.why == "the same name: orders; the same step: broker-busy/refused"
    put(tmp_path, "third", findings({**BUSY, "window": at(20)}))
    assert kit.incidents.start(reports).alike().frame["likeness"].tolist() == [1.0, 0.35]


@pytest.mark.parametrize("where", ["missing", "file"])
def test_what_is_no_folder_is_said_and_every_table_is_empty(tmp_path, where):
    if where == "file":
        (tmp_path / where).write_text("x")
    history = kit.incidents.start(tmp_path / where)
    assert len(history.not_read().frame) == 1
    for table in (history.overview(), history.alike(), history.chart().twin):
        assert table.frame.empty


def test_the_gallery_links_reports_loads_nothing_and_replaces_its_own_page_alone(reports):
    hostile = {**BUSY, "title": "<script>alert(1)</script>", "summary": "</style><img src=http://x/>"}
    put(reports, 'a"><b', findings(hostile), page=True)
    result = CliRunner().invoke(cli, ["gallery", str(reports)])
    assert (result.exit_code, result.output.strip()) == (0, str(reports / "index.html"))
    page = (reports / "index.html").read_text(encoding="utf-8")
    assert 'href="b/second/report.html"' in page
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert not re.findall(r'(?:src|href)="(?!#|[\w%./-]+\.html")[^"]*"', page)
    history.write(reports)
    (reports / "index.html").write_text("<html>ours</html>")
    result = CliRunner().invoke(cli, ["gallery", str(reports)])
    assert result.exit_code == 2
    assert (reports / "index.html").read_text() == "<html>ours</html>"
