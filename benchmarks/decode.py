"""Commit log decoding: the kit's kernels on one core and through Spark, beside RocketMQ's own MessageDecoder on one and
two threads. The log is the recorded blow-up of the half topic, gone on to 785 MB in one file.
"""

from __future__ import annotations

import json
import shutil
import statistics
from typing import Any

import attrs

import kit.spark
from benchmarks import blowup, jars
from benchmarks.common import ROUNDS, WORK, keep, paired
from kit.formats.commitlog import segments
from kit.formats.commitlog.schema import FIELDS, STORED, File, Wanted
from kit.rocketmq.names import OP_TOPIC

ALL = tuple(name for name in FIELDS if name != "body")
SPARK_COPIES = 4
HEADERS = ("topic", "queue_offset", "physical_offset", "store_timestamp")


def drain(files: list[File], columns: tuple[str, ...]) -> int:
    """Read everything; return the records. Of the bodies only those that the workspace keeps."""
    wanted = Wanted(columns, body_topics=frozenset({OP_TOPIC}) if "body" in columns else None)
    return sum(b.num_rows for f in files for b in segments.messages(f, 0, f.used, wanted))


def by_spark(files: list[File]) -> dict[str, list[float]]:
    """Time the data source on both cores: all columns and four of them handed to Spark row by row, and all kept as
    Parquet by the tasks, as a case does.
    """
    spark = kit.spark.session()
    # Many copies of the same files: what a job costs anyway should not be what is timed.
    listed = json.dumps(
        [attrs.asdict(attrs.evolve(file, file=f"{n}/{file.file}")) for n in range(SPARK_COPIES) for file in files]
    )
    kept = WORK / "kept"

    def rows(columns: tuple[str, ...] = ALL) -> None:
        reader = spark.read.format("rocketmq.commitlog").option("files", listed).option("columns", ",".join(columns))
        reader.load().write.format("noop").mode("overwrite").save()

    def to_parquet() -> None:
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        reader = spark.read.format("rocketmq.commitlog").option("files", listed).option("keep", str(kept))
        reader.option("body_topics", OP_TOPIC).option("columns", ",".join(STORED)).load().collect()

    def count() -> None:
        reader = spark.read.format("rocketmq.commitlog").option("files", listed).option("columns", "topic")
        reader.load().groupBy("topic").count().collect()

    return paired(spark_kept=to_parquet, spark_rows=rows, spark_headers=lambda: rows(HEADERS), spark_count=count)


def run() -> dict[str, Any]:
    """Return bytes, and GB/s (median of the rounds) by contestant."""
    folder = WORK / "blow-up"
    at = next((p for p in folder.rglob("commitlog/*")), None) or blowup.write(folder)
    files = [segments.examine(at.name, str(at))]
    found: dict[str, Any] = {"records": drain(files, ALL)}
    times = paired(
        kit=lambda: drain(files, ALL),
        kit_stored=lambda: drain(files, STORED),
        kit_headers=lambda: drain(files, HEADERS),
    )
    path = jars.classpath()
    if path is None:
        print("Java's decoder is left out: Maven or a JDK is missing.")
    else:
        for threads in (1, 2):
            # A file for each thread.
            rounds = jars.decode(path, [at] * threads, threads, 3 * ROUNDS)
            found["java_records"], found["bytes"] = rounds[0][0] // threads, rounds[0][1] // threads
            found[f"java_{threads}_cold"] = [rounds[0][2] / threads]
            times[f"java_{threads}"] = [seconds / threads for *_, seconds in rounds[-ROUNDS:]]
        # And the kit once more: a machine's minutes differ.
        again = paired(kit=lambda: drain(files, ALL), kit_stored=lambda: drain(files, STORED))
        times = {name: each + again.get(name, []) for name, each in times.items()}
    size = found.setdefault("bytes", sum(f.used for f in files))
    found["gb_per_s"] = {name: round(size / statistics.median(each) / 1e9, 3) for name, each in times.items()}
    speed = found["gb_per_s"]
    speed |= {
        name: round(SPARK_COPIES * size / statistics.median(each) / 1e9, 3) for name, each in by_spark(files).items()
    }
    if "java_1" in speed:
        found["ratios"] = {
            f"{name}/java_1": round(speed[name] / speed["java_1"], 2) for name in ("kit", "kit_stored", "kit_headers")
        }
        found["ratios"] |= {
            f"{name}/java_2": round(speed[name] / speed["java_2"], 2)
            for name in ("spark_kept", "spark_rows", "spark_headers")
        }
    found.setdefault("ratios", {})["headers/all"] = round(speed["kit_headers"] / speed["kit"], 2)
    found["ratios"]["spark_count/spark_rows"] = round(speed["spark_count"] / speed["spark_rows"], 2)
    keep("decode", found)
    return found


if __name__ == "__main__":
    for name, value in run().items():
        print(f"{name:14} {value}")
