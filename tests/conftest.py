"""Fixtures every test may use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

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
