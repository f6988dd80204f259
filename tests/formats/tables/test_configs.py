"""Store JSON as fastjson writes it, broker.conf as Java reads it."""

from __future__ import annotations

import json
import struct

import effort
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.formats.tables import configs, store_json

CONSUMER = (
    b'{\n\t"offsetTable":{\n\t\t"orders@billing":{0:13,1:12\n\t\t},\n'
    b'\t\t"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:57\n\t\t}\n\t}\n}'
)
DELAY = b'{\n\t"offsetTable":{1:187,3:3\n\t}\n}'
TOPICS = b"""{
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
}"""


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


def test_offsets_of_consumers_and_delay_levels() -> None:
    rows = configs.offsets("f", CONSUMER, {"name": "consumerOffset", "backup": False}, "store_json")
    assert [(r["kind"], r["topic"], r["group"], r["queue_id"], r["value"]) for r in rows] == [
        ("consumer", "orders", "billing", 0, 13),
        ("consumer", "orders", "billing", 1, 12),
        ("consumer", "RMQ_SYS_TRANS_HALF_TOPIC", "CID_RMQ_SYS_TRANS", 0, 57),
    ]
    rows = configs.offsets("f", DELAY, {"name": "delayOffset", "backup": True}, "store_json")
    assert [(r["kind"], r["queue_id"], r["value"], r["backup"]) for r in rows] == [
        ("delay", 0, 187, True),
        ("delay", 2, 3, True),
    ]


def test_checkpoint() -> None:
    page = struct.pack(">5q", 1_795_188_794_493, 1_795_188_794_400, 0, 0, 0) + bytes(4096 - 40)
    assert configs.sniff(page, size=4096) == {"kind": "checkpoint"}
    rows = configs.offsets("f", page, {}, "checkpoint")
    assert [(r["topic"], r["value"]) for r in rows] == [
        ("physicMsgTimestamp", 1_795_188_794_493),
        ("logicsMsgTimestamp", 1_795_188_794_400),
    ]
    assert configs.sniff(bytes(4096), size=4096) is None
    assert configs.sniff(page + bytes(10), size=4106) is None


def test_topics_carry_their_lines() -> None:
    rows = configs.configs("f", TOPICS, {"name": "topics", "backup": False}, "store_json")
    assert [(r["subject"], r["name"], r["value"], r["line"]) for r in rows] == [
        ("orders", "order", "false", 7),
        ("orders", "perm", "6", 8),
        ("orders", "readQueueNums", "4", 9),
    ]


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


@pytest.mark.parametrize(
    "text", [b"server.port=80\nspring.name=x\n", b"2024-05-14 10:22:31 INFO main - brokerName=a\n", b"a,b\n1,2\n"]
)
def test_other_text_is_not_a_broker_conf(text: bytes) -> None:
    assert configs.sniff(text) is None


NAME = st.text("abcXYZ019_-%|@", min_size=1, max_size=20)
TABLE = st.dictionaries(
    NAME, st.dictionaries(st.integers(0, 99), st.integers(-1, 2**62), min_size=1, max_size=4), max_size=5
)


def as_fastjson(table: dict[str, dict[int, int]], space: str) -> str:
    """`ConfigManager.encode(true)` of an offset table: integer keys are without quotes."""
    inner = ("{" + ",".join(f"{q}{space}:{v}" for q, v in queues.items()) + f"{space}}}" for queues in table.values())
    return (
        f'{{{space}"offsetTable":{{'
        + f",{space}".join(f"{json.dumps(name)}:{text}" for name, text in zip(table, inner, strict=True))
        + f"}}{space}}}"
    )


@effort.examples(200)
@given(table=TABLE, space=st.sampled_from(("", "\n\t", " ", "\r\n")), bom=st.booleans())
def test_offsets_without_quotes_are_read(table: dict[str, dict[int, int]], space: str, bom: bool) -> None:
    text = ("\ufeff" if bom else "") + as_fastjson(table, space)
    assert store_json.parse_json(text)["offsetTable"] == {
        name: {str(q): v for q, v in queues.items()} for name, queues in table.items()
    }


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 100_000, "{1:" * 100_000])
def test_json_nested_too_deep_is_damaged(text: str) -> None:
    with pytest.raises(ValueError, match=r"nested|Expecting"):
        store_json.parse_json(text)


def test_offsets_say_on_which_line_a_group_stands() -> None:
    text = '{\n\t"offsetTable":{\n\t\t"orders@points":{0:12,1:7\n\t\t},\n\t\t"pay@points":{0:3\n\t\t}\n\t}\n}'
    found = configs.offsets(
        "consumerOffset.json", text.encode(), {"name": "consumerOffset", "backup": False}, "store_json"
    )
    assert [(row["topic"], row["queue_id"], row["value"], row["line"]) for row in found] == [
        ("orders", 0, 12, 3),
        ("orders", 1, 7, 3),
        ("pay", 0, 3, 5),
    ]


JAVA_LOCAL = '{\n\t"offsetTable":{{\n\t\t\t"brokerName":"broker-a",\n\t\t\t"queueId":3,\n\t\t\t"topic":"orders"\n\t\t}:120,{\n\t\t\t"brokerName":"broker-a",\n\t\t\t"queueId":1,\n\t\t\t"topic":"orders"\n\t\t}:77\n\t}\n}'
GO_LOCAL = json.dumps(
    {
        "offsetTable": {
            json.dumps({"topic": "orders", "brokerName": "broker-a", "queueId": q}, separators=(",", ":")): n
            for q, n in ((3, 120), (1, 77))
        }
    }
)


@pytest.mark.parametrize(("text", "lines"), [(JAVA_LOCAL, (2, 6)), (GO_LOCAL, (1, 1))], ids=["Java", "Go"])
def test_offsets_that_a_client_keeps_itself(text: str, lines: tuple[int, int]) -> None:
    """client/consumer/store/LocalFileOffsetStore: keys are queues; rocketmq-client-go consumer/offset_store.go writes them as strings."""
    file = ".rocketmq_offsets/10.0.0.5@4212/points/offsets.json"
    found = configs.sniff(text.encode(), file)
    assert found == {"kind": "store_json", "name": "localOffset", "backup": False}
    rows = configs.offsets(file, text.encode(), found, "store_json")
    assert [(r["kind"], r["topic"], r["group"], r["queue_id"], r["value"], r["line"]) for r in rows] == [
        ("local", "orders", "points", 3, 120, lines[0]),
        ("local", "orders", "points", 1, 77, lines[1]),
    ]
    assert configs.configs(file, text.encode(), found, "store_json") == []
