"""A replica's end against what its master acknowledged. Offset ids: address, port and physical offset of a record in hexadecimal."""

from __future__ import annotations

from typing import Any

import asked

MASTER = "0A00000200002A9F"
"""10.0.0.2:10911"""
OTHER = "0A00000300002A9F"
END = {"store_host": "10.0.0.2:10911", "host": MASTER, "end": 300, "first_time": asked.at(0), "last_time": asked.at(60)}


def send(line: int, host: str | None, offset: int = 0, **other: Any) -> dict[str, Any]:
    named = None if host is None else f"{host}{offset:016X},{OTHER}{0:016X}"
    row = {"file": "sends.csv", "line": line, "outcome": " send_ok", "offset_msg_id": named, "start": asked.at(line)}
    return row | {"key": None, "uniq_key": None} | other


def test_where_a_store_ends() -> None:
    """The record with the highest offset counts, undamaged; it is 40 bytes long."""
    place = {"file": "f", "store_host": "10.0.0.2:10911", "store_size": 40}
    records = [{**place, "physical_offset": 40 * n, "store_timestamp": asked.at(9 - n)} for n in range(1, 4)]
    records += [{**place, "physical_offset": 999, "problem": "body_crc"}, {"file": "f", "physical_offset": 5_000}]
    (row,) = asked.rows("store_ends", records=records)
    assert (row["begin"], row["last_offset"], row["end"], row["file"]) == (40, 120, 160, "f")
    assert (row["first_time"], row["last_time"]) == tuple(asked.at(n).replace(tzinfo=None) for n in (6, 8))


def test_a_send_behind_the_end_is_missing() -> None:
    """One ends at 300: the record at 299 is there. An id of another broker says nothing, nor does one that is no offset id."""
    sends = [send(n, MASTER, offset) for n, offset in enumerate((0, 299, 300, 9_000), 1)]
    sends += [send(5, OTHER, 9_000), send(6, None), send(7, MASTER, 9_000, outcome="FLUSH_SLAVE_TIMEOUT")]
    given: dict[str, Any] = {"sends": sends, "replica_ends": [END]}
    assert [row["line"] for row in asked.rows("acknowledged_missing", **given)] == [3, 4]
    seconds = asked.rows("replica_seconds", **given)
    assert [(row["acknowledged"], row["missing"]) for row in seconds] == [(1, 0), (1, 0), (1, 1), (1, 1)]
    assert seconds[-1]["last_missing"] == asked.at(4).replace(tzinfo=None)
    answers = {row["status"]: (row["sends"], row["named"]) for row in asked.rows("send_answers", **given)}
    assert answers == {"SEND_OK": (6, 5), "FLUSH_SLAVE_TIMEOUT": (1, 0)}


def test_without_offset_ids_the_keys_tell() -> None:
    """Up to 10 s before the last record, stored at second 60: what is older may have been deleted."""
    records = [{"file": "f", "uniq_key": "U1", "keys": "a b"}, {"file": "f", "uniq_key": "U2", "keys": "c"}]
    names = [{"key": "b"}, {"uniq_key": "U2"}, {"key": "a b"}, {"key": "d"}, {}, {"key": "e", "start": asked.at(49)}]
    sends = [send(50 + n, None, **each) for n, each in enumerate(names)]
    missing = asked.rows("acknowledged_missing", records=records, sends=sends, replica_ends=[END])
    assert [row["key"] for row in missing] == ["d"]


def test_what_a_broker_status_reports() -> None:
    admin = [
        {"file": "s.txt", "line": n, "name": "commitLogMaxOffset", "value": value}
        for n, value in ((2, "x"), (3, " 300"))
    ]
    sends = [send(1, MASTER, 299), send(2, MASTER, 300)]
    (row,) = asked.rows("reported_end", admin=admin, sends=sends)
    assert (row["line"], row["end"], row["sends"], row["behind"], row["one_host"]) == (3, 300, 2, 1, True)
    (row,) = asked.rows("reported_end", admin=admin, sends=[*sends, send(3, OTHER)])
    assert not row["one_host"]


def test_offsets_beyond_the_end_of_a_queue() -> None:
    saved = {"file": "o.json", "kind": "consumer", "topic": "t", "group": "g", "backup": False}
    offsets = [{**saved, "queue_id": n, "value": value} for n, value in ((0, 10), (1, 11), (2, 99))]
    offsets += [
        {**saved, "queue_id": 0, "value": 99, "backup": True},
        {**saved, "queue_id": 0, "value": 99, "kind": "delay"},
    ]
    records = [{"file": "f", "topic": "t", "queue_id": n, "queue_offset": 9} for n in (0, 1)]
    status = [
        {"file": "s.txt", "line": n + 3, "block": n, "command": "topicStatus", "name": name, "value": value}
        for n, queue in ((1, "1"), (2, "2"))
        for name, value in (("#QID", queue), ("#Max Offset", "20"))
    ]
    status.append(
        {"file": "s.txt", "line": 1, "block": 0, "command": "topicStatus", "name": "argument:-t", "value": "t"}
    )
    (row,) = asked.rows("offsets_beyond", offsets=offsets, records=records, admin=status)
    assert (row["group"], row["queue_id"], row["offset"], row["end_offset"]) == ("g", 1, 11, 10)
    (row,) = asked.rows("offsets_beyond", offsets=offsets, admin=status)
    assert (row["group"], row["queue_id"], row["offset"], row["end_offset"]) == ("g", 2, 99, 20)


def test_the_end_of_a_queue_is_behind_its_last_undamaged_record() -> None:
    records = [{"file": "f", "topic": "t", "queue_id": 1, "queue_offset": n} for n in (4, 6)]
    records.append({"file": "f", "topic": "t", "queue_id": 1, "queue_offset": 77, "problem": "size"})
    (row,) = asked.rows("stored_queues", records=records)
    assert (row["records"], row["end_offset"]) == (3, 7)


def test_the_earliest_entry_of_each_lost_broker() -> None:
    lost = {"event": "broker-lost", "file": "n.log"}
    events = [
        {**lost, "line": n, "ts": asked.at(n), "values": {"address_2": a, "broker_id": "0"}}
        for n, a in ((3, "x"), (2, "x"), (1, "y"))
    ]
    found = asked.rows("replica_statements", events=events)
    assert [(row["address"], row["line"]) for row in found] == [("y", 1), ("x", 2)]
