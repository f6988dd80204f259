"""A triage asks Spark little: each job costs its planning, whatever it counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import recorded

from benchmarks import jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.recordings
def test_a_triage_stays_within_its_budget_of_jobs(tmp_path: Path, spark: SparkSession) -> None:
    evidence = recorded.unpack("half-topic-blowup", tmp_path)
    assert jobs.of_triage(evidence, tmp_path / "workspace", spark) <= jobs.BUDGET
