"""What the table of messages spares other readers of the commit log: they find the same with and without it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import stores

from kit.case.reading import known_records
from kit.formats.commitlog import segments, trace_contexts
from kit.formats.commitlog.schema import STORED, File, Wanted
from kit.rocketmq import names
from kit.spark.sources import parquet_writer

STRETCH = 300
TRACE = b"Pub\x011700000000123\x01R\x01g\x01t\x01ID\x01null\x01k\x0110.0.0.1:10911\x0112\x0134\x010\x01true\x02"


def written(file: File, folder: Path) -> Path:
    """Write the records of a file as the workspace has them."""
    folder.mkdir()
    for number, batch in enumerate(segments.messages(file, 0, file.used, Wanted(STORED))):
        with parquet_writer(folder / f"part-{number}.parquet", batch.schema) as writer:
            writer.write_batch(batch)
    return folder


def stretches(file: File) -> list[tuple[int, int]]:
    return [(start, min(start + STRETCH, file.used)) for start in range(0, file.used, STRETCH)]


def damaged(tmp_path: Path, seed: int) -> File:
    rng = random.Random(seed)
    records = [stores.some_record(rng) for _ in range(rng.randint(1, 12))]
    made = stores.store(records, rng.choice((0, 1 << 30)), blank=rng.choice((0, 40)))
    data = bytearray(made.data + bytes(rng.choice((0, 5000))))
    if rng.random() < 0.7:
        stores.change(
            data, rng.choice(("zero", "noise", "ones", "flip", "cut")), rng.random(), rng.randint(1, 200), rng
        )
    (tmp_path / "log").write_bytes(data)
    return segments.examine("log", str(tmp_path / "log"), made.base)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_no_record_is_found_where_records_do_not_touch(tmp_path: Path, seed: int) -> None:
    file = damaged(tmp_path, seed)
    needed = known_records.for_skipped(written(file, tmp_path / "messages"))
    found = {at: [row for batch in segments.skipped(file, *at) for row in batch.to_pylist()] for at in stretches(file)}
    assert [at for at, rows in found.items() if rows and not needed(file, *at)] == []


def test_only_stretches_that_hold_more_than_records_are_needed(tmp_path: Path) -> None:
    records = [stores.Record(body=bytes([65 + n]) * 100) for n in range(30)]
    made = stores.store(records, 1 << 30)
    (tmp_path / "log").write_bytes(made.data)
    file = segments.examine("log", str(tmp_path / "log"))
    needed = known_records.for_skipped(written(file, tmp_path / "whole"))
    assert not any(needed(file, *at) for at in stretches(file))
    at, behind = made.spans[15]
    (tmp_path / "log").write_bytes(made.data[:at] + bytes(behind - at) + made.data[behind:])
    needed = known_records.for_skipped(written(file, tmp_path / "gap"))
    assert [one for one in stretches(file) if needed(file, *one)] == [
        one for one in stretches(file) if one[0] < behind and at < one[1]
    ]


def test_only_stretches_with_a_message_trace_are_needed(tmp_path: Path) -> None:
    records = [stores.Record(body=b"Pub is no trace by itself" * 4) for _ in range(30)]
    records[7] = stores.Record(topic=names.TRACE_TOPIC.encode(), body=TRACE)
    records[20] = stores.Record(topic=b"traces-of-our-own", body=TRACE)
    made = stores.store(records)
    (tmp_path / "log").write_bytes(made.data)
    file = segments.examine("log", str(tmp_path / "log"))
    needed = known_records.for_traces(written(file, tmp_path / "messages"))
    wanted = [at for at in stretches(file) if needed(file, *at)]
    rows = [
        row["physical_offset"]
        for at in wanted
        for batch in trace_contexts.trace_rows(file, *at, frozenset({names.TRACE_TOPIC}))
        for row in batch.to_pylist()
    ]
    assert rows == [made.spans[7][0], made.spans[20][0]] and 2 <= len(wanted) <= 4
