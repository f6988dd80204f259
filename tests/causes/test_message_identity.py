"""The cause that tells ids apart, and dead letters: against RocketMQ's decoder and the consumers' rows."""

import csv
import io
import shutil
from pathlib import Path
from typing import Any

import pytest
import recorded
from counted import by_key, ledger_twice

import kit
from kit import causes
from kit.case.case import Case

NAME = "message-identity"


@pytest.fixture(scope="module")
def folder() -> Path:
    return recorded.whole(NAME)


@pytest.fixture(scope="module")
def case() -> Case:
    return recorded.case(NAME)


def test_without_the_ledger_the_logs_tell_and_without_both_it_gets_weaker(folder: Path, tmp_path: Path) -> None:
    """Without a table the application's own lines report the same messages; without its look-up: not enough."""
    for path in folder.rglob("*"):
        if (path.is_file() and "commitlog" in path.parts) or path.name == "points-service.log":
            (tmp_path / "a" / "x").mkdir(parents=True, exist_ok=True)
            shutil.copy(path, tmp_path / "a" / "x" / (path.name if "commitlog" in path.parts else "app-7.txt"))
    finding = causes.examine(kit.open_case(tmp_path / "a").facts, "message-identity")
    assert finding.verdict == "confirmed"
    assert finding.figures["handled_twice_by_offset_id"] == len(ledger_twice(NAME, "c/points.csv"))
    assert "Look-ups" not in finding.summary.render(), "nobody looked anything up"
    (tmp_path / "a" / "x" / "app-7.txt").unlink()
    bare = causes.examine(kit.open_case(tmp_path / "a").facts, "message-identity")
    assert bare.verdict == "insufficient_evidence"
    assert bare.figures["handled_twice_by_offset_id"] is None and bare.figures["wrong_space_lookups"] is None
    assert bare.figures["uniq_keys"] == len(by_key())
    assert bare.missing


def rewritten(folder: Path, into: Path, change: Any) -> Path:
    """Copy commitlog and one ledger, the ledger's rows changed by `change`."""
    (into / "c").mkdir(parents=True)
    shutil.copytree(folder / "broker" / "store" / "commitlog", into / "commitlog")
    with (folder / "c" / "points.csv").open(newline="") as file:
        rows = change(list(csv.DictReader(file)))
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    (into / "c" / "grants.csv").write_text(out.getvalue())
    return into


def test_success_again_without_a_retry_copy_is_another_fault(folder: Path, tmp_path: Path) -> None:
    """Each success twice as the same copy: a rebalance, not an id."""

    def change(rows: list[dict[str, str]]) -> list[dict[str, str]]:
        first = [row for row in rows if row["reconsume_times"] == "0"]
        return [copy for row in first for copy in (row, row)]

    case = kit.open_case(rewritten(folder, tmp_path / "a", change))
    assert case.facts("handled_twice").empty


def test_two_groups_each_handle_a_message_once(folder: Path, tmp_path: Path) -> None:
    """One group took the first copy, the other one the retry: each once."""
    place = rewritten(folder, tmp_path / "a", lambda rows: [row for row in rows if row["reconsume_times"] == "0"])
    (place / "other").mkdir()
    with (folder / "c" / "points.csv").open() as file:
        lines = file.read().splitlines()
    (place / "other" / "grants.csv").write_text(
        "\n".join([lines[0], *(line for line in lines[1:] if line.split(",")[3] != "0")])
    )
    assert kit.open_case(place).facts("handled_twice").empty
