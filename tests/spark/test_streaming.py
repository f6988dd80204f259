"""`spark.readStream`: what a stream wrote is what a batch reads, across rolls, restarts and steps."""

from __future__ import annotations

import gzip
import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from recorded import whole
from replayer import replay
from stores import Record, store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WRITTEN = 1_700_000_000
"""A moment long gone: nothing more will be written to what was changed then."""


def grown(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(data)


def drained(spark: SparkSession, kind: str, folder: Path, out: Path, **options: str) -> None:
    """Run a query until it has read what is there."""
    source = spark.readStream.format(f"rocketmq.{kind}").options(**options).load(str(folder))
    query = (
        source.writeStream.format("parquet")
        .option("checkpointLocation", str(out / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(out / "rows"))
    )
    query.awaitTermination(600)
    assert query.exception() is None


def rows(frame: DataFrame, *order: str) -> list[Any]:
    return sorted((row.asDict() for row in frame.collect()), key=lambda row: [row[name] for name in order])


def line(second: int, text: str) -> bytes:
    return f"2026-11-22 08:{second // 60:02d}:{second % 60:02d} WARN SendMessageThread_1 - {text}\n".encode()


def test_log_entries_are_those_of_a_batch_each_once(spark: SparkSession, tmp_path: Path) -> None:
    logs, out = tmp_path / "logs", tmp_path / "out"
    text = b"".join(
        line(n, f"putMessage message topic length too long {n}") + (b"\tat org.A\n" if n % 5 == 0 else b"")
        for n in range(600)
    )
    for start, stop in itertools.pairwise([0, 5_000, 5_030, len(text)]):
        grown(logs / "store.log", text[start:stop])
        if stop == len(text):
            os.utime(logs / "store.log", (WRITTEN, WRITTEN))
        drained(spark, "log", logs, out, events="true")
    # Rolled under another name, then packed: nothing is read twice.
    (logs / "store.log").rename(logs / "store.1.log")
    drained(spark, "log", logs, out, events="true")
    (logs / "store.1.log.gz").write_bytes(gzip.compress(text))
    (logs / "store.1.log").unlink()
    drained(spark, "log", logs, out, events="true")
    batch = spark.read.format("rocketmq.log").option("events", "true").load(str(logs)).drop("file")
    stream = spark.read.parquet(str(out / "rows")).drop("file")
    found = rows(stream, "line")
    # A stretch that ended inside a line waited for the rest of it, and nothing came back twice.
    assert len(found) == 600
    assert found == rows(batch, "line")
    assert found[0]["events"] == ["topic-too-long"]


def test_records_and_units_are_those_of_a_batch(spark: SparkSession, tmp_path: Path) -> None:
    data = store([Record(topic=b"orders", body=b"x" * n, numbers=(0, 0, n, 0, 0)) for n in range(300)]).data
    path = tmp_path / "store" / "commitlog" / f"{0:020d}"
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(1 << 20))
    out = tmp_path / "out"
    for start, stop in ((0, 1000), (1000, 1001), (1001, len(data))):
        with path.open("r+b") as file:
            file.seek(start)
            file.write(data[start:stop])
        drained(spark, "commitlog", tmp_path / "store", out)
    batch = spark.read.format("rocketmq.commitlog").load(str(tmp_path / "store"))
    stream = spark.read.parquet(str(out / "rows"))
    found = rows(stream, "physical_offset")
    assert len(found) == 300
    assert found == rows(batch, "physical_offset")


@pytest.mark.slow
def test_what_a_stream_wrote_of_a_whole_incident_is_what_a_batch_reads(spark: SparkSession, tmp_path: Path) -> None:
    growing = replay(whole("transaction-consistency"), tmp_path / "broker")
    for part in (0.3, 0.6, 1.0):
        growing.advance(growing.begin + part * (growing.end - growing.begin))
        for kind in ("log", "commitlog", "consumequeue"):
            drained(spark, kind, growing.folder, tmp_path / kind, events="true")
    orders = {
        "log": ("file", "line"),
        "commitlog": ("file", "physical_offset"),
        "consumequeue": ("file", "logical_offset"),
    }
    for kind, order in orders.items():
        batch = spark.read.format(f"rocketmq.{kind}").option("events", "true").load(str(growing.folder))
        stream = spark.read.parquet(str(tmp_path / kind / "rows"))
        found, expected = rows(stream, *order), rows(batch, *order)
        assert len(expected) > 100, kind
        assert found == expected, kind


def test_options_that_make_no_sense_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    for kind, options in (("commitlog", {"table": "skipped"}), ("log", {"startingOffsets": "yesterday"})):
        with pytest.raises(Exception, match=r"batch|earliest"):
            drained(spark, kind, tmp_path, tmp_path / "out", **options)
