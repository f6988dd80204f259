"""Consumer groups: what their clients and brokers say, where their queues end, and what was refused; each table from a few rows."""

from __future__ import annotations

import datetime as dt
from typing import Any

import asked
import pytest


def _naive(seconds: float) -> dt.datetime:
    return asked.at(seconds).replace(tzinfo=None)


def _line(event: str, line: int, seconds: float | None, /, **values: str) -> dict[str, Any]:
    ts = None if seconds is None else asked.at(seconds)
    place = {"file": "a.log", "source": "client", "line": line, "ts": ts}
    return place | {"event": event, "values": values}


def test_a_statement_is_counted_with_its_places_and_the_range_of_its_numbers() -> None:
    same = {"group": "billing", "topic": "orders", "queue_id": "3"}
    events = [
        _line("pull-held-back", 4, 2, **same, min_offset="70"),
        _line("pull-held-back", 2, 1, **same, min_offset="50"),
        _line("pull-held-back", 6, 3, **(same | {"queue_id": "2"}), min_offset="none"),
        _line("disk-full", 8, 4),
    ]
    found = asked.rows("consumer_statements", events=events)
    columns = ("queue_id", "n", "line", "last_line", "low_min_offset", "high_min_offset")
    assert [tuple(row[name] for name in columns) for row in found] == [
        ("3", 2, 2, 4, 50, 70),
        ("2", 1, 6, 6, None, None),
    ]
    assert (found[0]["first"], found[0]["last"]) == (_naive(1), _naive(2))


def test_each_line_that_shows_who_held_a_queue_is_a_statement_of_its_own() -> None:
    queue = {"group": "billing", "topic_2": "orders"}
    found = asked.rows("consumer_statements", events=[_line("queue-taken", n, 1, **queue) for n in (7, 8)])
    assert [(row["n"], row["line"], row["topic"]) for row in found] == [(1, 7, "orders"), (1, 8, "orders")]


FILES = [{"file": "m/store/commitlog/0", "kind": "commitlog"}, {"file": "s/0", "kind": "commitlog", "replica_of": "m"}]


def _stored(second: float | None, queue_offset: int, **other: Any) -> dict[str, Any]:
    at = None if second is None else asked.at(second)
    own = {"file": FILES[0]["file"], "topic": "orders", "queue_id": 0, "store_timestamp": at}
    return own | {"queue_offset": queue_offset} | other


def test_a_queue_grows_by_the_records_of_each_second() -> None:
    records = [
        *(_stored(0.1 * n, n) for n in range(12)),
        _stored(None, 40),
        _stored(1, 50, topic="others"),
        _stored(1, 60, file="s/0"),
        _stored(5, 2**63 - 1),
    ]
    found = asked.rows("queue_curve", records=records, files=FILES, consumed_topics=[{"topic": "orders"}])
    # Ten records in the first second, two in the next; behind the greatest number nothing can be.
    assert [(row["root"], row["time"], row["begin"], row["end"], row["step"]) for row in found] == [
        ("m/store", _naive(0), 0, 10, 1),
        ("m/store", _naive(1), 10, 12, 1),
        ("m/store", _naive(5), 2**63 - 1, None, 1),
    ]


def test_the_moment_of_a_copy_divides_a_long_bucket() -> None:
    # 14,400 seconds in 7,200 buckets are two seconds each; the copy was saved one second after a bucket began.
    records = [_stored(0, 0), *(_stored(100 + n / 2, 1 + n) for n in range(4)), _stored(14_400, 9)]
    saved = [{"kind": "consumer", "backup": False, "topic": "orders", "group": "billing", "time": asked.at(101)}]
    found = asked.rows(
        "queue_curve", records=records, files=FILES, offsets=saved, consumed_topics=[{"topic": "orders"}]
    )
    times = [(row["time"], row["end"]) for row in found]
    assert times == [(_naive(0), 1), (_naive(100), 3), (_naive(101), 5), (_naive(14_400), 10)]


def test_without_records_a_queue_ends_behind_its_last_unit() -> None:
    units = [{"topic": "orders", "queue_id": 1, "logical_offset": n, "kind": "plain"} for n in (5, 6, 7)]
    other = [units[0] | {"logical_offset": 90, "kind": "batch"}, units[0] | {"logical_offset": 91, "problem": "zero"}]
    found = asked.rows("consumequeue_ends", queue_units=units + other, consumed_topics=[{"topic": "orders"}])
    assert found == [{"topic": "orders", "queue_id": 1, "end": 8, "begin": 5}]


def test_topics_are_those_that_groups_of_users_consume() -> None:
    saved = [
        {"kind": "consumer", "backup": False, "topic": topic, "group": group}
        for topic, group in (("orders", "billing"), ("tools", "TOOLS_CONSUMER"))
    ]
    cells = {"#Topic": "printed", "#Consumer Offset": "7", "#Broker Name": "b", "#QID": "0"}
    admin = [
        {"file": "f", "line": 2, "block": 1, "command": "consumerProgress", "name": name, "value": value}
        for name, value in cells.items()
    ]
    found = asked.rows("consumed_topics", offsets=[*saved, saved[0] | {"kind": "delay", "topic": "late"}], admin=admin)
    assert [row["topic"] for row in found] == ["orders", "printed"]


def test_consuming_threads_are_told_by_their_names() -> None:
    threads = [
        {"file": "d", "line": n, "dump": 0, "thread": name, "frames": ["a.b(C.java:1)"], "frame_lines": [n + 1]}
        for n, name in enumerate(("ConsumeMessageThread_1", "main", "ConsumeMessageThread_billing_2"))
    ]
    found = asked.rows("consuming_threads", threads=threads)
    assert [(row["line"], row["frames"]) for row in found] == [(0, ["a.b(C.java:1)"]), (2, ["a.b(C.java:1)"])]


def test_refused_pulls_are_told_from_refused_sends() -> None:
    def entry(line: int, message: str, trace: str | None, *events: str) -> dict[str, Any]:
        return {
            "file": "a.log",
            "line": line,
            "ts": asked.at(line),
            "message": message,
            "trace": trace,
            "events": [*events],
        }

    entries = [
        entry(1, "execute the pull request exception", "CODE: 2 DESC: [REJECTREQUEST]system busy", "flow-control"),
        entry(2, "send failed", "at o.a.r.DefaultMQProducerImpl.sendKernelImpl", "flow-control", "client-wait-timeout"),
        entry(3, "HeartBeat", None, "client-async-timeout"),
        entry(4, "other", None, "disk-full"),
    ]
    counts = {
        (row["kind"], row["pull"]): (row["n"], row["line"]) for row in asked.rows("refused_counts", entries=entries)
    }
    assert counts == {("busy", True): (1, 1), ("busy", False): (1, 2), ("late", False): (1, 2), ("late", True): (1, 3)}
    assert [row["line"] for row in asked.rows("refused_pulls", entries=entries)] == [1]


def test_the_record_a_queue_is_stuck_at() -> None:
    records = [_stored(n, n, uniq_key=f"K{n}", physical_offset=100 * n) for n in range(3)]
    stuck = [{"topic": "orders", "queue_id": 0, "queue_offset": 1}]
    found = asked.rows("stuck_records", records=records, files=FILES, stuck_queues=stuck)
    assert [(row["uniq_key"], row["physical_offset"]) for row in found] == [("K1", 100)]


def look(
    seconds: float | None, offset: int | None, end: int, queue: int = 0, *, at_least: bool = False
) -> dict[str, Any]:
    """One look at a queue of one group, at its begin 0."""
    at = None if seconds is None else asked.at(seconds)
    return {
        "time": at, "source": "copy", "file": f"{seconds}", "line": 1, "group": "g", "topic": "t", "broker": "b", "queue_id": queue,
        "offset": offset, "end": end, "begin": 0, "lag": end - (offset or 0), "at_least": at_least,
    }  # fmt: skip


def test_the_course_of_a_queue_and_where_it_stood_still() -> None:
    """Queue 0 stays at 10 for 8 s while queue 1 handles what waited; queue 2 advances, but not beyond its end at the begin."""
    looks = [look(at, 10, end) for at, end in ((0, 12), (4, 14), (8, 20))] + [look(9, 11, 21)]
    looks += [look(at, offset, 30 + at, 1) for at, offset in ((0, 20), (8, 35))] + [
        look(at, at, 50, 2) for at in (1, 8)
    ]
    first, second, third = asked.rows("queue_courses", known_positions=looks)
    assert (first["first_lag"], first["last_lag"], first["peak"], first["looks"]) == (2, 10, 10, 4)
    assert (first["stand_offset"], first["stand_end"], first["others"]) == (10, 20, 1)
    assert (first["stand_last"] - first["stand_first"]).total_seconds() == 8
    assert [row["stand_first"] for row in (second, third)] == [None, None]
    (stuck,) = asked.rows("stuck_queues", known_positions=looks)
    assert stuck == {"topic": "t", "queue_id": 0, "queue_offset": 10}


@pytest.mark.parametrize(
    ("looks", "stands"),
    [
        ([look(0, 10, 12), look(4, 10, 14)], False),  # less than 5 s
        ([look(0, 10, 12), look(8, 10, 12)], False),  # nothing came
        ([look(0, 10, 10), look(8, 10, 14)], False),  # nothing waited
        ([look(0, None, 12), look(8, None, 14)], True),  # no offset yet
        ([look(0, 10, 12, at_least=True), look(8, 10, 14)], True),  # whenever the copy was saved
        ([look(0, 10, 12), look(9, 10, 14), look(12, 10, 13), look(16, 10, 15)], True),
    ],
)
def test_a_queue_stands_if_its_offset_stays_while_more_comes(looks: list[dict[str, Any]], stands: bool) -> None:
    (row,) = asked.rows("queue_courses", known_positions=looks)
    assert (row["stand_first"] is not None) is stands


def test_a_copy_of_an_unknown_time_says_nothing_of_the_lag() -> None:
    (row,) = asked.rows("queue_courses", known_positions=[look(0, 30, 40, at_least=True), look(0, 30, 40)])
    assert (row["last_lag"], row["looks"]) == (10, 1)
    (row,) = asked.rows("queue_courses", known_positions=[look(0, 30, 40, at_least=True)])
    assert row["peak"] is None
