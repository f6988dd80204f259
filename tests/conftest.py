"""Fixtures every test may use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One local session for the whole run."""
    import kit.spark

    session = kit.spark.session()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def log_entries(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[dict[str, Any]]]:
    """The log entries of a recording by its name, known texts included; read once a run."""
    from recorded_logs import entries_of

    folder = tmp_path_factory.mktemp("logs")

    def entries(name: str) -> list[dict[str, Any]]:
        (folder / name).mkdir(exist_ok=True)
        return entries_of(name, folder / name)

    return entries
