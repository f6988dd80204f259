"""Bytes → Arrow. Decodes and reports damage; never judges."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from pathlib import Path


def _numba_cache() -> str:
    """Choose a folder for compiled kernels that outlives the process, and that only this user can have written: they are loaded as code."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rmq-kit", "numba")
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        cache = cache.parent.resolve() / cache.name
        if _is_private(cache):
            return str(cache)
    except OSError:
        pass
    own = tempfile.mkdtemp(prefix="rmq-kit-numba-")
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return own


def _is_private(folder: Path) -> bool:
    """Return whether nobody else can write into a folder, or put another in its place; withdraw what others may see of it."""
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o022:
        return False
    for parent in (each.stat() for each in folder.parents):
        shared = parent.st_mode & 0o022 and not parent.st_mode & stat.S_ISVTX
        if shared or parent.st_uid not in (0, os.geteuid()):
            return False
    folder.chmod(0o700)
    return os.access(folder, os.W_OK)


# Numba reads this when it is first imported, and every kernel module is below this package. Spark's workers get it from here.
os.environ["NUMBA_CACHE_DIR"] = os.environ.get("NUMBA_CACHE_DIR") or _numba_cache()
