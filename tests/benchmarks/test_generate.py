"""The generated commit logs of the benchmarks: whole, in files of one size, their queues without a gap."""

from collections import defaultdict

import pytest

from benchmarks import generate
from kit.formats.commitlog import segments
from kit.formats.commitlog.schema import Wanted


@pytest.mark.seconds
def test_every_record_is_whole_and_has_its_place(tmp_path, monkeypatch):
    monkeypatch.setattr(generate, "UNITS", 2_000)
    queues: dict[tuple[str, int], list[int]] = defaultdict(list)
    for path in generate.write(tmp_path, 3_000_000, 750_000):
        file = segments.examine(path.name, str(path))
        assert {row["reason"] for gap in segments.skipped(file, 0, file.used) for row in gap.to_pylist()} <= {"blank"}
        for batch in segments.messages(file, 0, file.used, Wanted(("topic", "queue_id", "queue_offset", "problem"))):
            for row in batch.to_pylist():
                assert row["problem"] is None
                queues[row["topic"], row["queue_id"]].append(row["queue_offset"])
    assert sum(map(len, queues.values())) > 2 * generate.UNITS
    assert all(offsets == list(range(offsets[0], offsets[0] + len(offsets))) for offsets in queues.values())
