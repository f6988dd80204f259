"""Evidence → Spark tables. Decodes and reports damage; never judges."""

from __future__ import annotations

import importlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSource

_SOURCES: Final = (
    ("commitlog", "CommitLogDataSource"),
    ("logs", "LogDataSource"),
    ("consumequeue", "ConsumeQueueDataSource"),
    ("index", "IndexDataSource"),
    ("traces", "TraceDataSource"),
)


def _numba_cache() -> str:
    """A folder for compiled kernels that survives the process and that Spark's workers can write too."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rmq-kit", "numba")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        writable = os.access(cache, os.W_OK)
    except OSError:
        writable = False
    return str(cache if writable else Path(tempfile.gettempdir(), f"rmq-kit-numba-{os.getuid()}"))


# Numba reads this when it is first imported, and every kernel module is below this package.
os.environ.setdefault("NUMBA_CACHE_DIR", _numba_cache())


def data_sources() -> list[type[DataSource]]:
    """Return the Spark data sources of the kit, to be registered in a session."""
    return [getattr(importlib.import_module(f"{__name__}.{module}"), name) for module, name in _SOURCES]
