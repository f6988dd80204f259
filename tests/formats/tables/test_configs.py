"""Store JSON as fastjson writes it, broker.conf as Java reads it."""

import json
import struct

import effort
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import rows_of

from kit.formats.tables import configs, store_json

FILES = rows_of(__file__, "files")


def settings(rows):
    return [[row[name] for name in ("subject", "name", "value", "line")] for row in rows]


@pytest.mark.parametrize("given", FILES, ids=lambda given: given["name"])
def test_a_file_of_a_store(given):
    name, data = given.get("file", "x7.bin"), given["text"].encode()
    detail = configs.sniff(data, name)
    backup = name.endswith(".bak")
    assert detail == {"kind": "store_json", "name": given["name"], "backup": backup}
    offsets = configs.offsets(name, data, detail, "store_json")
    columns = ("kind", "topic", "group", "queue_id", "value", "line")
    expected = given.get("offsets", [])
    assert [[row[each] for each in columns][: len(one)] for row, one in zip(offsets, expected, strict=True)] == expected
    assert settings(configs.configs(name, data, detail, "store_json")) == given.get("configs", [])
    assert all(row["backup"] is backup for row in offsets)


def test_checkpoint():
    page = struct.pack(">5q", 1_795_188_794_493, 1_795_188_794_400, 0, 0, 0) + bytes(4096 - 40)
    assert configs.sniff(page, size=4096) == {"kind": "checkpoint"}
    rows = configs.offsets("f", page, {}, "checkpoint")
    times = {"physicMsgTimestamp": 1_795_188_794_493, "logicsMsgTimestamp": 1_795_188_794_400}
    assert [(r["topic"], r["value"]) for r in rows] == [*times.items()]
    assert configs.sniff(bytes(4096), size=4096) is None
    assert configs.sniff(page + bytes(10), size=4106) is None


def test_damaged_json_raises():
    topics = next(each["text"] for each in FILES if each["name"] == "topics").encode()
    with pytest.raises(ValueError, match=r"."):
        configs.configs("f", topics[:-20], {"name": "topics", "backup": False}, "store_json")


def test_values_stand_as_java_reads_them():
    conf = rows_of(__file__, "broker_conf")
    assert configs.sniff(conf["text"].encode()) == {"kind": "broker_conf", "known": 5}
    assert settings(configs.configs("f", conf["text"].encode(), {}, "broker_conf")) == conf["configs"]


NAME = st.text("abcXYZ019_-%|@", min_size=1, max_size=20)
TABLE = st.dictionaries(
    NAME, st.dictionaries(st.integers(0, 99), st.integers(-1, 2**62), min_size=1, max_size=4), max_size=5
)


def as_fastjson(table, space):
    """`ConfigManager.encode(true)` of an offset table: integer keys are without quotes."""
    inner = {name: ",".join(f"{q}{space}:{v}" for q, v in queues.items()) for name, queues in table.items()}
    groups = f",{space}".join(f"{json.dumps(name)}:{{{queues}{space}}}" for name, queues in inner.items())
    return f'{{{space}"offsetTable":{{{groups}}}{space}}}'


@effort.examples(200)
@given(table=TABLE, space=st.sampled_from(("", "\n\t", " ", "\r\n")), bom=st.booleans())
def test_offsets_without_quotes_are_read(table, space, bom):
    text = ("\ufeff" if bom else "") + as_fastjson(table, space)
    assert store_json.parse_json(text)["offsetTable"] == {
        name: {str(q): v for q, v in queues.items()} for name, queues in table.items()
    }


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 100_000, "{1:" * 100_000])
def test_json_nested_too_deep_is_damaged(text):
    with pytest.raises(ValueError, match=r"nested|Expecting"):
        store_json.parse_json(text)
