"""The kit's YAML files, read again from beside the compiled modules."""

import datetime as dt
import os
import sys

import pytest

from kit import data

ROWS = b"day: 2019-03-01\ncount: 1\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "KIT", tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "rows.yaml").write_bytes(ROWS)
    return tmp_path


def read():
    return data.read("rows.yaml", dict[str, dt.date | int])


def test_the_second_reading_gives_the_same_and_a_changed_or_damaged_copy_is_not_used(folder):
    assert read() == read() == {"day": dt.date(2019, 3, 1), "count": 1}
    (copy,) = (folder / "__pycache__").iterdir()
    assert copy.suffix == ".msgpack"
    for damaged in (b"", b"\x93\x01", b"\xc1", b"\x01"):
        copy.write_bytes(damaged)
        assert read()["count"] == 1
    (folder / "rows.yaml").write_bytes(ROWS.replace(b"1\n", b"2\n"))
    os.utime(folder / "rows.yaml", ns=(1, 1))
    assert read()["count"] == 2


def test_nothing_is_kept_where_nothing_can_be_written(folder):
    (folder / "__pycache__").write_text("not a folder")
    assert read()["count"] == 1
