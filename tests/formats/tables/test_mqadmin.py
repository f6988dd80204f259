"""mqadmin outputs in every shape of reference §10 and those of the recordings; store JSON as fastjson writes it, broker.conf as Java reads it."""

import json
import struct

import effort
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import files
from table import rows_of

from kit.formats.tables import configs, mqadmin

OUTPUTS = rows_of(__file__, "outputs")
TEXTS = {output["name"]: output["text"] for output in OUTPUTS}
PROGRESS = TEXTS["progress with an empty cell and totals"]


def fields(text):
    return {f"{block} {name}": value for _, _, block, name, value in mqadmin.parse(text.encode())}


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda output: output["name"])
def test_outputs(output):
    found, expected = fields(output["text"]), output["expected"]
    assert {place: found.get(place) for place in expected} == expected
    assert [command for _, command, _, _, _ in mqadmin.parse(output["text"].encode())][-1] == output["command"]
    assert mqadmin.sniff(output["text"].encode()) or output["command"] == "resetOffsetByTime"
    assert {place for place in found if place.endswith(" text")} <= expected.keys()
    assert not any("App.main" in (value or "") for value in found.values())


def test_labels_that_come_again_begin_a_block_and_empty_lines_end_none():
    labels = TEXTS["a message by its id, with its tracks"].split("\n", 1)[1]
    found = fields(labels.split("\n\n")[0] + "\n" + labels)
    assert (found["1 Topic"], found["2 Topic"]) == ("TopicT", "TopicT")
    # As copied from a page: cells one blank apart, a blank line behind each row; what comes below is none of its rows.
    head, one, two = PROGRESS.splitlines()[2:5]
    rows = (head, one, two.replace("  0 ", " N/A 0 ", 1))
    found = fields("\n\n".join(" ".join(row.split()) for row in rows) + "\n\nsome words of mine below it\n")
    assert (found["1 #Consumer Offset"], found["1 #LastTime"]) == ("27", "2026-11-20 23:09:45")
    assert (found["2 #Topic"], found["2 text"]) == ("orders", "some words of mine below it")


@pytest.mark.parametrize("name", ["healthy", "healthy-5", "healthy-traced", "message-identity"])
def test_no_line_of_a_recorded_output_is_left_as_text(name):
    outputs = {path: data for path, data in files(name, "**/mqadmin/*").items() if data}
    assert outputs
    for path, data in outputs.items():
        assert mqadmin.sniff(data[:8192]), path
        rows = list(mqadmin.parse(data))
        assert {c for _, c, _, _, _ in rows} == {path.rsplit("/", 1)[1].split("-")[0].removesuffix(".txt")}
        assert not [r for r in rows if r[3] == "text"], path


WITHIN = rows_of(__file__, "within")


def test_tables_between_log_lines_and_connections_as_the_dashboard_lists_them():
    assert mqadmin.is_quoted(WITHIN.encode()) and not mqadmin.sniff(WITHIN.encode())
    found = list(mqadmin.parse_quoted(WITHIN.encode()))
    lines = WITHIN.split("\n")
    rows = {(line, command) for line, command, block, _, _ in found if block}
    assert [(lines[line - 1].lstrip("> ").split()[0], command) for line, command in sorted(rows)] == [
        ("DefaultCluster", "clusterList"), ("DefaultCluster", "clusterList"),
        ("%RETRY%rcg_loyalty-core_svc-paym", "consumerProgress"), ("orders", "consumerProgress"),
    ]  # fmt: skip
    named = {(line, name): value for line, _, _, name, value in found}
    assert [v for (_, name), v in named.items() if name == "#Version"] == ["V4_6_0", "V4_6_0"]
    assert [v for (_, name), v in named.items() if name in ("argument:-g", "Diff Total")] == ["orders_group", "2"]
    assert "text" not in {name for _, name in named}
    for text in ("#Topic of the day: brokers", "see #Cluster Name", "# Topic\nlog"):
        assert not mqadmin.is_quoted(f"2024-05-14 10:22:31 WARN main - x\n{text}\n".encode())
    # Connections as the dashboard lists them.
    text = "two have one id\nClientId | ClientAddr | Language | Version\n172.17.0.1@170 | 10.0.0.2:48864 | JAVA | V4_5_1\n> 172.17.0.1@170\t10.0.0.3:48112\tGO\tV4_9_4\nwhy?\n"
    assert mqadmin.is_quoted(text.encode())
    rows = [(line, value) for line, _, block, _, value in mqadmin.parse_quoted(text.encode()) if block]
    shown = {3: "172.17.0.1@170 10.0.0.2:48864 JAVA V4_5_1", 4: "172.17.0.1@170 10.0.0.3:48112 GO V4_9_4"}
    assert rows == [(line, value) for line, cells in shown.items() for value in cells.split()]


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


def test_checkpoint_broker_conf_and_damaged_json():
    page = struct.pack(">5q", 1_795_188_794_493, 1_795_188_794_400, 0, 0, 0) + bytes(4096 - 40)
    assert configs.is_checkpoint(page)
    rows = configs.offsets("f", page, {}, "checkpoint")
    times = {"physicMsgTimestamp": 1_795_188_794_493, "logicsMsgTimestamp": 1_795_188_794_400}
    assert [(r["topic"], r["value"]) for r in rows] == [*times.items()]
    assert not configs.is_checkpoint(bytes(4096)) and not configs.is_checkpoint(page + bytes(10))
    topics = next(each["text"] for each in FILES if each["name"] == "topics").encode()
    with pytest.raises(ValueError, match=r"."):
        configs.configs("f", topics[:-20], {"name": "topics", "backup": False}, "store_json")
    # Values stand as Java reads them.
    conf = rows_of(__file__, "broker_conf")
    assert configs.sniff(conf["text"].encode()) == {"kind": "broker_conf"}
    assert settings(configs.configs("f", (conf["text"] + "```\n").encode(), {}, "broker_conf")) == conf["configs"]


NAME = st.text("abcXYZ019_-%|@", min_size=1, max_size=20)
QUEUES = st.dictionaries(st.integers(0, 99), st.integers(-1, 2**62), min_size=1, max_size=4)
TABLE = st.dictionaries(NAME, QUEUES, max_size=5)


def as_fastjson(table, space):
    """`ConfigManager.encode(true)` of an offset table: integer keys are without quotes."""
    inner = {name: ",".join(f"{q}{space}:{v}" for q, v in queues.items()) for name, queues in table.items()}
    groups = f",{space}".join(f"{json.dumps(name)}:{{{queues}{space}}}" for name, queues in inner.items())
    return f'{{{space}"offsetTable":{{{groups}}}{space}}}'


@effort.examples(200)
@given(table=TABLE, space=st.sampled_from(("", "\n\t", " ", "\r\n")), bom=st.booleans())
def test_offsets_without_quotes_are_read(table, space, bom):
    text = ("\ufeff" if bom else "") + as_fastjson(table, space)
    wanted = {name: {str(q): v for q, v in queues.items()} for name, queues in table.items()}
    assert configs.parse_json(text)["offsetTable"] == wanted


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 100_000, "{1:" * 100_000])
def test_json_nested_too_deep_is_damaged(text):
    with pytest.raises(ValueError, match=r"nested|Expecting"):
        configs.parse_json(text)
