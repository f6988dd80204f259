"""Evidence to time on, paired rounds, and the table and JSON they end up in."""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUNDS = 5
HERE = Path(__file__).parent
SAMPLES = HERE.parent / "sample_data"
WORK = HERE.parent / "out" / "bench"


def unpacked(name: str) -> Path:
    """Return the folder of a recording, unpacked once."""
    folder = WORK / name
    if not folder.exists():
        folder.mkdir(parents=True)
        subprocess.run(["tar", "--zstd", "-xf", SAMPLES / f"{name}.tar.zst", "-C", folder], check=True)
    return folder


def paired(**what: Callable[[], None]) -> dict[str, list[float]]:
    """Time each in turn, round by round, so that a slow minute of the machine meets all of them. Seconds; the first
    round warms and is left out.
    """
    times: dict[str, list[float]] = {name: [] for name in what}
    for round_ in range(ROUNDS + 1):
        for name, run in what.items():
            start = time.perf_counter()
            run()
            if round_:
                times[name].append(time.perf_counter() - start)
    return times


def best(times: list[float]) -> dict[str, float]:
    return {"min": round(min(times), 4), "median": round(statistics.median(times), 4), "max": round(max(times), 4)}


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "java": shutil.which("java") is not None,
        "at": time.strftime("%Y-%m-%d"),
    }


def keep(name: str, found: dict[str, Any]) -> None:
    """Write one result beside the others."""
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / f"{name}.json").write_text(json.dumps({"machine": machine(), **found}, indent=1) + "\n")
