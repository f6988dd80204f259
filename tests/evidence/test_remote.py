"""Evidence on another file system: copied once, brought up to date, never outside its folder."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import kit
from kit.cli.main import cli
from kit.evidence import remote


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


def test_the_copy_holds_what_lies_there_and_follows_it(bucket, tmp_path):
    copy = remote.fetch(bucket.as_uri(), tmp_path / "ws")
    assert held(copy) == held(bucket)
    untouched = (copy / "broker.conf").stat().st_mtime_ns
    (bucket / "logs" / "broker.log").unlink()
    (bucket / "late.log").write_text("late\n")
    assert remote.fetch(bucket.as_uri(), tmp_path / "ws") == copy
    assert held(copy) == held(bucket)
    assert (copy / "broker.conf").stat().st_mtime_ns == untouched


def test_what_was_cut_off_halfway_is_copied_again(bucket, tmp_path, monkeypatch):
    def breaks(source, target, length):
        target.write(b"half")
        raise OSError("connection lost")

    with monkeypatch.context() as broken:
        broken.setattr(remote.shutil, "copyfileobj", breaks)
        with pytest.raises(OSError, match="connection lost"):
            remote.fetch(bucket.as_uri(), tmp_path / "ws")
    assert held(remote.fetch(bucket.as_uri(), tmp_path / "ws")) == held(bucket)


def test_one_object_is_one_file(bucket, tmp_path):
    copy = remote.fetch((bucket / "broker.conf").as_uri(), tmp_path / "ws")
    assert copy.name == "broker.conf" and copy.read_text().startswith("brokerName")


def test_findings_name_the_uri_and_not_the_copy(bucket, tmp_path):
    case = kit.open_case(bucket.as_uri(), tmp_path / "ws")
    assert case.name == bucket.as_uri() and case.path.is_relative_to(tmp_path / "ws")
    assert {item.file for item in case.unzoned.items} == set(held(bucket))


def test_credentials_are_not_shown():
    shown = remote.without_credentials("s3://AKIA:secret@bucket/incident?endpoint_override=10.0.0.1%3A9000")
    assert shown == "s3://bucket/incident"
    assert [remote.is_remote(each) for each in ("s3://bucket/x", "incident/s3:/x", Path("/x"))] == [True, False, False]


def test_nothing_there_is_one_line(bucket, tmp_path):
    said = CliRunner().invoke(cli, ["inventory", f"{bucket.as_uri()}-not", "--workspace", str(tmp_path / "ws")])
    assert said.exit_code == 2 and "no object found" in said.output and said.output.count("\n") == 1
