"""Store JSON as fastjson writes it, broker.conf as Java reads it."""

from __future__ import annotations

import struct

import pytest

from kit.read import configs

CONSUMER = (
    b'{\n\t"offsetTable":{\n\t\t"orders@billing":{0:13,1:12\n\t\t},\n'
    b'\t\t"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:57\n\t\t}\n\t}\n}'
)  # fmt: skip
DELAY = b'{\n\t"offsetTable":{1:187,3:3\n\t}\n}'
TOPICS = b'''{
	"dataVersion":{
		"counter":4
	},
	"topicConfigTable":{
		"orders":{
			"order":false,
			"perm":6,
			"readQueueNums":4
		}
	}
}'''


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (CONSUMER, "consumerOffset"),
        (DELAY, "delayOffset"),
        (b'{"dataVersion":{"counter":1},"offsetTable":{2:5}}', "delayOffset"),
        (TOPICS, "topics"),
        (b'{"dataVersion":{},"subscriptionGroupTable":{}}', "subscriptionGroup"),
        (b'{"filterDataByTopic":{}}', "consumerFilter"),
        (b'{"table":{}}', "consumerOrderInfo"),
        (b'{"dataVersion":{},"timingCount":{}}', "timermetrics"),
    ],
)
def test_store_json_is_told_by_its_content(data: bytes, name: str) -> None:
    assert configs.sniff(data, "x7.bin") == {"kind": "store_json", "name": name, "backup": False}


def test_other_json_is_not_store_json() -> None:
    assert configs.sniff(b'{"message":"hello","level":"INFO"}') is None


def test_backup_is_told_by_its_name() -> None:
    found = configs.sniff(DELAY, "config/delayOffset.json.bak")
    assert found is not None
    assert found["backup"] is True


def test_offsets() -> None:
    rows = configs.offsets("f", CONSUMER, {"name": "consumerOffset", "backup": False}, "store_json")
    assert [(r["kind"], r["topic"], r["group"], r["queue_id"], r["value"]) for r in rows] == [
        ("consumer", "orders", "billing", 0, 13),
        ("consumer", "orders", "billing", 1, 12),
        ("consumer", "RMQ_SYS_TRANS_HALF_TOPIC", "CID_RMQ_SYS_TRANS", 0, 57),
    ]
    rows = configs.offsets("f", DELAY, {"name": "delayOffset", "backup": True}, "store_json")
    assert [(r["kind"], r["queue_id"], r["value"], r["backup"]) for r in rows] == [("delay", 0, 187, True), ("delay", 2, 3, True)]


def test_checkpoint() -> None:
    page = struct.pack(">5q", 1_795_188_794_493, 1_795_188_794_400, 0, 0, 0) + bytes(4096 - 40)
    assert configs.sniff(page, size=4096) == {"kind": "checkpoint"}
    rows = configs.offsets("f", page, {}, "checkpoint")
    assert [(r["topic"], r["value"]) for r in rows] == [("physicMsgTimestamp", 1_795_188_794_493), ("logicsMsgTimestamp", 1_795_188_794_400)]
    assert configs.sniff(bytes(4096), size=4096) is None
    assert configs.sniff(page + bytes(10), size=4106) is None


def test_topics_carry_their_lines() -> None:
    rows = configs.configs("f", TOPICS, {"name": "topics", "backup": False}, "store_json")
    assert [(r["subject"], r["name"], r["value"], r["line"]) for r in rows] == [
        ("orders", "order", "false", 7), ("orders", "perm", "6", 8), ("orders", "readQueueNums", "4", 9),
    ]  # fmt: skip


def test_damaged_json_raises() -> None:
    with pytest.raises(ValueError, match=r"."):
        configs.configs("f", TOPICS[:-20], {"name": "topics", "backup": False}, "store_json")


CONF = b"# store\nbrokerClusterName = c1\nbrokerRole=ASYNC_MASTER # async\nflushDiskType=ASYNC_FLUSH  \r\nmaxMessageSize\\\n   =65536\n\n!note\nbrokerId:0\n"


def test_values_stand_as_java_reads_them() -> None:
    assert configs.sniff(CONF) == {"kind": "broker_conf", "known": 5}
    rows = configs.configs("f", CONF, {}, "broker_conf")
    assert [(r["name"], r["value"], r["line"]) for r in rows] == [
        ("brokerClusterName", "c1", 2),
        ("brokerRole", "ASYNC_MASTER # async", 3),
        ("flushDiskType", "ASYNC_FLUSH  ", 4),
        ("maxMessageSize", "65536", 5),
        ("brokerId", "0", 9),
    ]


@pytest.mark.parametrize("text", [b"server.port=80\nspring.name=x\n", b"2024-05-14 10:22:31 INFO main - brokerName=a\n", b"a,b\n1,2\n"])
def test_other_text_is_not_a_broker_conf(text: bytes) -> None:
    assert configs.sniff(text) is None
