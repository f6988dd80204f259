"""Compiled kernels are code: they come only from a folder that nobody else can write."""

import stat
from pathlib import Path

import pytest

from kit import formats


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / ".cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "home").mkdir(mode=0o755)
    return tmp_path / "home" / ".cache" / "rmq-kit" / "numba"


def test_the_cache_of_the_user_is_made_private(cache):
    assert formats._numba_cache() == str(cache) and stat.S_IMODE(cache.stat().st_mode) == 0o700
    cache.chmod(0o755)
    assert formats._numba_cache() == str(cache) and stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_a_shared_folder_with_the_sticky_bit_may_be_above(cache):
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
