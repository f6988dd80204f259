"""A record that may lie in files nobody copied is neither lost nor stored."""

import os
from pathlib import Path

import pandas as pd
from stores import Record, store

import kit
from kit import causes
from kit.analysis import brokers
from kit.analysis.sends import sends
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


def test_what_may_lie_in_a_missing_file_is_not_known(tmp_path: Path) -> None:
    case = kit.open_case(_evidence(tmp_path / "e", leave_out="1"), tmp_path / "ws")
    (stretch,) = brokers.stretches(case.facts)
    # The last record before it is of second 9, the first one behind it of second 40.
    assert (stretch["after_ms"], stretch["before_ms"]) == (1000.0 * (BEGIN + 9), 1000.0 * (BEGIN + 40))
    # Second 5 with a call of 3 s and a stall of up to 10 s reaches into it; 45 is behind it.
    assert _lost(case) == {"K5": None, "K25": None, "K45": True}
    assert sends.ledger(case.facts).lost is None
    assert causes.examine(case.facts, "broker-busy").figures["lost"] is None


def test_one_damaged_record_leaves_the_count(tmp_path: Path) -> None:
    case = kit.open_case(_evidence(tmp_path / "e", hurt=100), tmp_path / "ws")
    assert sends.ledger(case.facts).lost == 3
