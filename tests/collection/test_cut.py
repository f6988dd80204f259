"""A cut evidence: what is kept is where it stood, byte for byte; what is not kept is no damage."""

import datetime as dt
import hashlib
import random
import struct

import effort
import numpy as np
import pytest
import recorded
import stores
from click.testing import CliRunner
from folders import put
from hypothesis import given
from hypothesis import strategies as st

import kit
from kit.cli.main import cli
from kit.collection import cut as cut_files
from kit.formats.commitlog import segments
from kit.inventory import inventory

NAME = "producer-offline"
LOG = "broker/store/commitlog/00000000000000000000"


def gaps_of(path):
    file = segments.examine(path.name, str(path))
    gaps = [gap for batch in segments.skipped(file, 0, file.used) for gap in batch.to_pylist()]
    return [(gap["start"], gap["end"], gap["reason"]) for gap in gaps]


@effort.examples(30)
@given(seed=st.integers(0, 2**32))
def test_kept_records_stay_in_place(seed, tmp_path_factory):
    rng = random.Random(seed)
    folder = tmp_path_factory.mktemp("c")
    records = [stores.some_record(rng) for _ in range(rng.randint(1, 9))]
    base, dledger, end = rng.choice((0, 1 << 30)), rng.random() < 0.4, bytes(rng.choice((0, 900)))
    made = stores.store(records, base, dledger, end)
    source, target = folder / f"{made.base:020}", folder / "cut" / f"{made.base:020}"
    source.write_bytes(made.data)
    wanted = [span for span in made.spans if rng.random() < 0.5]
    offsets = np.array([made.base + start + made.head for start, _ in wanted], np.int64)
    part = cut_files.commitlog(source.name, str(source), None, offsets, target)
    assert part == (len(wanted), len(made.spans))
    if not wanted:
        assert not target.exists()
        return
    data = target.read_bytes()
    assert all(data[start:end] == made.data[start:end] for start, end in wanted)
    assert len(data) == wanted[-1][1]
    file = segments.examine(target.name, str(target))
    starts = [int(start) for _, starts, *_ in segments.spans(file, 0, file.used) for start in starts]
    assert starts == [start + made.head for start, _ in wanted]
    assert {reason for *_, reason in gaps_of(target)} <= {"blank"}
    [item] = inventory.take(target.parent, folder / "w").items
    assert (item.kind, item.base) == ("dledger" if made.head else "commitlog", made.base)


@pytest.mark.parametrize("dledger", [False, True])
def test_one_record_far_into_a_file_is_found(dledger, tmp_path):
    """Ninety megabytes of nothing in front take no disk, and the file is still known for what it is."""
    begin, at = 2 << 30, 90 << 20
    source = tmp_path / f"{begin:020}"
    with source.open("wb") as file:
        file.write(stores.store([stores.Record()], begin, dledger).data)
        file.seek(at)
        file.write(stores.store([stores.Record(body=b"kept")], begin + at, dledger).data)
    target = tmp_path / "cut" / source.name
    offset = begin + at + (48 if dledger else 0)
    cut_files.commitlog(source.name, str(source), None, np.array([offset]), target)
    assert target.stat().st_blocks * 512 < 1 << 20
    [item] = inventory.take(target.parent, tmp_path / "w", hashes=False).items
    assert (item.kind, item.base) == ("dledger" if dledger else "commitlog", begin)
    assert item.detail["store_host"] is not None
    assert item.first == item.last == dt.datetime.fromtimestamp(1_700_000_000.001, dt.UTC)
    assert gaps_of(target) == [(0, at, "blank")]


def test_a_record_in_the_wrong_place_follows_its_predecessor(tmp_path):
    size = len(stores.Record(body=bytes(40)).encode(0))
    records = [stores.Record(body=bytes([n]) * 40).encode(n * size + (5 if n == 1 else 0)) for n in range(3)]
    source = tmp_path / "log"
    source.write_bytes(b"".join(records))
    offsets = np.array([0, size], np.int64)
    assert cut_files.commitlog("log", str(source), None, offsets, tmp_path / "a") == (2, 3)
    assert (tmp_path / "a").read_bytes() == records[0] + records[1]
    assert cut_files.commitlog("log", str(source), None, offsets[1:], tmp_path / "b") == (0, 3)
    assert not (tmp_path / "b").exists()


def test_consume_queues_are_kept_where_there_are_no_records(tmp_path):
    queue = tmp_path / "evidence/store/consumequeue/orders/0" / f"{0:020}"
    put(queue, b"".join(struct.pack(">qiq", n * 100, 100, n) for n in range(5)) + bytes(2000))
    place = queue.relative_to(tmp_path / "evidence")
    run(tmp_path / "evidence", "--out", tmp_path / "queues", "--workspace", tmp_path / "ws")
    assert (tmp_path / "queues" / place).read_bytes() == queue.read_bytes()
    put(tmp_path / "evidence/store/commitlog" / f"{0:020}", stores.store([stores.Record()] * 3).data)
    run(tmp_path / "evidence", "--out", tmp_path / "records", "--workspace", tmp_path / "ws")
    assert [path.name for path in (tmp_path / "records/store").iterdir()] == ["commitlog"]


@pytest.fixture(scope="module")
def evidence():
    return recorded.whole(NAME)


def run(*words):
    done = CliRunner().invoke(cli, ["cut", *map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.recordings
@pytest.mark.spark
def test_everything_cut_says_the_same(spark, evidence, tmp_path):
    """Without a wish everything readable is kept, and the causes say what they said."""
    run(evidence, "--out", tmp_path / "all")
    truth = list(recorded.truth(NAME))
    whole, kept = (evidence / LOG).read_bytes(), (tmp_path / "all" / LOG).read_bytes()
    assert kept == whole[: truth[-1]["physical_offset"] + truth[-1]["store_size"]]
    before, after = (kit.triage(kit.open_case(folder)) for folder in (evidence, tmp_path / "all"))
    assert after["root_causes"] == before["root_causes"]
    for old, new in zip(before["findings"], after["findings"], strict=True):
        # How fast a lag grows rests on when offset files were saved, which a copy does not keep.
        kept = [name for name in old["figures"] if name != "growth_per_second"]
        assert (new["cause"], new["verdict"]) == (old["cause"], old["verdict"])
        assert {name: new["figures"][name] for name in kept} == {name: old["figures"][name] for name in kept}
    for log in (evidence / "broker/logs").iterdir():
        if log.stat().st_size:
            assert (tmp_path / "all/broker/logs" / log.name).read_bytes() == log.read_bytes()


@pytest.mark.spark
def test_a_window(spark, evidence, tmp_path):
    truth = list(recorded.truth(NAME))
    times = sorted(t["store_timestamp"] for t in truth)
    since, until = (dt.datetime.fromtimestamp(times[i] / 1000, dt.UTC) for i in (len(times) // 3, 2 * len(times) // 3))
    run(evidence, "--out", tmp_path / "part", "--since", since.isoformat(), "--until", until.isoformat())
    inside = [t for t in truth if since <= dt.datetime.fromtimestamp(t["store_timestamp"] / 1000, dt.UTC) <= until]
    case = kit.open_case(tmp_path / "part")
    rows = case.records.select("physical_offset", "offset_msg_id", "queue_offset", "problem").collect()
    expected = {(t["physical_offset"], t["msg_id"], t["queue_offset"], None) for t in inside}
    assert {tuple(row) for row in rows} == expected
    assert {r.reason for r in case.skipped.collect()} <= {"blank"}
    whole, kept = (evidence / LOG).read_bytes(), (tmp_path / "part" / LOG).read_bytes()
    for t in inside:
        place = slice(t["physical_offset"], t["physical_offset"] + t["store_size"])
        assert kept[place] == whole[place]
    lines = set((evidence / "broker/logs/transaction.log").read_bytes().split(b"\n"))
    cut = (tmp_path / "part/broker/logs/transaction.log").read_bytes().split(b"\n")
    assert 1 < len(cut) < len(lines)
    assert set(cut) <= {*lines, b""}
    # A fact that only needs the records that were kept.
    uniq = {t["properties"]["UNIQ_KEY"] for t in inside if "UNIQ_KEY" in t["properties"]}
    assert case.facts.rows("id_counts")[0]["uniq_keys"] == len(uniq)


@pytest.mark.spark
def test_one_message_is_cut_with_all_its_records_and_a_topic_too(spark, evidence, tmp_path):
    truth = list(recorded.truth(NAME))
    halves = [t for t in truth if t["topic"] == "RMQ_SYS_TRANS_HALF_TOPIC"]
    key = halves[0]["properties"]["UNIQ_KEY"]
    run(evidence, "--out", tmp_path / "one", "--id", key)
    case = kit.open_case(tmp_path / "one")
    kept = {r.physical_offset for r in case.records.select("physical_offset").collect()}
    assert kept >= {t["physical_offset"] for t in truth if t["properties"].get("UNIQ_KEY") == key}
    assert kept < {t["physical_offset"] for t in truth}
    before, after = (kit.trace(kit.open_case(folder), key) for folder in (evidence, tmp_path / "one"))
    for part in ("records", "ops", "uniq_keys"):
        assert after[part] == before[part]
    said = [[(m["file"], m["text"]) for m in life["mentions"]] for life in (before, after)]
    assert said[0] == said[1]
    topic = next(t["properties"]["REAL_TOPIC"] for t in truth if "REAL_TOPIC" in t["properties"])
    run(evidence, "--out", tmp_path / "t", "--topic", topic)
    kept = {r.physical_offset for r in kit.open_case(tmp_path / "t").records.select("physical_offset").collect()}
    meant = {t["physical_offset"] for t in truth if topic in (t["topic"], t["properties"].get("REAL_TOPIC"))}
    assert meant <= kept
    halves = [t for t in truth if t["physical_offset"] in meant and t["topic"] == "RMQ_SYS_TRANS_HALF_TOPIC"]
    ended = {hashlib.sha1(str(half["queue_offset"]).encode()).hexdigest() for half in halves}
    ops = [t for t in truth if t["topic"] == "RMQ_SYS_TRANS_OP_HALF_TOPIC"]
    assert {t["physical_offset"] for t in ops} & kept == {t["physical_offset"] for t in ops if t["body_sha1"] in ended}
