"""Offsets that moved: what logs print of them, whose ledgers there are, and what was handled inside a moved range."""

from __future__ import annotations

from typing import Any

import asked
import pytest


def printed(event: str, line: int, **values: str) -> dict[str, Any]:
    return {
        "file": "host/a.log",
        "source": "broker",
        "line": line,
        "ts": asked.at(line),
        "event": event,
        "values": values,
    }


def test_lines_with_the_same_values_are_one_row() -> None:
    """A slave prints its line for each pull; `-1` is a number, a word is none."""
    same = {"topic": "t", "group": "g", "requested": "897"}
    other = printed("consumer-offset-back", 2, group_2="g", topic="t", requested="-1", stored="x")
    events = [printed("offset-not-corrected", n, **same) for n in (9, 3, 5)] + [other, printed("disk-full", 1)]
    back, pulls = asked.rows("offset_statements", events=events)
    assert (pulls["n"], pulls["line"], pulls["last_line"], pulls["requested"], pulls["queue_id"]) == (
        3, 3, 9, 897, None,
    )  # fmt: skip
    assert (pulls["first"], pulls["last"]) == tuple(asked.at(n).replace(tzinfo=None) for n in (3, 9))
    assert (back["group"], back["requested"], back["stored"]) == ("g", -1, None)


def test_the_first_policy_of_a_group_counts() -> None:
    data = "ConsumerData [groupName=g, consumeType=CONSUME_PASSIVELY, consumeFromWhere={}, unitMode=false]"
    events = [
        printed("consumer-registered", line, group="g", data=data.format(policy))
        for line, policy in ((7, "CONSUME_FROM_FIRST_OFFSET"), (4, "CONSUME_FROM_LAST_OFFSET"))
    ]
    silent = printed("consumer-registered", 1, group="g", data="ConsumerData [groupName=g]")
    (row,) = asked.rows("start_policies", events=[*events, silent])
    assert (row["group"], row["policy"], row["line"]) == ("g", "CONSUME_FROM_LAST_OFFSET", 4)


def test_a_client_log_names_the_groups_that_work_there() -> None:
    beat = "ConsumerData [groupName=a, consumeType=X], ConsumerData [groupName=b, consumeType=X]"
    events = [
        printed("heartbeat-data", 1, data=beat),
        printed("queue-taken", 2, group="a"),
        printed("consumer-registered", 3, group="c"),
    ]
    assert [(r["group"], r["file"]) for r in asked.rows("group_logs", events=events)] == [
        ("a", "host/a.log"),
        ("b", "host/a.log"),
    ]


MOVE = {"group": "g", "topic": "t", "broker": "b", "file": "f", "line": 1, "at": None, "asked": None}


def moved(number: int, kind: str, queue: int, start: int | None, end: int, *, exact: bool) -> dict[str, Any]:
    return {**MOVE, "number": number, "kind": kind, "queue_id": queue, "start": start, "end": end, "exact": exact}


def test_ledgers_tell_what_a_reset_repeated() -> None:
    """Ten messages in queue 0, all handled once, those at 4 to 6 twice; queue 1 is stored from offset 7 on and was never handled."""
    records = [
        {"file": "f", "topic": "t", "queue_id": 0, "queue_offset": n, "offset_msg_id": f"A{n}"} for n in range(10)
    ]
    records += [{"file": "f", "topic": "t", "queue_id": 1, "queue_offset": n, "offset_msg_id": f"B{n}"} for n in (7, 8)]
    done = [f"A{n}" for n in (*range(10), 4, 5, 6)]
    deliveries = [{"group": "g", "file": "l", "line": n, "offset_msg_id": each} for n, each in enumerate(done)]
    moves = [
        moved(0, "first-start", 1, 0, 9, exact=True),
        moved(1, "reset", 0, None, 4, exact=False),
        moved(2, "reset", 0, 6, 4, exact=True),
        moved(3, "skip", 1, None, 4, exact=False),
    ]
    given: dict[str, Any] = {"records": records, "group_deliveries": deliveries, "offset_moves": moves}
    found = asked.rows("moved_ranges", **given)
    assert [row["handled_again"] for row in found] == [0, 3, 2, 0]
    assert [(row["start"], row["end"], row["exact"]) for row in found] == [
        (0, 9, True), (7, 4, True), (6, 4, True), (None, 4, False),
    ]  # fmt: skip
    assert [(row["skipped"], row["repeated"]) for row in found] == [(9, 0), (0, 3), (0, 2), (None, None)]
    assert [row["still_stored"] for row in found] == [2, 0, 0, 0]  # 7 and 8, of 0 to 8
    assert all(row["counted"] for row in found)
    given["group_deliveries"] = [{**deliveries[0], "group": "other"}]
    found = asked.rows("moved_ranges", **given)
    assert [(row["counted"], row["start"]) for row in found] == [(False, 0), (False, None), (False, 6), (False, None)]


def ranged(kind: str, queue: int, *, exact: bool = True, **other: Any) -> dict[str, Any]:
    row = {
        **MOVE,
        "number": queue,
        "kind": kind,
        "queue_id": queue,
        "start": 1,
        "end": 5,
        "exact": exact,
        "counted": False,
    }
    return (
        row
        | {
            "skipped": 4,
            "repeated": 4,
            "handled_again": 3,
            "still_stored": 2,
            "at": asked.at(queue),
            "asked": asked.at(9),
        }
        | other
    )


@pytest.mark.parametrize(
    ("rows", "skipped", "again", "still"),
    [
        ([ranged("first-start", 0), ranged("first-start", 1)], 8, 0, 4),
        ([ranged("reset", 0), ranged("reset", 1)], 0, 8, None),
        ([ranged("reset", 0), ranged("reset", 1, exact=False)], 0, None, None),
        ([ranged("reset", 0, counted=True), ranged("reset", 1, exact=False, counted=True)], 0, 6, None),
        ([ranged("skip", 0), ranged("skip", 1)], 8, 0, None),
        ([ranged("skip", 0), ranged("skip", 1, start=None, skipped=None, exact=False)], None, 0, None),
    ],
)
def test_what_moves_come_to(
    rows: list[dict[str, Any]], skipped: int | None, again: int | None, still: int | None
) -> None:
    (row,) = asked.rows("offset_jumps", moved_ranges=rows)
    assert (row["queues"], row["skipped"], row["handled_again"], row["still_stored"]) == (2, skipped, again, still)
    assert (row["first"], row["last"]) == tuple(asked.at(n).replace(tzinfo=None) for n in (0, 9))


def look(second: int, queue: int, offset: int, end: int, file: str | None = None) -> dict[str, Any]:
    place = {
        "source": "copy",
        "file": file or f"{second}.json",
        "line": second,
        "group": "g",
        "topic": "t",
        "broker": "b",
    }
    return {**place, "time": asked.at(second), "queue_id": queue, "offset": offset, "end": end}


def test_offsets_that_a_later_look_shows_smaller() -> None:
    """By 3 in both queues, or by 10 in one of them; a queue whose end is smaller too belongs to an older copy."""
    both = [look(0, 0, 9, 20), look(0, 1, 9, 20), look(1, 0, 7, 21), look(1, 1, 8, 21)]
    found = asked.rows("smaller_offsets", known_positions=both)
    assert [(row["queues"], row["messages"], row["file"]) for row in found] == [(2, 3, "1.json")] * 2
    assert not asked.rows("smaller_offsets", known_positions=[*both[:3], look(1, 1, 9, 21)])
    assert not asked.rows("smaller_offsets", known_positions=[*both[:2], look(1, 0, 7, 19), look(1, 1, 7, 19)])
    far = [look(0, 0, 19, 20), look(0, 1, 9, 20), look(1, 0, 9, 21), look(1, 1, 9, 21)]
    assert [row["messages"] for row in asked.rows("smaller_offsets", known_positions=far)] == [10]


def test_queues_that_went_back_once() -> None:
    """A pull brings up to 32: one queue back by that is a late request, two are not; the third topic has a stream of lines."""
    rows = [
        ("one", 0, 32), ("far", 0, 33), ("two", 0, 10), ("two", 1, 9), ("many", 0, 50), ("many", 0, 60),
        ("many", 1, 70),
    ]  # fmt: skip
    events = [
        printed(
            "consumer-offset-back",
            n,
            group="g",
            topic=topic,
            queue_id=str(queue),
            stored="100",
            requested=str(100 - by),
        )
        for n, (topic, queue, by) in enumerate(rows)
    ]
    found = asked.rows("once_back", events=events)
    assert [(row["topic"], row["queue_id"], row["messages"]) for row in found] == [("far", 0, 33), ("two", 0, 10)]


def test_first_pulls_behind_the_beginning() -> None:
    """In a few lines out of a log, or where another queue of the group begins at 0; not where a copy of the offsets is there."""
    pulls = [
        printed("pull-started", n, group="g", topic=topic, broker="b", queue_id=str(queue), offset=str(offset))
        for n, (topic, queue, offset) in enumerate((("t", 0, 5), ("t", 0, 0), ("%RETRY%g", 0, 7)))
    ]
    assert [row["line"] for row in asked.rows("late_starts", events=pulls, known_positions=[])] == [0]
    whole = [*pulls, printed("client-started", 9)]
    assert not asked.rows("late_starts", events=whole, known_positions=[])
    zero = printed("pull-started", 10, group="g", topic="u", broker="b", queue_id="0", offset="0")
    assert [row["line"] for row in asked.rows("late_starts", events=[*whole, zero], known_positions=[])] == [0]
    assert not asked.rows("late_starts", events=pulls, known_positions=[look(0, 0, 1, 2)])


def test_rows_about_queues_in_outputs() -> None:
    """A row's own group and topic count before the arguments of the last command above it."""

    def cell(line: int, block: int, name: str, value: str, command: str = "consumerProgress") -> dict[str, Any]:
        return {"file": "a.txt", "line": line, "block": block, "command": command, "name": name, "value": value}

    admin = [cell(1, 0, "argument:-g", "old"), cell(1, 0, "argument:-t", "u"), cell(5, 0, "argument:-g", "g")]
    admin += [
        cell(7, 1, name, value)
        for name, value in (("#Topic", "t"), ("#QID", "3"), ("#Consumer Offset", "9"), ("#LastTime", "N/A"))
    ]
    admin += [cell(8, 2, "#QID", "4"), cell(8, 2, "#Diff", "x"), cell(9, 3, "#Topic", "no queue")]
    admin += [
        cell(3, 1, name, value, "topicStatus")
        for name, value in (("#QID", "0"), ("#Min Offset", "5"), ("#Max Offset", "6"))
    ]
    reset = (("#queueId", "1"), ("#brokerName", "b"), ("#rollbackOffset", "2"), ("#consumerOffset", "8"))
    admin += [cell(12, 1, name, value, "resetOffsetByTime") for name, value in reset]
    status, progress, cut, back = asked.rows("admin_queues", admin=admin)
    assert (status["group"], status["topic"], status["min_offset"], status["max_offset"]) == ("old", "u", 5, 6)
    assert (progress["group"], progress["topic"], progress["queue_id"], progress["offset"]) == ("g", "t", 3, 9)
    assert (progress["last_time"], cut["topic"], cut["diff"]) == ("N/A", None, None)
    assert (back["broker"], back["queue_id"], back["offset"], back["reset_to"]) == ("b", 1, 8, 2)


@pytest.mark.parametrize(
    ("expression", "passed", "pulled", "found"),
    [("*", 7, False, [(5, 2)]), ("PAID", 7, False, []), ("*", 4, False, []), ("*", 7, True, [])],
    ids=["as told", "a filter passes over messages", "still being handled", "the client's log says it"],
)
def test_where_a_new_group_began_by_its_ledger(
    expression: str, passed: int, pulled: bool, found: list[tuple[int, int]]
) -> None:
    """The first of its queue that the ledger has is 5; of 0 to 4, two were stored before the group was created."""
    data = f"ConsumerData [groupName=g, subscriptionDataSet=[SubscriptionData [topic=t, subString={expression}, tagsSet=[]]]]"
    born = printed("group-created", 10, group="g")
    start = printed("pull-started", 11, group="g", topic="t", broker="b", queue_id="0", offset="5")
    stored = [(3, 8), (4, 9), (5, 20), (6, 21)]
    rows = asked.rows(
        "ledger_starts",
        events=[born, printed("consumer-registered", 12, group="g", data=data), *([start] if pulled else [])],
        known_positions=[look(30, 0, passed, 9)],
        group_ledgers=[{"group": "g", "file": "host/l.csv"}],
        rows=[{"file": "host/l.csv", "line": line, "uniq_key": f"K{n}"} for line, n in enumerate((6, 5), 2)],
        records=[
            {"uniq_key": f"K{n}", "topic": "t", "queue_id": 0, "queue_offset": n, "store_timestamp": asked.at(second)}
            for n, second in stored
        ],
    )
    assert [(row["offset"], row["waiting"]) for row in rows] == found
    assert all((row["topic"], row["queue_id"], row["line"]) == ("t", 0, 3) for row in rows)


def test_without_the_end_of_a_queue_its_lag_is_not_known() -> None:
    """consumerStatus prints what was handled, not what is stored; consumerProgress prints both."""
    place = {
        "file": "status.txt",
        "line": 1,
        "group": "g",
        "topic": "t",
        "broker": "b",
        "queue_id": 0,
        "time": asked.at(0),
    }
    looks = [
        place | {"source": "status", "offset": 64, "end": None, "sure": True},
        place | {"source": "progress", "offset": 64, "end": 70, "sure": True, "file": "progress.txt"},
    ]
    rows = asked.rows("known_positions", offset_looks=looks, queue_growth=[], queue_curve=[{"step": 1}])
    assert {row["source"]: row["lag"] for row in rows} == {"status": None, "progress": 6}
