"""The kit's YAML files, read again from beside the compiled modules; and compiled kernels, which come only from a folder that nobody else can write."""

import datetime as dt
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from kit import data, formats

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
    # Nothing is kept where nothing can be written.
    shutil.rmtree(folder / "__pycache__")
    (folder / "__pycache__").write_text("not a folder")
    assert read()["count"] == 2


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / ".cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "home").mkdir(mode=0o755)
    return tmp_path / "home" / ".cache" / "rmq-kit" / "numba"


def test_the_cache_of_the_user_is_made_private_also_below_a_shared_folder_with_the_sticky_bit(cache):
    assert formats._numba_cache() == str(cache) and stat.S_IMODE(cache.stat().st_mode) == 0o700
    cache.chmod(0o755)
    assert formats._numba_cache() == str(cache) and stat.S_IMODE(cache.stat().st_mode) == 0o700
    cache.parents[2].chmod(0o1777)
    assert formats._numba_cache() == str(cache)


@pytest.mark.parametrize("how", ["others", "group", "parent", "link", "file", "owner", "planted"])
def test_what_others_can_write_is_never_read(cache, how, monkeypatch):
    cache.mkdir(mode=0o700, parents=True)
    if how in ("others", "group"):
        cache.chmod(0o702 if how == "others" else 0o720)
    elif how == "parent":
        cache.parents[2].chmod(0o777)
    elif how in ("link", "file"):
        cache.rmdir()
        _ = cache.symlink_to(cache.parent) if how == "link" else cache.touch()
    elif how == "owner":
        monkeypatch.setattr("os.geteuid", lambda: 4321)
    else:  # where the folder of the user cannot be made, somebody has made the one that comes next
        cache.parent.chmod(0o777)
        (cache.parents[3] / "tmp" / f"rmq-kit-numba-{formats.os.getuid()}").mkdir()
    one, other = Path(formats._numba_cache()), Path(formats._numba_cache())
    assert one != other and {one.parent, other.parent} == {cache.parents[3] / "tmp"}
    assert not list(one.iterdir()) and stat.S_IMODE(one.stat().st_mode) == 0o700
