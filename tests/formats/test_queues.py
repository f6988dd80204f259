"""Consume queues and index files: each record has its unit, each key its entry, and whatever else a file holds is left out."""

import struct
from collections import Counter
from datetime import UTC, datetime, timedelta

import effort
import pytest
import recorded
from hypothesis import given
from hypothesis import strategies as st
from message_ids import java_hash

from kit.evidence.files import Damaged
from kit.formats import queues

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNIT_COLUMNS = ("topic", "queue_id", "logical_offset", "physical_offset", "size")


def rows(file, path, data):
    path.write_bytes(data)
    return [row for batch in queues.units(file, str(path)) for row in batch.to_pylist()]


@pytest.mark.parametrize("name", ["healthy", "healthy-5", "message-identity"])
def test_each_record_has_its_unit(name):
    found, due = Counter(), {}
    for file, path in recorded.paths(name, "**/consumequeue/**/*").items():
        for batch in queues.units(file, str(path)):
            for row in batch.to_pylist():
                assert row["problem"] is None
                code = None if row["topic"] == "SCHEDULE_TOPIC_XXXX" else row["tags_code"]
                found[(*(row[name] for name in UNIT_COLUMNS), code)] += 1
                due[row["physical_offset"]] = row["deliver_timestamp"]
    expected = Counter()
    for record in recorded.truth(name):
        delayed = record["topic"] == "SCHEDULE_TOPIC_XXXX"
        code = None if delayed else java_hash(record["properties"].get("TAGS", ""))
        place = ("topic", "queue_id", "queue_offset", "physical_offset", "store_size")
        expected[(*(record[name] for name in place), code)] += 1
        if delayed:
            wait = due[record["physical_offset"]] - EPOCH - timedelta(milliseconds=record["store_timestamp"])
            assert timedelta(0) < wait <= timedelta(hours=2) and wait.microseconds == 0
        else:
            assert due[record["physical_offset"]] is None
    assert found == expected


def test_renamed_queues_and_what_is_none(tmp_path):
    data = struct.pack(">qiq", 100, 200, 5)
    (found,) = rows("x.dat", tmp_path / "a", data)
    assert found["physical_offset"] == 100
    assert found["topic"] is found["queue_id"] is found["logical_offset"] is None
    assert rows("empty", tmp_path / "b", b"") == []
    assert rows("short", tmp_path / "c", data[:13]) == []
    assert queues.is_queue(data * 2) is False and queues.is_queue(data) is True
    times = struct.pack(">qqq", *[1_795_188_814_486] * 3).ljust(4096, b"\0")
    assert not any(map(queues.is_queue, (times, b"2026-11-20 22:40:28 INFO main - text\n" * 20, bytes(600))))
    # A queue that is still empty is all zeros: only its path shows what it is.
    assert queues.place("a.zip!/consumequeue/t/0/00000000000000000000") == ("t", 0, 0)


def plainly(data):
    """The units of a queue file that begins at byte 40, read one by one."""
    found, last = [], -1
    for at in range(0, len(data) // 20 * 20, 20):
        offset, size, code = struct.unpack_from(">qiq", data, at)
        if (offset, size) in ((0, 0), (0, 0x7FFFFFFF)):
            continue
        problem = "size" if size < 91 else "offset" if offset < 0 else "order" if offset <= last else None
        found.append((at // 20 + 2, offset, size, code, problem))
        last = offset
    return found


UNIT = st.tuples(st.integers(0, 2**40), st.integers(91, 2**20), st.integers(-(2**31), 2**31))


@effort.examples(300)
@given(
    queue=st.lists(st.one_of(UNIT, UNIT, UNIT, st.just((0, 0x7FFFFFFF, 0)), st.just((0, 0, 0))), max_size=40),
    ordered=st.booleans(),
    hurt=st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=50)), max_size=3),
    keep=st.floats(0.5, 1),
    unit=st.sampled_from((1, 2, 65536)),
)
def test_any_bytes_are_read_as_units(tmp_path_factory, queue, ordered, hurt, keep, unit):
    data = bytearray(b"".join(struct.pack(">qiq", *one) for one in (sorted(queue) if ordered else queue)))
    for place, noise in hurt:
        at = int(place * len(data))
        data[at : at + len(noise)] = noise[: max(0, len(data) - at)]
    data = data[: int(len(data) * keep)]
    path = tmp_path_factory.mktemp("q") / "a"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queues, "BATCH_ROWS", unit)
        found = rows("consumequeue/t/3/00000000000000000040", path, bytes(data))
    names = ("logical_offset", "physical_offset", "size", "tags_code", "problem")
    assert [tuple(row[name] for name in names) for row in found] == plainly(bytes(data))
    assert {(r["topic"], r["queue_id"]) for r in found} <= {("t", 3)}


def key_hash(topic, key):
    value = abs(java_hash(f"{topic}#{key}"))
    return value if value < 1 << 31 else 0


@pytest.mark.parametrize("name", ["healthy", "healthy-traced", "size-mismatch"])
def test_each_key_of_each_record_is_indexed(name):
    found, times = Counter(), {}
    for path in recorded.paths(name, "**/index/*").values():
        for batch in queues.entries("i", str(path)):
            for row in batch.to_pylist():
                found[row["key_hash"], row["physical_offset"]] += 1
                times[row["physical_offset"]] = row["timestamp"].timestamp()
    expected = Counter()
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
    (_, first, _), *_, (_, last, seconds) = entries
    facts = struct.pack(">qqqqii", begin, begin + 1000 * seconds, first, last, len(entries), len(entries) + 1)
    return facts + struct.pack(f">{slots}i", *heads) + body.ljust(20 * 700, b"\0")


@pytest.mark.parametrize("slots", [100, 175, 64])
def test_the_number_of_slots_follows_from_the_size(slots, tmp_path):
    path = tmp_path / "i"
    path.write_bytes(small(slots, [(12345, 48, 0), (777, 900, 1), (12345, 1900, 2)]))
    if slots != 175:
        with pytest.raises(Damaged, match="slots"):
            list(queues.entries("i", str(path)))
        return
    rows = [row for batch in queues.entries("i", str(path)) for row in batch.to_pylist()]
    assert [(r["physical_offset"], r["key_hash"]) for r in rows] == [(48, 12345), (900, 777), (1900, 12345)]


def test_an_index_is_recognised_by_header_and_size(tmp_path):
    data = small(175, [(5, 48, 0), (6, 100, 1)])
    assert queues.is_index(data, len(data))
    assert not queues.is_index(data, len(data) + 1)
    assert not queues.is_index(bytes(500), 500)
    assert not queues.is_index(b"[main] 2026 text " * 10, 160)
    cut = small(175, [(1, 48, 0), (2, 900, 1)])[:60]
    for data, problem in ((b"text, no index", "header"), (b"", "header"), (cut, "slots")):
        (tmp_path / "i").write_bytes(data)
        with pytest.raises(Damaged, match=problem):
            list(queues.entries("i", str(tmp_path / "i")))
