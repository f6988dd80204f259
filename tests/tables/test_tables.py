"""The runner, and the tables everything else is asked from."""

from __future__ import annotations

import re

import asked
import pytest

from kit.tables.queries import HERE, catalogue
from kit.tables.runner import TableFailed


def test_records_count_each_record_once() -> None:
    """A file that is a copy is left out; of overlapping files the first by name counts."""
    same = {"offset_msg_id": "A", "physical_offset": 0, "uniq_key": "K"}
    files = [
        {"file": f, "kind": "commitlog", "replica_of": r, "overlaps": True}
        for f, r in (("a", None), ("b", None), ("c", "a"))
    ]
    stored = [{"file": f, **same} for f in "abc"] + [{"file": "b", "offset_msg_id": "B", "physical_offset": 9}]
    found = asked.rows("records", records=stored, files=files)
    assert sorted((row["file"], row["offset_msg_id"]) for row in found) == [("a", "A"), ("b", "B")]


def test_an_op_record_ends_every_half_message_it_names() -> None:
    """`17` in 4.x, `17,18,` from 5.1.0; what is no number is null."""
    topic = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
    ops = [
        {"file": "f", "topic": topic, "physical_offset": n, "body": body}
        for n, body in enumerate((b"17", b"17,18,", b"x"))
    ]
    found = asked.rows("ops", records=[*ops, {"file": "f", "topic": "t", "body": b"5"}])
    assert sorted((row["physical_offset"], row["half_queue_offset"]) for row in found if row["half_queue_offset"]) == [
        (0, 17),
        (1, 17),
        (1, 18),
    ]
    assert [row["physical_offset"] for row in found if row["half_queue_offset"] is None] == [2]


def test_settings_printed_at_a_start_are_settings() -> None:
    line = {"file": "broker.log", "line": 7, "source": "broker", "thread": "main"}
    lines = [line | {"message": "brokerRole=SLAVE"}, line | {"message": "no setting"}]
    assert [(r["name"], r["value"], r["origin"]) for r in asked.rows("configs", all_entries=lines)] == [
        ("brokerRole", "SLAVE", "broker.log")
    ]


def test_events_are_cut_by_time_and_counted() -> None:
    events = [{"event": "e", "file": "f", "line": n, "ts": asked.at(n)} for n in (1, 2, 3)] + [
        {"event": "e", "file": "f", "line": 9}
    ]
    limits = [{"since": asked.at(2), "until": None}]
    (row,) = asked.rows("known_texts", events=events, limits=limits)
    assert (row["n"], row["line"], row["first"]) == (3, 2, asked.at(2).replace(tzinfo=None))


def test_what_fails_is_named_and_costs_only_itself() -> None:
    case = asked.case(messages_within=[{"file": "f"}])
    case.given["files"] = case.given["messages_within"]  # no such columns
    with pytest.raises(TableFailed, match="table records"):
        case.tables.frame("records")
    assert case.facts("known_texts").empty


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_every_table_says_what_it_is(name: str) -> None:
    query = catalogue()[name]
    head = (
        query.text.split('"""')[1]
        if query.module or query.fold
        else "\n".join(re.findall(r"^--.*", query.text, re.MULTILINE))
    )
    assert len(head.strip("- \n")) > 40, f"{name}: one row per what?"
    if query.layer == "gold" and not (query.module or query.fold):
        assert re.search(r"\border by\b|^-- One row(:|\b.*\bin all\b)", query.text, re.IGNORECASE | re.MULTILINE), (
            f"{name}: in no order"
        )
    assert HERE.exists()
