"""What the tables of transactions make of a few records."""

from __future__ import annotations

from typing import Any

import asked
import pytest

HALF, OP, SCHEDULE = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "SCHEDULE_TOPIC_XXXX"
HOST = "0A142C1500002A9F"
WHOLE = {"half_brokers": [{"file": "log", "host": HOST, "broker": HOST}], "discards_stored": [{"kept": True}]}


def record(offset: int, key: str = "A", **more: Any) -> dict[str, Any]:
    """A record of message A at this physical offset, stored so many seconds after the beginning."""
    return {
        "uniq_key": key,
        "file": "log",
        "physical_offset": offset,
        "offset_msg_id": f"{HOST}{offset:016X}",
        "store_timestamp": asked.at(offset),
        "topic": "orders",
        "stage": "commit",
        "queue_id": 0,
        "queue_offset": 0,
        "sys_flag": 0,
        "reconsume_times": 0,
        "prepared_transaction_offset": 0,
        "property_TRAN_MSG": "true",
        "property_REAL_TOPIC": "orders",
        **more,
    }


def half(offset: int, key: str = "A", **more: Any) -> dict[str, Any]:
    return record(offset, key, **{"topic": HALF, "stage": "half", "sys_flag": 4, "queue_offset": offset, **more})


def op(offset: int, *ended: int) -> dict[str, Any]:
    body = ",".join(map(str, ended)).encode()
    return record(offset, "op", topic=OP, stage="op", uniq_key=None, property_TRAN_MSG=None, body=body)


def commit(offset: int, names: int, key: str = "A", **more: Any) -> dict[str, Any]:
    return record(offset, key, **{"sys_flag": 8, "prepared_transaction_offset": names, **more})


def transactions(*records: dict[str, Any], **tables: Any) -> list[dict[str, Any]]:
    found = asked.rows("transactions", records=list(records), **{"stretches": [], **WHOLE, **tables})
    return sorted(found, key=lambda row: row["uniq_key"])


CHECKED = {"property_TRANSACTION_CHECK_TIMES": "1", "stage": "check-back"}


@pytest.mark.parametrize(
    ("records", "state"),
    [
        ([half(1)], "pending"),
        ([half(1), op(2, 1)], "rolled_back"),
        ([half(1), commit(2, 1), op(3, 1)], "committed"),
        # With a delay it waits on its way to its topic.
        ([half(1), commit(2, 1, topic=SCHEDULE, stage="schedule"), op(3, 1)], "committed"),
        # A damaged flag: but only a commit names a half record.
        ([half(1), commit(2, 1, sys_flag=0, stage="original"), op(3, 1)], "committed"),
        ([half(1), record(2, topic="TRANS_CHECK_MAX_TIME_TOPIC", stage="discarded")], "discarded"),
        ([record(1, topic="%DLQ%g", stage="dlq", property_TRAN_MSG=None)], None),
        # A leaked retry is no half message.
        ([half(1, property_REAL_TOPIC=HALF, stage="leaked")], None),
    ],
)
def test_how_a_transaction_ended(records: list[dict[str, Any]], state: str | None) -> None:
    (row,) = transactions(*records)
    assert row["state"] == state


def test_a_transaction_checked_and_committed_twice_is_one_row() -> None:
    """Half record at 1, put back at 3, committed by the answer to the check (which names the copy) and by the producer, late."""
    (row,) = transactions(half(1, keys="SO1"), half(3, **CHECKED), commit(5, 3), op(6, 3), commit(7, 1), op(8, 1))
    expected = {
        "keys": "SO1", "topic": "orders", "half_offset": 1, "half_queue": 1, "renewed_offset": 3, "last_offset": 3,
        "half_records": 2, "check_times": 1, "op_offset": 6, "op_half": 3, "ops": 2, "commits": 2, "commit_offset": 5,
        "second_offset": 7, "named_first": 1, "named_last": 3, "named_commit": 7, "of_original": True, "of_copy": True,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert row["half_time"] == asked.at(1).replace(tzinfo=None)


def test_what_a_transaction_has_not_is_null() -> None:
    (row,) = transactions(half(1))
    absent = ("check_times", "op_offset", "op_half", "commit_offset", "named_first", "named_last", "discard_file")
    assert [row[name] for name in absent] == [None] * len(absent) and row["of_copy"] is False


def test_an_op_record_ends_half_records_of_its_own_broker() -> None:
    elsewhere = {"file": "other", "offset_msg_id": "0A142C1600002A9F0000000000000001"}
    brokers = [*WHOLE["half_brokers"], {"file": "other", "host": "0A142C1600002A9F", "broker": "0A142C1600002A9F"}]
    found = transactions(half(1), half(1, "B") | elsewhere, op(2, 1), half_brokers=brokers)
    assert [row["state"] for row in found] == ["rolled_back", "pending"]


@pytest.mark.parametrize(
    ("after", "before", "state"), [(1, 2, "pending"), (None, 0.5, "rolled_back"), (4, 5, "rolled_back")]
)
def test_a_commit_may_lie_where_the_logs_have_a_hole(after: float | None, before: float, state: str) -> None:
    """Half record after one second, op record after three."""
    hole = {"store_host": "h", "start": 0, "end": 9, "after": after and asked.at(after), "before": asked.at(before)}
    (row,) = transactions(half(1), op(3, 1), stretches=[hole])
    assert row["state"] == state


def test_a_discard_is_known_from_the_log_where_the_broker_keeps_none() -> None:
    given_up = {"event": "check-discard", "file": "t.log", "line": 1, "values": [("msg_id", f"{HOST}{1:016X}")]}
    (row,) = transactions(half(1), discards_stored=[{"kept": False}], events=[given_up])
    assert row["state"] == "discarded"


def test_business_rows_belong_to_a_transaction_by_key_or_by_message_id() -> None:
    rows = [
        {"role": "business", "key": "SO1", "file": "rows.csv", "line": 2},
        {"role": "business", "key": "none", "file": "rows.csv", "line": 3, "uniq_key": "B"},
        {"role": "tx_log", "key": "SO3", "file": "log.csv", "line": 2},
    ]
    found = transactions(half(1, keys="SO0 SO1"), half(2, "B"), half(3, "C", keys="SO3"), rows=rows)
    assert [row["with_row"] for row in found] == [True, True, False]
