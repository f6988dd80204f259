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


def leaked(offset: int, key: str = "L", **more: Any) -> dict[str, Any]:
    """A half record whose REAL_TOPIC is the half topic, born at second 0."""
    born = {"born_timestamp": asked.at(0), "born_host": "10.0.0.9:1", "store_host": "h", "property_DELAY": "3"}
    return half(offset, key, **{"property_REAL_TOPIC": HALF, "stage": "leaked", **born, **more})


FIRST = leaked(1, topic=SCHEDULE, reconsume_times=1, property_RECONSUME_TIME="1")
AGAIN = leaked(5, topic=SCHEDULE, sys_flag=8, prepared_transaction_offset=2, property_TRANSACTION_CHECK_TIMES="1")
GONE = leaked(
    9, topic=SCHEDULE, property_REAL_TOPIC="TRANS_CHECK_MAX_TIME_TOPIC", property_TRANSACTION_CHECK_TIMES="15"
)
STORY = [FIRST, leaked(2), AGAIN, leaked(7, sys_flag=8, property_TRANSACTION_CHECK_TIMES="1"), GONE, half(3, "B")]


def test_leaked_records_are_counted_by_place_and_descent() -> None:
    found = asked.rows("leak_counts", records=STORY)
    columns = ("place", "committed", "records", "commits", "messages", "of_place", "max_check_times")
    assert [tuple(row[name] for name in columns) for row in found] == [
        ("discarded", False, 1, 0, 1, 1, 15), ("half", False, 1, 0, 1, 1, None), ("half", True, 1, 0, 1, 1, 1),
        ("schedule", False, 1, 0, 1, 1, None), ("schedule", True, 1, 1, 1, 1, 1),
    ]  # fmt: skip
    assert found[1]["first"] == asked.at(2).replace(tzinfo=None)


def test_who_wrote_leaked_records() -> None:
    found = {(row["writer"], row["target"]): row["records"] for row in asked.rows("leak_flow", records=STORY)}
    assert found == {("consumer", HALF): 1, ("commit", HALF): 1, ("check", "TRANS_CHECK_MAX_TIME_TOPIC"): 1}


def test_a_rare_key_of_one_birth_is_damaged() -> None:
    copies = [leaked(n) for n in range(1, 202)] + [leaked(300, "M")]
    (row,) = asked.rows("leak_counts", records=copies)
    assert (row["records"], row["messages"]) == (202, 1)


def test_the_curve_of_leaked_half_records_keeps_each_doubling() -> None:
    """Two messages, 9,000 half records: every second one, the first and last, and 2 × 2^k."""
    records = [leaked(n, "LM"[n % 2], born_timestamp=asked.at(n % 2)) for n in range(9_000)]
    found = asked.rows("leak_growth", records=records)
    doubled = [row["seq"] for row in found if row["doubling"]]
    assert doubled == [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]
    assert [row["seq"] for row in found[:3]] == [1, 2, 4] and len(found) == 4_501
    assert found[-1] | {"store_timestamp": None} == {
        "seq": 9_000, "store_timestamp": None, "half_queue_offset": 8_999, "check_times": None, "uniq_key": "M",
        "doubling": False, "from_the_beginning": True,
    }  # fmt: skip


def test_leaked_records_that_are_quoted() -> None:
    found = asked.rows("leak_places", records=[*STORY, leaked(8, sys_flag=8, property_TRANSACTION_CHECK_TIMES="1")])
    places = {role: [row["physical_offset"] for row in found if row["role"] == role] for role in ("resent", "twin")}
    assert places == {"resent": [1], "twin": [7, 8]}
    assert {row["role"]: row["records"] for row in found} == {
        "resent": 1, "leaked": 5, "committed": 3, "twin": 2, "discarded": 1,
    }  # fmt: skip


def test_an_answer_to_a_leaked_record_names_its_schedule_record() -> None:
    def answer(line: int, offset: int, event: str = "check-answer-commit") -> dict[str, Any]:
        values = [("msg_id", "L"), ("commit_log_offset", str(offset))]
        return {"event": event, "file": "transaction.log", "line": line, "ts": asked.at(line), "values": values}

    answers = [answer(3, 1), answer(4, 5), answer(2, 2), answer(1, 1, "check-answer-rollback")]
    expected = [{"answers": 2, "file": "transaction.log", "line": 3}]
    assert asked.rows("leak_answers", records=STORY, events=answers) == expected


def test_all_records_of_a_leaked_message_are_its_timeline() -> None:
    found = asked.rows("leak_timelines", records=[half(0, "L"), *STORY])
    assert [row["physical_offset"] for row in found] == [0, 1, 2, 5, 7, 9]
    assert [row["committed"] for row in found] == [False, False, False, True, True, False]


def answer(line: int, key: str, event: str, **values: str) -> dict[str, Any]:
    """An answer to a check, or the producer's own, as transaction.log prints it."""
    named = [("msg_id", key), *values.items()]
    return {"event": event, "file": "transaction.log", "line": line, "ts": asked.at(line), "values": named}


def outcome(key: str, **more: Any) -> dict[str, Any]:
    """A row of `transactions`, committed by the producer's own answer."""
    offset = sum(key.encode())
    return {
        "id": offset, "uniq_key": key, "keys": f"SO10{key}", "topic": "orders", "producer_group": "g", "born_host": "10.0.0.1:40000",
        "half_time": asked.at(offset), "half_offset": offset, "half_file": "log", "half_records": 1, "last_time": asked.at(offset),
        "last_file": "log", "last_offset": offset, "check_times": 0, "renewed_offset": 0, "commits": 1, "with_row": True, "state": "committed",
        "immune": False, "cluster": True, "dead": False, "discard_offset": 0, "discard_time": None, "discard_file": "", "ops": 1,
        "named_first": offset, "named_last": offset, "named_commit": 900, "commit_time": asked.at(900), "commit_file": "log", "commit_offset": 900,
        "second_time": asked.at(910), "second_file": "log", "second_offset": 910, "of_original": True, "of_copy": False, "op_half": offset,
        "op_time": asked.at(901), "op_file": "log", "op_offset": 901, "reconsumed": 0,
        **more,
    }  # fmt: skip


def test_transactions_are_counted_by_producer_group() -> None:
    rows = [
        outcome("A"), outcome("B", with_row=False, commits=2), outcome("C", state="pending", with_row=False, check_times=3, half_records=4),
        outcome("D", state=None, producer_group=None, dead=True, half_records=0, with_row=False),
    ]  # fmt: skip
    nobody, group = asked.rows("transaction_totals", transactions=rows)
    assert (nobody["producer_group"], nobody["half_messages"], nobody["dead"]) == (None, 0, 1)
    expected = {
        "half_messages": 3, "committed": 2, "rolled_back": 0, "pending": 1, "committed_twice": 1, "checked": 1, "renewed": 3, "without_row": 1,
        "last": asked.at(67).replace(tzinfo=None),
    }  # fmt: skip
    assert {name: group[name] for name in expected} == expected


def test_how_transactions_came_to_be_committed_twice() -> None:
    late = outcome("A", commits=2, named_last=700, renewed_offset=700, named_commit=900)
    early = outcome("B", commits=2, named_last=950, renewed_offset=950, named_commit=900)
    same = outcome("C", commits=2)
    found = asked.rows("committed_twice", transactions=[late, early, same, outcome("D")])
    assert {row["uniq_key"]: row["way"] for row in found} == {"A": "late_commit", "B": "late_op", "C": "same_half"}


def test_what_producers_had_answered_for_discarded_transactions() -> None:
    given_up = {"state": "discarded", "discard_offset": None, "check_times": 3}
    events = [answer(n, "a", "check-answer-pending") for n in (7, 5)] + [answer(3, "a", "end-transaction-pending")]
    events.append({"event": "local-transaction-exception", "file": "transaction.log", "line": 3})
    rows = [outcome("A", **given_up), outcome("B", **given_up)]
    first, second = asked.rows("discarded_transactions", transactions=rows, events=events)
    assert (first["unknown"], first["thrown"], first["log_line"], first["first_line"]) == (2, True, 5, 3)
    assert (first["physical_offset"], second["unknown"], second["thrown"]) == (65, 0, False)


@pytest.mark.parametrize(
    ("address", "event", "wrong"),
    [
        ("10.0.0.1:40001", "check-answer-rollback", None),  # the same host behind another port
        ("[10.0.0.1]:5", "check-answer-rollback", None),
        ("10.0.0.2:40000", "check-answer-rollback", True),  # its row exists
        ("10.0.0.2:40000", "check-answer-commit", False),
    ],
)
def test_an_answer_of_another_host_is_wrong_if_it_contradicts(address: str, event: str, wrong: bool | None) -> None:
    own = answer(1, "B", "check-answer-commit", address="10.0.0.1:40000")
    events = [own, answer(2, "A", event, address=address)]
    found = asked.rows("foreign_answers", transactions=[outcome("A"), outcome("B")], events=events)
    assert [row["wrong"] for row in found] == ([] if wrong is None else [wrong])


def test_a_copy_put_back_with_another_body_cannot_be_read() -> None:
    packed = half(1, sys_flag=5, body_crc=7, body_size=10)
    copies = [half(n, sys_flag=5, body_crc=8, body_size=90, **CHECKED) for n in (3, 5)]
    found = asked.rows(
        "unreadable_copies", records=[packed, *copies, half(7, sys_flag=5, body_crc=7, body_size=10, **CHECKED)]
    )
    assert [(row["physical_offset"], row["again"]) for row in found] == [(3, False), (5, True)]


def test_a_path_counts_its_transactions_and_names_its_first_and_last() -> None:
    rows = [outcome(key) for key in "CAB"] + [
        outcome("Z", state="pending", of_original=False, check_times=2, commits=0)
    ]
    common, rare = asked.rows("transaction_paths", transactions=rows)
    expected = {
        "local": "COMMIT", "checks": 0, "last_check": None, "state": "committed", "commits": 1, "consumer": None,
    }  # fmt: skip
    assert {name: common[name] for name in expected} == expected
    assert (common["transactions"], common["first"], common["last"]) == (3, "A", "C")
    assert (rare["local"], rare["checks"], rare["state"], rare["transactions"]) == ("none", 2, "pending", 1)
    assert (common["path"], rare["path"]) == ("half → COMMIT → committed", "half → none → check ×2 ? → pending")


ROLLED_BACK = {"state": "rolled_back", "commits": 0, "of_original": False}
ROWS = [
    {"role": "business", "key": "SO10B", "file": "rows.csv", "line": 2, "status": "PAID"},
    {"role": "business", "key": "SO10C", "file": "rows.csv", "line": 3, "status": "CANCELLED"},
    {"role": "business", "key": "SO10D", "file": "rows.csv", "line": 4, "status": "PAID"},
    {"role": "business", "key": "SO10G", "file": "rows.csv", "line": 5, "status": "PAID"},
    {"role": "business", "key": "none", "file": "rows.csv", "line": 6, "status": "PAID"},
]
OUTCOMES = [
    outcome("B", **ROLLED_BACK),
    outcome("C", **ROLLED_BACK),  # its row was taken back too
    outcome("D"),
    outcome("E", with_row=False),  # after D, before G: its row is missing
    outcome("G"),
    outcome("H", with_row=False),  # after the last row that the table has
]


def test_transactions_and_rows_that_disagree() -> None:
    thrown = {
        "ts": asked.at(70),
        "file": "app.log",
        "source": "app",
        "level": "ERROR",
        "lines": 1,
        "trace": None,
        "events": [],
    }
    errors = [
        thrown | {"line": 1, "message": "sendMessageInTransaction failed for SO10B: no stock"},
        thrown | {"line": 2, "message": "sendMessageInTransaction failed for SO10BER"},
    ]
    events = [answer(9, "B", "check-answer-rollback")]
    found = asked.rows("disagreements", transactions=OUTCOMES, rows=ROWS, events=events, entries=errors)
    assert [(row["uniq_key"], row["kind"], row["repair"], row["cause"]) for row in found] == [
        ("B", "row_without_message", "re-send", "error"),
        ("E", "message_without_row", "compensate", None),
    ]
    first = found[0]
    assert (first["evidence_file"], first["evidence_line"], first["all_causes"]) == (
        "app.log",
        1,
        "error + rollback_answer",
    )
    assert (first["row_line"], first["end_physical_offset"], found[1]["end_physical_offset"]) == (2, 901, 900)


def test_a_row_whose_order_was_repeated_does_not_stand_alone() -> None:
    again = [outcome("B", **ROLLED_BACK), outcome("X", keys="SO10B")]
    assert asked.rows("disagreements", transactions=again, rows=ROWS, entries=[]) == []


def test_rows_are_counted_by_key() -> None:
    (row,) = asked.rows("row_counts", transactions=OUTCOMES, rows=ROWS)
    assert row == {"present": True, "rows": 5, "joined": 4, "without_message": 3, "pending": 0}
    (row,) = asked.rows("row_counts", transactions=OUTCOMES, rows=[ROWS[0] | {"role": "tx_log"}])
    assert row == {"present": False, "rows": 0, "joined": 0, "without_message": 0, "pending": 0}


def test_what_became_of_rows() -> None:
    found = asked.rows("row_fates", transactions=OUTCOMES, rows=ROWS)
    fates = {(row["status"], row["state"]): row["rows"] for row in found}
    assert fates == {
        ("PAID", "committed"): 2, ("PAID", "rolled_back"): 1, ("CANCELLED", "rolled_back"): 1, ("PAID", None): 1,
    }  # fmt: skip


def test_the_exception_of_a_local_transaction_belongs_to_the_message_printed_behind_it() -> None:
    client = {"file": "client.log", "source": "client"}
    events = [
        {**client, "event": "local-transaction-exception", "line": 10, "ts": asked.at(1)},
        {**client, "event": "send-attempt-message", "line": 100, "values": [("msg_id", "a")]},
        {**client, "event": "local-transaction-exception", "line": 200, "ts": asked.at(2)},
        {**client, "event": "send-attempt-message", "line": 900, "values": [("msg_id", "b")]},
        {
            **client,
            "event": "send-result",
            "line": 901,
            "ts": None,
            "values": [("msg_id", "c"), ("status", "FLUSH_DISK_TIMEOUT")],
        },
        {**client, "event": "send-result", "line": 902, "ts": None, "values": [("msg_id", "d"), ("status", "SEND_OK")]},
    ]
    entries = [{"file": "client.log", "line": n, "lines": 40} for n in (10, 200)]
    found = asked.rows("transaction_errors", events=events, entries=entries)
    assert sorted((row["uniq_key"], row["how"], row["line"]) for row in found) == [
        ("A", "exception", 10),
        ("C", "FLUSH_DISK_TIMEOUT", 901),
    ]


def test_the_story_of_an_example_has_its_records_and_answers() -> None:
    stored = [half(1), half(3, **CHECKED), commit(5, 3), record(6, topic=SCHEDULE, stage="schedule"), half(4, "other")]
    chosen = [{"uniq_key": "A", "keys": "SO1", "path": "half → COMMIT → committed", "place": 1}]
    ended = outcome("A", op_time=asked.at(6), op_offset=6)
    found = asked.rows(
        "transaction_timeline",
        records=stored,
        transactions=[ended],
        transaction_examples=chosen,
        events=[answer(4, "a", "check-answer-commit")],
    )
    shown = [(row["stage"], row["seconds"], row["key"]) for row in found]
    stages = ("half", "check", "answer COMMIT", "commit", "op")
    assert shown == [(stage, seconds, "SO1") for stage, seconds in zip(stages, (0, 2, 3, 4, 5), strict=True)]


def test_why_send_backs_were_refused() -> None:
    texts = [
        "MQBrokerException: CODE: 13  DESC: the message is illegal, maybe length too long",
        "MQBrokerException: CODE: 2  DESC: [REJECTREQUEST]system busy",
        "RemotingTimeoutException: wait response timeout",
    ]
    place = {"file": "client.log", "source": "client"}
    entries = [
        {**place, "line": n, "message": "sendMessageBack Exception, g", "trace": text}
        for n, text in enumerate([*texts, texts[0]])
    ]
    events = [{**place, "line": n, "event": "send-back-exception", "values": [("group", "g")]} for n in range(4)]
    found = asked.rows("refused_send_backs", entries=entries, events=events)
    assert [(row["consumer_group"], row["reason"], row["entries"]) for row in found] == [
        ("g", "name-too-long", 2), ("g", "busy", 1), ("g", "timeout", 1),
    ]  # fmt: skip


def test_a_refused_name_may_be_that_of_a_known_group() -> None:
    events = [
        {"event": "topic-too-long", "file": "store.log", "line": n, "values": [("length", length)]}
        for n, length in enumerate(["149", "149", "131"])
    ]
    found = asked.rows("refused_names", events=events, offsets=[{"group": "g" * 142}])
    assert [(row["length"], row["entries"], row["consumer_group"]) for row in found] == [
        (131, 1, None),
        (149, 2, "g" * 142),
    ]


def test_copies_of_leaked_messages_by_the_logs_alone() -> None:
    """Two messages, and one copy more for each COMMIT answer to a check of them; other messages and other answers add none."""
    keys = [f"{n:032X}" for n in range(3)]
    places = [{"file": "transaction.log", "line": 90 + n, "ts": asked.at(90)} for n in range(2)]
    printed = [{**place, "event": "leaked-half-printed", "values": {}} for place in places]
    entries = [
        {**place, "message": f"properties={{UNIQ_KEY={key}, DELAY=3}}"}
        for place, key in zip(places, keys, strict=False)
    ]
    answers = [
        {"file": "transaction.log", "line": n, "ts": asked.at(n), "event": event, "values": {"msg_id": keys[key]}}
        for n, (key, event) in enumerate([(0, "commit"), (2, "commit"), (1, "commit"), (0, "pending"), (0, "commit")])
    ]
    for answer in answers:
        answer["event"] = f"check-answer-{answer['event']}"
    rows = asked.rows("printed_growth", events=[*printed, *answers], entries=entries)
    assert [(row["seq"], row["doubling"]) for row in rows] == [(2, True), (3, False), (4, True)]
    assert [row["store_timestamp"] for row in rows] == [asked.at(n).replace(tzinfo=None) for n in (0, 2, 4)]
