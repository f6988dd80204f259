"""Where queues ended at the moment a copy of the offsets was saved."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

from stores import Record, store

import kit
from kit.analysis.consumers import positions, queue_ends

SPAN = 14 * queue_ends.BUCKETS
"""Seconds between the first records and the last: one point of the curves then covers 14 of them."""


def test_a_copy_has_the_ends_of_its_moment_however_long_the_records_span(tmp_path: Path) -> None:
    begin = 1_715_652_000 // 14 * 14
    times = [begin - SPAN, *range(begin, begin + 10)]
    records = [
        Record(topic=b"orders", numbers=(0, 0, n, 0, 0), born=1000 * at, stored=1000 * at) for n, at in enumerate(times)
    ]
    log = tmp_path / "e" / "store" / "commitlog" / f"{0:020}"
    log.parent.mkdir(parents=True)
    log.write_bytes(store(records, end=bytes(4096)).data)
    os.utime(log, (times[-1], times[-1]))
    saved = tmp_path / "e" / "saved" / "consumerOffset.json"
    saved.parent.mkdir()
    saved.write_text(json.dumps({"offsetTable": {"orders@billing": {"0": 2}}}))
    os.utime(saved, (begin + 4, begin + 4))
    (row,) = positions.every(kit.open_case(tmp_path / "e", tmp_path / "ws")).to_dict("records")
    # Offset 0 lies far back; 1 to 4 were stored in the four seconds before the copy, the others after it.
    assert (row["offset"], row["end"], row["lag"]) == (2, 5, 3)


def test_without_records_the_consume_queues_say_where_a_queue_ends(tmp_path: Path) -> None:
    units = b"".join(struct.pack(">qiq", 100 * n, 100, 0) for n in range(5))
    queue = tmp_path / "e" / "store" / "consumequeue" / "orders" / "0" / f"{40:020}"
    queue.parent.mkdir(parents=True)
    queue.write_bytes(units + bytes(4096))
    saved = tmp_path / "e" / "store" / "config" / "consumerOffset.json"
    saved.parent.mkdir()
    saved.write_text(json.dumps({"offsetTable": {"orders@billing": {"0": 3}}}))
    case = kit.open_case(tmp_path / "e", tmp_path / "ws")
    (row,) = queue_ends.curve(case).to_dict("records")
    # 20 bytes a unit: the file begins with the queue's third message (40 / 20 = 2) and holds five, 2 to 6.
    assert (row["topic"], row["queue_id"], row["begin"], row["end"]) == ("orders", 0, 2, 7)
    assert not [f for f in kit.triage(case)["findings"] if f["verdict"] == "failed"]
