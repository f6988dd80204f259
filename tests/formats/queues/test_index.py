"""Index files: every key of every record is there under its hash."""

import struct
from collections import Counter

import pytest
import recorded
from message_ids import java_hash

from kit.evidence.files import Damaged
from kit.formats.queues import index


def key_hash(topic, key):
    value = abs(java_hash(f"{topic}#{key}"))
    return value if value < 1 << 31 else 0


@pytest.mark.parametrize("name", ["healthy", "healthy-traced", "size-mismatch"])
def test_each_key_of_each_record_is_indexed(name):
    found: Counter[tuple[int, int]] = Counter()
    times = {}
    for path in recorded.paths(name, "**/index/*").values():
        heads: dict[int, int] = {}
        for batch in index.entries("i", str(path)):
            for row in batch.to_pylist():
                assert row["problem"] is None
                # Each entry names the one before it in its slot: only the right slots give this chain.
                assert row["prev"] == heads.get(row["slot"], 0)
                heads[row["slot"]] = row["entry"]
                found[row["key_hash"], row["physical_offset"]] += 1
                times[row["physical_offset"]] = row["timestamp"].timestamp()
    expected: Counter[tuple[int, int]] = Counter()
    for record in recorded.truth(name):
        properties = record["properties"]
        for key in filter(None, [properties.get("UNIQ_KEY"), *properties.get("KEYS", "").split(" ")]):
            expected[key_hash(record["topic"], key), record["physical_offset"]] += 1
            # Whole seconds after the first entry, rounded down.
            assert 0 <= record["store_timestamp"] / 1000 - times[record["physical_offset"]] < 1
    assert found == expected


def small(slots, entries):
    """Write an index file with that many slots and (hash, offset, seconds) entries."""
    heads, body = [0] * slots, bytes(20)
    for number, (value, offset, seconds) in enumerate(entries, 1):
        body += struct.pack(">iqii", value, offset, seconds, heads[value % slots])
        heads[value % slots] = number
    begin = 1_700_000_000_000
    facts = struct.pack(
        ">qqqqii", begin, begin + 1000 * entries[-1][2], entries[0][1], entries[-1][1], len(entries), len(entries) + 1
    )
    return facts + struct.pack(f">{slots}i", *heads) + body.ljust(20 * 700, b"\0")


@pytest.mark.parametrize("slots", [100, 175, 64])
def test_the_number_of_slots_follows_from_the_size(slots, tmp_path):
    path = tmp_path / "i"
    path.write_bytes(small(slots, [(12345, 48, 0), (777, 900, 1), (12345, 1900, 2)]))
    if slots != 175:
        with pytest.raises(Damaged, match="slots"):
            list(index.entries("i", str(path)))
        return
    rows = [row for batch in index.entries("i", str(path)) for row in batch.to_pylist()]
    assert [(r["physical_offset"], r["prev"]) for r in rows] == [(48, 0), (900, 0), (1900, 1)]


def test_what_is_wrong_is_said(tmp_path):
    cut = small(175, [(1, 48, 0), (2, 900, 1)])[:60]
    for data, problem in ((b"text, no index", "header"), (b"", "header"), (cut, "slots")):
        (tmp_path / "i").write_bytes(data)
        with pytest.raises(Damaged, match=problem):
            list(index.entries("i", str(tmp_path / "i")))
    bad = bytearray(small(175, [(5, 48, 0), (6, 100, 1), (7, 900, 2)]))
    at = 40 + 700 + 20 * 2 + 4
    bad[at : at + 8] = struct.pack(">q", 1 << 40)
    (tmp_path / "i").write_bytes(bad)
    rows = [row for batch in index.entries("i", str(tmp_path / "i")) for row in batch.to_pylist()]
    assert [row["problem"] for row in rows] == [None, "offset", None]


def test_an_index_is_recognised_by_header_and_size():
    data = small(175, [(5, 48, 0), (6, 100, 1)])
    assert index.sniff(data, len(data)) == {"kind": "index", "base": 48}
    assert index.sniff(data, len(data) + 1) is None
    assert index.sniff(bytes(500), 500) is None
    assert index.sniff(b"[main] 2026 text " * 10) is None
