"""The cache: whole tables or none, two writers at once, nothing inside the evidence."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from kit.evidence import workspace as ws


def place(tmp_path: Path) -> ws.Workspace:
    evidence = tmp_path / "evidence"
    evidence.mkdir(exist_ok=True)
    return ws.Workspace.for_evidence(evidence, tmp_path / "cache", "ab" * 32)


def test_a_table_appears_whole(tmp_path: Path) -> None:
    here = place(tmp_path)
    with here.writing("t") as part:
        assert part is not None
        (part / "x").write_text("1")
        assert here.table("t") is None
    folder = here.table("t")
    assert folder is not None
    assert (folder / "x").read_text() == "1"
    with here.writing("t") as part:
        assert part is None


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    here = place(tmp_path)
    with pytest.raises(RuntimeError), here.writing("t"):
        raise RuntimeError
    assert here.table("t") is None
    assert list((here.folder / "tmp").iterdir()) == []


def _write_and_die(folder: str) -> None:
    with ws.Workspace(Path(folder)).writing("t") as part:
        assert part is not None
        (part / "half").write_text("half")
        os._exit(9)


def test_a_killed_writer_leaves_no_table_and_no_lock(tmp_path: Path) -> None:
    here = place(tmp_path)
    process = multiprocessing.get_context("fork").Process(target=_write_and_die, args=(str(here.folder),))
    process.start()
    process.join(20)
    assert process.exitcode == 9
    assert here.table("t") is None
    with here.writing("t") as part:
        assert part is not None
        assert list(part.iterdir()) == []


def _write(folder: str, said: str) -> None:
    with ws.Workspace(Path(folder)).writing("t") as part:
        if part is not None:
            (part / "x").write_text(said)
            time.sleep(0.3)


def test_two_writers_at_once(tmp_path: Path) -> None:
    here = place(tmp_path)
    both = [
        multiprocessing.get_context("fork").Process(target=_write, args=(str(here.folder), said)) for said in ("a", "b")
    ]
    for process in both:
        process.start()
    for process in both:
        process.join(20)
        assert process.exitcode == 0
    folder = here.table("t")
    assert folder is not None
    assert (folder / "x").read_text() in ("a", "b")
    assert sorted(p.name for p in folder.iterdir()) == [ws.DONE, "x"]


@pytest.mark.parametrize("inside", [".", "cache", "a/b"])
def test_not_inside_the_evidence(tmp_path: Path, inside: str) -> None:
    with pytest.raises(ws.WorkspaceInside):
        ws.base(tmp_path / inside, tmp_path)


def test_beside_the_evidence_is_fine(tmp_path: Path) -> None:
    (tmp_path / "evidence").mkdir()
    assert ws.base(tmp_path / "evidence-cache", tmp_path / "evidence") == tmp_path / "evidence-cache"


def test_default_folder_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert ws.default_base() == tmp_path / "rmq-kit"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert ws.default_base() == Path.home() / ".cache" / "rmq-kit"


def test_list_and_clean_touch_only_their_own(tmp_path: Path) -> None:
    here = place(tmp_path)
    with here.writing("t") as part:
        assert part is not None
        (part / "x").write_bytes(b"x" * 100_000)
    (tmp_path / "cache" / "mine.txt").write_text("keep")
    [one] = ws.kept(tmp_path / "cache")
    assert one.evidence == str((tmp_path / "evidence").resolve())
    assert one.bytes >= 100_000
    assert ws.clean(tmp_path / "cache") >= 100_000
    assert ws.kept(tmp_path / "cache") == []
    assert [p.name for p in (tmp_path / "cache").iterdir()] == ["mine.txt"]


def test_torn_json_counts_as_none(tmp_path: Path) -> None:
    here = place(tmp_path)
    here.write_json("a", {"x": 1})
    assert here.read_json("a") == {"x": 1}
    (here.folder / "a.json").write_text('{"x"')
    assert here.read_json("a") is None


def test_a_table_that_is_being_cleaned_is_not_adopted_in_part(tmp_path: Path) -> None:
    cases = [ws.Workspace(tmp_path / "cases" / name) for name in ("a", "b")]
    with cases[0].writing("t-1") as part:
        assert part is not None
        for name in ("one.parquet", "two.parquet"):
            (part / name).write_text(name)
    fresh = [tmp_path / "x", tmp_path / "y"]
    for folder in fresh:
        folder.mkdir()
    assert cases[1].adopt("t-1", fresh[0]) and {p.name for p in fresh[0].iterdir()} == {"one.parquet", "two.parquet"}
    (cases[0].tables / "t-1" / "two.parquet").unlink()
    assert not cases[1].adopt("t-1", fresh[1]) and not list(fresh[1].iterdir())
