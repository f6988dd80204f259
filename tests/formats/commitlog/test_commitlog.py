"""The commit log data source: every record of the recordings against RocketMQ's own decoder, and the Spark side."""

import hashlib
import json
import zlib
from datetime import UTC, datetime, timedelta

import lz4.frame
import pytest
import recorded
import stores
import zstandard
from pyspark.sql.datasource import EqualTo, GreaterThan, In, LessThanOrEqual
from recorded import BIG, DECODED

from kit.formats.commitlog import batches, schema, segments
from kit.spark import embedded, sources

ALL = batches.Wanted(tuple(schema.FIELDS))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def said_by_rocketmq(record):
    """A line of the truth in the words of the table; a record of a recording is never damaged."""
    same = (
        "physical_offset", "store_size", "topic", "queue_id", "queue_offset", "flag", "sys_flag", "reconsume_times",
        "body_crc", "properties",
    )  # fmt: skip
    properties = record["properties"]
    codecs = ("zlib", "lz4", "zstd", "zlib")
    return {
        **{name: record[name] for name in same},
        "born_timestamp": EPOCH + timedelta(milliseconds=record["born_timestamp"]),
        "store_timestamp": EPOCH + timedelta(milliseconds=record["store_timestamp"]),
        "born_host": record["born_host"].removeprefix("/"), "store_host": record["store_host"].removeprefix("/"),
        "prepared_transaction_offset": record["prepared_offset"],
        "body_codec": codecs[record["sys_flag"] >> 8 & 7] if record["sys_flag"] & 1 else "none",
        "offset_msg_id": record["msg_id"], "uniq_key": properties.get("UNIQ_KEY"), "keys": properties.get("KEYS"),
        "tags": properties.get("TAGS"), "problem": None, "body": (record["body_len"], record["body_sha1"]),
    }  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.recordings) if n in BIG else n for n in DECODED])
def test_every_record_is_what_rocketmq_says(name, tmp_path):
    expected = recorded.truth(name)
    count = 0
    for base, data in sorted(recorded.commitlog(name).items()):
        path = tmp_path / f"{base:020}"
        path.write_bytes(data)
        file = segments.examine(path.name, str(path))
        assert (file.base, file.head) == (base, 0)
        covered = 0
        for batch in segments.messages(file, 0, file.used, ALL):
            batch.validate(full=True)
            for row in batch.to_pylist():
                assert len(row["properties"]) == len(dict(row["properties"]))
                row["properties"] = dict(row["properties"])
                row["body"] = (len(row["body"]), hashlib.sha1(row["body"]).hexdigest())
                covered += row["store_size"]
                del row["file"], row["body_size"]
                assert row == said_by_rocketmq(next(expected))
                count += 1
        gaps = [row for batch in segments.skipped(file, 0, file.used) for row in batch.to_pylist()]
        assert {row["reason"] for row in gaps} <= {"zero_tail", "blank"}
        assert covered + sum(row["end"] - row["start"] for row in gaps) == len(data)
        path.unlink()
    assert next(expected, None) is None
    assert count > (50_000 if name in BIG else 0)


def test_a_sparse_tail_is_a_zero_tail_and_not_read(tmp_path):
    made = stores.store([stores.Record(body=b"x" * 50)] * 3)
    path = tmp_path / "log"
    with path.open("wb") as stream:
        stream.write(made.data)
        stream.truncate(1 << 40)
    file = segments.examine("log", str(path))
    assert file.used < 1 << 30
    assert sum(batch.num_rows for batch in segments.messages(file, 0, file.used, ALL)) == 3
    (gaps,) = segments.skipped(file, 0, file.used)
    assert gaps.to_pylist() == [{"file": "log", "start": len(made.data), "end": 1 << 40, "reason": "zero_tail"}]


def test_tasks_cover_each_byte_of_each_file_once(monkeypatch):
    sizes = {"a": 1 << 30, "b": 5, "c": 200 << 20, "d": 0, "e": 1}
    monkeypatch.setattr(segments, "examine", lambda file, *_: schema.File(file, file, sizes[file], sizes[file], 0, 0))
    files = json.dumps([{"file": name, "path": name} for name in sizes])
    tasks = sources.CommitLogDataSource({"files": files}).partitions()
    for name, size in sizes.items():
        ranges = [(start, stop) for task in tasks for file, (_, start, stop) in task.parts if file == name]
        assert [start for start, _ in ranges] == [0, *(stop for _, stop in ranges[:-1])][: len(ranges)]
        assert (ranges[-1][1] if ranges else 0) == size
    assert len(tasks) >= 16


@pytest.mark.parametrize("codec", ["zlib", "lz4", "zstd"])
def test_bodies_are_unpacked_and_bombs_refused(codec):
    pack = {"zlib": zlib.compress, "lz4": lz4.frame.compress, "zstd": zstandard.ZstdCompressor().compress}[codec]
    number = {"zlib": 1, "lz4": 2, "zstd": 3}[codec]
    text = "订单 0815 ".encode() * 1000
    assert batches.unpack(pack(text), number) == (text, 0)
    assert batches.unpack(pack(b""), number) == (b"", 0)
    assert batches.unpack(b"no such thing", number)[0] is None
    assert batches.unpack(pack(text)[:-9], number)[0] is None
    assert batches.unpack(pack(bytes(batches.MOST + 1)), number)[0] is None
    assert batches.unpack(pack(bytes(1 << 20)), number) == (bytes(1 << 20), 0)


def test_filters_narrow_what_is_read(monkeypatch):
    wanted = batches.Wanted(("topic",))
    noon = int(datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()) * 1_000_000
    topics = (In(("topic",), ("a", "b")), EqualTo(("topic",), "a"))
    for item in (*topics, GreaterThan(("store_timestamp",), noon), LessThanOrEqual(("physical_offset",), 9)):
        wanted = sources.narrow(wanted, item)
    assert wanted.topics == {"a"}
    assert wanted.limits["store_timestamp"][0] <= noon / 1000 <= wanted.limits["store_timestamp"][0] + 1
    assert wanted.limits["physical_offset"][1] == 9
    assert sources.narrow(wanted, EqualTo(("keys",), "k")) == wanted
    # What one query filters by holds for no other of the same DataFrame.
    source = sources.CommitLogDataSource({"files": "[]"})
    for is_embedded, narrowed in ((True, {"a"}), (False, None)):  # Apache Spark keeps them for all
        monkeypatch.setattr(embedded, "runs", lambda is_embedded=is_embedded: is_embedded)
        reader = source.reader(None)
        assert reader.pushFilters([topics[1]]) == [topics[1]]
        assert (reader.wanted.topics, source.wanted.topics) == (narrowed, None)


@pytest.mark.spark
def test_spark_reads_filters_and_skips(spark, tmp_path):
    from pyspark.sql import functions as F  # noqa: N812

    files = []
    for base, data in recorded.commitlog("healthy-traced").items():
        (tmp_path / "log").write_bytes(data)
        files.append({"file": f"store/commitlog/{base:020}", "path": str(tmp_path / "log")})
    reader = spark.read.format("rocketmq.commitlog").option("files", json.dumps(files))
    expected = list(recorded.truth("healthy-traced"))
    table = reader.load()
    assert table.columns == [name for name in schema.FIELDS if name != "body"]
    assert table.count() == len(expected)

    topic, offset = expected[100]["topic"], expected[500]["physical_offset"]
    since = EPOCH + timedelta(milliseconds=expected[300]["store_timestamp"])
    some = table.where((F.col("topic") == topic) & (F.col("physical_offset") <= offset))
    some = some.where(F.col("store_timestamp") > F.lit(since)).select("physical_offset")
    late = [r for r in expected if r["store_timestamp"] > expected[300]["store_timestamp"]]
    said = [at for r in late if r["topic"] == topic and (at := r["physical_offset"]) <= offset]
    assert said and sorted(r["physical_offset"] for r in some.collect()) == said

    asked = reader.option("body", "true").option("columns", "body,properties").load()
    assert asked.columns == ["body", "properties"]
    assert sum(len(r["body"]) for r in asked.collect()) == sum(r["body_len"] for r in expected)
    (tail,) = spark.read.format("rocketmq.commitlog").options(files=json.dumps(files), table="skipped").load().collect()
    end = sum(r["store_size"] for r in expected)
    assert (tail["start"], tail["end"], tail["reason"]) == (end, 8388608, "zero_tail")
    assert spark.read.format("rocketmq.commitlog").option("files", "[]").load().count() == 0
