"""What each layout's sample says, written by hand; logs of the recordings; and programs, which are no logs."""

import datetime as dt
import json
from pathlib import Path

import layouts
import pytest
from folders import opened
from recorded import log_entries, texts
from table import rows_of

import kit
from kit.formats.logs import entries, source_code
from kit.formats.logs.schema import Options, Piece
from kit.formats.printed_times import zone
from kit.inventory import inventory
from kit.inventory.sniff import sniff
from kit.rocketmq.log_layouts import LAYOUTS
from kit.spark.sources import pieces


def read(tmp_path, text, options=None, encoding="utf-8", **known):
    path = tmp_path / "x"
    path.write_bytes(text.encode(encoding))
    file = Piece("x", str(path), **{"source": "text", **known})
    return [row for p in pieces(file) for b in entries.batches(p, options or Options()) for row in b.to_pylist()]


READS = rows_of(__file__, "reads")
SOURCE = {"broker": "store", "client": "client", "app": "app", "text": "text"}


@pytest.mark.parametrize("row", LAYOUTS, ids=lambda row: f"{row.layout}: {row.line}")
def test_the_example_of_a_row_gives_what_is_expected_of_it(tmp_path, row):
    source = "mqadmin" if row.layout == "mqadmin" else SOURCE[row.files[-1]]
    if not row.entry:
        (entry,) = read(tmp_path, f"2024-05-14 10:22:31 WARN main - head\n{row.example}\n", source=source)
        assert entry["lines"] == 2
        return
    (entry,) = read(tmp_path, row.example + "\n", source=source)
    expected = {"message": row.example, **READS.get(row.example, {})}
    assert entry["layout"] == row.layout
    assert entry["ts"] == (dt.datetime.fromisoformat(expected.pop("ts")) if "ts" in expected else None)
    assert {name: entry[name] for name in ("ts_text", "level", "thread", "logger", "message")} == {
        "ts_text": None, "level": None, "thread": None, "logger": None, **expected,
    }  # fmt: skip


def test_what_is_told_of_a_paste_a_zone_and_the_documented_table():
    assert layouts.table() in (Path(__file__).parents[3] / "docs/evidence.md").read_text(encoding="utf-8")
    (paste,) = (row["text"] for row in rows_of(__file__, "entries") if row["name"].startswith("a paste"))
    assert sniff(paste.encode(), "what they said.txt") == {
        "source": "text", "layout": "broker", "encoding": None, "seconds_twice": True,
    }  # fmt: skip
    zones = {
        None: None,
        "": None,
        "+08:00": 480,
        "-0330": -210,
        "GMT+8": 480,
        "UTC": 0,
        "Asia/Shanghai": "Asia/Shanghai",
    }
    assert {text: zone(text) for text in zones} == zones


@pytest.mark.parametrize("relative", rows_of(__file__, "relatives_of_the_layouts"), ids=str)
def test_relatives_of_the_layouts(tmp_path, relative):
    line, *fields = relative
    (row,) = read(tmp_path, line)
    assert [row[name] for name in ("layout", "level", "thread", "logger", "message")] == fields
    assert row["ts"].replace(microsecond=0).minute == 22


@pytest.mark.parametrize("row", rows_of(__file__, "entries"), ids=lambda row: row["name"])
def test_the_entries_of_a_text(tmp_path, row):
    """Of each entry what its row names."""
    how = Options(**row.get("options", {})), row.get("encoding", "utf-8")
    found = read(tmp_path, row["text"], *how, **row.get("known", {}))
    for each in found:
        each["ts"] = each["ts"] and f"{each['ts'].replace(tzinfo=None)}"
    shown = [{name: each[name] for name in wanted} for each, wanted in zip(found, row["entries"], strict=True)]
    assert shown == row["entries"]


SMALL = ("healthy-5", "healthy-traced", "transaction-consistency")


@pytest.mark.parametrize("name", SMALL)
def test_lines_add_up_and_are_understood(name):
    files = texts(name)
    lines = dict.fromkeys(files, 0)
    for row in log_entries(name):
        lines[row["file"]] += row["lines"]
        assert row["layout"] != "unknown", row
        assert (row["ts"] is None) == (row["layout"] == "mqadmin")
    read = {path: file.read_bytes() for path, file in files.items()}
    assert lines == {path: len(data.split(b"\n")) - data.endswith(b"\n") for path, data in read.items()}


@pytest.mark.spark
def test_spark_reads_and_selects(spark, tmp_path):
    from pyspark.sql import functions as F  # noqa: N812

    path = tmp_path / "renamed"
    line = "2024-05-14 10:22:31 WARN SendMessageThread_1 - putMessage message topic length too long 149\n"
    path.write_text(f"{line}\tat a.B\n" * 3)
    files = json.dumps([{"file": "s.log", "path": str(path), "source": "store"}])
    plain = spark.read.format("rocketmq.log").option("files", files).load()
    assert plain.columns == [
        "file", "line", "lines", "ts", "ts_text", "level", "thread", "logger", "source", "message", "trace", "layout",
    ]  # fmt: skip
    logs = spark.read.format("rocketmq.log").option("files", files).option("events", "true").load()
    found = logs.where(F.array_contains("events", "topic-too-long")).orderBy("line")
    rows = found.select("line", "offset", F.col("ts").cast("long").alias("s")).collect()
    assert [tuple(r) for r in rows] == [(n, (n - 1) // 2 * 100, 1715653351) for n in (1, 3, 5)]


JAVA, PYTHON, SCRIPT, SHELL = (rows_of(__file__, name) for name in ("java", "python", "script", "shell"))
PRINTED = rows_of(__file__, "printed")
PROGRAMS = {"src/FastFailure.java": JAVA, "checker.py": PYTHON, "bin/mqbroker.cmd": SCRIPT, "bin/mqbroker": SHELL}


def found(tmp_path, **files):
    findings = kit.triage(opened(tmp_path, files))["findings"]
    return {f["cause"]: f["verdict"] for f in findings if f["verdict"] in ("confirmed", "suspected")}


def test_programs_and_code_in_a_paste_show_nothing_but_the_lines_around_it_do(tmp_path):
    assert found(tmp_path, **PROGRAMS) == {}
    assert {item.kind for item in inventory.take(tmp_path / "e", tmp_path / "ws").items} == {"source_code"}
    assert found(tmp_path / "code", **{"question.md": f"Why does the broker call this?\n\n```java\n{JAVA}```\n"}) == {}
    shown = found(tmp_path / "both", **{"question.txt": f"I see\n{PRINTED}and the source says\n{JAVA}"})
    assert shown == {"broker-busy": "confirmed"}


def test_neither_the_name_nor_what_a_program_printed_makes_a_program():
    texts = [PRINTED * 20, '{\n"message": "CODE: 2",\n"status": 500,\n"data": {}\n}\n', "brokerName=broker-a\n# if;\n"]
    assert not any(source_code.is_program(text, name) for text in texts for name in ("trace.java", "trace.txt"))
    assert source_code.is_program(JAVA, "FastFailure.java") and not source_code.is_program(JAVA, "question.md")
    assert not source_code.is_program("why?\nthe broker is busy\n", "question.py")
