"""What archives say about their members."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
from pathlib import Path

from kit.evidence.opening import open_evidence


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
