"""Commit log decoding: the kit's kernels on one core beside RocketMQ's own MessageDecoder on one and two threads, of bytes
in memory, and on one that also reads the file and checks bodies, as the kit does. The log is the recorded blow-up of the
half topic, gone on to 785 MB in one file.
"""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks import blowup, jars
from benchmarks.common import ROUNDS, WORK, keep, paired
from kit.formats.commitlog import segments
from kit.formats.commitlog.schema import FIELDS, STORED, File, Wanted
from kit.rocketmq.names import OP_TOPIC

ALL = tuple(name for name in FIELDS if name != "body")
HEADERS = ("topic", "queue_offset", "physical_offset", "store_timestamp")


def drain(files: list[File], columns: tuple[str, ...]) -> int:
    """Read everything; return the records. Of the bodies only those that the workspace keeps."""
    wanted = Wanted(columns, body_topics=frozenset({OP_TOPIC}) if "body" in columns else None)
    return sum(b.num_rows for f in files for b in segments.messages(f, 0, f.used, wanted))


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
        for name, work, threads in (("java_1", "decode", 1), ("java_2", "decode", 2), ("java_read", "read", 1)):
            # A file for each thread.
            rounds = jars.decode(path, work, [at] * threads, threads, 3 * ROUNDS)
            found["java_records"], found["bytes"] = rounds[0][0] // threads, rounds[0][1] // threads
            found[f"{name}_cold"] = [rounds[0][2] / threads]
            times[name] = [seconds / threads for *_, seconds in rounds[-ROUNDS:]]
        # And the kit once more: a machine's minutes differ.
        again = paired(kit=lambda: drain(files, ALL), kit_stored=lambda: drain(files, STORED))
        times = {name: each + again.get(name, []) for name, each in times.items()}
    size = found.setdefault("bytes", sum(f.used for f in files))
    found["gb_per_s"] = {name: round(size / statistics.median(each) / 1e9, 3) for name, each in times.items()}
    speed = found["gb_per_s"]
    if "java_1" in speed:
        found["ratios"] = {
            f"{name}/{java}": round(speed[name] / speed[java], 2)
            for name in ("kit", "kit_stored", "kit_headers")
            for java in ("java_1", "java_read")
        }
    found.setdefault("ratios", {})["headers/all"] = round(speed["kit_headers"] / speed["kit"], 2)
    keep("decode", found)
    return found


if __name__ == "__main__":
    for name, value in run().items():
        print(f"{name:14} {value}")
