"""The cache: whole tables or none, two writers at once, nothing inside the evidence."""

import errno
import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from folders import put
from processes import ended, forked

from kit.evidence import disk
from kit.evidence import workspace as ws


def place(tmp_path):
    evidence = tmp_path / "evidence"
    evidence.mkdir(exist_ok=True)
    return ws.Workspace.for_evidence(evidence, tmp_path / "cache", "ab" * 32)


def fill(here, table="t", name="x", data="1"):
    with here.writing(table) as part:
        put(part / name, data)


def test_a_failed_or_killed_write_leaves_no_table_and_no_lock(tmp_path):
    here = place(tmp_path)
    with pytest.raises(RuntimeError), here.writing("t"):
        raise RuntimeError
    assert here.table("t") is None
    assert list((here.folder / "tmp").iterdir()) == []
    assert ended(forked(_write_and_die, here.folder)) == 9
    assert here.table("t") is None
    with here.writing("t") as part:
        assert part is not None and list(part.iterdir()) == []


def _write_and_die(folder):
    with ws.Workspace(Path(folder)).writing("t") as part:
        (part / "half").write_text("half")
        os._exit(9)


def _write(folder, said):
    with ws.Workspace(Path(folder)).writing("t") as part:
        if part is not None:
            (part / "x").write_text(said)
            time.sleep(0.3)


def test_two_writers_at_once(tmp_path):
    here = place(tmp_path)
    assert [ended(each) for each in [forked(_write, here.folder, said) for said in ("a", "b")]] == [0, 0]
    folder = here.table("t")
    assert folder is not None and (folder / "x").read_text() in ("a", "b")
    assert sorted(p.name for p in folder.iterdir()) == [ws.DONE, "x"]


def test_the_default_folder_follows_xdg_and_a_read_only_home_names_another(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert ws.default_base() == tmp_path / "rmq-kit"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert ws.default_base() == tmp_path / "home" / ".cache" / "rmq-kit"

    def refuse(self, *_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(ws.WorkspaceUnusable) as refused:
        ws.usable(tmp_path / "cache")
    assert "\n" not in str(refused.value) and f"--workspace {tempfile.gettempdir()}" in str(refused.value)


def test_list_and_clean_touch_only_their_own_and_what_is_named_by_a_hash(tmp_path):
    here = place(tmp_path)
    fill(here, data="x" * 100_000)
    (tmp_path / "cache" / "mine.txt").write_text("keep")
    for n, odd in enumerate(("[]", "{}", "null", '{"evidence": 1, "content_key": ["x"]}')):
        put(tmp_path / "cache" / "cases" / f"{n:032}" / "about.json", odd)
        put(tmp_path / "cache" / "cases" / f"{n:032}" / "in-use.lock", "")
        put(tmp_path / "cache" / "spool" / f"{n:032}" / "inventory-x.json", odd)
        put(tmp_path / "cache" / "spool" / f"{n:032}" / "in-use.lock", "")
    [one] = ws.every_workspace(tmp_path / "cache")
    assert one["evidence"] == str((tmp_path / "evidence").resolve())
    assert one["bytes"] >= 100_000
    ws.clean(tmp_path / "cache")
    assert [path.name for path in (tmp_path / "cache" / "cases").iterdir()] == [here.folder.name], "it is in use"
    assert here.table("t") is not None
    del here
    assert ws.clean(tmp_path / "cache") >= 100_000
    assert ws.every_workspace(tmp_path / "cache") == []
    assert [p.name for p in (tmp_path / "cache").iterdir()] == ["mine.txt"]
    for name in ("cases/mine", "remote/origin", "spool/letters", "cases/" + "g" * 32, "spool/" + "b" * 32):
        put(tmp_path / name / "precious", "x")
    put(tmp_path / "home" / "precious", "x")
    (tmp_path / "cases" / ("a" * 32)).symlink_to(tmp_path / "home")
    ws.clean(tmp_path)
    assert len(list(tmp_path.rglob("precious"))) == 6


def test_torn_json_counts_as_none_and_about_names_the_copy_that_was_opened_last(tmp_path):
    here = place(tmp_path)
    here.write_json("a", {"x": 1})
    assert here.read_json("a") == {"x": 1}
    (here.folder / "a.json").write_text('{"x"')
    assert here.read_json("a") is None
    shutil.copytree(tmp_path / "evidence", tmp_path / "copy")
    again = ws.Workspace.for_evidence(tmp_path / "copy", tmp_path / "cache", "ab" * 32)
    assert here.folder == again.folder
    assert [one["evidence"] for one in ws.every_workspace(tmp_path / "cache")] == [str((tmp_path / "copy").resolve())]


def _work(root, ready):
    evidence = Path(root).parent / "evidence"
    here = ws.Workspace.for_evidence(evidence, root, "cd" * 32)
    fill(here)
    Path(ready).touch()
    time.sleep(300)


def test_clean_leaves_what_another_process_uses(tmp_path):
    (tmp_path / "evidence").mkdir()
    process = forked(_work, tmp_path / "cache", tmp_path / "ready")
    try:
        until = time.monotonic() + 300
        while not (tmp_path / "ready").exists() and time.monotonic() < until:
            time.sleep(0.02)
        assert ws.clean(tmp_path / "cache") == 0
        assert list((tmp_path / "cache").glob("cases/*/tables/t/x"))
    finally:
        process.kill()
        process.join(300)
    assert ws.clean(tmp_path / "cache") > 0
    assert not list((tmp_path / "cache").iterdir())


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_owner_looks_in(tmp_path, umask):
    before = os.umask(umask)
    try:
        root = tmp_path / "cache"
        ws.usable(root)
        here = place(tmp_path)
        fill(here, "results/t", "tables/x.parquet")
        here.write_json("zones", {})
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o777 for path in (root, *root.rglob("*"))}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_a_cluster_reads_along(tmp_path):
    (tmp_path / "evidence").mkdir()
    before = os.umask(0o022)
    try:
        ws.usable(tmp_path / "cache", shared=True)
        here = ws.Workspace.for_evidence(tmp_path / "evidence", tmp_path / "cache", "ab" * 32, shared=True)
        fill(here)
    finally:
        os.umask(before)
    path = here.tables / "t" / "x"
    assert path.stat().st_mode & 0o444 == 0o444
    assert all(p.stat().st_mode & 0o055 == 0o055 for p in path.parents if tmp_path in p.parents)


def test_what_killed_runs_left_is_swept(tmp_path):
    here = place(tmp_path)
    ended(forked(_write_and_die, here.folder))
    spool = tmp_path / "cache" / "spool" / ("0" * 32)
    put(spool / "files" / "half", "half")
    put(spool / "in-use.lock", "")
    (here.folder / ".about.json.1-2.part").write_text("{")
    ws.sweep.cache_clear()
    ws.sweep(tmp_path / "cache")
    assert list((here.folder / "tmp").iterdir()), "in use"
    folder = here.folder
    del here
    ws.sweep.cache_clear()
    ws.sweep(tmp_path / "cache")
    assert not list((folder / "tmp").iterdir()) and not (spool / "files").exists() and not list(folder.glob(".*"))
    assert (folder / "about.json").exists()


def test_a_full_disk_is_known_however_it_is_passed_on():
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    wrapped = RuntimeError("task failed")
    wrapped.__cause__ = full
    assert disk.is_full(full) and disk.is_full(wrapped) and disk.is_full(OSError(errno.EFBIG, "x"))
    said = "Job aborted: java.io.IOException: No space left on device\n\tat java.base"
    assert disk.is_full(type("Py4JJavaError", (Exception,), {"__module__": "py4j.protocol"})(said))
    assert not disk.is_full(ValueError(said)), "it may be a line of the evidence"
    assert not disk.is_full(OSError(errno.EACCES, "x")) and not disk.is_full(None)
    circle = RuntimeError("a")
    circle.__context__ = RuntimeError("b")
    circle.__context__.__context__ = circle
    assert not disk.is_full(circle)
