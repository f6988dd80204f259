"""The tables of messages and their copies, on a few records."""

from __future__ import annotations

from typing import Any

import asked
import pytest

SCHEDULE, HALF, OP = "SCHEDULE_TOPIC_XXXX", "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"


def record(at: int, stage: str, key: str | None = "K", **more: Any) -> dict[str, Any]:
    """Return a record stored `at` seconds, whose offset is that number."""
    place = {"file": "log", "physical_offset": at, "offset_msg_id": f"{at:032X}", "store_timestamp": asked.at(at)}
    return {**place, "uniq_key": key, "stage": stage, "reconsume_times": 0, "topic": "orders", "sys_flag": 0, **more}


def sent_back(at: int, times: int, stage: str, target: str, key: str = "K") -> dict[str, Any]:
    group = {"consumer_group": "points", "property_REAL_TOPIC": target, "reconsume_times": times}
    topic = SCHEDULE if stage == "schedule" else target
    return record(at, stage, key, topic=topic, queue_id=2, **group)


RETRY, DLQ = "%RETRY%points", "%DLQ%points"
LIFE = [
    record(0, "original"),
    sent_back(3, 1, "schedule", RETRY),
    sent_back(13, 1, "retry", RETRY),
    sent_back(20, 2, "schedule", DLQ),
    sent_back(30, 2, "dlq", DLQ),
]


def test_ids_are_counted_by_message() -> None:
    """Five records of one message, one of another; what has no UNIQ_KEY is none."""
    found = asked.rows("id_counts", records=[*LIFE, record(50, "original", "L"), record(51, "op", None, topic=OP)])
    assert found == [{"uniq_keys": 2, "several": 1}]


def test_stages_count_records_and_messages() -> None:
    ops = [record(n, "op", None, topic=OP) for n in (60, 61)]
    found = asked.rows("message_stages", records=[record(1, "original", "L"), *LIFE, *ops])
    counted = {(r["stage"], r["reconsume_times"]): (r["records"], r["messages"]) for r in found}
    assert counted["original", 0] == (2, 2) and counted["op", 0] == (2, 0) and counted["retry", 1] == (1, 1)
    assert [r["first"] for r in found] == sorted(r["first"] for r in found)


def test_a_journey_is_the_stages_in_store_order() -> None:
    more = [record(1, "original", "L"), record(2, "original", "A")]
    assert asked.rows("journeys", records=[*reversed(LIFE), *more]) == [
        {"path": "original", "messages": 2, "example": "A"},
        {"path": "original > schedule > retry 1 > schedule > dlq", "messages": 1, "example": "K"},
    ]


def test_the_funnel_has_the_time_from_the_copy_before() -> None:
    assert [(r["level"], r["step"], r["messages"], r["seconds"]) for r in asked.rows("retry_funnel", records=LIFE)] == [
        (1, "sent back", 1, 3.0),
        (1, "retry", 1, 10.0),
        (2, "given up", 1, 7.0),
        (2, "dlq", 1, 10.0),
    ]


@pytest.mark.parametrize(("end", "late"), [(12, 0), (15, 0), (16, 1)])
def test_a_copy_is_late_two_seconds_after_its_delay(end: int, late: int) -> None:
    """Queue 2 is level 3: ten seconds in the default messageDelayLevel (1s 5s 10s …), so due at 13."""
    found = asked.rows("not_arrived", records=[*LIFE[:2], record(end, "original", "L")])
    assert len(found) == late
    assert not late or (found[0]["target"], found[0]["due"]) == (RETRY, asked.at(13).replace(tzinfo=None))


def test_what_came_is_not_missed() -> None:
    assert asked.rows("not_arrived", records=[*LIFE, record(900, "original", "L")]) == []


def test_dead_letters_by_group() -> None:
    waits = sent_back(40, 2, "schedule", DLQ, "L")
    records = [*LIFE, waits, sent_back(41, 2, "schedule", DLQ, "L")]
    (group,) = asked.rows("dead_letter_groups", records=records)
    assert (group["consumer_group"], group["records"], group["messages"], group["waiting"]) == ("points", 1, 1, 1)
    assert group["first"] == group["last"] == asked.at(30).replace(tzinfo=None)
    assert [(r["uniq_key"], r["physical_offset"]) for r in asked.rows("dead_letters", records=records)] == [("K", 30)]
    late = asked.rows("late_dead_letters", records=records)
    assert [(r["physical_offset"], r["messages"]) for r in late] == [(40, 1), (41, 1)]


def test_prepared_retries_are_read_by_nobody() -> None:
    """MessageSysFlag: 4 is prepared, 8 committed."""
    records = [record(n, "retry", topic=RETRY, sys_flag=flag) for n, flag in ((1, 4), (2, 8), (3, 5), (4, 0))]
    assert [(r["physical_offset"], r["records"]) for r in asked.rows("unread_retries", records=records)] == [
        (1, 2),
        (3, 2),
    ]


def test_permissions_of_topics() -> None:
    rows = [
        {
            "file": "topics.json",
            "origin": "topics",
            "name": "perm",
            "backup": False,
            "line": n,
            "subject": s,
            "value": v,
        }
        for n, (s, v) in enumerate((("a", "6"), ("%DLQ%g", "2")), 1)
    ]
    other = [{**rows[0], "name": "readQueueNums"}, {**rows[0], "backup": True}]
    assert [r["subject"] for r in asked.rows("topic_permissions", configs=[*rows, *other])] == ["%DLQ%g", "a"]
