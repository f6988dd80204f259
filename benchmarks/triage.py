"""The whole way: a cold triage and a second command, wall time and peak memory of everything that ran, beside what Spark needs to start and to
count once.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.common import WORK, keep, unpacked


def resident(root: int) -> int:
    """Return the bytes in memory of a process and its descendants, shared pages counted once each (PSS)."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    total, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        waiting += children.get(pid, [])
        try:
            said = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += next((int(line.split()[1]) * 1024 for line in said.splitlines() if line.startswith("Pss:")), 0)
    return total


def command(*arguments: str) -> dict[str, float]:
    """Run one command of the kit; return seconds and peak MiB."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "kit", *arguments], stdout=subprocess.DEVNULL)
    peak = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.5):
            peak = max(peak, resident(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    process.wait()
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    return {"seconds": round(seconds, 1), "peak_mib": round(peak / 2**20), "exit": process.returncode}


PEER = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").getOrCreate()
spark.read.parquet(*sys.argv[1:]).groupBy("topic").count().collect()
"""


def peer(workspace: Path) -> float:
    """Return the seconds in which a process starts Spark and counts by topic, once, the same records as Parquet."""
    parts = [str(path) for path in workspace.rglob("messages-*/**/*.parquet")]
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", PEER, *parts], check=True, stderr=subprocess.DEVNULL)
    return round(time.perf_counter() - start, 1)


def run(evidence: Path | None = None) -> dict[str, Any]:
    """Return what a cold triage and a second one took, and Spark's start with one `groupBy`. `evidence`: default the half-topic recording."""
    path = evidence or unpacked("half-topic-blowup")
    workspace = WORK / "workspace"
    shutil.rmtree(workspace, ignore_errors=True)
    arguments = ("triage", str(path), "--workspace", str(workspace))
    found: dict[str, Any] = {
        "bytes": sum(p.stat().st_size for p in path.rglob("*") if p.is_file()),
        "cold": command(*arguments),
        "again": command(*arguments),
        "spark": peer(workspace),
    }
    found["ratios"] = {"cold/spark": round(found["cold"]["seconds"] / found["spark"], 2)}
    keep(f"triage-{path.name}", found)
    return found


if __name__ == "__main__":
    for name, value in run(Path(sys.argv[1]) if len(sys.argv) > 1 else None).items():
        print(f"{name:14} {value}")
