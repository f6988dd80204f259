"""mqadmin's consumer commands of 4.x and 5.x, from texts as RocketMQ's tools print them."""

from __future__ import annotations

from table import rows_of

from kit.formats.tables import mqadmin


def rows(text: str) -> list[dict[str, str | None]]:
    """Return the rows of an output: its cells by name, in order."""
    found: dict[int, dict[str, str | None]] = {}
    for _, _, block, name, value in mqadmin.parse(text.encode()):
        if block:
            found.setdefault(block, {})[name] = value
    return list(found.values())


OLD_CONNECTION = rows_of(__file__, "old_connection")
CONNECTION = rows_of(__file__, "connection")
RUNNING = rows_of(__file__, "running")
ROUTE = rows_of(__file__, "route")
RESET = rows_of(__file__, "reset")
PROGRESS_5 = """#Topic   #Broker Name  #QID  #Broker Offset  #Consumer Offset  #Client IP     #Diff  #Inflight  #LastTime
orders   broker-a      0     572             225               10.0.0.22@1    347    12         2026-11-22 07:06:51
"""


def test_connections_before_4_8_have_no_table_head() -> None:
    first, second, retry, topic, *_ = rows(OLD_CONNECTION)
    assert (first["#ClientId"], first["#ClientAddr"]) == ("172.17.0.2@1", "10.0.0.22:60204")
    assert second["#ClientAddr"] == "10.0.0.23:46358"
    assert (retry["#Topic"], topic["#SubExpression"]) == ("%RETRY%sms", "PAID || SENT")


def test_an_expression_with_blanks_is_one_cell() -> None:
    assert rows(CONNECTION)[-1] == {"#Topic": "order-paid", "#SubExpression": "PAID || SENT"}


def test_a_running_info_file_gives_its_sections_and_no_stacks() -> None:
    fields = list(mqadmin.parse(RUNNING.encode()))
    assert {command for _, command, _, _, _ in fields} == {"consumerRunningInfo"}
    assert (0, "consumerGroup", "points") in {(block, name, value) for _, _, block, name, value in fields}
    _, subscription, offset, queue, times = rows(RUNNING)
    assert subscription["#SubExpression"] == "a > 1 AND b IS NOT NULL"
    assert offset["#Consumer Offset"] == "267"
    assert (queue["commitOffset"], queue["cachedMsgCount"], queue["#QID"]) == ("267", "209", "0")
    assert times["#Consume RT"] == "334.78"
    assert not any("App.main" in (value or "") for _, _, _, _, value in fields)


def test_a_running_info_file_is_recognised_by_its_head() -> None:
    assert mqadmin.sniff(RUNNING.encode())


def test_a_route_gives_addresses_and_queues() -> None:
    master, slave, queues = rows(ROUTE)
    assert (master["#BID"], master["#Addr"], slave["#Addr"]) == ("0", "172.17.0.3:10911", "172.17.0.4:10911")
    assert (queues["#Broker Name"], queues["readQueueNums"], queues["perm"]) == ("broker-a", "4", "6")


def test_a_reset_says_group_time_and_the_new_offsets() -> None:
    told = {name: value for _, _, block, name, value in mqadmin.parse(RESET.encode()) if not block}
    assert (told["group"], told["topic"], told["timestamp(long)"]) == ("wallet", "wallet-event", "1795304331249")
    assert rows(RESET) == [{"#brokerName": "broker-a", "#queueId": "0", "#offset": "94"}]


def test_progress_of_5_has_the_messages_in_flight() -> None:
    (row,) = rows(PROGRESS_5)
    assert (row["#Consumer Offset"], row["#Inflight"], row["#LastTime"]) == ("225", "12", "2026-11-22 07:06:51")
