"""Growth: decode and triage of generated evidence from 0.1 GB up, wall time and peak memory of everything that ran.

Sizes in GB of commitlog as arguments (default 0.1 1 5); `1+1` adds 1 GB of logs. 20 GB needs 30 GB of disk.
"""

from __future__ import annotations

import shutil
import sys
from typing import Any

from benchmarks import generate, loglines
from benchmarks.common import WORK, keep
from benchmarks.triage import command

DEFAULT = ("0.1", "1", "5", "1+1")


def measure(size: str) -> dict[str, Any]:
    """Return seconds and peak MiB of `decode` and of a cold `triage`, the bytes of the evidence and of the
    workspace.
    """
    store, _, text = size.partition("+")
    root = WORK / f"growth-{size}"
    shutil.rmtree(root, ignore_errors=True)
    try:
        generate.write(root / "evidence" / "store" / "commitlog", int(float(store) * 1e9))
        if text:
            loglines.write(root / "evidence" / "logs", int(float(text) * 1e9))
        evidence = str(root / "evidence")
        found: dict[str, Any] = {"bytes": sum(p.stat().st_size for p in (root / "evidence").rglob("*") if p.is_file())}
        found["triage"] = command("triage", evidence, "--workspace", str(root / "ws-triage"))
        found["workspace"] = sum(p.stat().st_size for p in (root / "ws-triage").rglob("*") if p.is_file())
        shutil.rmtree(root / "ws-triage")
        found["decode"] = command(
            "decode", evidence, "--out", str(root / "out"), "--workspace", str(root / "ws-decode")
        )
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return found


if __name__ == "__main__":
    results = {}
    for size in sys.argv[1:] or DEFAULT:
        results[size] = measure(size)
        print(f"{size:8} {results[size]}", flush=True)
        keep("growth", {"sizes": results})
