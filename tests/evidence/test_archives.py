"""Hostile and damaged archives: what is refused and why, what is read all the same, and in little disk and memory."""

import gzip
import io
import struct
import tarfile
import tracemalloc
import zipfile
import zlib

import effort
import numpy as np
import pytest
import stores
import zstandard
from folders import put, tar_of, unpacked, written, zip_of

from kit.evidence import archives
from kit.evidence.archives import open_evidence
from kit.formats.commitlog import batches, schema, segments

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


def test_filler_of_a_commit_log_is_no_tar_whatever_its_bytes_add_up_to(tmp_path):
    # A filler of 3,981 bytes: its signed bytes add up to -256, and with eight blanks for a checksum to none.
    head = (3981).to_bytes(4, "big") + 0xCBD43194.to_bytes(4, "big")
    assert sum(np.frombuffer(head, np.int8).astype(int)) == -256
    contents, found = unpacked(tmp_path, {"00000000001073741824": head + bytes(5000)})
    assert list(contents) == ["00000000001073741824"] and not found.archives


@pytest.mark.parametrize("cut", [archive_of_archives()[:12_000], gzip.compress(archive_of_archives())[:9_000]])
def test_a_tar_that_ends_inside_an_archive_says_so(tmp_path, cut):
    contents, found = unpacked(tmp_path, {"t": cut})
    assert {r.file.split("!/")[0] for r in found.refused} == {"t"} and not contents


def test_names_from_a_chinese_windows(tmp_path):
    raw = zip_of({"AAAAAAAA.log": LOG}).replace(b"AAAAAAAA", "日志文件".encode("gbk"))
    assert list(unpacked(tmp_path, {"a.zip": raw})[0]) == ["a.zip!/日志文件.log"]


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
    assert list(contents) == ["b.log"]
    assert [(r.file, r.reason) for r in result.refused] == [("a.gz", "ratio")]
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
    bomb, path = ten_gigabytes(), tmp_path / f"{0:020}"
    packed = stores.Record(body=bomb, sys_flag=stores.BITS["zlib"])
    path.write_bytes(stores.store([packed, stores.Record(topic=b"next", body=b"after it")]).data)
    file = segments.examine(path.name, str(path))
    wanted = batches.Wanted(tuple(schema.FIELDS))
    list(segments.messages(file, file.used - 10, file.used, wanted))  # the kernels are loaded
    tracemalloc.start()
    start = effort.worked()
    rows = [row for batch in segments.messages(file, 0, file.used, wanted) for row in batch.to_pylist()]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(r["topic"], r["body"], r["problem"]) for r in rows] == [
        ("t", None, "body_too_large"), ("next", b"after it", None),
    ]  # fmt: skip
    assert rows[0]["body_size"] == len(bomb) < 16 * MIB
    assert peak < 4 * batches.MOST and effort.worked() - start < 30
