"""Sources told by content, the logs of the recordings, and the Spark data source."""

import json

import pytest
from recorded import log_entries, texts

from kit.formats.printed_times import zone

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


def test_zone_option():
    assert [zone(t) for t in (None, "", "+08:00", "-0330", "GMT+8", "UTC", "Asia/Shanghai")] == [
        None, None, 480, -210, 480, 0, "Asia/Shanghai",
    ]  # fmt: skip


@pytest.mark.spark
def test_spark_reads_and_selects(spark, tmp_path):
    from pyspark.sql import functions as F  # noqa: N812

    path = tmp_path / "renamed"
    path.write_text(
        "2024-05-14 10:22:31 WARN SendMessageThread_1 - putMessage message topic length too long 149\n\tat a.B\n" * 3
    )
    files = json.dumps([{"file": "s.log", "path": str(path), "source": "store"}])
    plain = spark.read.format("rocketmq.log").option("files", files).load()
    assert plain.columns == [
        "file", "line", "lines", "ts", "ts_text", "level", "thread", "logger", "source", "message", "trace", "layout",
    ]  # fmt: skip
    logs = spark.read.format("rocketmq.log").option("files", files).option("events", "true").load()
    rows = (
        logs.where(F.array_contains("events", "topic-too-long"))
        .select("line", "offset", F.col("ts").cast("long").alias("s"))
        .orderBy("line")
        .collect()
    )
    assert [tuple(r) for r in rows] == [(n, (n - 1) // 2 * 100, 1715653351) for n in (1, 3, 5)]
