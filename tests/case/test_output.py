"""`--out` replaces what the kit wrote and touches nothing else."""

import json
import os
import re
from pathlib import Path

import pytest
from folders import put
from processes import ended, forked
from table import rows_of

from kit.case import output

MADE = {"logs/one": "1", "other": "2"}


def write(out, command="logs", files=MADE):
    with output.into(out, command) as folder:
        for name, text in files.items():
            put(folder / name, text)


def visible(out):
    files = [path for path in out.rglob("*") if path.is_file() and path.name != output.MARKER]
    return {path.relative_to(out).as_posix(): path.read_text() for path in files}


@pytest.mark.parametrize("name", ["logs", "logs/one", "other"])
@pytest.mark.parametrize("known", [False, True])
def test_links_are_not_followed(tmp_path, name, known):
    out, home = tmp_path / "out", tmp_path / "home"
    put(home / "one", "precious")
    if known:
        write(out)
    link = out / name
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_dir():
        (link / "one").unlink()
        link.rmdir()
    link.unlink(missing_ok=True)
    link.symlink_to(home if name != "logs/one" else home / "one")
    with pytest.raises(output.OutputRefused):
        write(out)
    assert visible(home) == {"one": "precious"}


@pytest.mark.parametrize("row", rows_of(__file__, "runs"), ids=lambda row: row["name"])
def test_what_runs_leave(tmp_path, row):
    """Each step is a command that writes its files, or a file that somebody else writes or removes; then the whole folder."""
    out = tmp_path / "a" / "b"
    for step in row["steps"]:
        for name in step.get("removes", ()):
            (out / name).unlink()
        for name, text in step.get("puts", {}).items():
            put(out / name.replace("MARKER", output.MARKER), text)
        left = visible(tmp_path)
        if "left" in step:
            left = {os.path.normpath(f"a/b/{name}"): text for name, text in step["left"].items()}
            write(out, step.get("command", "logs"), step["writes"])
        else:
            with pytest.raises(output.OutputRefused, match=re.escape(step["refused"])) as refused:
                write(out, step.get("command", "logs"), step["writes"])
            assert "\n" not in str(refused.value)
        assert visible(tmp_path) == left
        assert "folders" not in step or {path.name for path in out.iterdir() if path.is_dir()} == {*step["folders"]}


def test_out_itself_is_no_link_and_no_file(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "file").write_text("x")
    for name in ("link", "dangling", "file"):
        for call in (write, lambda out: output.fresh(out).__enter__()):
            with pytest.raises(output.OutputRefused):
                call(tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dangling", "file", "link", "real"]
    assert not list((tmp_path / "real").iterdir())


def test_a_failed_run_leaves_the_earlier_result(tmp_path):
    out = tmp_path / "out"
    for before in ({}, MADE):
        with pytest.raises(RuntimeError), output.into(out, "logs") as folder:
            (folder / "half").write_text("half")
            raise RuntimeError
        assert visible(out) == before and out.exists() == bool(before)
        with pytest.raises(RuntimeError), output.fresh(tmp_path / "new") as folder:
            (folder / "half").mkdir()
            (tmp_path / "new" / "mine").touch()
            raise RuntimeError
        assert [path.name for path in (tmp_path / "new").iterdir()] == ["mine"]
        (tmp_path / "new" / "mine").unlink()
        write(out)


def _killed(out):
    with output.into(Path(out), "logs") as folder:
        (folder / "half").write_text("half")
        os._exit(9)


def test_what_a_killed_run_left_is_swept(tmp_path):
    assert ended(forked(_killed, tmp_path)) == 9
    write(tmp_path)
    assert visible(tmp_path) == MADE
    # A folder that only looks like one of the kit's is somebody's.
    put(tmp_path / ".rmq-kit-mine" / "x", "x")
    with pytest.raises(output.OutputRefused):
        write(tmp_path)


def test_a_second_command_is_refused_a_file_that_appears_is_kept_and_the_marker_names_files_alone(tmp_path):
    with output.into(tmp_path, "logs"), pytest.raises(output.OutputRefused, match="another command"):
        write(tmp_path, "decode")
    with pytest.raises(output.OutputRefused), output.into(tmp_path, "logs") as folder:
        (folder / "one").write_text("1")
        (tmp_path / "mine").write_text("precious")
    assert visible(tmp_path) == {"mine": "precious"}
    write(tmp_path / "out")
    text = (tmp_path / "out" / output.MARKER).read_text()
    assert str(tmp_path) not in text and json.loads(text)["files"].keys() == MADE.keys()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    try:
        for call in (write, lambda out: output.fresh(out).__enter__()):
            with pytest.raises(output.OutputRefused, match="cannot write"):
                call(tmp_path / "x")
    finally:
        tmp_path.chmod(0o700)
