"""What archives say about their members."""

from __future__ import annotations

import gzip
import io
import random
import struct
import tarfile
import zipfile
from pathlib import Path

import zstandard

from kit.evidence.archives import open_evidence


def test_members_keep_the_time_of_their_last_change(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        info = tarfile.TarInfo("x.log")
        info.size, info.mtime = 2, 1_795_302_431
        tar.addfile(info, io.BytesIO(b"ab"))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as packed:
        dated = zipfile.ZipInfo("y.log")
        dated.extra = struct.pack("<HHBi", 0x5455, 5, 1, 1_795_302_432)
        packed.writestr(dated, b"cd")
        packed.writestr(zipfile.ZipInfo("z.log"), b"ef")
    found = {f.file: f.modified for f in open_evidence(tmp_path, tmp_path / "spool").files if "!" in f.file}
    assert found == {"a.tar!/x.log": 1_795_302_431.0, "b.zip!/y.log": 1_795_302_432.0, "b.zip!/z.log": None}


def archive_of_archives() -> bytes:
    """Return a tar with a whole zip and, before the last file, a zip and a tar that are damaged."""
    inner, noise = io.BytesIO(), random.Random(1).randbytes(20_000)
    with zipfile.ZipFile(inner, "w") as packed:
        packed.writestr("x.log", b"whole")
        packed.writestr("y.bin", noise)
    whole, out = inner.getvalue(), io.BytesIO()
    members = {
        "a.zip": whole,
        "cut.zip": whole[:10_000],
        "cut.tgz": gzip.compress(b"".join([b"\0" * 3_000, noise]))[:9_000],
        "z.log": b"last",
    }
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def test_a_damaged_archive_in_a_tar_costs_nothing_but_itself(tmp_path: Path) -> None:
    packed = archive_of_archives()
    for folder, name, data in (
        ("one", "t.tar", packed),
        ("two", "t.tar.gz", gzip.compress(packed)),
        ("three", "t.tar.zst", zstandard.compress(packed)),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(data)
        found = open_evidence(tmp_path / folder, tmp_path / folder / "spool")
        read = {f.file.removeprefix(f"{name}!/"): f.path.read_bytes() for f in found.files}
        assert (read["a.zip!/x.log"], read["z.log"]) == (b"whole", b"last")
        assert {r.file.removeprefix(f"{name}!/") for r in found.refused} == {"cut.zip", "cut.tgz"}
        assert {r.reason for r in found.refused} == {"damaged"}


def test_a_tar_that_ends_inside_an_archive_says_so(tmp_path: Path) -> None:
    whole = archive_of_archives()
    (tmp_path / "e").mkdir()
    (tmp_path / "e/t.tar").write_bytes(whole[:12_000])
    (tmp_path / "e/t.tar.gz").write_bytes(gzip.compress(whole)[:9_000])
    found = open_evidence(tmp_path / "e", tmp_path / "spool")
    assert {r.file.split("!/")[0] for r in found.refused} == {"t.tar", "t.tar.gz"}
    assert not found.files
