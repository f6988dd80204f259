"""A record that may lie in files nobody copied is neither lost nor stored."""

import os
from pathlib import Path

import pandas as pd
import pytest
from stores import Record, store
from table import rows_of

import kit
from kit.analysis import brokers
from kit.analysis.sends import sends
from kit.analysis.transactions import totals
from kit.case.case import Case

BEGIN = 1_715_652_000
"""2024-05-14 02:00:00 UTC, in s."""


def _record(second: int) -> Record:
    at = 1000 * (BEGIN + second)
    return Record(
        topic=b"orders",
        body=bytes(1000),
        numbers=(0, 0, second, 0, 0),
        born=at,
        stored=at,
        properties=b"KEYS\x01K%d" % second,
    )


def _evidence(folder: Path, leave_out: str = "", hurt: int = 0) -> Path:
    """Write three files of a commit log, of seconds 0 to 9, 20 to 29 and 40 to 49, and failed sends of seconds 5, 25 and 45."""
    log = folder / "store" / "commitlog"
    log.mkdir(parents=True)
    base = 0
    for number, first in enumerate((0, 20, 40)):
        data = store([_record(second) for second in range(first, first + 10) if second % 20 != 5], base).data
        data = data[:200] + b"\xff" * hurt + data[200 + hurt :] if number == 1 else data
        if str(number) != leave_out:
            (log / f"{base:020}").write_bytes(data + bytes(20_000 - len(data) if number == 2 else 0))
        base += len(data)
    rows = [f"K{s},2024-05-14 02:00:{s:02},3000,MQBrokerException" for s in (5, 25, 45)]
    (folder / "sends.csv").write_text("\n".join(["key,start,cost_ms,outcome", *rows]) + "\n")
    (folder / "broker.conf").write_text("brokerName=broker-a\nbrokerId=0\n")
    for path in folder.rglob("*"):
        os.utime(path, (BEGIN + 60, BEGIN + 60))
    return folder


def _lost(case: Case) -> dict[str, bool | None]:
    failed = sends.ledger(case.facts).failed
    return {row.key: None if pd.isna(row.originals) else row.originals == 0 for row in failed.itertuples()}


def test_a_whole_log_says_what_is_lost(tmp_path: Path) -> None:
    case = kit.open_case(_evidence(tmp_path / "e"), tmp_path / "ws")
    assert brokers.stretches(case.facts) == []
    assert _lost(case) == {"K5": True, "K25": True, "K45": True}
    assert sends.ledger(case.facts).lost == 3


def test_what_may_lie_in_a_missing_file_is_not_known(tmp_path: Path) -> None:
    case = kit.open_case(_evidence(tmp_path / "e", leave_out="1"), tmp_path / "ws")
    (stretch,) = brokers.stretches(case.facts)
    # The last record before it is of second 9, the first one behind it of second 40.
    assert (stretch["after_ms"], stretch["before_ms"]) == (1000.0 * (BEGIN + 9), 1000.0 * (BEGIN + 40))
    # Second 5 with a call of 3 s and a stall of up to 10 s reaches into it; 45 is behind it.
    assert _lost(case) == {"K5": None, "K25": None, "K45": True}
    assert sends.ledger(case.facts).lost is None
    (finding,) = [f for f in kit.triage(case)["findings"] if f["cause"] == "broker-busy"]
    assert finding["figures"]["lost"] is None


def test_one_damaged_record_leaves_the_count(tmp_path: Path) -> None:
    case = kit.open_case(_evidence(tmp_path / "e", hurt=100), tmp_path / "ws")
    assert sends.ledger(case.facts).lost == 3


def _transaction(folder: Path, hurt: str) -> Path:
    """Write a half message, its commit and its op record (removes half offset 0), the commit damaged; and the business row."""
    at = 1000 * BEGIN
    named = b"UNIQ_KEY\x010A14150600001F89AB83000000010000\x02KEYS\x01SO1\x02TRAN_MSG\x01true\x02PGROUP\x01orders\x02"
    half = Record(
        topic=b"RMQ_SYS_TRANS_HALF_TOPIC", numbers=(0, 0, 0, 0, 0), born=at, stored=at,
        properties=named + b"REAL_TOPIC\x01orders\x02REAL_QID\x010",
    )  # fmt: skip
    # sys_flag 8: committed; its prepared offset is the physical offset of the half record.
    commit = Record(
        topic=b"orders", numbers=(0, 0, 0, 0, 0), sys_flag=8, born=at, stored=at + 50, prepared=0,
        properties=named + b"REAL_TOPIC\x01orders\x02REAL_QID\x010",
    )  # fmt: skip
    op = Record(
        topic=b"RMQ_SYS_TRANS_OP_HALF_TOPIC", numbers=(0, 0, 0, 0, 0), born=at, stored=at + 60, body=b"0",
        properties=b"TAGS\x01d",
    )  # fmt: skip
    first = Record(topic=b"orders", numbers=(0, 0, 1, 0, 0), born=at, stored=at - 50, properties=b"KEYS\x01SO0")
    base = len(first.encode(0))
    commit.prepared = base
    made = store([first, half, commit, op], end=bytes(4096))
    data = bytearray(made.data)
    start, _ = made.spans[2]
    if hurt == "magic":
        data[start + 4] ^= 0x40
    if hurt == "flag":
        data[start + 39] ^= 0x08
    log = folder / "store" / "commitlog" / f"{0:020}"
    log.parent.mkdir(parents=True)
    log.write_bytes(bytes(data))
    return folder


@pytest.mark.parametrize(("hurt", "state"), rows_of(__file__, "a_damaged_commit_is_no_rollback"))
def test_a_damaged_commit_is_no_rollback(tmp_path: Path, hurt: str, state: dict[str, int | None]) -> None:
    case = kit.open_case(_transaction(tmp_path / "e", hurt), tmp_path / "ws")
    found = totals.summary(case.facts).states()
    assert {name: found[name] for name in state} == state
