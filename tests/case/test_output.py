"""`--out` replaces what the kit wrote and touches nothing else."""

import json
import os
from pathlib import Path

import pytest
from folders import put
from processes import ended, forked

from kit.case import output


def write(out, command="logs", **files):
    with output.into(out, command) as folder:
        for name, text in files.items():
            put(folder / name.replace("__", "/"), text)


def visible(out):
    files = [path for path in out.rglob("*") if path.is_file() and path.name != output.MARKER]
    return {path.relative_to(out).as_posix(): path.read_text() for path in files}


def test_a_second_run_replaces_the_first(tmp_path):
    out = tmp_path / "a" / "b"
    write(out, logs__one="1", logs__two="2")
    write(out, logs__one="new")
    assert visible(out) == {"logs/one": "new"}
    write(out, logs2__one="x")
    assert visible(out) == {"logs2/one": "x"} and not (out / "logs").exists()


def test_results_of_two_commands_share_a_folder(tmp_path):
    write(tmp_path, "decode", messages__m="m")
    write(tmp_path, "logs", logs__l="l")
    assert visible(tmp_path) == {"messages/m": "m", "logs/l": "l"}
    write(tmp_path, "decode", messages__n="n")
    assert visible(tmp_path) == {"messages/n": "n", "logs/l": "l"}


@pytest.mark.parametrize("name", ["mine.txt", "logs/mine.txt", ".hidden", "logs/deep/er/x"])
def test_a_foreign_file_is_never_touched(tmp_path, name):
    for known in (False, True):
        if known:
            write(tmp_path, logs__one="1")
        put(tmp_path / name, "precious")
        before = visible(tmp_path)
        with pytest.raises(output.OutputRefused, match=name) as refused:
            write(tmp_path, logs__one="2")
        assert "\n" not in str(refused.value)
        assert visible(tmp_path) == before
        (tmp_path / name).unlink()


def test_what_the_user_changed_is_his(tmp_path):
    write(tmp_path, notebooks__a="cells")
    (tmp_path / "notebooks" / "a").write_text("cells and notes")
    with pytest.raises(output.OutputRefused, match="changed"):
        write(tmp_path, notebooks__a="cells")
    assert visible(tmp_path) == {"notebooks/a": "cells and notes"}


@pytest.mark.parametrize("name", ["logs", "logs/one", "other"])
@pytest.mark.parametrize("known", [False, True])
def test_links_are_not_followed(tmp_path, name, known):
    out, home = tmp_path / "out", tmp_path / "home"
    put(home / "one", "precious")
    if known:
        write(out, logs__one="1", other="2")
    link = out / name
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_dir():
        (link / "one").unlink()
        link.rmdir()
    link.unlink(missing_ok=True)
    link.symlink_to(home if name != "logs/one" else home / "one")
    with pytest.raises(output.OutputRefused):
        write(out, logs__one="3")
    assert visible(home) == {"one": "precious"}


def test_out_itself_is_no_link_and_no_file(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "file").write_text("x")
    for name in ("link", "dangling", "file"):
        for call in (write, output.fresh):
            with pytest.raises(output.OutputRefused):
                call(tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dangling", "file", "link", "real"]
    assert not list((tmp_path / "real").iterdir())


def test_a_failed_run_leaves_the_earlier_result(tmp_path):
    out = tmp_path / "out"
    for before in ({}, {"logs/one": "1"}):
        with pytest.raises(RuntimeError), output.into(out, "logs") as folder:
            (folder / "half").write_text("half")
            raise RuntimeError
        assert (visible(out) if out.exists() else {}) == before
        write(out, logs__one="1")
    out2 = tmp_path / "out2"
    with pytest.raises(RuntimeError), output.into(out2, "logs"):
        raise RuntimeError
    assert not out2.exists()


def _killed(out):
    with output.into(Path(out), "logs") as folder:
        (folder / "half").write_text("half")
        os._exit(9)


def test_what_a_killed_run_left_is_swept(tmp_path):
    assert ended(forked(_killed, tmp_path)) == 9
    write(tmp_path, logs__one="1")
    assert visible(tmp_path) == {"logs/one": "1"}
    # A folder that only looks like one of the kit's is somebody's.
    put(tmp_path / ".rmq-kit-mine" / "x", "x")
    with pytest.raises(output.OutputRefused):
        write(tmp_path, logs__one="2")


def test_a_second_command_at_once_is_refused(tmp_path):
    with output.into(tmp_path, "logs"), pytest.raises(output.OutputRefused, match="another command"):
        write(tmp_path, "decode", x="1")


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    with pytest.raises(output.OutputRefused), output.into(tmp_path, "logs") as folder:
        (folder / "one").write_text("1")
        (tmp_path / "mine").write_text("precious")
    assert visible(tmp_path) == {"mine": "precious"}


@pytest.mark.parametrize(
    "marker",
    ["", "[]", "{}", '{"files": {"../../x": [1, 2, "logs"]}, "unfinished": [".."]}', '{"files": 3, "unfinished": 4}'],
)
def test_a_damaged_or_crafted_marker_removes_nothing(tmp_path, marker):
    out = tmp_path / "a" / "b"
    out.mkdir(parents=True)
    (tmp_path / "x").write_text("x")
    (out / "mine").write_text("precious")
    (out / output.MARKER).write_text(marker)
    with pytest.raises(output.OutputRefused):
        write(out, one="1")
    (out / "mine").unlink()
    write(out, one="1")
    assert visible(tmp_path) == {"x": "x", "a/b/one": "1"}


def test_file_managers_may_have_looked(tmp_path):
    write(tmp_path, one="1")
    (tmp_path / ".DS_Store").write_text("x")
    write(tmp_path, one="2")
    assert visible(tmp_path) == {"one": "2", ".DS_Store": "x"}


def test_the_marker_names_files_and_nothing_of_this_machine(tmp_path):
    write(tmp_path / "out", one="1")
    text = (tmp_path / "out" / output.MARKER).read_text()
    assert str(tmp_path) not in text and list(json.loads(text)["files"]) == ["one"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    try:
        for call in (write, output.fresh):
            with pytest.raises(output.OutputRefused, match="cannot write"):
                call(tmp_path / "x")
    finally:
        tmp_path.chmod(0o700)
