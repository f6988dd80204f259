"""The life of every message of a recording, the cause that tells ids apart, and dead letters: against RocketMQ's
decoder and the consumers' rows."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import recorded
from counted import by_key, ledger_twice

import kit
from kit import causes
from kit.analysis.messages import lookups
from kit.rocketmq import ids, names
from kit.rocketmq.ids import misread

if TYPE_CHECKING:
    from kit.case.case import Case

NAME = "message-identity"


@pytest.fixture(scope="module")
def folder() -> Path:
    return recorded.whole(NAME)


@pytest.fixture(scope="module")
def case() -> Case:
    return recorded.case(NAME)


@pytest.mark.seconds
def test_trace_from_each_kind_of_id(case: Case) -> None:
    truth = by_key()
    key = max(truth, key=lambda k: len(truth[k]))
    wanted = [r["physical_offset"] for r in truth[key]]
    business = truth[key][0]["properties"]["KEYS"]
    for asked, kind in (
        (key, "uniq"),
        (truth[key][-1]["msg_id"], "offset"),
        (business, "key"),
        (truth[key][2]["msg_id"].lower(), "offset"),
    ):
        told = kit.trace(case, asked)
        assert [r["physical_offset"] for r in told["records"]] == wanted, asked
        assert (told["id"], told["kind"], told["uniq_keys"]) == (asked, kind, [key])
    half = truth[key][0]["physical_offset"]
    ended = [r for r in recorded.truth(NAME) if r["topic"] == names.OP_TOPIC]
    assert [op["physical_offset"] for op in told["ops"]] == [ended[truth[key][0]["queue_offset"]]["physical_offset"]]
    assert (
        told["ops"][0]["half_offset_msg_id"] == truth[key][0]["msg_id"]
        and told["records"][0]["physical_offset"] == half
    )
    assert told["gaps"] == []
    rows = [r for r in recorded.rows(NAME, "evidence/c/points.csv") if r["uniq_key"] == key]
    assert [(h["offset_msg_id"], h["reconsume_times"], h["result"]) for h in told["handled"]] == [
        (r["offset_msg_id"], int(r["reconsume_times"]), r["result"]) for r in sorted(rows, key=lambda r: r["at"])
    ]


@pytest.mark.seconds
def test_mentions_are_every_line_that_holds_an_id_or_the_key(case: Case, folder: Path) -> None:
    truth = by_key()
    key = max(truth, key=lambda k: len(truth[k]))
    words = {key, truth[key][0]["properties"]["KEYS"], *(r["msg_id"] for r in truth[key])}
    expected = {
        (path.relative_to(folder).as_posix(), n)
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in (".log", ".csv", ".txt")
        for n, line in enumerate(path.read_bytes().split(b"\n"), 1)
        if any(word.encode() in line for word in words)
    }
    assert {(m["file"], m["line"]) for m in kit.trace(case, key)["mentions"]} == expected


def test_without_the_ledger_the_logs_tell_and_without_both_it_gets_weaker(folder: Path, tmp_path: Path) -> None:
    """Files renamed and shuffled; no table: the application's own lines report the same messages. Nothing of the
    consumer, no look-up: not enough."""
    for path in folder.rglob("*"):
        if (path.is_file() and "commitlog" in path.parts) or path.name == "points-service.log":
            (tmp_path / "a" / "x").mkdir(parents=True, exist_ok=True)
            shutil.copy(path, tmp_path / "a" / "x" / (path.name if "commitlog" in path.parts else "app-7.txt"))
    finding = causes.examine(kit.open_case(tmp_path / "a").facts, "message-identity")
    assert finding.verdict == "confirmed"
    assert finding.figures["handled_twice_by_offset_id"] == len(ledger_twice(NAME, "evidence/c/points.csv"))
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


@pytest.mark.spark
def test_misread_addresses_name_the_producer(case: Case) -> None:
    key = next(iter(by_key()))
    assert lookups._is_producers(case.facts, misread(key)[0])
    assert not lookups._is_producers(case.facts, "10.20.44.11:10911")
    assert lookups.kinds(case.facts, {key}) == {key: "uniq"}
    assert ids.classify(key)[0] == "uniq"
