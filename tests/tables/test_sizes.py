"""Tables of what keeps clients from their broker and of sizes, each asked with a few rows."""

from __future__ import annotations

from typing import Any

import asked

CLIENT = {"file": "app/rocketmq_client.log", "source": "client"}


def entry(line: int, event: str, second: float | None = None, **values: str) -> dict[str, Any]:
    """Return one known text of a client's log."""
    at = None if second is None else asked.at(second)
    return {**CLIENT, "line": line, "ts": at, "event": event, "values": list(values.items())}


# --- access --------------------------------------------------------------------------------------------------------------------


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
    network = [
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


# --- refusals -------------------------------------------------------------------------------------------------------------------


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
