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
        (1, "sent back", 1, 3.0), (1, "retry", 1, 10.0), (2, "given up", 1, 7.0), (2, "dlq", 1, 10.0),
    ]  # fmt: skip


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
            "file": "topics.json", "origin": "topics", "name": "perm", "backup": False, "line": n, "subject": s,
            "value": v,
        }
        for n, (s, v) in enumerate((("a", "6"), ("%DLQ%g", "2")), 1)
    ]  # fmt: skip
    other = [{**rows[0], "name": "readQueueNums"}, {**rows[0], "backup": True}]
    assert [r["subject"] for r in asked.rows("topic_permissions", configs=[*rows, *other])] == ["%DLQ%g", "a"]


def event(slug: str, line: int, **values: str) -> dict[str, Any]:
    given = list(values.items()) or None
    return {"event": slug, "file": "app.log", "source": "app", "line": line, "ts": asked.at(line), "values": given}


UNIQ, OFFSET = "0A142C1500000C387F4466D0D88B0000", "0A142C0B00002A9F00000000000004AA"


def test_ids_in_lookups_are_those_of_records() -> None:
    entries = [
        {"file": "app.log", "line": n, "message": text}
        for n, text in (
            (1, f"mqadmin queryMsgById -i {UNIQ}"),
            (2, f"id {OFFSET.lower()} the msgId maybe created by new client"),
        )
    ]
    tables = {
        "events": [event("lookup-command", 1), event("lookup-failed", 2), event("dedup-key", 3, id=OFFSET.lower())],
        "entries": entries,
        "records": [record(1, "original", UNIQ, offset_msg_id=OFFSET)],
    }
    assert [r["line"] for r in asked.rows("lookup_entries", **tables)] == [1]
    assert {r["id"]: r["kind"] for r in asked.rows("known_ids", **tables)} == {UNIQ: "uniq", OFFSET: "offset"}


def test_dedup_lines_keep_the_first_two_of_an_id() -> None:
    events = [event("dedup-key", n, id=OFFSET) for n in (5, 3, 4)] + [event("dedup-key", 9, id="A" * 32)]
    assert [(r["id"], r["line"], r["lines"]) for r in asked.rows("dedup_lines", events=events)] == [
        (OFFSET, 3, 3),
        (OFFSET, 4, 3),
        ("A" * 32, 9, 1),
    ]


def ledger(*results: str) -> list[dict[str, Any]]:
    named = {"role": "deliveries", "file": "a.csv", "uniq_key": "K"}
    return [{**named, "line": n, "status": result, "time": asked.at(n)} for n, result in enumerate(results, 2)]


@pytest.mark.parametrize(
    ("result", "good"),
    [
        *((word, True) for word in ("OK", "SUCCESS", "CONSUME_SUCCESS", "true", "成功", "ok: 3")),
        *((word, False) for word in ("FAIL", "RECONSUME_LATER", "SKIPPED_DUPLICATE", "失败", "false", "err")),
        *((word, None) for word in ("transferred", "7", "book")),
    ],
)
def test_words_of_results(result: str, good: bool | None) -> None:
    """An unknown word is a success only where most deliveries end with it."""
    found = asked.rows("ledger_deliveries", rows=ledger(result, "other"))
    assert {r["result"]: r["success"] for r in found}[result] is good
    (row,) = asked.rows("ledger_deliveries", rows=ledger(result))
    assert row["success"] is (True if good is None else good)


def test_a_column_of_many_different_words_is_no_result() -> None:
    found = asked.rows("ledger_deliveries", rows=ledger(*(f"ok {n}" for n in range(51))))
    assert {r["success"] for r in found} == {None}


def test_the_group_of_a_ledger_is_that_of_its_retries_or_of_its_column() -> None:
    records = [record(1, "original"), sent_back(9, 1, "retry", RETRY)]
    rows = [
        {**row, "uniq_key": None, "offset_msg_id": r["offset_msg_id"]}
        for row, r in zip(ledger("FAIL", "OK"), records, strict=True)
    ]
    found = asked.rows("deliveries", rows=rows, records=records)
    assert [(r["consumer"], r["uniq_key"], r["reconsume_times"], r["retry"]) for r in found] == [
        ("points", "K", 0, False),
        ("points", "K", 1, True),
    ]
    declared = [{**row, "cells": [("consumer_group", "declared")]} for row in rows]
    assert {r["consumer"] for r in asked.rows("deliveries", rows=declared, records=records)} == {"declared"}
    assert asked.rows("delivery_counts", rows=rows, records=records)[0]["consumer"] == "points"


def test_without_a_ledger_the_lines_of_the_application_tell() -> None:
    """A sender's line is none, and one that says failed is a failure whatever else it says."""
    copy = record(1, "original", UNIQ, offset_msg_id=OFFSET)
    said = [f"granted {OFFSET}", f"{UNIQ} reconsumeTimes=2 processing failed, done", f"sent {UNIQ} ok", f"got {UNIQ}x"]
    entries = [
        {"file": "app.log", "line": n, "source": "app", "ts": asked.at(n), "level": "INFO", "message": text}
        for n, text in enumerate(said, 1)
    ]
    entries[2]["events"] = ["send-result"]
    found = asked.rows("deliveries", entries=entries, records=[copy])
    assert sorted((r["line"], r["uniq_key"], r["success"], r["reconsume_times"]) for r in found) == [
        (1, UNIQ, True, 0),
        (2, UNIQ, False, 2),
    ]


def test_handled_again_as_a_retry_copy() -> None:
    """Success, and success again as a retry of the same stored message; twice as the same copy is another fault."""
    records = [
        record(1, "original"),
        sent_back(9, 1, "retry", RETRY) | {"property_ORIGIN_MESSAGE_ID": f"{1:032X}"},
        record(2, "original", "L"),
    ]
    rows = [
        {
            "role": "deliveries",
            "file": "a.csv",
            "line": n,
            "status": "OK",
            "time": asked.at(n),
            "offset_msg_id": f"{at:032X}",
        }
        for n, at in ((2, 1), (3, 9), (4, 2), (5, 2))
    ]
    (row,) = asked.rows("handled_twice", rows=rows, records=records)
    assert (row["uniq_key"], row["consumer"], row["first_line"], row["line"]) == ("K", "points", 2, 3)
    assert (row["same"], row["messages"], row["messages_stored_once"]) == (True, 1, 1)
    assert (row["first_physical_offset"], row["physical_offset"]) == (1, 9)


def test_copies_without_a_key_name_the_copy_they_were_made_from() -> None:
    """The offset id of a half record: the commit's store host, and the prepared offset as 16 hexadecimal digits."""
    commit = record(9, "commit", None, sys_flag=8, prepared_transaction_offset=255)
    (row,) = asked.rows("keyless_records", records=[commit, record(1, "half"), record(2, "op", None)])
    assert row == {"offset_msg_id": f"{9:032X}", "origin": None, "half": "0" * 16 + f"{255:016X}"}


def test_trace_topics_are_those_with_traces() -> None:
    stored = [
        {"file": "log", "physical_offset": n, "topic": topic, "traced": traced}
        for n, (topic, traced) in enumerate((("own_trace", True), ("orders", False)))
    ]
    traces = [{"file": "log", "physical_offset": n} for n in (0, 1)]
    found = asked.rows("trace_topics", stored_messages=stored, traces=traces)
    assert [r["topic"] for r in found] == ["RMQ_SYS_TRACE_TOPIC", "own_trace"]
