"""The life of every message of a recording, the cause that tells ids apart, and dead letters: against RocketMQ's
decoder and the consumers' rows."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import recorded
from click.testing import CliRunner
from counted import by_key, ledger_twice
from pyspark.sql import functions as F  # noqa: N812

import kit
from kit.analysis.messages import lookups
from kit.causes.root_causes import message_identity
from kit.cli.main import cli
from kit.rocketmq import ids, names, stages
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


def test_every_message_has_exactly_its_records_from_any_of_its_ids(case: Case) -> None:
    """One pass for all keys: the join key of `trace` is unique to the message for each of its offset ids too."""
    said = (
        case.records.where(F.col("stage") != stages.OP)
        .select("uniq_key", "physical_offset", "offset_msg_id", "keys")
        .toArrow()
        .to_pylist()
    )
    offsets: dict[str, set[int]] = defaultdict(set)
    owner: dict[str, set[str]] = defaultdict(set)
    for row in said:
        offsets[row["uniq_key"]].add(row["physical_offset"])
        owner[row["offset_msg_id"]].add(row["uniq_key"])
    truth = by_key()
    assert {key: {r["physical_offset"] for r in records} for key, records in truth.items()} == offsets
    assert owner == {r["msg_id"]: {key} for key, records in truth.items() for r in records}


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


@pytest.mark.seconds
def test_many_ids_at_once_are_told_as_one_by_one(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    from kit.inventory import mentions

    truth = by_key()
    keys = sorted(truth)[:40]
    op = next(r["msg_id"] for r in recorded.truth(NAME) if r["topic"] == names.OP_TOPIC)
    asked = [
        *keys,
        truth[keys[0]][-1]["msg_id"].lower(),
        truth[keys[1]][0]["properties"]["KEYS"],
        op,
        "no such key",
        "",
    ]
    alone = [kit.trace(case, each) for each in asked]
    opened = []
    windows = mentions._windows
    monkeypatch.setattr(mentions, "_windows", lambda text: opened.append(text.file) or windows(text))
    assert kit.traces(case, asked) == alone
    assert len(opened) == len(set(opened)) > 0
    assert [len(told["records"]) for told in alone[:40]] == [len(truth[key]) for key in keys]


@pytest.mark.seconds
def test_the_command_takes_many_ids(folder: Path, tmp_path: Path) -> None:
    keys = sorted(by_key())[:3]
    run = CliRunner().invoke(
        cli,
        [
            "trace",
            str(folder),
            "-",
            "nowhere",
            "--json",
            str(tmp_path / "all.json"),
            "--workspace",
            str(tmp_path / "ws"),
        ],
        input="\n".join(keys) + "\n",
    )
    assert run.exit_code == 0, run.output
    said = run.stdout.splitlines()
    assert [line.split()[0] for line in said] == [*keys, "nowhere"]
    assert all(f"{len(by_key()[key])} copies" in line for key, line in zip(keys, said, strict=False))
    assert [each["id"] for each in json.loads((tmp_path / "all.json").read_text())] == [*keys, "nowhere"]


def test_stages_count_every_record_once(case: Case) -> None:
    expected: Counter[str] = Counter()
    for r in recorded.truth(NAME):
        topic, p = r["topic"], r["properties"]
        expected[
            "op"
            if topic == names.OP_TOPIC
            else "retry"
            if topic.startswith("%RETRY%")
            else "dlq"
            if topic.startswith("%DLQ%")
            else "schedule"
            if topic == names.SCHEDULE_TOPIC
            else ("check-back" if "TRANSACTION_CHECK_TIMES" in p else "half")
            if topic == names.HALF_TOPIC
            else "commit"
            if r["sys_flag"] & 12 == 8
            else "due"
            if "DELAY" in p
            else "original"
        ] += 1
    counted: Counter[str] = Counter()
    for row in case.facts("message_stages").itertuples():
        counted[row.stage] += row.records
    assert counted == expected


def test_without_the_ledger_the_logs_tell_and_without_both_it_gets_weaker(folder: Path, tmp_path: Path) -> None:
    """Files renamed and shuffled; no table: the application's own lines report the same messages. Nothing of the
    consumer, no look-up: not enough."""
    for path in folder.rglob("*"):
        if (path.is_file() and "commitlog" in path.parts) or path.name == "points-service.log":
            (tmp_path / "a" / "x").mkdir(parents=True, exist_ok=True)
            shutil.copy(path, tmp_path / "a" / "x" / (path.name if "commitlog" in path.parts else "app-7.txt"))
    finding = message_identity.examine(kit.open_case(tmp_path / "a").facts)
    assert finding.verdict == "confirmed"
    assert finding.figures["handled_twice_by_offset_id"] == len(ledger_twice(NAME, "evidence/c/points.csv"))
    (tmp_path / "a" / "x" / "app-7.txt").unlink()
    bare = message_identity.examine(kit.open_case(tmp_path / "a").facts)
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
