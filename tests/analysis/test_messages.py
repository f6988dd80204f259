"""One message: its records in order, which id each call hands out, and the look-ups read out of sessions and logs."""

import datetime as dt
from typing import Any

import pandas as pd
import pytest
import recorded

from kit.analysis.messages import lookups, trace
from kit.analysis.messages.lookups import Lookup, parse
from kit.rocketmq import names, stages

START = dt.datetime(2024, 5, 14, 2, tzinfo=dt.UTC)
HOST = "0A140D0B00002A9F"
KEY = "0A140D1500000C387F4466D0DB3F0003"
GROUP = "points"
UNKNOWN = ("real_topic", "check_times", "delay_level", "origin_message_id", "due", "consumer_group", "link")
RETRY, DLQ = names.retry_topic(GROUP), names.dlq_topic(GROUP)


def record(n: int, stage: str, topic: str, **more: Any) -> dict[str, Any]:
    return dict.fromkeys(UNKNOWN) | {
        "uniq_key": KEY, "file": "f", "physical_offset": n, "offset_msg_id": f"{HOST}{n:016X}", "topic": topic,
        "stage": stage, "sys_flag": 0, "store_timestamp": START + dt.timedelta(seconds=n), "store_host": "h",
        "reconsume_times": 0, "prepared_transaction_offset": 0, "queue_offset": n, "born_host": "p", "resent": False,
    } | more  # fmt: skip


BACK = {"consumer_group": GROUP, "origin_message_id": f"{HOST}{3:016X}"}
LIFE = [
    record(1, stages.HALF, names.HALF_TOPIC, real_topic="orders"),
    record(2, stages.CHECK_BACK, names.HALF_TOPIC, real_topic="orders", check_times=1),
    record(3, stages.COMMIT, "orders", sys_flag=8, prepared_transaction_offset=2),
    record(4, stages.SCHEDULE, names.SCHEDULE_TOPIC, reconsume_times=1, real_topic=RETRY, delay_level=3, **BACK),
    record(5, stages.RETRY, RETRY, reconsume_times=1, real_topic=RETRY, **BACK),
    record(6, stages.SCHEDULE, names.SCHEDULE_TOPIC, reconsume_times=2, real_topic=DLQ, delay_level=4, **BACK),
    record(7, stages.DLQ, DLQ, reconsume_times=2, **BACK),
]
FIRST, *_ = LIFE
WAITING = [*LIFE[:3], LIFE[3] | {"due": START + dt.timedelta(seconds=14)}]
KEYLESS = [*LIFE[:4], LIFE[4] | {"uniq_key": None, "link": names.ORIGIN_MESSAGE_ID}, *LIFE[5:]]


def without(*numbers: int, **changed: Any) -> list[dict[str, Any]]:
    return [r | changed for r in LIFE if r["physical_offset"] not in numbers]


def test_each_copy_names_the_one_it_was_written_from() -> None:
    records = trace.with_lineage(LIFE)
    assert [r["copied_from"] and int(r["copied_from"][-16:], 16) for r in records] == [None, 1, 2, 3, 4, 5, 6]
    why = [r["why"].render("en") for r in records]
    assert all("new offset id" in text for text in why[1:]) and "new offset id" not in why[0]
    assert "Check 1" in why[1] and "offset 2" in why[2] and "retry 1" in why[4].lower() and "gave it up" in why[6]
    assert all(any("\u4e00" <= c <= "\u9fff" for c in r["why"].render("zh")) for r in records)


GAPS: list[tuple[list[dict[str, Any]], list[int], int | None, list[str]]] = [
    # records, half records that op records ended, the evidence's last second, what is missing
    (LIFE, [1, 2], None, []),
    (without(2), [1], None, ["half-missing"]),
    (without(1, 2, 3), [], None, ["first-missing"]),
    (without(3, 4), [1], None, ["origin-missing"]),
    (without(3, 4, origin_message_id=None), [1], None, ["source-missing"]),
    (LIFE[:1], [], None, ["pending"]),
    (LIFE[:1], [1], None, []),
    (LIFE[:3], [1], None, ["op-missing"]),
    ([FIRST, record(2, stages.CHECK_BACK, names.HALF_TOPIC, check_times=3)], [], None, ["check-missing", "pending"]),
    # What waits is late only if the evidence outlasts it.
    (WAITING, [2], 60, ["due-missing"]),
    (WAITING, [2], 10, ["not-due"]),
]


def kinds(records: list[dict[str, Any]], ended: list[int], last: int | None) -> list[str]:
    ops = [{"half_offset_msg_id": f"{HOST}{n:016X}"} for n in ended]
    end = None if last is None else START + dt.timedelta(seconds=last)
    return [gap["kind"] for gap in trace.gaps(trace.with_lineage(records), ops, end)]


@pytest.mark.parametrize(("records", "ended", "last", "missing"), GAPS)
def test_what_is_missing(records: list[dict[str, Any]], ended: list[int], last: int | None, missing: list[str]) -> None:
    assert kinds(records, ended, last) == missing


def test_a_copy_that_lost_its_key_is_named() -> None:
    assert "uniq-missing" in kinds(KEYLESS, [2], None)


@pytest.mark.parametrize(
    ("records", "says"),
    [
        ([record(1, stages.ORIGINAL, "t"), record(2, stages.ORIGINAL, "t")], "sent the same message again"),
        ([*LIFE[:3], record(9, stages.COMMIT, "orders", sys_flag=8, prepared_transaction_offset=1)], "second time"),
    ],
)
def test_a_second_send_and_a_second_commit_are_told_apart(records: list[dict[str, Any]], says: str) -> None:
    why = trace.with_lineage(records)[-1]["why"].render("en")
    assert says in why and "new offset id" in why


def ids_by_call(*records: dict[str, Any], client: str | None = None) -> dict[str, str | None]:
    frame = lookups.of_copies(pd.DataFrame(records).assign(client_version=client))
    return dict(zip(frame["call"], frame["id"], strict=True))


def test_which_id_each_call_hands_out() -> None:
    retried = ids_by_call(*LIFE[:5])
    assert retried["TransactionSendResult.getMsgId()"] == KEY
    assert retried["TransactionSendResult.getOffsetMsgId()"] is None
    assert "SendResult.getOffsetMsgId()" not in retried
    assert retried["checkLocalTransaction(MessageExt): getMsgId()"] == f"{HOST}{2:016X}"
    assert retried["consumeMessage(MessageExt): getMsgId()"] == KEY
    assert retried["consumeMessage(MessageClientExt): getOffsetMsgId()"] == f"{HOST}{5:016X}"
    assert retried['getProperty("ORIGIN_MESSAGE_ID")'] == f"{HOST}{3:016X}"
    delayed = ids_by_call(record(1, stages.SCHEDULE, names.SCHEDULE_TOPIC), record(2, stages.DUE, "orders"))
    assert delayed["SendResult.getOffsetMsgId()"] == f"{HOST}{1:016X}"
    assert delayed["consumeMessage(MessageClientExt): getOffsetMsgId()"] == f"{HOST}{2:016X}"
    assert not [call for call in delayed if call.startswith("Transaction")]


def test_calls_of_a_release_of_the_client() -> None:
    trace, receipt = "message trace: msgId", "SendReceipt.getMessageId() (gRPC client)"
    calls = {
        release: ids_by_call(record(1, stages.ORIGINAL, "t"), client=release) for release in ("4.3.2", "4.4.0", "4.9.8")
    }
    assert trace not in calls["4.3.2"] and trace in calls["4.4.0"] and receipt not in calls["4.9.8"]


UNIQ = "0A142C1500000C387F4466D0D88B0000"
OFFSET = "0A142C0B00002A9F00000000000004AA"
THROWN = "org.apache.rocketmq.tools.command.SubCommandException: {}SubCommand command failed\n"
CONNECT = "RemotingConnectException: connect to 10.20.44.{} failed"


def read(text: str, file: str = "session.txt") -> list[Lookup]:
    return parse((file, n, line) for n, line in enumerate(text.split("\n"), 1))


def test_every_recorded_lookup_is_read() -> None:
    lookups = {}
    for name in ("message-identity", "healthy-traced"):
        for file, data in recorded.files(name, "**/mqadmin/*").items():
            lookups |= {(name, file.rsplit("/", 1)[1]): one for one in read(data.decode(), file)}
    failed = {
        ("message-identity", "queryMsgById.txt"): ("no-message", ("null",)),
        ("message-identity", "queryMsgById-2.txt"): ("connect", (UNIQ,)),
    }
    found = {
        ("message-identity", "queryMsgByUniqueKey.txt"), ("healthy-traced", "queryMsgById.txt"),
        ("healthy-traced", "queryMsgByUniqueKey.txt"), ("healthy-traced", "queryMsgTraceById.txt"),
    }  # fmt: skip
    assert {key: (one.reason, one.ids) for key, one in lookups.items() if one.reason} == failed
    assert {key for key, one in lookups.items() if one.found} == found == lookups.keys() - failed.keys()


SESSION = (
    f"[root@h bin]# sh mqadmin queryMsgById -n a:9876 -i {UNIQ}\n"
    f"{THROWN.format('QueryMsgById')}"
    "Caused by: org.apache.rocketmq.client.exception.MQClientException: CODE: 208  DESC: query message by id finished, but no message.\n"
    "[root@h bin]# sh mqadmin topicStatus -n a:9876 -t gone\n"
    f"{THROWN.format('TopicStatus')}"
    "Caused by: ...: CODE: 17  DESC: No topic route info\n"
    f"[root@h bin]# sh mqadmin queryMsgByUniqueKey -n a:9876 -t t --msgId '{OFFSET}'\n"
    "Topic:               t\nCommitLog Offset:    1194"
)


@pytest.mark.parametrize(
    ("text", "lookups"),
    [
        # A failure belongs to the command above it.
        (SESSION, [
            {"command": "queryMsgById", "ids": (UNIQ,), "reason": "no-message", "found": False, "line": 1, "failed_line": 3},
            {"command": "queryMsgByUniqueKey", "ids": (OFFSET,), "reason": None, "found": True, "line": 7, "failed_line": None},
        ]),
        # Only the error is left.
        (THROWN.format("QueryMsgById") + CONNECT.format("21:3128"), [
            {"command": "queryMsgById", "ids": (), "reason": "connect", "address": "10.20.44.21:3128"},
        ]),
        (f"mqadmin queryMsgById -n a:9876 -i {OFFSET},{UNIQ}", [{"ids": (OFFSET, UNIQ)}]),
        ("at org.apache.rocketmq.tools.command.message.QueryMsgByIdSubCommand.execute(QueryMsgByIdSubCommand.java:253)", []),
    ],
)  # fmt: skip
def test_sessions(text: str, lookups: list[dict[str, Any]]) -> None:
    parsed = read(text)
    shown = [{name: getattr(one, name) for name in wanted} for one, wanted in zip(parsed, lookups, strict=True)]
    assert shown == lookups


def test_a_connection_to_anywhere_else_is_not_the_ids_fault() -> None:
    for port, failed in (("11:10911", False), ("21:3128", True)):
        [one] = read(f"mqadmin queryMsgById -i {UNIQ}\n{CONNECT.format(port)}")
        one.wrong = True
        assert one.failed_by_kind is failed
        one.found = True
        assert not one.failed_by_kind
