"""Offsets that moved: what logs print of them, whose ledgers there are, and what was handled inside a moved range."""

from __future__ import annotations

from typing import Any

import asked


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
        3,
        3,
        9,
        897,
        None,
    )
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
    assert [row["repeated"] for row in found] == [0, 3, 2, 0]
    assert [row["repeated_last"] for row in found] == [None, 6, 6, None]
    assert [row["handled_before"] for row in found] == [None, 3, 3, None]
    assert [row["first_stored"] for row in found] == [7, 0, 0, 7]
    assert all(row["counted"] for row in found)
    given["group_deliveries"] = [{**deliveries[0], "group": "other"}]
    assert not any(row["counted"] for row in asked.rows("moved_ranges", **given))
