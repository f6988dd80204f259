"""Commit log decoding: the kit's kernels on one core and through Spark, beside RocketMQ's own MessageDecoder on one and two threads."""

from __future__ import annotations

import statistics
from typing import Any

import kit.spark
from benchmarks import jars
from benchmarks.common import ROUNDS, keep, paired, unpacked
from kit.read import segments
from kit.read.commitlog import FIELDS, File, Wanted

ALL = tuple(name for name in FIELDS if name != "body")
HEADERS = ("topic", "queue_offset", "physical_offset", "store_timestamp")


def drain(files: list[File], columns: tuple[str, ...]) -> int:
    return sum(b.num_rows for f in files for b in segments.messages(f, 0, f.used, Wanted(columns)))


def run(recording: str = "half-topic-blowup") -> dict[str, Any]:
    """Return bytes, and GB/s (median of the rounds) by contestant."""
    folder = unpacked(recording)
    paths = sorted(p for p in folder.rglob("commitlog/*") if p.is_file())
    files = [segments.examine(p.name, str(p)) for p in paths]
    spark = kit.spark.session()
    store = paths[0].parent.as_uri().removeprefix("file://")

    def through_spark() -> None:
        spark.read.format("rocketmq.commitlog").load(store).write.format("noop").mode("overwrite").save()

    records = drain(files, ALL)
    times = paired(kit=lambda: drain(files, ALL), kit_headers=lambda: drain(files, HEADERS), kit_spark=through_spark)
    path = jars.classpath()
    found: dict[str, Any] = {"records": records}
    if path is None:
        print("Java's decoder is left out: Maven or a JDK is missing.")
    else:
        for threads in (1, 2):
            rounds = jars.decode(path, paths, threads, 6 * ROUNDS)
            found["java_records"], found["bytes"] = rounds[0][0], rounds[0][1]
            found[f"java_{threads}_cold"] = [rounds[0][2]]
            times[f"java_{threads}"] = [seconds for *_, seconds in rounds[-ROUNDS:]]
        # And the kit once more: a machine's minutes differ.
        times["kit"] += paired(kit=lambda: drain(files, ALL))["kit"]
    size = found.setdefault("bytes", sum(f.used for f in files))
    found["gb_per_s"] = {name: round(size / statistics.median(each) / 1e9, 3) for name, each in times.items()}
    speed = found["gb_per_s"]
    if "java_1" in speed:
        found["ratios"] = {"kit/java_1": round(speed["kit"] / speed["java_1"], 2), "kit_spark/java_2": round(speed["kit_spark"] / speed["java_2"], 2)}
    found.setdefault("ratios", {})["headers/all"] = round(speed["kit_headers"] / speed["kit"], 2)
    keep("decode", found)
    return found


if __name__ == "__main__":
    for name, value in run().items():
        print(f"{name:14} {value}")
