"""Bytes → Arrow. Decodes and reports damage; never judges."""

import atexit
import os
import shutil
import stat
import tempfile
from pathlib import Path


def _numba_cache() -> str:
    """Choose a folder for compiled kernels, which are loaded as code: one that only this user can write."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rmq-kit", "numba")
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        cache = cache.parent.resolve() / cache.name
        if all(map(_is_own, (cache, *cache.parents))) and cache.lstat().st_uid == os.geteuid():
            cache.chmod(0o700)
            return str(cache)
    except OSError:
        pass
    own = tempfile.mkdtemp(prefix="rmq-kit-numba-")
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return own


def _is_own(folder: Path) -> bool:
    """Return whether nobody else can put another folder in the place of one in this."""
    about = folder.lstat()
    shared = about.st_mode & 0o022 and not about.st_mode & stat.S_ISVTX
    return stat.S_ISDIR(about.st_mode) and not shared and about.st_uid in (0, os.geteuid())


# Numba reads this when it is first imported; every kernel module is below this package.
os.environ["NUMBA_CACHE_DIR"] = os.environ.get("NUMBA_CACHE_DIR") or _numba_cache()
