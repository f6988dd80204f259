"""The record kernels against a plain-Python twin on damaged stores, and on the whole ones that the benchmarks generate."""

import itertools
import random
import struct
import tempfile
from collections import defaultdict
from pathlib import Path

import effort
import oracle
import pyarrow as pa
import pytest
import stores
from folders import put
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import generate
from kit.formats.commitlog import batches, records, schema, segments
from kit.formats.commitlog.schema import Wanted

ALL = schema.Wanted(tuple(schema.FIELDS))
SOME = schema.Wanted(("physical_offset", "store_size", "properties", "problem"))
FOLDER = tempfile.TemporaryDirectory(prefix="records-")
"""Goes with the process."""


def read(data, base, head):
    """Decode bytes: rows and gaps."""
    path = put(Path(FOLDER.name, "f"), data)
    rows, gaps = pieces(schema.File("f", str(path), len(data), len(data), base, head), [0, len(data)], ALL)
    for row in rows:
        row["properties"] = dict(row["properties"])
        del row["file"]
    return rows, [(gap["start"], gap["end"], gap["reason"]) for gap in gaps]


def pieces(file, borders, wanted):
    """Read ranges of a file one by one."""
    rows, gaps = [], []
    for start, stop in itertools.pairwise(borders):
        for batch in segments.messages(file, start, stop, wanted):
            batch.validate(full=True)
            rows += batch.to_pylist()
        for batch in segments.skipped(file, start, stop):
            gaps += batch.to_pylist()
    return rows, gaps


def covered(rows, gaps, base, head, length):
    """Say whether records (with entry header) and gaps cover each byte once."""
    places = [(r["physical_offset"] - base, r["store_size"]) for r in rows]
    parts = sorted([(at - head, at + size) for at, size in places] + [(a, b) for a, b, _ in gaps])
    ends = [0] + [end for _, end in parts]
    return [start for start, _ in parts] == ends[:-1] and ends[-1] == length


CHANGE = st.one_of(
    st.tuples(st.just("flip"), st.floats(0, 1), st.integers(1, 255)),
    st.tuples(st.just("zero"), st.floats(0, 1), st.integers(1, 1500)),
    st.tuples(st.just("noise"), st.floats(0, 1), st.integers(1, 600)),
    st.tuples(st.just("ones"), st.floats(0, 1), st.integers(1, 60)),
    st.tuples(st.just("cut"), st.floats(0, 1), st.just(0)),
)


@pytest.mark.seconds
@effort.examples(300)
@given(seed=st.integers(0, 2**32), changes=st.lists(CHANGE, max_size=3))
def test_damage_costs_only_what_it_hits(seed, changes):
    rng = random.Random(seed)
    made = stores.some_store(rng)
    data = bytearray(made.data)
    for one in changes:
        stores.change(data, *one, rng)
    hurt = bytes(data)
    rows, gaps = read(hurt, made.base, made.head)

    place = (made.base, made.head)
    starts = [r["physical_offset"] - made.base for r in rows]
    assert rows == [oracle.row(hurt, start, *place) for start in starts]
    assert covered(rows, gaps, *place, len(hurt))
    intact = {start for start, end in made.spans if end <= len(hurt) and hurt[start:end] == made.data[start:end]}
    begins = {start - made.head for start in starts}
    assert intact <= begins
    # Behind a record one counts whose lengths agree, elsewhere one that says that it belongs there too.
    behind = {0, *(start + row["store_size"] for start, row in zip(starts, rows, strict=True))}
    assert {at for at in behind if oracle.problems(hurt, at, *place) is not None} == begins & behind
    assert not any(oracle.problems(hurt, at, *place) == ["physical_offset"] for at in begins - behind)
    for start, end, reason in gaps:
        first, second = struct.unpack(">ii", hurt[start : start + 8].ljust(8, b"\0"))
        assert (reason == "zero_tail") == (end == len(hurt) and not any(hurt[start:end]))
        assert reason != "blank" or (first in (-1, 1) if made.head else second.to_bytes(4, signed=True) == stores.BLANK)
        size = second if made.head else first
        assert reason != "truncated" or (end == len(hurt) and (end - start < 8 or size > end - start))


@effort.examples(200)
@given(raw=st.binary(max_size=40))
def test_broken_utf8_is_repaired_as_java_does(raw):
    decoded, broken = batches.texts(pa.array([raw, None, b"whole"], pa.binary()))
    text = raw.decode("utf-8", "replace")
    assert decoded.to_pylist() == [text, None, "whole"]
    assert (broken is not None and bool(broken[0])) == (text.encode() != raw)
    assert broken is None or broken.tolist()[1:] == [False, False]


PLAIN, ENTRIES = (stores.store([stores.Record(body=b"x" * 100)] * 3, dledger=dledger).data for dledger in (False, True))
ONE, ENTRY = len(PLAIN) // 3, len(ENTRIES) // 3
BLANK_AT = PLAIN[:ONE] + struct.pack(">i", 60) + stores.BLANK
GAPS = [
    (PLAIN[: 2 * ONE + 50], [(2 * ONE, 2 * ONE + 50, "truncated")]),
    (PLAIN[: 2 * ONE + 6], [(2 * ONE, 2 * ONE + 6, "truncated")]),
    (PLAIN + bytes(500), [(3 * ONE, 3 * ONE + 500, "zero_tail")]),
    # Of a few zeros nobody knows whether anything was to be written there.
    (PLAIN + b"\1" * 90 + bytes(7), [(3 * ONE, 3 * ONE + 97, "corrupt")]),
    (PLAIN[: 2 * ONE + 100] + bytes(5000), [(2 * ONE, 2 * ONE + 100, "corrupt"), (2 * ONE + 100, 2 * ONE + 5100, "zero_tail")]),
    # What only begins like a record, right in front of one.
    (PLAIN[:ONE] + stores.V1.rjust(ONE) + PLAIN[2 * ONE :], [(ONE, 2 * ONE, "corrupt")]),
    # Half a record that belongs elsewhere, or whose lengths leave nothing for its end, is none that was cut off.
    (PLAIN[:50], [(0, 50, "truncated")]),
    (PLAIN[ONE : ONE + 50], [(0, 50, "corrupt")]),
    (PLAIN[:84] + struct.pack(">i", 9999) + PLAIN[88:140], [(0, 140, "corrupt")]),
    # Filler to the end of the file, behind damage too, or with what an earlier file left in it; filler in front of the next file.
    (BLANK_AT + bytes(52), [(ONE, ONE + 60, "blank")]),
    (PLAIN[:ONE] + b"\1" * 40 + BLANK_AT[ONE:] + bytes(52), [(ONE, ONE + 40, "corrupt"), (ONE + 40, ONE + 100, "blank")]),
    (BLANK_AT + bytes(52) + PLAIN[:ONE], [(ONE, 2 * ONE + 60, "blank")]),
    (BLANK_AT + bytes(52) + stores.Record().encode(ONE + 60), [(ONE, ONE + 60, "blank")]),
]  # fmt: skip
UNFILLED = struct.pack(">ii", -1, 60)
"""As MmapFileList of DLedger begins its filler."""
ENTRY_GAPS = [
    (ENTRIES[: ENTRY + 40], [(ENTRY, ENTRY + 40, "truncated")]),
    # An entry that belongs elsewhere, whole or cut.
    (ENTRIES[:ENTRY] + ENTRIES[:ENTRY], [(ENTRY, 2 * ENTRY, "corrupt")]),
    (ENTRIES[:ENTRY] + ENTRIES[: ENTRY - 9], [(ENTRY, 2 * ENTRY - 9, "corrupt")]),
    (ENTRIES[:ENTRY] + UNFILLED + bytes(52), [(ENTRY, ENTRY + 60, "blank")]),
    (ENTRIES[:ENTRY] + UNFILLED + bytes(20), [(ENTRY, ENTRY + 28, "blank")]),
    (ENTRIES[:ENTRY] + UNFILLED + b"\1" * 20, [(ENTRY, ENTRY + 28, "corrupt")]),
    (ENTRIES[:ENTRY] + UNFILLED + bytes(52) + stores.store([stores.Record()], ENTRY + 60, True).data, [(ENTRY, ENTRY + 60, "blank")]),
    # An entry without a body.
    (struct.pack(">iiqqqiiii", 1, 48, 0, 3, 0, 0, 0, 0, 0) + stores.store([stores.Record()], 48, True).data, [(0, 48, "blank")]),
]  # fmt: skip


@pytest.mark.parametrize(("head", "data", "gaps"), [(0, *row) for row in GAPS] + [(48, *row) for row in ENTRY_GAPS])
def test_reasons_of_what_is_no_record(head, data, gaps):
    assert read(data, 0, head)[1] == gaps


def test_sniffing_tells_logs_from_other_files():
    plain = stores.store([stores.Record(body=b"b" * 50)] * 4, base=8388608)
    entries = stores.store([stores.Record(body=b"b" * 50)] * 4, base=4096, dledger=True)
    assert records.sniff(plain.data) == {"kind": "commitlog", "base": 8388608}
    assert records.sniff(entries.data) == {"kind": "dledger", "base": 4096}
    assert records.sniff(plain.data[77:]) == {"kind": "commitlog", "base": 8388608 + 77}
    assert records.sniff(entries.data[77:])["kind"] == "dledger"
    assert records.sniff(b"") is None
    assert records.sniff(bytes(4096)) is None
    assert records.sniff(b"\xda\xa3\x20\xa7" * 40) is None
    big = stores.store([stores.Record(body=b"b" * 200_000)], base=0, dledger=True)
    assert records.sniff(big.data[:65536]) == {"kind": "dledger", "base": 0}


def test_renamed_files_and_splits_inside_a_copy_of_a_record(tmp_path):
    made = stores.store([stores.Record()] * 5, base=3 << 30)
    for name in ("00000000000000000000", "copy-of-log.bin"):
        (tmp_path / name).write_bytes(made.data)
        assert segments.examine(name, str(tmp_path / name)).base == 3 << 30
    (tmp_path / "00000000000000000512").write_bytes(bytes(512))
    assert segments.examine("log/00000000000000000512", str(tmp_path / "00000000000000000512")).base == 512
    first = stores.Record(body=b"a" * 300)
    at = len(first.encode(0))
    inner = stores.Record(body=b"inner").encode(at + 88)
    made = stores.store([first, stores.Record(body=inner + b"z" * 200), first])
    assert made.data[at + 88 :].startswith(inner)
    path = tmp_path / "log"
    path.write_bytes(made.data)
    file = segments.examine("f", str(path))
    assert len(pieces(file, [0, at + 40, file.used], SOME)[0]) == 3


@pytest.mark.parametrize("dledger", [False, True])
def test_splitting_a_file_changes_nothing(dledger, tmp_path, monkeypatch):
    rng = random.Random(7)
    for number in range(30):
        copies = stores.some_record(rng)
        records = [some for _ in range(12) for some in (stores.some_record(rng), copies)]
        made = stores.store(records, 1 << 30, dledger, bytes(rng.choice((0, 900))))
        data = bytearray(made.data)
        for _ in range(number % 4):
            stores.change(data, rng.choice(("flip", "zero", "noise")), rng.random(), rng.randint(1, 900), rng)
        path = tmp_path / f"{number}"
        path.write_bytes(data)
        file = segments.examine("f", str(path))
        whole = pieces(file, [0, file.used], SOME)
        with monkeypatch.context() as small:
            for name, size in (("BACK", 400), ("WINDOW", rng.randint(300, 3000)), ("NEAR", rng.randint(10, 200))):
                small.setattr(segments, name, size)
            assert pieces(file, [0, file.used], SOME) == whole
            step = rng.randint(50, 3000)
            assert pieces(file, [*range(0, file.used, step), file.used], SOME) == whole


def test_times_no_calendar_has_are_null_and_said():
    made = stores.store([stores.Record(born=-1), stores.Record(stored=2**62)])
    rows, _ = read(made.data, 0, 0)
    unknown = [(r["born_timestamp"] is None, r["store_timestamp"] is None, r["problem"]) for r in rows]
    assert unknown == [(True, False, "timestamp"), (False, True, "timestamp")]


@pytest.mark.seconds
def test_every_record_is_whole_and_has_its_place(tmp_path, monkeypatch):
    monkeypatch.setattr(generate, "UNITS", 2_000)
    queues = defaultdict(list)
    for path in generate.write(tmp_path, 3_000_000, 750_000):
        file = segments.examine(path.name, str(path))
        assert {row["reason"] for gap in segments.skipped(file, 0, file.used) for row in gap.to_pylist()} <= {"blank"}
        for batch in segments.messages(file, 0, file.used, Wanted(("topic", "queue_id", "queue_offset", "problem"))):
            for row in batch.to_pylist():
                assert row["problem"] is None
                queues[row["topic"], row["queue_id"]].append(row["queue_offset"])
    assert sum(map(len, queues.values())) > 2 * generate.UNITS
    assert all(offsets == list(range(offsets[0], offsets[0] + len(offsets))) for offsets in queues.values())
