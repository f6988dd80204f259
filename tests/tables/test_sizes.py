"""Tables of what keeps clients from their broker and of sizes, each asked with a few rows."""

from __future__ import annotations

from typing import Any

import asked

CLIENT: dict[str, Any] = {"file": "app/rocketmq_client.log", "source": "client"}


def entry(line: int, event: str, second: float | None = None, **values: str) -> dict[str, Any]:
    """Return one known text of a client's log."""
    at = None if second is None else asked.at(second)
    return {**CLIENT, "line": line, "ts": at, "event": event, "values": list(values.items())}


def test_connects_are_counted_by_address_and_outcome() -> None:
    failed = {"address": "10.0.0.1:10911", "how": "failed"}
    events = [entry(n, "client-connect", n, **failed) for n in (1, 2)]
    # The exception of the call that waited is no third attempt of another kind: it has no outcome of its own.
    events += [
        entry(2, "client-connect-failed", 2, address="10.0.0.1:10911"),
        entry(3, "client-connect-failed", 3, address="10.0.0.9:9876"),
    ]
    texts = [
        {
            **CLIENT,
            "line": 3,
            "events": ["client-connect-failed"],
            "message": "x",
            "trace": "at MQClientAPIImpl.getTopicRouteInfoFromNameServer",
        }
    ]
    rows = asked.rows("reach_statements", events=events, entries=texts)
    assert [(r["event"], r["address"], r["how"], r["n"], r["line"], r["name_server"]) for r in rows] == [
        ("connect", "10.0.0.1:10911", "failed", 2, 1, False),
        ("connect", "10.0.0.9:9876", None, 1, 3, True),
    ]


def test_addresses_that_settings_and_mqadmin_name() -> None:
    settings = [{"file": "broker.conf", "line": 3, "name": "brokerIP1", "value": "10.0.0.1", "backup": False}]
    admin = [
        {"file": "a.txt", "line": 2, "name": "#Addr", "value": "10.0.0.1:10911"},
        {"file": "a.txt", "line": 2, "name": "#Other", "value": "x"},
    ]
    rows = asked.rows("reach_settings", configs=settings, admin=admin)
    assert [(r["origin"], r["name"], r["value"]) for r in rows] == [
        ("admin", "#Addr", "10.0.0.1:10911"),
        ("config", "brokerIP1", "10.0.0.1"),
    ]


def test_sockets_that_listen_are_no_connections() -> None:
    network: list[dict[str, Any]] = [
        {"origin": "addresses", "address": "10.0.0.1", "interface": "eth0", "prefix": 24},
        {"origin": "sockets", "address": "0.0.0.0", "port": 10911, "peer": "0.0.0.0:*", "state": "LISTEN"},
        {"origin": "sockets", "address": "10.0.0.1", "port": 10911, "peer": "10.0.0.7:5000", "state": "ESTAB"},
        {"origin": "processes"},
    ]
    rows = asked.rows("host_addresses", network=[{"file": "ss.txt", "line": n, **row} for n, row in enumerate(network)])
    assert [(r["origin"], r["address"], r["port"]) for r in rows] == [
        ("addresses", "10.0.0.1", None),
        ("sockets", "0.0.0.0", 10911),
    ]


def test_a_host_answered_that_stored_a_send() -> None:
    one, two = "0A00000100002A9F" + "0" * 16, "0A00000100002A9F" + "1" * 16
    sends = [("SEND_OK", f"{one},{two}"), ("send_ok", two), ("FLUSH_DISK_TIMEOUT", two), ("SEND_OK", None)]
    rows = asked.rows(
        "answered_hosts",
        sends=[{"file": "s.csv", "line": n, "outcome": o, "offset_msg_id": i} for n, (o, i) in enumerate(sends)],
    )
    assert {(r["host"], r["line"], r["offset_msg_id"], r["n"]) for r in rows} == {
        ("0A00000100002A9F", 0, one, 2),
        (None, 3, None, 1),
    }


def test_topics_exist_by_their_lists_records_and_consumers() -> None:
    rows = asked.rows(
        "known_topics",
        configs=[{"origin": "topics", "subject": "a"}, {"origin": "broker.conf", "subject": None}],
        admin=[
            {"command": "topicList", "name": "text", "value": " b "},
            {"command": "topicStatus", "name": "text", "value": "no"},
        ],
        events=[entry(1, "queue-taken", topic="c")],
        records=[{"topic": "d"}, {"topic": "a"}],
    )
    assert [r["topic"] for r in rows] == ["a", "b", "c", "d"]


def test_topics_without_a_route_by_who_asked() -> None:
    events = [
        entry(1, "no-route", 1, topic="orders"),
        entry(5, "no-route", 5, topic="orders"),
        entry(7, "topic-unknown-to-consumer", 7, topic="pay", group="g"),
    ]
    texts = [{**CLIENT, "line": 1, "message": "No route", "trace": "\tat DefaultMQProducerImpl.sendDefaultImpl"}]
    rows = asked.rows("unknown_topics", events=events, entries=texts)
    assert [(r["topic"], r["consumer_group"], r["by_send"], r["n"]) for r in rows] == [
        ("orders", None, True, 1),
        ("orders", None, False, 1),
        ("pay", "g", False, 1),
    ]


def test_refusals_by_access_control_have_their_earliest_entry() -> None:
    events = [
        entry(4, "access-denied", 4, access_key="k"),
        entry(3, "access-denied", 3, access_key="k"),
        entry(9, "access-denied", reason="other"),
    ]
    rows = asked.rows("denials", events=events, entries=[{**CLIENT, "line": 3, "message": "m", "trace": "t"}])
    assert [(r["access_key"], r["reason"], r["line"], r["n"], r["message"]) for r in rows] == [
        (None, "other", 9, 1, None),
        ("k", None, 3, 2, "m"),
    ]


def test_a_store_that_takes_no_writes_speaks_for_itself() -> None:
    broker = {"file": "store.log", "source": "store"}
    events = [entry(1, "store-not-writable", 1), *(entry(n, "store-not-writable", n) | broker for n in (2, 3, 4))]
    events += [entry(4, "service-not-available", 4) | broker, entry(6, "store-shutdown", 6, what="putMessage") | broker]
    events += [entry(7, "store-shutdown", 7, what="getMessage") | broker]
    rows = asked.rows("unwritable_stores", events=events)
    assert [(r["event"], r["n"], r["line"]) for r in rows] == [("store-not-writable", 2, 2), ("store-shutdown", 1, 6)]
    stop = [entry(6, "store-shutdown", 6, what="putMessage") | broker]
    assert asked.rows("unwritable_stores", events=stop) == []
    assert asked.rows("unwritable_stores", events=[*stop, entry(5, "no-permission", 5)])


def test_refused_writes_are_counted_by_what_they_say() -> None:
    check, send = {"thread": "TransactionalMessageCheckService"}, {"thread": "SendMessageThread_1"}
    store = {"file": "store.log", "source": "store"}
    again = [
        entry(n, "message-size-exceeded", n, total="4001", body="9", limit="4000") | store | check for n in (1, 2, 3)
    ]
    sends = [
        entry(n, "message-size-exceeded", n, total=f"500{n}", body="9", limit="4000") | store | send for n in (5, 6)
    ]
    failed = [entry(7, "put-back-failed", 7, msg_id="AB") | {"file": "transaction.log", "source": "transaction"}]
    odd = [entry(9, "properties-too-long", 9, length="9" * 30) | store]
    rows = asked.rows("size_refusals", events=again + sends + failed + odd)
    assert [
        (r["writer"], r["event"], r["msg_id"], r["total"], r["limit"], r["count"], r["line"], r["last_line"])
        for r in rows
    ] == [
        ("put_back", "message-size-exceeded", None, 4001, 4000, 3, 1, 3),
        ("send", "message-size-exceeded", None, 5006, 4000, 2, 5, 6),
        ("put_back", "put-back-failed", "AB", None, None, 1, 7, 7),
        (None, "properties-too-long", None, None, None, 1, 9, 9),
    ]


def test_refused_sends_are_counted_a_second_and_long_topics_left_out() -> None:
    """store/CommitLog up to 4.6.0 refuses a topic of more than 127 characters with the words of a large body."""
    events = [entry(1, "message-illegal", 1.2), entry(2, "message-illegal", 1.8), entry(3, "message-illegal", 2)]
    for line, length in ((4, 127), (5, 128)):
        events += [entry(line, "message-illegal", 3), entry(line, "send-attempt-failed", 3, topic="t" * length)]
    rows = asked.rows("size_rejects", events=events)
    assert [(r["attempt"], r["count"], r["line"]) for r in rows] == [(False, 2, 1), (False, 1, 3), (True, 1, 4)]


HALF = "RMQ_SYS_TRANS_HALF_TOPIC"
LIMITS = {
    "max_size": 1000, "total_max": 1000, "body_max": None, "dledger_max": None, "properties_max": 32767,
    "check_max": 15,
}  # fmt: skip


def half(offset: int, size: int, **more: Any) -> dict[str, Any]:
    """Return a half record of `size` bytes, 500 of which are body."""
    record = {
        "file": "log", "topic": HALF, "stage": "half", "property_REAL_TOPIC": "orders", "sys_flag": 4, "body_size": 500,
        "store_size": size,
    }  # fmt: skip
    record |= {
        "queue_offset": offset,
        "physical_offset": 1000 * offset,
        "store_timestamp": asked.at(offset),
        "uniq_key": f"K{offset}",
    }
    return record | {"offset_msg_id": f"{offset:032X}"} | more


def of_halves(table: str, *records: dict[str, Any], **given: Any) -> list[dict[str, Any]]:
    known = {
        "half_brokers": [{"file": "log", "host": "H", "broker": "host H"}],
        "size_limits": [{"broker": each, "raw_put_backs": False, **LIMITS} for each in (None, "host H")],
        "raw_half_bodies": [{"file": "none", "physical_offset": 0, "raw_size": 1}],
    }
    return asked.rows(table, records=list(records), **{**known, **given})


def test_what_a_put_back_adds_to_a_half_record() -> None:
    """`TRANSACTION_CHECK_TIMES` 0x01 1 0x02: 26 bytes, 27 from the tenth check on; `TRAN_PREPARED_QUEUE_OFFSET` 0x01 7 0x02 and WAIT=false for true: 30."""
    count, immune = "property_TRANSACTION_CHECK_TIMES", "property_CHECK_IMMUNITY_TIME_IN_SECONDS"
    rows = of_halves(
        "sized_halves",
        half(6, 900),
        half(7, 900, **{immune: "60"}),
        half(8, 900, stage="check-back", **{count: "9"}),
        half(9, 973),
        half(10, 974),
        half(11, 900, topic="orders", stage="commit"),
    )
    grown = {
        r["queue_offset"]: (r["next_size"], r["last_size"], r["overhead"], r["next_refused"], r["refused"])
        for r in rows
    }
    assert grown == {
        6: (926, 927, 427, None, None), 7: (956, 957, 457, None, None), 8: (901, 901, 401, None, None),
        9: (999, 1000, 500, None, None), 10: (1000, 1001, 501, None, "total"),
    }  # fmt: skip
    # A record is 91 bytes, its body, topic and properties.
    assert {r["last_properties"] - (r["last_size"] - r["store_size"]) for r in rows if r["queue_offset"] == 6} == {
        900 - 91 - 500 - len(HALF)
    }


def test_old_brokers_put_a_compressed_body_back_as_it_was() -> None:
    limits = [{"broker": "host H", "raw_put_backs": True, **LIMITS}]
    raw = [{"file": "log", "physical_offset": 6000, "raw_size": 700}]
    (row,) = of_halves("sized_halves", half(6, 900, body_codec="zlib"), size_limits=limits, raw_half_bodies=raw)
    assert (row["put_back_body"], row["next_size"], row["overhead"], row["refused"]) == (
        700,
        900 + 200 + 26,
        427,
        "total",
    )


def test_each_topic_has_its_largest_overhead() -> None:
    rows = of_halves("half_topics", half(1, 900), half(2, 980), half(3, 700, property_REAL_TOPIC="pay"))
    assert [(r["topic"], r["half_records"], r["overhead"], r["refused"]) for r in rows] == [
        ("orders", 2, 507, 1),
        ("pay", 1, 227, 0),
    ]


def open_ones(*offsets: int) -> list[dict[str, Any]]:
    ids = (
        asked.case(records=[half(n, 900) for n in offsets])
        .tables.frame("records")
        .select("id", "queue_offset")
        .collect()
    )
    return [
        {"id": r.id, "uniq_key": f"K{r.queue_offset}", "state": "pending", "last_queue": r.queue_offset} for r in ids
    ]


def test_open_transactions_that_do_not_fit_are_misfits() -> None:
    rows = of_halves(
        "half_misfits", half(1, 990), half(2, 980), half(3, 700), half(4, 999), transactions=open_ones(1, 3, 4)
    )
    assert [(r["queue_offset"], r["state"], r["last_size"], r["transactions"], r["largest"]) for r in rows] == [
        (1, "pending", 1017, 2, 1026),
        (4, "pending", 1026, 2, 1026),
    ]


def test_a_record_loops_that_the_log_names_or_whose_sizes_it_prints() -> None:
    records, state = [half(1, 990), half(2, 990), half(3, 700)], open_ones(2, 3)
    printed = {"event": "message-size-exceeded", "writer": "put_back", "total": 1016, "body": 500, "msg_id": None}
    (row,) = of_halves("half_looping", *records, transactions=state, size_refusals=[printed | {"msg_id": "x"}])
    assert row["queue_offset"] == 2, "the first open one of those with these sizes"
    named = {"event": "put-back-failed", "writer": "put_back", "total": None, "body": None, "msg_id": f"{3:032x}"}
    (row,) = of_halves("half_looping", *records, transactions=state, size_refusals=[printed, named])
    assert (row["queue_offset"], row["next_refused"]) == (3, None)


def test_what_waits_behind_the_record_at_which_the_check_is_stuck() -> None:
    looping = [
        {"queue_offset": n, "offset_msg_id": str(n), "file": "log", "next_refused": why}
        for n, why in ((2, None), (3, "total"))
    ]
    misfits = [{"queue_offset": 1}]
    (row,) = asked.rows("half_waiting", half_looping=looping, half_misfits=misfits, transactions=open_ones(1, 3, 4, 5))
    assert row == {"stuck": 3, "waiting": 2}


def test_the_largest_half_records_have_their_fate() -> None:
    looping = [{"offset_msg_id": f"{1:032X}"}]
    records = [half(n, size) for n, size in ((1, 990), (2, 985), (3, 700), (4, 995))]
    rows = of_halves("half_near_limit", *records, transactions=open_ones(1, 2, 3), half_looping=looping)
    assert [(r["queue_offset"], r["fate"], r["limit"]) for r in rows] == [
        (4, "ended", 1000), (1, "refused", 1000), (2, "at_risk", 1000), (3, "fits", 1000),
    ]  # fmt: skip


def test_the_half_queue_over_time() -> None:
    checks = [entry(n, "check-position", n, topic=HALF, half_offset=str(n)) for n in (1, 2)] + [
        entry(3, "check-position", 3, topic="x", half_offset="9")
    ]
    saved = [
        {"file": f, "kind": "consumer", "topic": HALF, "group": "CID_RMQ_SYS_TRANS", "value": 7, "backup": f != "a"}
        for f in ("a", "a.bak")
    ]
    rows = asked.rows(
        "half_queue",
        records=[half(4, 700), half(5, 700, store_timestamp=asked.at(4.5)), half(9, 700)],
        events=checks,
        offsets=saved,
    )
    assert [(r["line"], r["offset"], r["file"]) for r in rows] == [
        ("checked", 1, None), ("checked", 2, None), ("saved", 7, "a"), ("stored", 6, None), ("stored", 10, None),
    ]  # fmt: skip
    long = asked.rows("half_queue", records=[half(n, 700) for n in range(1000)])
    assert len(long) <= 401 and long[-1]["offset"] == 1000


def test_marks_of_the_release_that_wrote_half_records() -> None:
    text = "x" * (700 - 91 - 500 - len(HALF) - 1)
    (row,) = of_halves(
        "half_writers",
        half(1, 700, properties_text=text, property_CLUSTER="c"),
        half(2, 700, properties_text=text + "y"),
    )
    assert row == {"broker": "host H", "region": False, "transaction_id": False, "cluster": True, "unseparated": True}


def test_delayed_messages_that_outgrow_the_limit_under_their_own_topic() -> None:
    """SCHEDULE_TOPIC_XXXX has 19 characters, their real topic 22."""
    waiting = {
        "topic": "SCHEDULE_TOPIC_XXXX",
        "stage": "schedule",
        "property_REAL_TOPIC": "orders-of-the-customer",
        "queue_id": 2,
    }
    records = [half(n, size, **waiting) for n, size in ((1, 997), (2, 998), (3, 998), (4, 800))]
    refused = [{"event": "schedule-put-failed", "msg_id": f"{n:032X}", "count": count} for n, count in ((4, 2), (1, 1))]
    rows = of_halves("schedule_misfits", *records, size_refusals=refused)
    assert [(r["kind"], r["queue_id"], r["queue_offset"], r["records"], r["nth"], r["waiting"]) for r in rows] == [
        ("named", 2, 4, 1, 1, 0),
        ("too_large", 2, 2, 2, 1, 2),
        ("too_large", 2, 3, 2, 2, 1),
    ]
