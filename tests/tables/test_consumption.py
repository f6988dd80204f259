"""What a group handled by its ledgers, against what is stored."""

from __future__ import annotations

from typing import Any

import asked


def record(queue: int, offset: int, key: str | None) -> dict[str, Any]:
    place = {"file": "f", "physical_offset": queue * 1_000 + offset, "store_timestamp": asked.at(queue * 100 + offset)}
    return {**place, "topic": "t", "queue_id": queue, "queue_offset": offset, "uniq_key": key}


def delivery(file: str, line: int, key: str, group: str = "g") -> dict[str, Any]:
    return {"group": group, "file": file, "line": line, "uniq_key": key, "key": None, "offset_msg_id": None}


def test_deliveries_belong_to_the_groups_of_a_ledger() -> None:
    rows = [{"file": "h/done.csv", "line": n, "uniq_key": "U"} for n in (2, 3)] + [{"file": "business.csv", "line": 2}]
    ledgers = [{"group": group, "file": "h/done.csv"} for group in ("a", "b")]
    found = asked.rows("group_deliveries", rows=rows, group_ledgers=ledgers)
    assert sorted((r["group"], r["line"]) for r in found) == [("a", 2), ("a", 3), ("b", 2), ("b", 3)]


def test_messages_that_nobody_handled_on_both_sides_of_the_offset() -> None:
    """Queue 0 is at offset 5 with 1 and 7 handled; queue 1 has no known offset; nobody can be said to have handled a record without a key."""
    records = [record(0, n, f"A{n}") for n in range(8)] + [record(1, 0, "B"), record(1, 1, None)]
    offsets = [{"group": "g", "topic": "t", "queue_id": 0, "offset": 5}]
    deliveries = [delivery("l", 2, "A1"), delivery("l", 3, "A7"), delivery("l", 4, "A2", group="other")]
    found = asked.rows("unhandled", records=records, passed_offsets=offsets, group_deliveries=deliveries)
    assert [row["physical_offset"] for row in found if row["passed"]] == [0, 2, 3]
    assert {row["messages"] for row in found if row["passed"]} == {4}
    assert [row["physical_offset"] for row in found if not row["passed"]] == [5, 6, 1_000]
    assert {row["messages"] for row in found if not row["passed"]} == {4}


def test_messages_that_two_processes_handled() -> None:
    deliveries = [delivery("a.csv", 9, "U1"), delivery("a.csv", 4, "U1"), delivery("b.csv", 7, "U1")]
    deliveries += [
        delivery("a.csv", 5, "U2"),
        delivery("b.csv", 6, "U2"),
        delivery("a.csv", 2, "U3"),
        delivery("a.csv", 3, "U3"),
    ]
    found = asked.rows("handled_by_several", group_deliveries=deliveries)
    assert [(r["messages"], r["file"], r["line"]) for r in found] == [(2, "a.csv", 4), (2, "b.csv", 7)]
    records = [record(3, 1, "U1"), record(4, 1, "U2"), record(3, 2, "U2"), record(5, 1, "U3")]
    queues = asked.rows("queues_of_several", records=records, group_deliveries=deliveries)
    assert [(r["group"], r["topic"], r["queue_id"]) for r in queues] == [("g", "t", 3), ("g", "t", 4)]


def test_the_last_offset_of_a_group_counts_where_its_ledgers_are_all_there() -> None:
    def look(seconds: float, offset: int, group: str = "g", broker: str = "b", source: str = "copy") -> dict[str, Any]:
        return {"time": asked.at(seconds), "source": source, "file": "f", "group": group, "topic": "t", "broker": broker, "queue_id": 0, "offset": offset}  # fmt: skip

    looks = [
        look(1, 5),
        look(2, 7),
        look(3, 9, source="status"),
        look(1, 1, "other"),
        look(1, 1, "two"),
        look(1, 2, "two", "c"),
    ]
    ledgers = [{"group": group, "file": "l"} for group in ("g", "two")]
    (row,) = asked.rows("passed_offsets", known_positions=looks, group_ledgers=ledgers)
    assert row == {"group": "g", "topic": "t", "queue_id": 0, "offset": 7}
