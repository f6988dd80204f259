"""The explorer over a small evidence: what it shows is what the case's tables hold, cut, once each, and harmless."""

from __future__ import annotations

import builtins
import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from stores import Record, store

pytest.importorskip("duckdb")
pytest.importorskip("mosaic_widget")

import kit
from kit.explorer import Explorer, ExplorerMissing, database

IMAGE = "<img src=x onerror=alert(1)>"
RLO = "\u202e"
START = 1_795_216_760_000  # 2026-11-20T23:19:20Z
LEVELS = ("INFO", "WARN", "ERROR")


def stamp(n: int) -> str:
    return f"2026-11-20 23:19:{20 + n},{n:03}"


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve records of two topics in a store and its copy, thirty log entries that name them."""
    root = tmp_path_factory.mktemp("explorer") / "evidence"
    root.mkdir()
    records = [
        Record(
            topic=(b"orders", b"stock")[n % 2],
            body=b"x",
            born=START + 1000 * n,
            stored=START + 1000 * n,
            numbers=(0, 0, n // 2, 1000 + n, 0),
            properties=f"KEYS\x01K{n}\x02UNIQ_KEY\x010A14511500000C387F4466DA1B{n:06X}\x02".encode(),
        )
        for n in range(12)
    ]
    for name in ("master", "slave"):
        folder = root / name / "commitlog"
        folder.mkdir(parents=True)
        (folder / "00000000000000000000").write_bytes(store(records).data)
    lines = [
        f"{stamp(n)} {LEVELS[n % 3]} [$main-{n % 2}] o.a.Order - send topic=orders key=K{n} from 10.0.0.{n} {IMAGE}{RLO}"
        if n % 2
        else f"{stamp(n)} {LEVELS[n % 3]} [$main-{n % 2}] o.a.Order - nothing in particular"
        for n in range(30)
    ]
    (root / "app.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root


@pytest.fixture
def case(evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    base = tmp_path_factory.getbasetemp() / "explorer-workspace"
    return kit.open_case(evidence, base, tz_app="UTC")


def explored(case: Any, **narrowed: Any) -> Explorer:
    return kit.explore(case, interactive=False, **narrowed)


def test_every_entry_and_every_record_once(case: Any) -> None:
    explorer = explored(case)
    assert len(explorer.entries) == 30 and list(explorer.entries["line"]) == list(range(1, 31))
    assert len(explorer.records) == 12 and set(explorer.records["topic"]) == {"orders", "stock"}
    assert {"body"} & set(explorer.records) == set() and {"events"} & set(explorer.entries) == set()
    # As they are, not as they are shown: the hostile characters too.
    assert explorer.entries["message"].iloc[1].endswith(f"{IMAGE}{RLO}")
    assert explorer.records["store_timestamp"].iloc[0] == pd.Timestamp(START, unit="ms", tz="UTC")


def test_arguments_narrow_both_where_both_have_the_field(case: Any) -> None:
    narrowed = explored(
        case, topics="orders", since="2026-11-20T23:19:22Z", until=dt.datetime(2026, 11, 20, 23, 19, 30, tzinfo=dt.UTC)
    )
    # Records 2, 4, 6, 8, 10 are of `orders`; entries 3, 5, 7, 9 name it (the one of second 10 + 20 does not).
    assert list(narrowed.records["keys"]) == ["K2", "K4", "K6", "K8", "K10"]
    assert list(narrowed.entries["line"]) == [4, 6, 8, 10]
    assert set(explored(case, levels=["ERROR"]).entries["level"]) == {"ERROR"}
    assert len(explored(case, hosts="10.0.0.3").entries) == 1
    assert len(explored(case, stages="half").records) == 0 and len(explored(case, stages="original").records) == 12


def test_the_times_of_the_case_are_obeyed(evidence: Path, tmp_path: Path) -> None:
    cut = kit.open_case(
        evidence, tmp_path / "ws", tz_app="UTC", since="2026-11-20T23:19:25Z", until="2026-11-20T23:19:27Z"
    )
    explorer = explored(cut)
    assert list(explorer.records["keys"]) == ["K5", "K6", "K7"]
    # Of the entries the third is three seconds and some milliseconds behind.
    assert list(explorer.entries["line"]) == [6, 7]


def test_a_message_is_shown_with_a_minute_around_it(case: Any) -> None:
    span = explored(case, message="0A14511500000C387F4466DA1B000005").selection
    at = dt.datetime.fromtimestamp(START / 1000 + 5, dt.UTC)
    assert (span.since, span.until) == (at - dt.timedelta(minutes=1), at + dt.timedelta(minutes=1))
    with pytest.raises(ValueError, match="nobody-knows"):
        explored(case, message="nobody-knows")


def test_what_the_widget_is_given_holds_nothing_that_acts(case: Any) -> None:
    explorer = kit.explore(case)
    rows = explorer.widget.con.execute('SELECT "text", "thread" FROM shown_entries').fetchall()
    assert not any(RLO in cell for row in rows for cell in row) and any(IMAGE in row[0] for row in rows)
    assert any("\\u202e" in row[0] for row in rows)
    # In a specification `$main-0` would be a name; it is asked from a table instead.
    assert "$main" not in str(explorer.widget.spec)
    values = explorer.widget.con.execute("SELECT thread FROM menu_threads ORDER BY 1").fetchall()
    assert values == [("$main-0",), ("$main-1",)]
    assert IMAGE not in explorer.table().as_html() and "&lt;img" in explorer.table().as_html()


def test_what_is_pointed_at_becomes_a_selection(case: Any) -> None:
    explorer = kit.explore(case, topics="orders")
    explorer.widget.params = {
        "span": {"value": ["2026-11-20T23:19:21.000Z", "2026-11-20T23:19:24.500Z"], "predicate": "…"},
        "levels": {"value": [["WARN"]], "predicate": """("level" IN ('WARN'))"""},
        "threads": {"value": None, "predicate": ""},
        "said": {"value": None, "predicate": "…"},
    }
    chosen = explorer.selection
    assert chosen.as_dict() == {
        "since": "2026-11-20T23:19:21+00:00",
        "until": "2026-11-20T23:19:24.500000+00:00",
        "topics": ["orders"],
        "levels": ["WARN"],
    }
    # Entries 1 and 3 name the topic within the span; of these the first is a warning.
    assert list(explorer.entries["line"]) == [2]


def test_charts_and_tables_follow_without_a_widget(case: Any) -> None:
    explorer = explored(case, topics="orders")
    assert int(explorer.timeline("records").table["rows"].sum()) == 6
    assert int(explorer.timeline().table["rows"].sum()) == 15
    assert "K10" in explorer.table("records").as_text()
    assert len(explorer.table("entries", most=3).frame) == 3


def test_memory_and_scratch_are_bounded(case: Any) -> None:
    explorer = explored(case)
    ask = explorer.database.con.execute
    limit, scratch = ask("SELECT current_setting('memory_limit'), current_setting('temp_directory')").fetchone()
    assert limit in ("953.6 MiB", "1.0 GB") and Path(scratch).is_relative_to(case.workspace.folder / "tmp")
    assert ask("SELECT current_setting('autoinstall_known_extensions')").fetchone() in [(False,), ("false",)]


def test_a_missing_package_is_one_line(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **named: Any) -> Any:
        if name.partition(".")[0] in ("duckdb", "mosaic_widget"):
            raise ImportError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ExplorerMissing, match="pip install") as said:
        kit.explore(case)
    assert "\n" not in str(said.value)


@pytest.mark.seconds
def test_neither_is_imported_by_a_triage() -> None:
    import subprocess
    import sys

    code = "import sys, kit.causes.triage, kit.notebook, kit.cli.main; sys.exit(bool({'duckdb', 'mosaic_widget', 'anywidget'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.seconds
def test_evidence_without_logs_or_without_records(tmp_path: Path, evidence: Path) -> None:
    alone = kit.explore(kit.open_case(evidence / "app.log", tmp_path / "a", tz_app="UTC"))
    assert len(alone.entries) == 30 and alone.records.empty and "$stored" not in str(alone.widget.spec)
    stored = kit.explore(kit.open_case(evidence / "master", tmp_path / "b"))
    assert len(stored.records) == 12 and stored.entries.empty and "$said" not in str(stored.widget.spec)
    (tmp_path / "notes.txt").write_text("nothing\n")
    nothing = kit.explore(kit.open_case(tmp_path / "notes.txt", tmp_path / "c"))
    assert nothing.selection.as_dict() == {} and nothing.widget.spec


def test_one_built_anew_where_a_table_was_read_again(case: Any) -> None:
    before = explored(case).database.folders["entries"]
    case.workspace.forget(case.folder("logs").name)
    again = kit.open_case(case.path, case._base, tz_app="UTC")
    after = explored(again).database.folders["entries"]
    assert before != after and database.parquet(after) != database.parquet(before)


@pytest.mark.spark
def test_everything_selected_as_a_spark_frame(case: Any, spark: Any) -> None:
    explorer = explored(case, topics="orders", since="2026-11-20T23:19:22Z")
    assert explorer.spark("records").count() == len(explorer.records) == 5
    assert {row["line"] for row in explorer.spark("entries").select("line").collect()} == set(explorer.entries["line"])
