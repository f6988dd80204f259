"""Evidence that grew by a file: what was read before is linked, only the new file is read."""

import pytest
from busy_evidence import sent, write_store

import kit
from kit.spark import sources

LINE = "2024-05-04 10:00:{:02} INFO main - start {}\n"


def evidence(folder, *, files, end=""):
    """Stores of several brokers and as many logs; `end`: what the last log ends with."""
    for n in range(files):
        records = [sent(f"H{n}M{m}", m * 10, m * 10 + 1) for m in range(50)]
        for record in records:
            record.store_host = bytes([10, 0, 1, n])
        write_store(folder / f"host-{n}" / "commitlog", records)
        text = "".join(LINE.format(m % 60, f"{n}-{m}") for m in range(400))
        (folder / f"host-{n}" / "broker.log").write_text(text + (end if n == files - 1 else ""))
    return folder


@pytest.fixture(autouse=True)
def every_file_a_task(monkeypatch):
    monkeypatch.setattr(sources, "SHARED", 4096)
    monkeypatch.setattr(sources, "CHUNK", 1 << 14)


def parts(case, table):
    """Return the files of a table by name, each with its number on disk: a linked file keeps it."""
    folder = case.folder(table)
    return {path.relative_to(folder).as_posix(): path.stat().st_ino for path in folder.rglob("part=*/*.parquet")}


def test_only_the_new_file_is_read(tmp_path):
    before = kit.open_case(evidence(tmp_path / "before", files=3), tmp_path / "ws")
    kept = {name: parts(before, name) for name in ("messages", "skipped", "logs")}
    grown = kit.open_case(evidence(tmp_path / "grown", files=4), tmp_path / "ws")
    for name, old in kept.items():
        assert old and old.items() < parts(grown, name).items(), name
    alone = kit.open_case(tmp_path / "grown", tmp_path / "another")
    keys = [sorted(row["keys"] for row in case.records.select("keys").collect()) for case in (grown, alone)]
    assert keys[0] == keys[1] == sorted(f"H{n}M{m}" for n in range(4) for m in range(50))
    lines = [sorted(map(tuple, case.logs.select("file", "line", "message").collect())) for case in (grown, alone)]
    assert lines[0] == lines[1] and len(lines[0]) == 4 * 400


def test_a_file_that_changed_is_read_again(tmp_path):
    before = kit.open_case(evidence(tmp_path / "before", files=2), tmp_path / "ws")
    old = parts(before, "logs")
    grown = kit.open_case(evidence(tmp_path / "grown", files=2, end=LINE.format(9, "once more")), tmp_path / "ws")
    new = parts(grown, "logs")
    assert old.keys() - new.keys() and old.keys() & new.keys()
    assert grown.logs.count() == 801
