"""Folders, archives and hostile archives. Expected bytes are those written by the test."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import struct
import tarfile
import zipfile
from pathlib import Path

import effort
import pytest
import zstandard
from packing import tar_of, zip_of

from kit.evidence import archives
from kit.evidence import files as evidence
from kit.evidence.archives import open_evidence
from kit.evidence.files import Opened

LOG = b"2024-05-14 10:22:31 INFO main - boot success\n" * 50


def opened(tmp_path: Path, **files: bytes) -> Opened:
    root = tmp_path / "evidence"
    for name, data in files.items():
        target = root / name.replace("__", "/").replace("_DOT_", ".")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return open_evidence(root, tmp_path / "spool")


def contents(result: Opened) -> dict[str, bytes]:
    return {f.file: f.path.read_bytes() for f in result.files}


def put(root: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


@pytest.mark.parametrize(
    ("name", "data", "file"),
    [
        ("plain.log", LOG, "plain.log"),
        ("d/rolled.1.log.gz", gzip.compress(LOG), "d/rolled.1.log.gz"),
        ("rolled.log.zst", zstandard.compress(LOG), "rolled.log.zst"),
        ("two.gz", gzip.compress(LOG[:100]) + gzip.compress(LOG[100:]), "two.gz"),
        ("photo.jpg", zip_of({"dir/x.log": LOG}), "photo.jpg!/dir/x.log"),
        ("a.tar", tar_of({"./dir/x.log": LOG}), "a.tar!/dir/x.log"),
        ("a.tgz", gzip.compress(tar_of({"dir/x.log": LOG})), "a.tgz!/dir/x.log"),
        ("a.tar.zst", zstandard.compress(tar_of({"x.log": LOG})), "a.tar.zst!/x.log"),
        (
            "b.zip",
            zip_of({"in.tar.gz": gzip.compress(tar_of({"x.1.log.gz": gzip.compress(LOG)}))}),
            "b.zip!/in.tar.gz!/x.1.log.gz",
        ),
        ("c.zip.gz", gzip.compress(zip_of({"x": LOG})), "c.zip.gz!/x"),
    ],
    # Packed bytes hold the time they were packed at: no name for a test that two processes collect.
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_opens_by_content(tmp_path: Path, name: str, data: bytes, file: str) -> None:
    root = tmp_path / "evidence"
    put(root, {name: data})
    result = open_evidence(root, tmp_path / "spool")
    assert contents(result) == {file: LOG}
    assert result.refused == []
    [one] = result.files
    assert one.packed == (name != "plain.log")
    if file == name and one.packed:
        assert one.sha256 == hashlib.sha256(data).hexdigest()
        assert one.text_sha256 == hashlib.sha256(LOG).hexdigest()
    if one.packed and file != name:
        assert [(a.file, a.sha256) for a in result.archives if a.file == name] == [
            (name, hashlib.sha256(data).hexdigest())
        ]


@pytest.mark.parametrize("mark", ["\ufeff", ""])
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_texts_become_utf8(tmp_path: Path, codec: str, mark: str) -> None:
    """PowerShell's `>` writes logs so; without the mark where somebody appended to a file or cut it."""
    text = LOG.decode() + "2024-05-14 10:22:32 WARN main - 订单 \U0001f4a5 failed\r\n"
    raw = mark.encode(codec) + text.encode(codec)
    result = opened(tmp_path, a_DOT_log=raw, b_DOT_gz=gzip.compress(raw), c=b"\xff\xfe" + os.urandom(2000))
    found = {f.file: f for f in result.files}
    assert found["a.log"].path.read_bytes() == found["b.gz"].path.read_bytes() == text.encode()
    assert found["a.log"].sha256 == hashlib.sha256(raw).hexdigest()
    assert found["a.log"].text_sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert not found["c"].packed


@pytest.mark.parametrize(
    "raw",
    [
        struct.pack("<200H", *range(32, 232)),
        struct.pack(">500i", *range(500)),
        b"\0" * 900 + b"a",
        LOG.replace(b" ", b"\0"),
        bytes(256) * 4,
        bytes(range(256)) * 4,
        b"a\0" * 20,
        b"\n\0" + os.urandom(900),
    ],
)
def test_numbers_are_no_utf16_text(tmp_path: Path, raw: bytes) -> None:
    [one] = opened(tmp_path, x=raw).files
    assert not one.packed and one.path.read_bytes() == raw


def test_half_a_character_at_the_end_of_a_utf16_text(tmp_path: Path) -> None:
    result = opened(tmp_path, a_DOT_log=("\ufeff" + LOG.decode()).encode("utf-16-le") + b"x")
    assert contents(result) == {"a.log": LOG + "\ufffd".encode()}


def test_evidence_that_is_an_archive_or_a_file(tmp_path: Path) -> None:
    put(tmp_path, {"e.zip": zip_of({"evidence/x.log": LOG}), "one.log": LOG})
    assert contents(open_evidence(tmp_path / "e.zip", tmp_path / "s1")) == {"e.zip!/evidence/x.log": LOG}
    assert contents(open_evidence(tmp_path / "one.log", tmp_path / "s2")) == {"one.log": LOG}
    with pytest.raises(FileNotFoundError):
        open_evidence(tmp_path / "none", tmp_path / "s3")


def test_evidence_stays_as_it_was(tmp_path: Path) -> None:
    root = tmp_path / "evidence"
    put(root, {"a.log": LOG, "b.gz": gzip.compress(LOG), "c.zip": zip_of({"x": LOG})})
    for path in (*root.iterdir(), root):
        os.utime(path, (1_000_000_000, 1_100_000_000))
    before = {p.name: (p.stat().st_mtime_ns, p.stat().st_size, p.stat().st_atime_ns) for p in root.iterdir()}
    open_evidence(root, tmp_path / "spool")
    assert {p.name: (p.stat().st_mtime_ns, p.stat().st_size, p.stat().st_atime_ns) for p in root.iterdir()} == before


def test_links_and_pipes_are_refused(tmp_path: Path) -> None:
    root = tmp_path / "evidence"
    put(root, {"a.log": LOG})
    (tmp_path / "secret").write_bytes(b"secret")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe")
    result = open_evidence(root, tmp_path / "spool")
    assert list(contents(result)) == ["a.log"]
    assert [(r.file, r.reason) for r in result.refused] == [("loop", "link"), ("out", "link"), ("pipe", "special")]


def test_unreadable_file_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "evidence"
    put(root, {"a.log": LOG, "b.log": LOG})
    real = evidence.open_readonly

    def deny(path: Path | str) -> object:
        if Path(path).name == "a.log":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr("kit.evidence.archives.open_readonly", deny)
    result = open_evidence(root, tmp_path / "spool")
    assert [f.file for f in result.files] == ["b.log"]
    assert [(r.file, r.reason) for r in result.refused] == [("a.log", "unreadable")]


@pytest.mark.parametrize("name", ["../evil", "/abs/evil", "a/../../evil"])
def test_members_that_climb_out(tmp_path: Path, name: str) -> None:
    root = tmp_path / "evidence"
    put(root, {"t.tar": tar_of({name: b"x", "ok": LOG}), "z.zip": zip_of({name: b"x", "ok": LOG})})
    result = open_evidence(root, tmp_path / "spool")
    assert contents(result) == {"t.tar!/ok": LOG, "z.zip!/ok": LOG}
    assert [r.reason for r in result.refused] == ["outside", "outside"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["evidence", "spool"]


def test_links_and_devices_in_a_tar(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, kind in (
            ("sym", tarfile.SYMTYPE),
            ("hard", tarfile.LNKTYPE),
            ("dev", tarfile.CHRTYPE),
            ("fifo", tarfile.FIFOTYPE),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            tar.addfile(info)
    result = opened(tmp_path, a_DOT_tar=out.getvalue())
    assert result.files == []
    assert {(r.file, r.reason) for r in result.refused} == {
        ("a.tar!/sym", "link"), ("a.tar!/hard", "link"), ("a.tar!/dev", "special"), ("a.tar!/fifo", "special"),
    }  # fmt: skip


def test_encrypted_member(tmp_path: Path) -> None:
    data = bytearray(zip_of({"x.log": LOG}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    result = opened(tmp_path, a_DOT_zip=bytes(data))
    assert [(r.file, r.reason) for r in result.refused] == [("a.zip!/x.log", "encrypted")]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_truncated_rolled_log_keeps_its_beginning(tmp_path: Path, pack: object) -> None:
    text = b"".join(
        b"2024-05-14 10:22:31 INFO main - %d %s\n" % (i, hashlib.sha256(b"%d" % i).hexdigest().encode())
        for i in range(30_000)
    )
    packed = pack(text)  # type: ignore[operator]
    result = opened(tmp_path, a_DOT_log=packed[: len(packed) * 2 // 3])
    [(file, data)] = contents(result).items()
    assert file == "a.log"
    assert len(data) > len(text) // 3
    assert text.startswith(data)
    assert [(r.file, r.reason) for r in result.refused] == [("a.log", "damaged")]


def test_truncated_archives_keep_what_stands_before(tmp_path: Path) -> None:
    noise = os.urandom(200_000)
    tar = tar_of({"first": LOG, "second": noise})
    result = opened(tmp_path, a_DOT_tar=tar[:60_000], b_DOT_zip=zip_of({"first": LOG, "second": noise})[:60_000])
    assert contents(result)["a.tar!/first"] == LOG
    assert contents(result)["a.tar!/second"] == noise[: 60_000 - 2 * 512 - -(-len(LOG) // 512) * 512]
    assert {(r.file, r.reason) for r in result.refused} >= {("a.tar!/second", "damaged"), ("b.zip", "damaged")}


@pytest.mark.seconds
def test_empty_store_file_unpacks_without_using_disk(tmp_path: Path) -> None:
    """A commitlog honestly shrinks ten thousand to one: it is kept, as a file with holes."""
    size = 256 * 2**20
    packed = zstandard.compress(tar_of({"commitlog/00000000000000000000": b"\x01" * 4096 + bytes(size - 4096)}))
    assert size / len(packed) > 5_000
    result = opened(tmp_path, a_DOT_tar_DOT_zst=packed)
    [file] = result.files
    assert file.bytes == size
    assert file.path.stat().st_size == size
    assert file.path.stat().st_blocks * 512 < 2**20
    assert result.refused == []


@pytest.mark.seconds
def test_explosive_member_is_refused_quickly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "RATIO_FREE", 64 * 2**20)
    bomb = io.BytesIO()
    with gzip.GzipFile(fileobj=bomb, mode="wb") as out:
        for _ in range(512):
            out.write(b"A" * 2**20)
    start = effort.worked()
    result = opened(tmp_path, a_DOT_gz=bomb.getvalue(), b_DOT_log=LOG)
    assert effort.worked() - start < 20
    assert [f.file for f in result.files] == ["b.log"]
    assert [(r.file, r.reason) for r in result.refused] == [("a.gz", "ratio")]
    assert sum(p.stat().st_blocks * 512 for p in (tmp_path / "spool").rglob("*")) < 2**20


def test_overlapping_members(tmp_path: Path) -> None:
    packed = bytearray(zip_of({"x": os.urandom(5000), "y": os.urandom(5000)}))
    second = packed.index(b"PK\x01\x02", packed.index(b"PK\x01\x02") + 1)
    packed[second + 42 : second + 46] = bytes(4)  # both directory entries now point at the first member
    result = opened(tmp_path, a_DOT_zip=bytes(packed))
    assert [(r.file, r.reason) for r in result.refused] == [("a.zip", "overlap")]


def test_an_archive_in_an_archive_is_opened_once(tmp_path: Path) -> None:
    inner = zip_of({"x.log": LOG, "deeper.zip": zip_of({"y.log": LOG})})
    result = opened(tmp_path, a_DOT_zip=zip_of({"b.zip": inner, "c.log.gz": gzip.compress(LOG)}))
    assert contents(result) == {"a.zip!/b.zip!/x.log": LOG, "a.zip!/c.log.gz": LOG}
    assert [(r.file, r.reason) for r in result.refused] == [("a.zip!/b.zip!/deeper.zip", "nested")]


def test_nesting_has_an_end(tmp_path: Path) -> None:
    data = LOG
    for depth in range(6):
        data = zip_of({f"{depth}.zip": data})
    result = opened(tmp_path, a_DOT_zip=data)
    assert result.files == []
    assert [r.reason for r in result.refused] == ["nested"]


def test_nothing_is_unpacked_onto_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "KEEP_FREE", 1 << 62)
    result = opened(tmp_path, a_DOT_gz=gzip.compress(LOG))
    assert [(r.file, r.reason) for r in result.refused] == [("a.gz", "space")]


def test_of_members_with_the_same_name_the_first_is_kept(tmp_path: Path) -> None:
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as out:
        for data in (b"first", b"second"):
            info = tarfile.TarInfo("x.log")
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
    result = opened(tmp_path, a_DOT_tar=tar.getvalue())
    assert contents(result) == {"a.tar!/x.log": b"first"}
    assert [(r.file, r.reason) for r in result.refused] == [("a.tar!/x.log", "duplicate")]


def test_names_from_a_chinese_windows(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("x")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("AAAAAAAA.log", LOG)
    raw = out.getvalue().replace(b"AAAAAAAA", "日志文件".encode("gbk"))
    assert info.filename == "x"
    assert list(contents(opened(tmp_path, a_DOT_zip=raw))) == ["a.zip!/日志文件.log"]


def test_office_files_stay_one_file(tmp_path: Path) -> None:
    book = zip_of({"[Content_Types].xml": b"<x/>", "xl/a.xml": b"<y/>"})
    assert contents(opened(tmp_path, a_DOT_xlsx=book)) == {"a.xlsx": book}


def test_unsupported_archive_is_named(tmp_path: Path) -> None:
    result = opened(tmp_path, a_DOT_7z=b"7z\xbc\xaf\x27\x1c" + bytes(100))
    assert [(r.file, r.reason) for r in result.refused] == [("a.7z", "unsupported")]


def test_huge_tar_header_does_not_fill_memory(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 33
    result = opened(tmp_path, a_DOT_tar=info.tobuf(tarfile.GNU_FORMAT) + bytes(4096))
    assert [r.reason for r in result.refused] == ["damaged"]
