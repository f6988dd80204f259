"""What is made to fill disk or memory is refused, in little of both."""

from __future__ import annotations

import tracemalloc
import zlib
from pathlib import Path

import effort
import pytest
import stores
from packing import zip_of

from kit.evidence import archives
from kit.evidence.archives import open_evidence
from kit.formats.commitlog import batches, schema, segments

MIB = 1 << 20


def ten_gigabytes() -> bytes:
    """A zlib stream of 10 GiB of zeros: one block that stands for a mebibyte, again and again."""
    deflate = zlib.compressobj(9)
    first = deflate.compress(bytes(MIB)) + deflate.flush(zlib.Z_FULL_FLUSH)
    block = deflate.compress(bytes(MIB)) + deflate.flush(zlib.Z_FULL_FLUSH)
    assert len(zlib.decompressobj().decompress(first + block * 3)) == 4 * MIB
    return first + block * (10 * 1024 - 1)


@pytest.mark.seconds
def test_a_body_of_ten_gigabytes(tmp_path: Path) -> None:
    bomb = ten_gigabytes()
    assert len(bomb) < 16 * MIB
    path = tmp_path / f"{0:020}"
    made = stores.store(
        [stores.Record(body=bomb, sys_flag=stores.BITS["zlib"]), stores.Record(topic=b"next", body=b"after it")]
    )
    path.write_bytes(made.data)
    file = segments.examine(path.name, str(path))
    wanted = batches.Wanted(tuple(schema.FIELDS))
    list(
        segments.messages(segments.examine("x", str(path)), made.spans[1][0], made.spans[1][1], wanted)
    )  # the kernels are loaded
    tracemalloc.start()
    start = effort.worked()
    rows = [row for batch in segments.messages(file, 0, file.used, wanted) for row in batch.to_pylist()]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(r["topic"], r["body"], r["problem"]) for r in rows] == [
        ("t", None, "body_too_large"),
        ("next", b"after it", None),
    ]
    assert rows[0]["body_size"] == len(bomb)
    assert peak < 4 * batches.MOST
    assert effort.worked() - start < 30


def test_zips_of_zips_of_zips(tmp_path: Path) -> None:
    """Like 42.zip: every level multiplies; the levels that would cost anything are not reached."""
    data = zip_of({"0": bytes(8 * MIB)})
    for level in range(1, 6):
        data = zip_of({f"{level}-{n}.zip": data for n in range(8)})
    (tmp_path / "e").mkdir()
    (tmp_path / "e/42.zip").write_bytes(data)
    found = open_evidence(tmp_path / "e", tmp_path / "spool")
    assert found.files == []
    assert {r.reason for r in found.refused} == {"nested"}
    assert sum(p.stat().st_blocks * 512 for p in (tmp_path / "spool").rglob("*")) < MIB


def test_many_members_that_are_absurd_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "TOTAL_FREE", 64 * MIB)
    inner = zip_of({f"{n}": bytes(4 * MIB) for n in range(8)})
    (tmp_path / "e").mkdir()
    (tmp_path / "e/a.zip").write_bytes(zip_of({f"{n}.zip": inner for n in range(16)}))
    found = open_evidence(tmp_path / "e", tmp_path / "spool")
    assert "ratio" in {r.reason for r in found.refused}
    assert sum(f.bytes for f in found.files) <= 68 * MIB
    assert sum(p.stat().st_blocks * 512 for p in (tmp_path / "spool").rglob("*")) < MIB
