"""Folders, packed files and texts, also on another file system. Expected bytes are those written by the test."""

import bz2
import functools
import gzip
import hashlib
import lzma
import os
import random
import struct
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner
from folders import put, tar_of, unpacked, written, zip_of

import kit
from kit.cli.main import cli
from kit.evidence import files as evidence
from kit.evidence import remote
from kit.evidence.archives import open_evidence

LOG = b"2024-05-14 10:22:31 INFO main - boot success\n" * 50

NESTED = {"in.tar.gz": gzip.compress(tar_of({"x.1.log.gz": gzip.compress(LOG)}))}


@pytest.mark.parametrize(
    ("name", "data", "file"),
    [
        ("plain.log", LOG, "plain.log"),
        ("d/rolled.1.log.gz", gzip.compress(LOG), "d/rolled.1.log.gz"),
        ("rolled.log.zst", zstandard.compress(LOG), "rolled.log.zst"),
        ("two.bz2", bz2.compress(LOG[:100]) + bz2.compress(LOG[100:]), "two.bz2"),
        ("two.xz", lzma.compress(LOG[:100]) + bytes(8) + lzma.compress(LOG[100:]) + bytes(4), "two.xz"),
        ("a.tar.bz2", bz2.compress(tar_of({"x.log": LOG})), "a.tar.bz2!/x.log"),
        ("padded.gz", gzip.compress(LOG) + bytes(512), "padded.gz"),
        ("two.gz", gzip.compress(LOG[:100]) + gzip.compress(LOG[100:]), "two.gz"),
        ("photo.jpg", zip_of({"dir/x.log": LOG}), "photo.jpg!/dir/x.log"),
        ("a.tar", tar_of({"./dir/x.log": LOG}), "a.tar!/dir/x.log"),
        ("a.tgz", gzip.compress(tar_of({"dir/x.log": LOG})), "a.tgz!/dir/x.log"),
        ("a.tar.zst", zstandard.compress(tar_of({"x.log": LOG})), "a.tar.zst!/x.log"),
        ("b.zip", zip_of(NESTED), "b.zip!/in.tar.gz!/x.1.log.gz"),
        ("c.zip.gz", gzip.compress(zip_of({"x": LOG})), "c.zip.gz!/x"),
    ],
    # Packed bytes hold the time they were packed at: no name for a test that two processes collect.
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_opens_by_content(tmp_path, name, data, file):
    contents, result = unpacked(tmp_path, {name: data})
    assert contents == {file: LOG} and result.refused == []
    [one] = result.files
    assert (one.path != tmp_path / "e" / name) == (name != "plain.log")
    sha = hashlib.sha256(data).hexdigest()
    if file == name and one.sha256:
        assert (one.sha256, one.text_sha256) == (sha, hashlib.sha256(LOG).hexdigest())
    if file != name:
        assert [(a.file, a.sha256) for a in result.archives] == [(name, sha)]


@pytest.mark.parametrize("mark", ["\ufeff", ""])
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_texts_become_utf8(tmp_path, codec, mark):
    """PowerShell's `>` writes logs so; without the mark where somebody appended to a file or cut it."""
    text = LOG.decode() + "2024-05-14 10:22:32 WARN main - 订单 \U0001f4a5 failed\r\n"
    raw = mark.encode(codec) + text.encode(codec)
    noise = b"\xff\xfe" + random.Random(16).randbytes(2000)
    files = {"a.log": raw, "b.gz": gzip.compress(raw), "c": noise, "half.log": raw + b"x"}
    contents, result = unpacked(tmp_path, files)
    whole = text.encode()
    assert contents == {"a.log": whole, "b.gz": whole, "c": noise, "half.log": whole + "\ufffd".encode()}
    assert result.files[0].sha256 == hashlib.sha256(raw).hexdigest()


@pytest.mark.parametrize(
    "raw",
    [
        struct.pack("<200H", *range(32, 232)), struct.pack(">500i", *range(500)), b"\0" * 900 + b"a", LOG.replace(b" ", b"\0"),
        bytes(256) * 4, bytes(range(256)) * 4, b"a\0" * 20, b"\n\0" + random.Random(8).randbytes(900),
    ],
    ids=lambda _: "",
)  # fmt: skip
def test_numbers_are_no_utf16_text(tmp_path, raw):
    contents, found = unpacked(tmp_path, {"x": raw})
    assert found.files[0].path == tmp_path / "e" / "x" and contents == {"x": raw}


def test_evidence_that_is_an_archive_or_a_file_stays_as_it_was(tmp_path):
    packed, plain = put(tmp_path / "e.zip", zip_of({"evidence/x.log": LOG})), put(tmp_path / "one.log", LOG)
    for path, name in ((packed, "e.zip!/evidence/x.log"), (plain, "one.log")):
        (one,) = open_evidence(path, tmp_path / f"spool of {path.name}").files
        assert (one.file, one.path.read_bytes()) == (name, LOG)
    with pytest.raises(FileNotFoundError):
        open_evidence(tmp_path / "none", tmp_path / "s3")
    root = written(tmp_path, {"a.log": LOG, "b.gz": gzip.compress(LOG), "c.zip": zip_of({"x": LOG})})
    for path in (*root.iterdir(), root):
        os.utime(path, (1_000_000_000, 1_100_000_000))
    before = {p.name: (p.stat().st_mtime_ns, p.stat().st_size, p.stat().st_atime_ns) for p in root.iterdir()}
    open_evidence(root, tmp_path / "spool")
    assert {p.name: (p.stat().st_mtime_ns, p.stat().st_size, p.stat().st_atime_ns) for p in root.iterdir()} == before


def test_what_is_no_readable_file_is_listed(tmp_path, monkeypatch):
    root = written(tmp_path, {"a.log": LOG, "b.log": LOG})
    (root / "out").symlink_to(put(tmp_path / "secret", "secret"))
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe")
    real = evidence.open_readonly

    def deny(path):
        if Path(path).name == "b.log":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr("kit.evidence.archives.open_readonly", deny)
    contents, result = unpacked(tmp_path, {})
    refused = {r.file: r.reason for r in result.refused}
    assert list(contents) == ["a.log"]
    assert refused == {"b.log": "unreadable", "loop": "link", "out": "link", "pipe": "special"}


@pytest.mark.parametrize(
    "pack", [gzip.compress, zstandard.compress, bz2.compress, functools.partial(lzma.compress, preset=0)]
)
def test_a_cut_off_log_keeps_its_beginning(tmp_path, pack):
    digests = [hashlib.sha256(b"%d" % i).hexdigest().encode() for i in range(30_000)]
    text = b"".join(b"2024-05-14 10:22:31 INFO main - %d %s\n" % each for each in enumerate(digests))
    packed = pack(text)
    contents, result = unpacked(tmp_path, {"a.log": packed[: len(packed) * 2 // 3]})
    data = contents["a.log"]
    assert len(data) > len(text) // 3 and text.startswith(data)
    assert [(r.file, r.reason) for r in result.refused] == [("a.log", "damaged")]


@pytest.fixture
def bucket(tmp_path, monkeypatch):
    """Return a folder that stands for a bucket: pyarrow reaches it by a URI like any other."""
    monkeypatch.setattr(remote, "SCHEMES", ("file",))
    folder = tmp_path / "bucket" / "incident"
    (folder / "logs").mkdir(parents=True)
    (folder / "logs" / "broker.log").write_text("2026-11-20 10:00:00 INFO main - hello\n")
    (folder / "broker.conf").write_text("brokerName=broker-a\nmaxMessageSize=65536\n")
    return folder


def held(folder):
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_the_copy_holds_what_lies_there_follows_it_and_is_whole(bucket, tmp_path, monkeypatch):
    copy = remote.fetch(bucket.as_uri(), tmp_path / "ws")
    assert held(copy) == held(bucket)
    untouched = (copy / "broker.conf").stat().st_mtime_ns
    (bucket / "logs" / "broker.log").unlink()
    (bucket / "late.log").write_text("late\n")
    assert remote.fetch(bucket.as_uri(), tmp_path / "ws") == copy
    assert held(copy) == held(bucket)
    assert (copy / "broker.conf").stat().st_mtime_ns == untouched

    # What was cut off halfway is copied again.
    def breaks(source, target, length):
        target.write(b"half")
        raise OSError("connection lost")

    with monkeypatch.context() as broken:
        broken.setattr(remote.shutil, "copyfileobj", breaks)
        with pytest.raises(OSError, match="connection lost"):
            remote.fetch(bucket.as_uri(), tmp_path / "cut")
    assert held(remote.fetch(bucket.as_uri(), tmp_path / "cut")) == held(bucket)


def test_one_object_is_one_file_findings_name_the_uri_and_nothing_there_is_one_line(bucket, tmp_path):
    copy = remote.fetch((bucket / "broker.conf").as_uri(), tmp_path / "one")
    assert copy.name == "broker.conf" and copy.read_text().startswith("brokerName")
    case = kit.open_case(bucket.as_uri(), tmp_path / "ws")
    assert case.name == bucket.as_uri() and case.path.is_relative_to(tmp_path / "ws")
    assert {item.file for item in case.unzoned.items} == set(held(bucket))
    said = CliRunner().invoke(cli, ["inventory", f"{bucket.as_uri()}-not", "--workspace", str(tmp_path / "ws")])
    assert said.exit_code == 2 and "no object found" in said.output and said.output.count("\n") == 1


def test_credentials_are_not_shown():
    shown = remote.without_credentials("s3://AKIA:secret@bucket/incident?endpoint_override=10.0.0.1%3A9000")
    assert shown == "s3://bucket/incident"
    assert [remote.is_remote(each) for each in ("s3://bucket/x", "incident/s3:/x", Path("/x"))] == [True, False, False]
