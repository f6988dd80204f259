"""Bytes → Arrow. Decodes and reports damage; never judges."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def _numba_cache() -> str:
    """Choose a folder for compiled kernels that outlives the process and that Spark's workers can write too."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rmq-kit", "numba")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        writable = os.access(cache, os.W_OK)
    except OSError:
        writable = False
    return str(cache if writable else Path(tempfile.gettempdir(), f"rmq-kit-numba-{os.getuid()}"))


# Numba reads this when it is first imported, and every kernel module is below this package.
os.environ.setdefault("NUMBA_CACHE_DIR", _numba_cache())
