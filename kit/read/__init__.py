"""Evidence → Spark tables. Decodes and reports damage; never judges."""

from __future__ import annotations

import importlib
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


def sources() -> list[type[DataSource]]:
    """Return the Spark data sources of the kit, to be registered in a session."""
    return [getattr(importlib.import_module(f"{__name__}.{module}"), name) for module, name in _SOURCES]
