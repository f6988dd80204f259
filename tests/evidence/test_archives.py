"""Hostile and damaged archives: what is refused and why, what is read all the same, in little disk and memory; and a file that is cut off while it is read: a mapped one would end the process (SIGBUS)."""

import gzip
import io
import os
import struct
import tarfile
import tracemalloc
import zipfile
import zlib

import effort
import numba
import numpy as np
import pytest
import stores
import zstandard
from folders import put, tar_of, unpacked, written, zip_of
from stores import Record, store

from kit.evidence import archives
from kit.evidence.archives import open_evidence
from kit.evidence.files import Shrunk, open_raw, refusal
from kit.formats import queues
from kit.formats.commitlog import batches, schema, segments
from kit.formats.commitlog.schema import Wanted
from kit.inventory import quotes
from kit.inventory.model import Item

LOG = b"2024-05-14 10:22:31 INFO main - boot success\n" * 50
NOISE = b"".join(struct.pack(">I", zlib.crc32(struct.pack(">I", n))) for n in range(50_000))
MIB = 1 << 20


def tar_with(*members):
    """Return a tar of (name, type, data)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, kind, data in members:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.linkname = kind, len(data), "/etc/passwd"
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def patched_zip(own, listed, byte):
    """Return a zip with a byte changed in its only member's header and in its directory."""
    data = bytearray(zip_of({"x.log": LOG}))
    data[own] = data[data.index(b"PK\1\2") + listed] = byte
    return bytes(data)


def overlapping():
    packed = bytearray(zip_of({"x": NOISE[:5000], "y": NOISE[5000:10_000]}))
    second = packed.index(b"PK\x01\x02", packed.index(b"PK\x01\x02") + 1)
    packed[second + 42 : second + 46] = bytes(4)  # both directory entries now point at the first member
    return bytes(packed)


def huge_header():
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 33
    return info.tobuf(tarfile.GNU_FORMAT) + bytes(4096)


CLIMBING = [
    (f"{kind} {name}", lambda pack=pack, name=name: pack({name: b"x", "ok": LOG}), {"!/ok": LOG}, {(f"!/{name}", "outside")})
    for kind, pack in (("tar", tar_of), ("zip", zip_of))
    for name in ("../evil", "/abs/evil", "a/../../evil")
]  # fmt: skip
KINDS = {"sym": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "dev": tarfile.CHRTYPE, "fifo": tarfile.FIFOTYPE}
PADDED = -(-len(LOG) // 512) * 512
HOSTILE = [
    *CLIMBING,
    ("links and devices", lambda: tar_with(*((n, kind, b"") for n, kind in KINDS.items())), {},
     {("!/sym", "link"), ("!/hard", "link"), ("!/dev", "special"), ("!/fifo", "special")}),
    ("encrypted", lambda: patched_zip(6, 8, 1), {}, {("!/x.log", "encrypted")}),
    ("Deflate64", lambda: patched_zip(8, 10, 9), {}, {("!/x.log", "unsupported")}),
    ("overlap", overlapping, {}, {("", "overlap")}),
    ("cut tar", lambda: tar_of({"first": LOG, "second": NOISE})[:60_000],
     {"!/first": LOG, "!/second": NOISE[: 60_000 - 1024 - PADDED]}, {("!/second", "damaged"), ("", "damaged")}),
    ("cut zip", lambda: zip_of({"first": LOG, "second": NOISE})[:60_000], {}, {("", "damaged")}),
    ("deeper", lambda: zip_of({"b.zip": zip_of({"x.log": LOG, "deeper.zip": zip_of({"y": LOG})}), "c.gz": gzip.compress(LOG)}),
     {"!/b.zip!/x.log": LOG, "!/c.gz": LOG}, {("!/b.zip!/deeper.zip", "nested")}),
    ("twice", lambda: tar_with(("x.log", tarfile.REGTYPE, b"first"), ("x.log", tarfile.REGTYPE, b"second")),
     {"!/x.log": b"first"}, {("!/x.log", "duplicate")}),
    ("7z", lambda: b"7z\xbc\xaf\x27\x1c" + bytes(100), {}, {("", "unsupported")}),
    ("huge header", huge_header, {}, {("", "damaged")}),
]  # fmt: skip


def stored(tmp_path):
    return sum(p.stat().st_blocks * 512 for p in (tmp_path / "spool").rglob("*"))


@pytest.mark.parametrize(("make", "read", "refused"), [row[1:] for row in HOSTILE], ids=[row[0] for row in HOSTILE])
def test_what_is_hostile_is_refused_and_the_rest_is_read(tmp_path, make, read, refused):
    contents, found = unpacked(tmp_path, {"a": make()})
    assert contents == {f"a{name}": data for name, data in read.items()}
    assert {(r.file.removeprefix("a"), r.reason) for r in found.refused} == refused
    assert sorted(p.name for p in tmp_path.iterdir()) == ["e", "spool"]


def test_members_keep_the_time_of_their_last_change(tmp_path):
    tar = tarfile.TarInfo("x.log")
    tar.mtime = 1_795_302_431
    put(tmp_path / "e" / "a.tar", tar.tobuf() + bytes(1024))
    with zipfile.ZipFile(tmp_path / "e" / "b.zip", "w") as packed:
        dated = zipfile.ZipInfo("y.log")
        dated.extra = struct.pack("<HHBi", 0x5455, 5, 1, 1_795_302_432)
        packed.writestr(dated, b"cd")
        packed.writestr(zipfile.ZipInfo("z.log"), b"ef")
    found = {f.file: f.modified for f in open_evidence(tmp_path / "e", tmp_path / "s").files}
    assert found == {"a.tar!/x.log": 1_795_302_431.0, "b.zip!/y.log": 1_795_302_432.0, "b.zip!/z.log": None}


def archive_of_archives():
    """Return a tar with a whole zip and, before the last file, a zip and a tar that are damaged."""
    whole = zip_of({"x.log": b"whole", "y.bin": NOISE[:20_000]})
    cut = gzip.compress(bytes(3_000) + NOISE[:20_000])[:9_000]
    return tar_of({"a.zip": whole, "cut.zip": whole[:10_000], "cut.tgz": cut, "z.log": b"last"})


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_a_damaged_archive_in_a_tar_costs_nothing_but_itself(tmp_path, pack):
    read, found = unpacked(tmp_path, {"t": pack(archive_of_archives())})
    assert (read["t!/a.zip!/x.log"], read["t!/z.log"]) == (b"whole", b"last")
    assert {(r.file, r.reason) for r in found.refused} == {("t!/cut.zip", "damaged"), ("t!/cut.tgz", "damaged")}


def test_filler_of_a_commit_log_is_no_tar_and_names_may_be_from_a_chinese_windows(tmp_path):
    # A filler of 3,981 bytes: its signed bytes add up to -256, and with eight blanks for a checksum to none.
    head = (3981).to_bytes(4, "big") + 0xCBD43194.to_bytes(4, "big")
    assert sum(np.frombuffer(head, np.int8).astype(int)) == -256
    contents, found = unpacked(tmp_path, {"00000000001073741824": head + bytes(5000)})
    assert list(contents) == ["00000000001073741824"] and not found.archives
    raw = zip_of({"AAAAAAAA.log": LOG}).replace(b"AAAAAAAA", "日志文件".encode("gbk"))
    assert list(unpacked(tmp_path / "names", {"a.zip": raw})[0]) == ["a.zip!/日志文件.log"]


@pytest.mark.parametrize("cut", [archive_of_archives()[:12_000], gzip.compress(archive_of_archives())[:9_000]])
def test_a_tar_that_ends_inside_an_archive_says_so(tmp_path, cut):
    contents, found = unpacked(tmp_path, {"t": cut})
    assert {r.file.split("!/")[0] for r in found.refused} == {"t"} and not contents


# --- what is made to fill disk or memory --------------------------------------------------------------------------------


@pytest.mark.seconds
def test_empty_store_file_unpacks_without_using_disk(tmp_path):
    """A commitlog honestly shrinks ten thousand to one: it is unpacked, as a file with holes."""
    size = 256 * MIB
    packed = zstandard.compress(tar_of({f"commitlog/{0:020}": b"\x01" * 4096 + bytes(size - 4096)}))
    result = open_evidence(written(tmp_path, {"a.tar.zst": packed}), tmp_path / "spool")
    assert size / len(packed) > 5_000 and result.refused == []
    assert (result.files[0].bytes, result.files[0].path.stat().st_size) == (size, size)
    assert stored(tmp_path) < MIB


@pytest.mark.seconds
def test_explosive_member_is_refused_quickly(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "RATIO_FREE", 16 * MIB)
    start = effort.worked()
    contents, result = unpacked(tmp_path, {"b.log": LOG, "a.gz": gzip.compress(b"A" * (128 * MIB), 1)})
    assert effort.worked() - start < 20
    assert list(contents) == ["b.log"] and [(r.file, r.reason) for r in result.refused] == [("a.gz", "ratio")]
    assert stored(tmp_path) < MIB


def test_many_members_that_are_absurd_together(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "TOTAL_FREE", 64 * MIB)
    inner = zip_of({f"{n}": bytes(4 * MIB) for n in range(8)})
    _, found = unpacked(tmp_path, {"a.zip": zip_of({f"{n}.zip": inner for n in range(16)})})
    assert "ratio" in {r.reason for r in found.refused}
    assert sum(f.bytes for f in found.files) <= 68 * MIB and stored(tmp_path) < MIB


def ten_gigabytes():
    """A zlib stream of 10 GiB of zeros: one block that stands for a mebibyte, again and again."""
    deflate = zlib.compressobj(9)
    first = deflate.compress(bytes(MIB)) + deflate.flush(zlib.Z_FULL_FLUSH)
    block = deflate.compress(bytes(MIB)) + deflate.flush(zlib.Z_FULL_FLUSH)
    assert len(zlib.decompressobj().decompress(first + block * 3)) == 4 * MIB
    return first + block * (10 * 1024 - 1)


@pytest.mark.seconds
def test_a_body_of_ten_gigabytes(tmp_path):
    bomb, path, small = ten_gigabytes(), tmp_path / f"{0:020}", tmp_path / "small"
    packed = stores.Record(body=bomb, sys_flag=stores.BITS["zlib"])
    path.write_bytes(stores.store([packed, stores.Record(topic=b"next", body=b"after it")]).data)
    file = segments.examine(path.name, str(path))
    wanted = batches.Wanted(tuple(schema.FIELDS))
    small.write_bytes(stores.store([stores.Record()]).data)
    list(
        segments.messages(segments.examine("small", str(small)), 0, small.stat().st_size, wanted)
    )  # compiles the kernels
    tracemalloc.start()
    start = effort.worked()
    rows = [row for batch in segments.messages(file, 0, file.used, wanted) for row in batch.to_pylist()]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    shown = [(r["topic"], r["body"], r["problem"]) for r in rows]
    assert shown == [("t", None, "body_too_large"), ("next", b"after it", None)]
    assert rows[0]["body_size"] == len(bomb) < 16 * MIB
    assert peak < 4 * batches.MOST and effort.worked() - start < 30


ID = "0A142C1500000C387F4466D0DB3F0003"


@pytest.fixture
def commitlog(tmp_path):
    path = tmp_path / f"{0:020}"
    path.write_bytes(store([Record(body=bytes([n % 251]) * 900) for n in range(400)], 0).data)
    return path


def test_kernels_are_not_compiled_again_for_a_mapped_file_and_a_shorter_one_is_named(tmp_path):
    (tmp_path / "x").write_bytes(b"abc")
    with open_raw(tmp_path / "x") as file:
        mapped = segments.mapped(file, 3)
        assert numba.typeof(mapped) == numba.typeof(np.zeros(3, np.uint8))
        mapped[0] = 0
    assert (bytes(mapped), (tmp_path / "x").read_bytes()) == (b"\0bc", b"abc")
    # One that is shorter than it was is named so.
    for how in (segments.mapped, lambda file, size: segments.read(file, np.zeros(size, np.uint8), 0, size)):
        with open_raw(tmp_path / "x") as file, pytest.raises(Shrunk) as caught:
            how(file, 5000)
        assert (refusal("x", caught.value).reason, refusal("x", caught.value).detail) == ("shrunk", "3 / 5,000")


def test_a_commitlog(commitlog, monkeypatch):
    monkeypatch.setattr(segments, "BATCH_BYTES", 50_000)
    file = segments.examine("x", str(commitlog))
    read = segments.messages(file, 0, file.used, Wanted(("physical_offset", "body_crc")))
    rows = next(read).num_rows
    os.truncate(commitlog, 5_000)
    assert rows < 100 and rows + sum(batch.num_rows for batch in read) == 400
    with pytest.raises(Shrunk):
        next(segments.messages(file, 0, file.used, Wanted(("physical_offset",))))


def test_a_consume_queue_and_an_index_file(tmp_path, monkeypatch):
    units = np.zeros(2000, queues.UNIT)
    units["physical_offset"], units["size"] = np.arange(2000) * 200, 200
    path = put(tmp_path / "consumequeue" / "T" / "0" / f"{0:020}", units.tobytes())
    monkeypatch.setattr(queues, "BATCH_ROWS", 100)
    read = queues.units(str(path), str(path))
    next(read)
    os.truncate(path, 10)
    assert sum(batch.num_rows for batch in read) == 1900
    path, count = tmp_path / "index", 1000
    head, table = np.zeros(1, queues.INDEX_HEAD), np.zeros(count + 1, queues.INDEX_ENTRY)
    at = 1_700_000_000_000
    head[0] = (at, at + 1000, 10, 10 + 200 * (count - 1), count // 2, count + 1)
    table["physical_offset"][1:], table["key_hash"][1:] = 10 + 200 * np.arange(count), np.arange(count)
    slots = np.zeros(count // 4, ">i4")
    slots[0] = 1
    path.write_bytes(head.tobytes() + slots.tobytes() + table.tobytes())
    monkeypatch.setattr(queues, "BATCH_ROWS", 100)
    read = queues.entries("x", str(path))
    next(read)
    os.truncate(path, 10)
    assert sum(batch.num_rows for batch in read) == 900


def test_a_log_that_is_searched(tmp_path, monkeypatch):
    path = tmp_path / "x.log"
    path.write_text("".join(f"line {n} {ID if n % 1000 == 0 else ''}\n" for n in range(1, 20_001)))
    monkeypatch.setattr(quotes, "WINDOW", 10_000)
    real = quotes._windows

    def cut(text):
        for number, data in enumerate(real(text)):
            yield data
            if number == 5:
                os.truncate(path, 100)

    log = Item("x.log", str(path), 0, "log", None)
    [first, *_], counts = quotes.mentions([log], [[ID]])[0]
    assert (first["line"], counts) == (1000, {"x.log": 20})
    monkeypatch.setattr(quotes, "_windows", cut)
    found, counts = quotes.mentions([log], [[ID]])[0]
    assert 0 < counts["x.log"] < 20 and found[0]["line"] == 1000
