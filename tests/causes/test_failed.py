"""A cause that raises is one finding with the verdict `failed`: all others answer, and nothing of it is kept."""

import json
from types import SimpleNamespace

import busy_evidence as made
import msgspec
import pandas as pd
import pytest
from click.testing import CliRunner

import kit
from kit import causes
from kit.causes import declared, known_problems, results
from kit.causes.findings import Finding, Step
from kit.causes.texts import Cause
from kit.cli.main import cli
from kit.i18n import T
from kit.report import html, terminal

SECRET = "订单-7351 Li Na"


@pytest.fixture
def evidence(tmp_path):
    root = tmp_path / "evidence"
    made.write_store(root / "commitlog", made.traffic(1_000, every=100))
    made.write_log(root / "rocketmq_client.log", [made.STARTED, *made.attempt(100, "K1", made.TIMEOUT)])
    return root


def quiet(slug, kind="neighbour"):
    """A cause that needs no Spark and finds nothing."""
    title = T("Quiet")
    finding = Finding(slug, kind, title, title, [Step(T("A claim"), "deciding", False, id="claim")])
    texts = msgspec.structs.asdict(Cause(title=title, slug=slug, kind=kind))
    return SimpleNamespace(**texts, examine=lambda case: finding)


@pytest.fixture(autouse=True)
def asked(monkeypatch):
    """Three causes instead of all: what is tested is what is around them."""
    three = {slug: quiet(slug) for slug in ("disk-full", "dead-letter")}
    three["broker-busy"] = quiet("broker-busy", "root_cause")
    monkeypatch.setattr(causes, "discover", lambda: tuple(three.values()))
    monkeypatch.setattr(declared, "examine", lambda facts, cause: cause.examine(facts))
    monkeypatch.setattr(known_problems, "examine", lambda case: [])
    monkeypatch.setattr("kit.causes.timeline.table", lambda case, findings: pd.DataFrame({"at": [1]}))
    monkeypatch.setattr("kit.cli.shared.java", lambda *_: None)
    yield three


def fail(error):
    def examine(*_):
        raise error

    return examine


def triaged(evidence, **examined):
    """Triage with these causes examined so: their names with `_`."""
    for cause in causes.discover():
        cause.examine = examined.get(cause.slug.replace("-", "_"), cause.examine)
    case = kit.open_case(evidence, evidence.parent / "ws")
    return case, kit.triage(case)


ERRORS = [
    RecursionError("maximum recursion depth exceeded"),
    MemoryError(),
    UnicodeEncodeError("utf-8", f"\ud800{SECRET}", 0, 1, "surrogates not allowed"),
    ValueError(f"could not parse '{SECRET}'\nTraceback"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_all_others_answer(evidence, error):
    fine = {cause.slug: cause.examine for cause in causes.discover()}
    case, found = triaged(evidence, disk_full=fail(error))
    by_cause = {f["cause"]: f for f in found["findings"]}
    assert set(by_cause) == set(fine)
    failed = by_cause.pop("disk-full")
    assert failed["verdict"] == "failed" and failed["error"]["type"] == type(error).__name__
    assert failed["error"]["where"].startswith("kit/causes/triage.py:")
    assert set(failed["error"]) == {"type", "message", "where"} and len(failed["error"]["message"]) <= 300
    assert all(f["verdict"] != "failed" and "error" not in f for f in by_cause.values())
    json.dumps(found, ensure_ascii=False).encode()
    said = (case.workspace.folder / "bug-report.txt").read_text()
    wanted = (type(error).__name__, "disk-full", f"rmq-kit {kit.__version__}", "commitlog: 1 files", "pyspark")
    assert all(text in said for text in wanted) and not any(text in said for text in (SECRET, "Li Na", str(evidence)))
    for lang in ("en", "zh"):
        page = html.render(found, {}, [], lang)
        assert '<p class="banner">' in page and type(error).__name__ in page and "bug-report.txt" in page
    assert "not examined" in terminal.verdicts(found, "en")
    assert "points to a known fault" not in html.render(found, {}, [], "en")
    _, again = triaged(evidence, disk_full=fine["disk-full"])
    assert "failed" not in {f["verdict"] for f in again["findings"]}, "not kept"


def test_a_sentence_or_figure_that_cannot_be_written(evidence):
    title = T("The broker's disk was full")
    sentence = Finding("disk-full", "neighbour", T("{left_out} x").say(), title)
    figure = Finding("dead-letter", "neighbour", title, title, figures={"x": object()})
    _, found = triaged(evidence, disk_full=lambda _: sentence, dead_letter=lambda _: figure)
    failed = {f["cause"] for f in found["findings"] if f["verdict"] == "failed"}
    assert failed == {"disk-full", "dead-letter"}


def test_a_table_that_cannot_be_kept(evidence):
    odd = pd.DataFrame({"x": [1, "a", {"b": 1}], "y": [object(), None, 3]})
    # A Spark frame that breaks when it is written.
    lazy = type("Lazy", (), {"write": property(fail(ArithmeticError("[CAST_INVALID_INPUT]")))})()
    tables = {"odd": odd, "lazy": lazy, "fine": pd.DataFrame({"x": [1]})}
    title = T("Quiet")
    case, found = triaged(evidence, disk_full=lambda _: Finding("disk-full", "neighbour", title, title, tables=tables))
    assert "failed" not in {f["verdict"] for f in found["findings"]}
    assert {"fine", "odd"} <= set(results.names(case)) and "lazy" not in results.names(case)
    assert [f.what for f in case.failures] == ["disk-full: lazy"]
    assert results.load(case) is None, "not kept"


@pytest.mark.seconds
def test_commands_end_with_1(evidence, asked, monkeypatch):
    asked["disk-full"].examine = fail(ERRORS[3])
    out, at = evidence.parent / "out", ["--workspace", str(evidence.parent / "ws")]
    done = CliRunner().invoke(cli, ["triage", str(evidence), "--out", str(out), *at])
    assert done.exit_code == 1 and "Traceback" not in done.output and "disk-full" in done.stderr
    assert str(out / "bug-report.txt") in done.stderr.splitlines()[-1]
    assert json.loads((out / "findings.json").read_text())["findings"] and (out / "tables").is_dir()
    assert SECRET not in (out / "bug-report.txt").read_text()
    monkeypatch.undo()
    done = CliRunner().invoke(cli, ["triage", str(evidence), "--out", str(out), *at])
    assert done.exit_code == 0 and not (out / "bug-report.txt").exists()
