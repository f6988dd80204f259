"""Sends as clients, ledgers and stores show them: failed attempts, stalls, repeated sends, and what may lie in files nobody copied."""

import os

import asked
import pandas as pd
import pytest
from busy_evidence import sent, traffic, write_store
from expected import examine
from folders import put
from stores import Record, store
from table import rows_of

import kit
from kit.analysis import brokers
from kit.analysis.sends import attempts, sends


@pytest.mark.parametrize(("rows", "paired"), rows_of(__file__, "an_attempt_has_the_message_printed_after_it"))
def test_an_attempt_has_the_message_printed_after_it(rows, paired):
    events, entries = [], []
    for line, row in enumerate(rows.split(" | "), 1):
        role, name, ts, thread = row.split()
        place = {"file": "client.log", "line": line}
        event = "send-attempt-failed" if role == "attempt" else "send-attempt-message"
        events.append(place | {"event": event, "values": {} if role == "attempt" else {"keys": name}})
        at = asked.at(int(ts) / 1000)
        entries.append(place | {"lines": 1, "ts": at, "thread": thread, "source": "client", "events": [event]})
    made = attempts.attempts(asked.case(events=events, entries=entries).facts)
    assert made["key"].fillna("").tolist() == paired


BEGIN = 1_715_652_000
"""2024-05-14 02:00:00 UTC, in s."""


def stored(second):
    at = 1000 * (BEGIN + second)
    place = (0, 0, second, 0, 0)
    return Record(b"orders", bytes(1000), b"KEYS\x01K%d" % second, numbers=place, born=at, stored=at)


def evidence(folder, leave_out="", hurt=0):
    """Write three files of a commit log, of seconds 0 to 9, 20 to 29 and 40 to 49, and failed sends of seconds 5, 25 and 45."""
    base = 0
    for number, first in enumerate((0, 20, 40)):
        data = store([stored(second) for second in range(first, first + 10) if second % 20 != 5], base).data
        data = data[:200] + b"\xff" * hurt + data[200 + hurt :] if number == 1 else data
        if str(number) != leave_out:
            put(folder / "store" / "commitlog" / f"{base:020}", data.ljust(20_000 if number == 2 else 0, b"\0"))
        base += len(data)
    rows = [f"K{s},2024-05-14 02:00:{s:02},3000,MQBrokerException" for s in (5, 25, 45)]
    (folder / "sends.csv").write_text("\n".join(["key,start,cost_ms,outcome", *rows]) + "\n")
    (folder / "broker.conf").write_text("brokerName=broker-a\nbrokerId=0\n")
    for path in folder.rglob("*"):
        os.utime(path, (BEGIN + 60, BEGIN + 60))
    return folder


def lost(case):
    failed = sends.ledger(case.facts).failed
    return {row.key: None if pd.isna(row.originals) else row.originals == 0 for row in failed.itertuples()}


def test_what_may_lie_in_a_missing_file_is_not_known_and_one_damaged_record_leaves_the_count(tmp_path):
    case = kit.open_case(evidence(tmp_path / "e", leave_out="1"), tmp_path / "ws")
    (stretch,) = brokers.stretches(case.facts)
    # The last record before it is of second 9, the first one behind it of second 40.
    assert (stretch["after_ms"], stretch["before_ms"]) == (1000.0 * (BEGIN + 9), 1000.0 * (BEGIN + 40))
    # Second 5 with a call of 3 s and a stall of up to 10 s reaches into it; 45 is behind it.
    assert lost(case) == {"K5": None, "K25": None, "K45": True}
    assert sends.ledger(case.facts).lost is None
    assert examine(case.facts, "broker-busy").figures["lost"] is None
    case = kit.open_case(evidence(tmp_path / "d", hurt=100), tmp_path / "ws")
    assert sends.ledger(case.facts).lost == 3


def test_a_delivered_copy_with_a_damaged_property_is_no_retried_send():
    """REAL_TOPIc: the copy seems to be an original, with a property that its message has not."""

    def found(*properties):
        stored = [
            {"file": "0", "physical_offset": n, "offset_msg_id": f"M{n}", "topic": "orders", "uniq_key": "U", "body_crc": 5, "body_size": 1,
             "sys_flag": 0, "stage": "original", "original": True, "store_timestamp": asked.at(n), "born_timestamp": asked.at(n), "properties_text": text}
            for n, text in enumerate(properties)
        ]  # fmt: skip
        return len(sends.repeated(asked.case(records=stored).facts))

    assert found("shop\x017\x02", "shop\x017\x02") == 2
    assert found("DELAY\x012\x02", "REAL_TOPIc\x01orders\x02DELAY\x012\x02") == 0


def stalls(tmp_path, *stores):
    for n, records in enumerate(stores):
        write_store(tmp_path / "evidence" / f"host-{n}" / "commitlog", records)
    return list(kit.open_case(tmp_path / "evidence", tmp_path / "ws").facts("stalls").itertuples(index=False))


def test_holes_without_anybody_waiting_are_no_stalls(tmp_path):
    quiet = traffic(60_000, every=700)
    # A client starts: its first messages wait for its own connection. Later one message is late by itself.
    starting = [sent(f"S{n}", 30_100 + n, 30_500 + n, port=50_000) for n in range(5)]
    hiccup = [sent("H", 40_650, 40_900)]
    assert stalls(tmp_path, quiet + starting + hiccup) == []


@pytest.mark.parametrize("bit", [17, 22, 36])
def test_a_flipped_bit_of_a_time_is_no_stall(bit, tmp_path):
    """Of 800 records in eight seconds the times of three are a power of two too high or too low: 2^17 ms are two minutes, 2^36 two years."""
    log = tmp_path / "evidence" / "commitlog"
    write_store(log, traffic(8000))
    (file,) = log.iterdir()
    data = bytearray(file.read_bytes())
    begins = [0]
    while len(begins) < 800:
        begins.append(begins[-1] + int.from_bytes(data[begins[-1] : begins[-1] + 4], "big"))
    # storeTimestamp is the 8 bytes at 56, bornTimestamp those at 40: reference §1.2, a record with IPv4 addresses.
    for n, field in ((100, 56), (400, 56), (700, 56), (500, 40)):
        data[begins[n] + field + 7 - bit // 8] ^= 1 << bit % 8
    file.write_bytes(data)
    assert stalls(tmp_path) == []
