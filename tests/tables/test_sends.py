"""Tables about sends, each asked on a few rows."""

from __future__ import annotations

import datetime as dt
from typing import Any

import asked
import pytest
from asked import at

HOST, CLIENT = "10.0.0.2:10911", "10.0.1.7:40001"


def stored(n: int, seconds: float, born: float | None = None, **more: Any) -> dict[str, Any]:
    """Return an original, stored so many seconds after the start and born at once before if not told otherwise."""
    row = {
        "file": "00000000000000000000", "physical_offset": n * 100, "store_size": 100, "topic": "orders", "queue_id": 0, "queue_offset": n,
        "sys_flag": 0, "born_timestamp": at(seconds - 0.001 if born is None else born), "born_host": CLIENT, "store_timestamp": at(seconds),
        "store_host": HOST, "reconsume_times": 0, "prepared_transaction_offset": 0, "body_crc": n, "body_size": 10,
        "offset_msg_id": f"M{n}", "uniq_key": f"U{n}", "keys": f"K{n}", "stage": "original", "original": True,
    }  # fmt: skip
    return row | more


def traffic(seconds: float, *, missing: tuple[float, float], waiters: int = 0) -> list[dict[str, Any]]:
    """Return a record every 10 ms, none in a hole; `waiters` of those that follow it were born in its first 10 ms."""
    start, end = missing
    times = [n / 100 for n in range(int(seconds * 100)) if not start < n / 100 < end]
    born = dict.fromkeys([t for t in times if t >= end][:waiters], start + 0.005)
    return [stored(n, t, born.get(t)) for n, t in enumerate(times)]


def ms(seconds: float) -> int:
    return int(at(seconds).timestamp() * 1000)


def test_originals_leave_out_copies_and_the_traces_of_a_topic_of_one_s_own() -> None:
    records = [stored(1, 1), stored(2, 2, original=False), stored(3, 3, topic="MY_TRACE")]
    setting = {
        "file": "broker.conf", "line": 1, "name": "msgTraceTopicName", "value": "MY_TRACE", "origin": "broker.conf",
    }  # fmt: skip
    assert [row["keys"] for row in asked.rows("originals", records=records, config_files=[setting])] == ["K1"]
    assert len(asked.rows("originals", records=records)) == 2


def test_a_hole_in_store_times_is_a_pause_if_three_originals_waited_for_its_end() -> None:
    (pause,) = asked.rows("pauses", records=traffic(8, missing=(4, 4.5), waiters=3))
    # The first of those that waited was born 5 ms after the last record before the hole.
    assert pause == {"store_host": HOST, "start_ms": ms(4.005), "end_ms": ms(4.5), "waiters": 3}
    # One waiter proves a hole of a second, none of half a second.
    assert asked.rows("pauses", records=traffic(8, missing=(4, 4.5), waiters=1)) == []
    assert len(asked.rows("pauses", records=traffic(8, missing=(4, 5.5), waiters=1))) == 1
    assert asked.rows("pauses", records=traffic(8, missing=(4, 4.5))) == []


def test_the_clock_of_a_client_is_known_by_its_quickest_record() -> None:
    behind = [stored(n, 10 + n, 3 + n) for n in range(20)]
    (clock,) = asked.rows("client_clocks", records=behind)
    assert (clock["born_host"], clock["skew"]) == (CLIENT, 7000)
    # A difference that no network explains but a flipped bit does: the third quickest counts.
    flipped = [stored(n, 10 + n, 10 + n - 0.002 if n else 99) for n in range(20)]
    (clock,) = asked.rows("client_clocks", records=flipped)
    assert clock["skew"] == 0


def test_pauses_half_a_second_apart_are_one_stall() -> None:
    pauses = [
        {"store_host": HOST, "start_ms": start, "end_ms": end, "waiters": 4}
        for start, end in ((1000, 1400), (1900, 2300), (2801, 3001))
    ]
    first, second = asked.rows("stalls", pauses=pauses)
    epoch = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - naive in UTC, as rows of facts are
    assert first == {
        "start_ms": 1000, "end_ms": 2300, "pauses": 2, "stood_ms": 800, "waiters": 8, "store_host": HOST, "rank": 1,
        "start": epoch + dt.timedelta(seconds=1), "end": epoch + dt.timedelta(seconds=2.3), "seconds": 1.3, "stood": 0.8,
    }  # fmt: skip
    assert (second["start_ms"], second["rank"]) == (2801, 2)


STALL = {
    "start_ms": ms(4),
    "end_ms": ms(4.5),
    "pauses": 1,
    "stood_ms": 500,
    "waiters": 3,
    "store_host": HOST,
    "rank": 1,
}


def test_the_original_that_waited_longest_stands_for_a_stall() -> None:
    records = [stored(1, 4.5, 4.2), stored(2, 4.6, 4.1), stored(3, 4.8, 1)]
    (longest,) = asked.rows("stall_waiters", records=records, stalls=[STALL])
    assert (longest["rank"], longest["offset_msg_id"]) == (1, "M2")


def test_transactions_that_met_a_stall_are_those_checked_or_open() -> None:
    def half(key: str, seconds: float, state: str, checks: int | None) -> dict[str, Any]:
        return {
            "uniq_key": key, "state": state, "check_times": checks, "half_time": at(seconds), "half_file": "f", "half_offset": 7,
        }  # fmt: skip

    halves = [half("A", 4.1, "committed", 1), half("B", 5.4, "pending", None), half("C", 4, "committed", None)]
    halves += [half("D", 9, "pending", 3)]
    rows = asked.rows("stalled_transactions", transactions=halves, stalls=[STALL])
    assert [(row["uniq_key"], row["n"]) for row in rows] == [("A", 2), ("B", 2)]


WINDOW = {"start_ms": ms(10), "end_ms": ms(20), "low_ms": ms(0), "high_ms": ms(30), "step_ms": 100}


def test_arrivals_are_counted_in_tenths_of_a_step() -> None:
    records = [stored(1, 10.002, 9.999), stored(2, 10.003, 10.001), stored(3, 40, 29)]
    rows = asked.rows("arrivals", records=records, busy_window=[WINDOW])
    assert [tuple(row.values()) for row in rows] == [
        ("born", ms(9.99), 1), ("born", ms(10), 1), ("born", ms(29), 1), ("stored", ms(10), 2),
    ]  # fmt: skip


def test_a_half_topic_that_feeds_itself_is_measured_against_all_that_was_stored() -> None:
    half = "RMQ_SYS_TRANS_HALF_TOPIC"
    leaked = {"topic": half, "property_REAL_TOPIC": half, "property_TRAN_MSG": "true", "property_DELAY": "3"}
    records = [stored(1, 9.5, **leaked), stored(2, 12, **leaked), stored(3, 13, **leaked), stored(4, 14), stored(5, 22)]
    rows = asked.rows("half_topic_load", records=records, busy_window=[WINDOW])
    assert [(row["physical_offset"], row["leaked"], row["stored"]) for row in rows] == [(100, 3, 4), (200, 3, 4)]


def block(seconds: float, size: int, line: int = 1) -> dict[str, Any]:
    values = {"queue": "Send", "size": str(size)}
    return {"file": "watermark.log", "line": line, "ts": at(seconds), "event": "watermark", "values": values}


def test_seconds_without_a_block_of_watermark_log_are_gaps() -> None:
    events = [block(1, 0), block(2, 0, 3), block(5, 0, 9), block(6, 0, 12)]
    (gap,) = asked.rows("watermark_gaps", events=events)
    assert (gap["line"], gap["seconds"], gap["end"]) == (9, 3.0, at(5).replace(tzinfo=None))
    sizes = asked.rows("send_queue", events=[block(1, 7), block(1, 9, 2), block(2, 0, 3)], busy_window=[WINDOW])
    assert [(row["at_ms"], row["size"]) for row in sizes] == [(ms(1), 9), (ms(2), 0)]


def measured(line: int, name: str, value: float, **more: Any) -> dict[str, Any]:
    row = {
        "file": "iostat.txt",
        "line": line,
        "ts": at(line),
        "origin": "iostat",
        "subject": "vdb",
        "name": name,
        "value": value,
    }
    return row | more


def test_averages_since_boot_and_single_processors_are_no_measurements_of_a_host() -> None:
    metrics = [measured(1, "%util", 1), measured(5, "%util", 97), measured(9, "%util", float("nan"))]
    metrics += [
        measured(2, "%idle", 50, origin="mpstat", subject="3"),
        measured(2, "%idle", 20, origin="mpstat", subject="all"),
    ]
    metrics += [measured(3, "pause_ms", 199, origin="gc"), measured(4, "pause_ms", 200, origin="gc")]
    rows = asked.rows("host_metrics", metrics=metrics)
    assert [(row["line"], row["value"]) for row in rows] == [(2, 20), (4, 200), (5, 97)]
    assert asked.rows("measured_origins", metrics=metrics) == [
        {"origin": "gc", "n": 2}, {"origin": "iostat", "n": 3}, {"origin": "mpstat", "n": 2},
    ]  # fmt: skip


def test_what_a_device_writes_is_held_against_what_was_stored_meanwhile() -> None:
    metrics = [measured(line, "wkB/s", value) for line, value in ((1, 9), (10, 300), (20, 100))]
    metrics += [measured(line, "wkB/s", 5, subject="vda") for line in (1, 10, 20)]
    records = [stored(1, 5), stored(2, 12), stored(3, 20)]
    (row,) = asked.rows("device_writes", metrics=metrics, records=records)
    assert (row["device"], row["rate"], row["n"], row["stored"]) == ("vdb", 400, 2, 200)


def test_slow_writes_and_counted_busy_answers() -> None:
    line = {"file": "store.log", "ts": at(1), "event": "put-slow"}
    events = [line | {"line": 1, "values": {"cost": "612"}}, line | {"line": 2, "values": {"cost": None}}]
    assert [row["cost_ms"] for row in asked.rows("slow_writes", events=events)] == [612]
    counts = [{"0": "12:7, 2:30, 0:9"}, {"0": "2:12"}, {"0": "1:2, 0:2"}]
    events = [
        {"file": "t.log", "line": n, "event": "response-codes", "values": {"counts": each["0"]}}
        for n, each in enumerate(counts, 1)
    ]
    assert asked.rows("busy_answers", events=events) == [{"busy": 42}]


def test_full_disks_are_told_from_brokers_that_do_not_accept() -> None:
    texts = [
        (1, "disk-full", "physic disk maybe full soon 0.91, so mark disk full", {}),
        (2, "disk-full", "physic disk maybe full soon 0.76, so reclaim space", {}),
        (3, "service-not-available", "CL: 0.93 CQ: 0.93", {"commitlog": "0.93", "consumequeue": "-1"}),
        (4, "service-not-available", "CL: 0.50 CQ: 0.60", {"commitlog": "0.50", "consumequeue": "0.60"}),
        (5, "service-not-available", "service not available now", {}),
    ]
    place = {"file": "store.log", "ts": at(1)}
    events = [place | {"line": n, "event": event, "values": values} for n, event, _, values in texts]
    entries = [place | {"line": n, "message": text} for n, _, text, _ in texts]
    rows = asked.rows("disk_answers", events=events, entries=entries)
    assert [(row["state"], row["n"], row["highest"], row["line"]) for row in rows] == [
        ("full", 1, 0.93, 3), ("marked", 1, None, 1), ("room", 2, 0.60, 4), ("room", 2, 0.60, 5),
    ]  # fmt: skip


def test_an_entry_about_a_failed_send_is_an_attempt_a_message_or_a_call() -> None:
    trace = "MQBrokerException: CODE: 2  DESC: [OVERLOAD]system busy, start flow control for a while\n\tat DefaultMQProducerImpl.send"
    busy = {"event": "flow-control", "values": {"kind": "OVERLOAD", "period": "402", "queue": None}}
    given: list[tuple[str, str, str | None, list[dict[str, Any]]]] = [
        ("client", "sendKernelImpl exception, resend at once", None,
         [{"event": "send-attempt-failed", "values": {"broker": "a", "what": "throw exception"}}, {"event": "client-wait-timeout", "values": {}}]),
        ("client", "Message{topic='t', …", None, [{"event": "send-attempt-message", "values": {"keys": "K1 K2", "msg_id": "U1"}}]),
        ("app", "订单key: SO-17, failed", trace, [busy]),
        ("app", "failed 0A142C1500000C387F4466D0DB3F0003", None, [busy | {"values": {"kind": "REJECTREQUEST"}}]),
        ("client", "pull failed", None, [busy]),
        ("app", "pullKernelImpl exception", None, [{"event": "client-wait-timeout", "values": {}}]),
    ]  # fmt: skip
    entries, events = [], []
    for n, (source, message, folded, each) in enumerate(given, 1):
        place = {"file": "a.log", "line": 10 * n, "ts": at(n), "source": source}
        entries.append(place | {"message": message, "trace": folded, "lines": 3 if folded else 1})
        events += [place | event for event in each]
    rows = asked.rows("send_failures", events=events, entries=entries)
    shown = ("line", "at", "role", "kind", "key", "uniq_key", "period", "broker", "thrown")
    assert [tuple(row[name] for name in shown) for row in rows] == [
        (10, 10, "attempt", "CLIENT_TIMEOUT", None, None, None, "a", True),
        (20, 20, "message", None, "K1 K2", "U1", None, None, False),
        # The trace begins a line below, and its first line names the kind.
        (30, 31, "call", "OVERLOAD", "SO-17", None, 402, None, False),
        (40, 40, "call", "REJECTREQUEST", None, "0A142C1500000C387F4466D0DB3F0003", None, None, False),
    ]  # fmt: skip


def test_clients_that_started_are_counted_by_file_role_and_group() -> None:
    event = {"file": "c.log", "event": "client-started", "values": {"role": "producer", "group": "shop"}}
    assert asked.rows("clients_started", events=[event | {"line": 1}, event | {"line": 2}]) == [
        {"file": "c.log", "role": "producer", "group": "shop", "n": 2}
    ]


@pytest.mark.parametrize(
    ("outcome", "error", "failed"),
    [
        ("SEND_OK", None, False), ("FLUSH_DISK_TIMEOUT", None, False), ("MQBrokerException", "CODE: 2", True), ("FAILED", "", True),
        (None, "RemotingTimeoutException", True), ("ok", None, False), (None, None, False),
    ],
)  # fmt: skip
def test_an_answer_is_no_failure(outcome: str | None, error: str | None, failed: bool) -> None:
    row = {"file": "sends.csv", "line": 2, "key": "K", "outcome": outcome, "error": error, "start": at(1)}
    rows = asked.rows("ledger_failures", sends=[row])
    assert [(r["outcome"], r["ts_ms"]) for r in rows] == [(" ".join(filter(None, (outcome, error))), ms(1))] * failed


def test_answers_of_a_ledger_are_counted() -> None:
    rows = [
        {"file": "sends.csv", "line": n, "outcome": each}
        for n, each in enumerate(("SEND_OK", "x", "FLUSH_DISK_TIMEOUT"))
    ]
    assert asked.rows("ledger_answers", sends=rows) == [
        {"outcome": None, "n": 2},
        {"outcome": "FLUSH_DISK_TIMEOUT", "n": 1},
    ]


def test_brokers_of_a_store_have_a_first_offset_and_times() -> None:
    (row,) = asked.rows("store_hosts", records=[stored(3, 7), stored(9, 8)])
    assert row == {"store_host": HOST, "n": 2, "first_offset": 300, "first_ms": ms(7), "last_ms": ms(8)}


def sent(identity: str, key: str | None, uniq_key: str | None) -> dict[str, Any]:
    return {"identity": identity, "key": key, "uniq_key": uniq_key, "other": False}


def test_a_failed_send_is_found_by_one_of_its_keys_else_by_its_id() -> None:
    records = [
        stored(1, 1, keys="A B"),
        stored(2, 2, keys="C"),
        stored(3, 3, keys=None, uniq_key="U"),
        stored(4, 4, keys="D"),
    ]
    failed = [sent("B", "B", None), sent("C", "C", "other"), sent("U", None, "U"), sent("E", "E", "U4")]
    rows = asked.rows("sent_copies", records=records, failed_sends=failed)
    assert [(row["identity"], row["offset_msg_id"]) for row in rows] == [("B", "M1"), ("C", "M2"), ("U", "M3")]


def test_an_id_stored_twice_with_one_body_is_a_repeated_send_unless_it_is_of_a_transaction() -> None:
    same = {"uniq_key": "U", "body_crc": 5}
    records = [stored(1, 1, **same), stored(2, 2, **same), stored(3, 3, uniq_key="U", body_crc=6)]
    records += [stored(n, n, uniq_key="T", body_crc=7, sys_flag=4) for n in (4, 5)]
    assert [row["offset_msg_id"] for row in asked.rows("repeated_originals", records=records)] == ["M1", "M2"]


def test_keys_of_a_ledger_that_are_stored_twice() -> None:
    records = [stored(n, n, keys=key, body_crc=1) for n, key in enumerate(("A B", "A B", "C", "C", "D"))]
    sends = [{"file": "sends.csv", "line": n, "key": key} for n, key in enumerate(("B", "D", "B"))]
    assert [row["offset_msg_id"] for row in asked.rows("ledger_copies", records=records, sends=sends)] == ["M0", "M1"]
    assert asked.rows("ledger_copies", records=records) == []


def test_the_axis_of_an_incident_begins_and_ends_ten_seconds_around_it() -> None:
    """A send is under way from its time on; a log has the second of its failure. Times beyond the range that can be shown do not count."""
    failed = [
        {"ts": 100_050.0, "cost_ms": 3000, "source": "ledger", "other": False},
        {"ts": 101_000.0, "cost_ms": None, "source": "client", "other": False},
        {"ts": 9e15, "cost_ms": None, "source": "ledger", "other": False},
        {"ts": 1.0, "cost_ms": None, "source": "client", "other": True},
    ]
    (row,) = asked.rows("busy_window", failed_sends=failed, stalls=[])
    assert row == {"start_ms": 100_050, "end_ms": 103_050, "low_ms": 90_000, "high_ms": 113_050, "step_ms": 100}
    (row,) = asked.rows("busy_window", failed_sends=[], stalls=[STALL | {"start_ms": 0, "end_ms": 300_000}])
    assert (row["low_ms"], row["step_ms"]) == (-10_200, 300)
    assert asked.rows("busy_window", failed_sends=failed[2:], stalls=[]) == []


def test_the_axis_has_what_was_measured_in_each_step() -> None:
    window = {"start_ms": 0, "end_ms": 300, "low_ms": 0, "high_ms": 300, "step_ms": 100}
    failed = [
        {"ts": 120.0, "cost_ms": 90, "kind": "OTHER", "source": "ledger", "other": False},
        {"ts": 120.0, "cost_ms": 90, "kind": "OTHER", "source": "ledger", "other": True},
    ]
    arrived = [
        {"born_or_stored": name, "at_ms": at, "n": n}
        for name, at, n in (("born", 110, 2), ("born", 190, 1), ("stored", 0, 4))
    ]
    measured = [
        {"file": "i", "line": 1, "ts": dt.datetime(1970, 1, 1, 0, 0, 0, 250_000, dt.UTC), "name": name, "value": value}
        for name, value in (("%util", 91.0), ("wkB/s", 2048.0), ("id", 70.0), ("wa", 20.0))
    ]
    rows = asked.rows(
        "busy_axis", busy_window=[window], failed_sends=failed, arrivals=arrived, host_metrics=measured, store_hosts=[{"store_host": HOST}],
        pauses=[{"store_host": HOST, "start_ms": 40, "end_ms": 240, "waiters": 3}], send_queue=[{"at_ms": 100, "size": 7}],
    )  # fmt: skip
    assert [row["born"] for row in rows] == [0, 30, 0, 0]
    assert [row["stored"] for row in rows] == [40, 0, 0, 0]
    assert [row["OTHER"] for row in rows] == [0, 0, 1, 0]
    assert [row["stalled"] for row in rows] == [True, True, False, False]
    assert [row["send_queue"] for row in rows] == [None, 7, None, None]
    assert (rows[2]["util"], rows[2]["written_mb"], rows[2]["cpu"]) == (91, 2, 10)
