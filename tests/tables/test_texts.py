"""Known texts, coverage of the commit log, and the setup, each table from a few rows."""

from __future__ import annotations

import datetime as dt
from typing import Any

import asked
import pytest


def _naive(seconds: float) -> dt.datetime:
    return asked.at(seconds).replace(tzinfo=None)


def test_the_first_five_refused_send_backs_of_each_file_are_there_with_their_words() -> None:
    times = [7, 6, 5, 4, 3, 2, None]
    entries = [
        {"file": "a.log", "line": n, "ts": None if at is None else asked.at(at), "message": f"m{n}", "trace": None}
        for n, at in enumerate(times)
    ] + [{"file": "b.log", "line": 9, "ts": asked.at(1), "message": "mb", "trace": "\tat x"}]
    events = [
        {name: each[name] for name in ("file", "line", "ts")} | {"event": "send-back-exception"} for each in entries
    ]
    found = asked.rows("first_send_backs", events=events, entries=entries)
    # Without a time first, then seconds 1 (the other file) and 2, 3, 4, 5; seconds 6 and 7 are the sixth and seventh.
    assert [(row["file"], row["message"]) for row in found] == [
        ("a.log", "m6"),
        ("b.log", "mb"),
        *(("a.log", f"m{n}") for n in (5, 4, 3, 2)),
    ]
    assert found[1]["trace"] == "\tat x"


RECORDS = [
    {"file": f, "store_host": h, "physical_offset": at, "store_size": 100, "store_timestamp": asked.at(at)}
    for f, h, at in (("0", "h1", 0), ("0", "h1", 100), ("0", "h2", 200), ("1", "h1", 1000), ("1", "h1", 1500))
]


def test_the_extent_of_each_file_and_host() -> None:
    rows = {(row["file"], row["store_host"]): row for row in asked.rows("store_extent", records=RECORDS)}
    assert {place: (r["records"], r["first_offset"], r["end_offset"]) for place, r in rows.items()} == {
        ("0", "h1"): (2, 0, 200),
        ("0", "h2"): (1, 200, 300),
        ("1", "h1"): (2, 1000, 1600),
    }
    assert (rows["1", "h1"]["first"], rows["1", "h1"]["last"]) == (_naive(1000), _naive(1500))


def test_damage_has_the_records_of_its_host_before_and_behind_it() -> None:
    files = [{"file": f, "kind": "commitlog", "base": base} for f, base in (("0", 0), ("1", 1000))]
    skipped = [
        {"file": "1", "start": 100, "end": 500, "reason": "corrupt"},
        {"file": "1", "start": 600, "end": 700, "reason": "corrupt"},
        {"file": "0", "start": 0, "end": 9, "reason": "zero_tail"},
    ]
    found = asked.rows("damage_neighbours", records=RECORDS, files=files, skipped=skipped)
    # The record at 1500 begins where the first range ends; nothing is behind the second.
    assert [(r["store_host"], r["start"], r["end"], r["after"], r["before"]) for r in found] == [
        ("h1", 1100, 1500, _naive(1000), _naive(1500)),
        ("h1", 1600, 1700, _naive(1500), None),
    ]


def test_a_setting_printed_at_each_start_is_one_row_with_its_last_line() -> None:
    line = {"file": "broker.log", "origin": "broker.log", "name": "listenPort", "value": "10911", "backup": False}
    rows = asked.rows("settings", configs=[line | {"line": 4}, line | {"line": 90}, line | {"line": 95, "value": "1"}])
    assert [(row["value"], row["line"]) for row in rows] == [("10911", 90), ("1", 95)]


def test_starts_are_those_of_the_broker_itself() -> None:
    start = {"file": "broker.log", "source": "broker", "thread": "main", "line": 1, "ts": asked.at(0)}
    entries: list[dict[str, Any]] = [
        start | {"message": "rocketmqHome=/opt/rocketmq-4.9.3"},
        start | {"line": 2, "message": "rocketmqHome=/opt/rocketmq-5.1.4", "source": "client"},
        start | {"line": 3, "message": "rocketmqHome=/opt/rocketmq-5.1.4", "ts": None},
    ]
    assert [(r["line"], r["home"]) for r in asked.rows("broker_starts", all_entries=entries)] == [
        (1, "/opt/rocketmq-4.9.3")
    ]


def test_a_client_that_connects_again_is_one_client() -> None:
    values = {"group": "g", "client_id": "10.0.0.1@7", "language": "JAVA", "version": "335"}
    entry = {"file": "broker.log", "source": "broker", "event": "producer-connected"}
    events = [
        entry | {"line": 9, "values": [*values.items()]},
        entry | {"line": 3, "values": [*values.items()]},
        entry | {"line": 1, "values": [*(values | {"language": "GO"}).items()]},
        entry | {"line": 2, "values": [*values.items()], "source": "client"},
        entry | {"line": 5, "values": [*values.items()], "event": "consumer-connected"},
    ]
    found = asked.rows("clients_connected", events=events)
    assert [(row["role"], row["line"], row["version"]) for row in found] == [
        ("producer", 3, "335"),
        ("consumer", 5, "335"),
    ]


def test_a_client_log_names_its_release() -> None:
    texts = ("… ClientVersion:V4_9_4, SerializerType:JSON", "ClientVersion: V5_1_0", "ClientVersion: unknown", "V4_0_0")
    entries = [{"file": "c", "line": n, "message": text} for n, text in enumerate(texts)]
    assert [r["version"] for r in asked.rows("client_releases", all_entries=entries)] == ["V4_9_4", "V5_1_0"]


def test_only_cluster_lists_and_broker_status_name_releases_of_brokers() -> None:
    cells = [
        ("clusterList", "#Version", "V5_1_4"),
        ("consumerConnection", "#Version", "V4_9_4"),
        ("brokerStatus", "10.0.0.1:10911 brokerVersionDesc", "V5_1_4"),
        ("topicList", "#Topic", "%RETRY%g"),
        ("topicList", "#Topic", "orders"),
    ]
    admin = [
        {"file": "f", "line": n, "command": command, "name": name, "value": value}
        for n, (command, name, value) in enumerate(cells)
    ]
    assert [row["line"] for row in asked.rows("admin_names", admin=admin)] == [0, 2, 3]


def test_names_of_records_are_listed_once() -> None:
    records = [{"topic": t, "store_host": "1.1.1.1:10911", "born_host": b} for t, b in (("a", "x:1"), ("b", "x:1"))]
    found = asked.rows("record_names", stored_messages=records)
    assert [(row["kind"], row["value"]) for row in found] == [
        ("born_host", "x:1"), ("store_host", "1.1.1.1:10911"), ("topic", "a"), ("topic", "b"),
    ]  # fmt: skip


def test_groups_and_limits_that_logs_print_have_the_line_they_stand_in() -> None:
    refused = "the message body size over max value, MAX: 4194304"
    texts = [
        ("doRebalance, points, add a new mq", None),
        ("send failed", f"MQClientException: x\n\tat y\nCaused by: {refused}\n\tat z"),
        ("PullRequest [consumerGroup=orders]]", None),
        ("doRebalance, points, remove", None),
    ]
    entries = [{"file": "c.log", "line": 10 * n, "message": m, "trace": t} for n, (m, t) in enumerate(texts)]
    found = asked.rows("named_in_logs", all_entries=entries)
    # The limit is in the third line behind the message of the entry of line 10.
    assert [(row["kind"], row["value"], row["line"]) for row in found] == [
        ("group", "points", 0),
        ("group", "orders", 20),
        ("limit", "4194304", 13),
    ]


def test_immunity_times_of_half_messages_only() -> None:
    half = {"topic": "RMQ_SYS_TRANS_HALF_TOPIC", "property_CHECK_IMMUNITY_TIME_IN_SECONDS": "60", "file": "0"}
    records = [half | {"physical_offset": 9}, half | {"physical_offset": 3}, half | {"topic": "t"}]
    found = asked.rows("immunity_times", stored_messages=records)
    assert [(row["seconds"], row["physical_offset"]) for row in found] == [("60", 3)]


def test_groups_with_offsets() -> None:
    offsets = [{"file": f, "group": g} for f, g in (("b", "g"), ("a", "g"), ("a", None), ("a", ""))]
    assert [(r["group"], r["file"]) for r in asked.rows("offset_groups", offsets=offsets)] == [("g", "a")]


def test_texts_of_a_start_are_counted_by_second_and_group() -> None:
    refused = {"event": "consumer-group-missing", "file": "f", "values": [("group", "orders")]}
    events = [refused | {"line": n, "ts": asked.at(at)} for n, at in ((5, 1.2), (4, 1.9), (6, 2))]
    events += [{"event": "broker-boot", "file": "f", "line": 1}, {"event": "disk-full", "file": "f", "line": 2}]
    found = asked.rows("passing_seconds", events=events)
    begin = int(asked.at(0).timestamp())
    assert [(r["event"], r["group"], r["second"], r["n"], r["line"]) for r in found] == [
        ("broker-boot", "", -1, 1, 1),
        ("consumer-group-missing", "orders", begin + 1, 2, 4),
        ("consumer-group-missing", "orders", begin + 2, 1, 6),
    ]


def test_the_first_forty_starts_are_moments() -> None:
    events = [{"event": "client-started", "file": "f", "line": n, "ts": asked.at(100 - n)} for n in range(50)]
    found = asked.rows("first_moments", events=[*events, {"event": "broker-boot", "file": "f", "line": 99}])
    assert [row["line"] for row in found] == list(range(49, 9, -1))


def test_values_out_of_range_are_counted_by_file() -> None:
    entries = [
        {"file": "a.log", "ts_text": text}
        for text in ("9999999-01-01 00:00:00", "2024-13-40 00:00:00", "12:00:00", "N/A")
    ]
    offsets = [{"file": "o.json", "kind": kind, "queue_id": 0, "value": None} for kind in ("consumer", "checkpoint")]
    found = asked.rows("values_out_of_range", all_entries=entries, offsets=offsets)
    # `9999999-` begins with more than four digits, so it is no date with its year.
    assert [(row["file"], row["n"]) for row in found] == [("a.log", 1), ("o.json", 1)]


def test_damaged_records_have_a_range_in_their_file() -> None:
    records = [
        {"file": "0", "physical_offset": at, "store_size": 100, "problem": problem}
        for at, problem in ((0, None), (100, "crc"), (300, "queue,topic"), (500, "queue"))
    ]
    (row,) = asked.rows("damaged_records", stored_messages=records)
    assert (row["records"], row["start"], row["end"]) == (2, 100, 400)


def test_ranges_that_were_not_read_are_in_order() -> None:
    skipped = [
        {"file": "0", "start": at, "end": at + 1, "reason": why}
        for at, why in ((9, "corrupt"), (3, "blank"), (1, "truncated"))
    ]
    assert [row["start"] for row in asked.rows("unread_ranges", skipped=skipped)] == [1, 9]


@pytest.mark.parametrize(
    ("bases", "damage", "expected"),
    [
        ([0, 1000, 2000], [], []),
        ([0, 2000], [], [(1000, 2000)]),
        ([0, 2000], [(100, 200)], [(100, 200), (1000, 2000)]),
        ([0, 0, 1000], [], []),
    ],
)
def test_files_that_were_not_copied_are_missing_between_others(bases: list[int], damage: list[tuple[int, int]], expected: list[tuple[int, int]]) -> None:  # fmt: skip
    files = [{"file": f"h{n if base in bases[:n] else ''}/{base}", "kind": "commitlog", "base": base, "bytes": 1000} for n, base in enumerate(bases)]  # fmt: skip
    extents = [
        {"file": f["file"], "store_host": "h", "first": asked.at(f["base"]), "last": asked.at(f["base"] + 9)}
        for f in files
    ]
    neighbours = [
        {"store_host": "h", "start": start, "end": end, "after": asked.at(1), "before": asked.at(2)}
        for start, end in damage
    ]
    given = {"damage_neighbours": neighbours} if neighbours else {}
    found = asked.rows("stretches", files=files, store_extent=extents, **given)
    assert [(row["start"], row["end"], row["large"]) for row in found] == [(*each, False) for each in expected]
