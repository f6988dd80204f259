"""What is what, by content: the same files in their folders, renamed and shuffled, packed, and twice."""

import datetime as dt
import hashlib
import random
import shutil
import zipfile
from collections import Counter
from pathlib import Path

import pytest
import recorded
from folders import put, take
from stores import Record, store

from kit.evidence.workspace import WorkspaceInside
from kit.inventory import inventory
from kit.spark import kernels

SAMPLE = Path(__file__).parents[2] / "sample_data" / "producer-offline.tar.zst"
EXPECTED = {
    "commitlog": 1, "consumequeue": 7, "index": 1, "checkpoint": 1, "store_json": 9, "broker_conf": 1, "mqadmin": 6,
    "rows": 2,
}  # fmt: skip
"""Counted in the archive's own listing, by folder."""


@pytest.fixture(scope="module")
def evidence():
    return recorded.whole("producer-offline")


def sources(found):
    return Counter((i.kind, i.source) for i in found.items)


def test_folder_and_a_second_look_reads_nothing(evidence, tmp_path, monkeypatch):
    found = inventory.take(evidence, tmp_path)
    kinds = Counter(i.kind for i in found.items)
    assert {k: kinds[k] for k in EXPECTED} == EXPECTED
    assert found.not_recognised == found.refused == ()
    logs = {i.file: i.source for i in found.of_kind("log")}
    for name in ("broker", "store", "transaction", "watermark", "remoting", "stats", "broker_default"):
        assert logs[f"broker/logs/{name}.log"] == name
    assert logs["o/rocketmq_client.log"] == "client"
    assert logs["o/order-service.log"] == "app"
    [commitlog] = found.of_kind("commitlog")
    assert commitlog.base == 0 and commitlog.sha256 == hashlib.sha256(Path(commitlog.path).read_bytes()).hexdigest()
    assert dt.timedelta() < commitlog.last - commitlog.first < dt.timedelta(minutes=5)
    [broker] = [i for i in found.items if i.source == "broker"]
    assert broker.first < commitlog.first < commitlog.last < broker.last
    monkeypatch.setattr(inventory, "_take", None)
    assert inventory.take(evidence, tmp_path) == found


def test_renamed_and_shuffled(evidence, tmp_path):
    files = sorted(p for p in evidence.rglob("*") if p.is_file() and any(p.read_bytes()))
    random.Random(7).shuffle(files)
    shuffled = take(tmp_path, {f"IMG_{n:04}.jpg": path.read_bytes() for n, path in enumerate(files)})
    plain = [i for i in inventory.take(evidence, tmp_path / "w").items if any(Path(i.path).read_bytes())]
    same, found = (Counter((i.sha256, i.kind, i.source) for i in items) for items in (plain, shuffled.items))
    assert found == same and shuffled.not_recognised == ()


@pytest.mark.seconds
def test_archives(evidence, tmp_path):
    whole = inventory.take(evidence, tmp_path / "w")
    with zipfile.ZipFile(tmp_path / "e.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(evidence.rglob("*")):
            archive.write(path, path.relative_to(evidence))
    packed = inventory.take(tmp_path / "e.zip", tmp_path / "w")
    same = [(f"e.zip!/{i.file}", i.kind, i.source, i.sha256, i.first) for i in whole.items]
    assert [(i.file, i.kind, i.source, i.sha256, i.first) for i in packed.items] == same
    streamed = inventory.take(SAMPLE, tmp_path / "w")
    assert sources(streamed) == sources(whole)
    assert all(i.file.startswith("producer-offline.tar.zst!/evidence/") for i in streamed.items)
    assert [a.sha256 for a in streamed.archives] == [hashlib.sha256(SAMPLE.read_bytes()).hexdigest()]


def test_copies_in_one_folder_whole_and_made_earlier(evidence, tmp_path):
    both = tmp_path / "both"
    for name in ("a", "b"):
        shutil.copytree(evidence, both / name)
    found = inventory.take(both, tmp_path / "w")
    copies = {i.file: i.replica_of for i in found.items if i.replica_of}
    assert copies["b/broker/store/commitlog/00000000000000000000"] == "a/broker/store/commitlog/00000000000000000000"
    assert copies["b/o/order-service.log"] == "a/o/order-service.log"
    assert not found.overlapping
    single = inventory.take(evidence, tmp_path / "w")
    for kind in ("commitlog", "log", "rows", "mqadmin"):
        assert len(found.of_kind(kind, replicas=False)) == len(single.of_kind(kind, replicas=False))
    # Queues of two light topics have the same units.
    queue = next((evidence / "broker/store/consumequeue").rglob("0" * 20)).read_bytes()
    light = {f"store/consumequeue/%LMQ%{n}/0/{0:020}": queue for n in "ab"}
    assert [i.replica_of for i in take(tmp_path / "light", light).items] == [None, None]
    # At 10:00 the commitlog and the log were shorter.
    early, _ = (shutil.copytree(evidence / "broker", tmp_path / "times" / name) for name in ("early", "late"))
    log = early / "store/commitlog/00000000000000000000"
    data = log.read_bytes()
    log.write_bytes(data[: 3 * int.from_bytes(data[:4], "big")].ljust(len(data), b"\0"))
    text = early / "logs/transaction.log"
    text.write_bytes(b"".join(text.read_bytes().splitlines(keepends=True)[:100]))
    found = inventory.take(tmp_path / "times", tmp_path / "w")
    copies = {i.file: i.replica_of for i in found.items if i.replica_of}
    assert copies["early/store/commitlog/00000000000000000000"] == "late/store/commitlog/00000000000000000000"
    assert copies["early/logs/transaction.log"] == "late/logs/transaction.log"
    assert found.disagree == ()


def test_photos_are_listed_and_a_table_without_rows_is_no_copy_of_another(tmp_path):
    photo = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + random.Random(1).randbytes(5000)
    found = take(tmp_path, {"photo.jpg": photo, "poem.txt": "Roses are red,\nviolets are blue.\n"})
    assert found.not_recognised == ("photo.jpg", "poem.txt") and not found.recognised
    # The head of hs_err_pid*.log as somebody copies it: no time, no word of RocketMQ, but a known problem.
    crash = "# There is insufficient memory for the Java Runtime Environment to continue.\n"
    assert [item.kind for item in take(tmp_path, {"crash.txt": crash}).items] == ["text"]
    # Packed, as UTF-16 here, a file is hashed as it is read; an empty ledger says that nothing was handled there.
    head = "keys,uniq_key,result,at\n"
    rows = "".join(f"K{n},7F0000012ACF0C387F446DE0523A{n:04X},OK,2026-11-22 08:03:37.{n:03}\n" for n in range(40))
    found = take(
        tmp_path / "t", {"p/points.csv": head.encode("utf-16"), "q/points.csv": (head + rows).encode("utf-16")}
    )
    assert [(i.kind, i.replica_of) for i in found.items] == [("rows", None)] * 2


def test_a_torn_first_page_or_filler_leaves_a_commitlog_what_it_is(evidence, tmp_path):
    """A commitlog whose beginning was lost is still one, and its base is still known."""
    data = bytearray((evidence / "broker/store/commitlog/00000000000000000000").read_bytes())
    data[:4096] = b"\xff" * 4096
    [item] = take(tmp_path, {"x": bytes(data)}).items
    assert (item.kind, item.base) == ("commitlog", 0)
    filler, behind = store([], 100_000, blank=600_000).data, store([Record()], 700_000).data
    found = take(tmp_path, {"x": filler + behind, "y": filler})
    assert [(item.kind, item.base) for item in found.items] == [("commitlog", 100_000), ("commitlog", None)]


@pytest.mark.parametrize("inside", [".", "cache", "a/b"])
def test_workspace_inside_the_evidence_is_refused(evidence, inside):
    before = sorted(evidence.iterdir())
    with pytest.raises(WorkspaceInside):
        inventory.take(evidence, evidence / inside)
    assert sorted(evidence.iterdir()) == before


def test_what_is_too_large_or_a_hole_is_named_and_not_read(tmp_path, monkeypatch):
    holes = (("commitlog/00000000000000000000", 3 << 30, 0), ("a.log", 1 << 40, 7), ("b.hprof", 1 << 40, 0))
    for name, size, stored in holes:
        with put(tmp_path / "e" / name, "").open("wb") as file:
            file.truncate(size)
            file.seek(size - stored)
            file.write(b"x" * stored)
    found = take(tmp_path, {"ok.log": "2026-11-20 10:00:00 WARN main - topic length too long 149\n"})
    assert {r.file: r.reason for r in found.refused} == {name: "sparse" for name, *_ in holes}
    assert [item.file for item in found.items] == ["ok.log"]
    # A segment beyond two gibibytes:
    put(tmp_path / "s" / "commitlog" / "00000000000000000000", bytes(8192))
    monkeypatch.setattr(inventory.ev, "LARGEST", 4096)
    monkeypatch.setattr(inventory.ev, "stretches", lambda *_: [(0, 8192)])
    (refused,) = inventory.take(tmp_path / "s", tmp_path / "w").refused
    assert refused.reason == "huge"


def test_records_are_hashed_only_where_somebody_asks(tmp_path, monkeypatch):
    """Evidence whose records changed is other evidence all the same."""
    path = tmp_path / "evidence" / "commitlog" / f"{0:020}"
    put(path, kernels.sample() + bytes(inventory.LARGE))
    hashed = []
    read = inventory.sha256
    monkeypatch.setattr(inventory, "sha256", lambda path: hashed.append(path.name) or read(path))

    def take(hashes):
        return inventory.take(tmp_path / "evidence", tmp_path / "cache", hashes=hashes)

    before = take(False)
    path.write_bytes(kernels.sample() + b"\1" + bytes(inventory.LARGE - 1))
    changed = take(False)
    assert hashed == [] and before.items[0].content != changed.items[0].content
    assert before.content_key != changed.content_key
    assert take(True).items[0].content == hashlib.sha256(path.read_bytes()).hexdigest()
    # Once it is known it costs nothing.
    assert take(False) == take(True) and hashed == [path.name]


@pytest.mark.parametrize(
    "odd", [b"caf\xe9 failed", "订单失败".encode()[:-1], bytes(3000), "订单失败".encode("gb18030")]
)
def test_bytes_of_no_encoding_among_a_log_leave_it_a_log(tmp_path, odd):
    log = b"2026-11-22 08:00:01 INFO SendMessageThread_1 - boot success\n" * 50
    [item] = take(tmp_path, {"x": log + odd + b"\n" + log}).items
    encoding = "gb18030" if odd.startswith("订".encode("gb18030")) else None
    assert (item.kind, item.detail["layout"], item.detail["encoding"]) == ("log", "broker", encoding)
