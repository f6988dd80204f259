"""Spark jobs of a cold triage: every job costs its planning, so questions are shared and small ones are read from the columns."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import kit
from benchmarks.common import keep, unpacked
from kit.spark.doing import begun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BUDGET: Final = 25
"""Jobs a triage of a few hundred megabytes should take at most."""


def of_triage(evidence: Path, workspace: Path, spark: SparkSession | None = None) -> int:
    """Triage an evidence nothing is known of yet; return the jobs that took. `spark`: the session, where one runs."""
    before = begun(spark.sparkContext) if spark is not None else 0
    case = kit.open_case(evidence, workspace)
    kit.triage(case)
    return begun(case.spark.sparkContext) - before


def run(evidence: Path | None = None) -> dict[str, Any]:
    """Return the jobs of a cold triage beside the budget. `evidence`: default the half-topic recording."""
    with tempfile.TemporaryDirectory() as folder:
        found = {"jobs": of_triage(evidence or unpacked("half-topic-blowup"), Path(folder)), "budget": BUDGET}
    keep("jobs", found)
    return found


if __name__ == "__main__":
    for name, value in run(Path(sys.argv[1]) if len(sys.argv) > 1 else None).items():
        print(f"{name:14} {value}")
