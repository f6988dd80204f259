"""Apache Spark finds what the embedded engine finds: one recording of each documented cause, a backlog, a lost replica, and a healthy system."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "half-topic-blowup", "size-mismatch", "message-identity", "broker-busy", "transaction-consistency",
    "consumer-backlog", "replica-loss", "healthy",
)  # fmt: skip


def run(*command: str, **env: str) -> subprocess.CompletedProcess[str]:
    # A process in which the embedded engine ran cannot start a classic session.
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
    )


@pytest.mark.apache
@pytest.mark.parametrize(
    "names", [("consumer-backlog", "message-identity"), pytest.param(NAMES, marks=pytest.mark.recordings)]
)
def test_the_same_findings(names: tuple[str, ...]) -> None:
    done = run("tests.golden", *names, "--spark")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]


@pytest.mark.apache
def test_every_table_makes_the_same_of_a_few_rows() -> None:
    done = run("pytest", "-q", "-x", "tests/tables", RMQ_KIT_TEST_MASTER="local[2]")
    assert done.returncode == 0, done.stdout[-6000:]
