"""Growth: decode and triage of generated evidence from 0.1 GB up, wall time and peak memory of everything that ran.

Sizes in GB of commitlog as arguments (default 0.1, 1, 5, and 1 GB with 1 GB of logs): `python -m benchmarks.growth 1 5 20`.
A size needs a quarter more of disk than its bytes; all of it is removed behind each size, also after an interrupt.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
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
    wanted = int(float(store) * 1e9)
    root = WORK / f"growth-{size}"
    shutil.rmtree(root, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(WORK).free
    if free < (wanted + int(float(text or 0) * 1e9)) * 1.25:
        return {"left out": f"{free / 1e9:.0f} GB free"}
    try:
        generate.write(root / "evidence" / "store" / "commitlog", wanted)
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


def main(sizes: Sequence[str]) -> None:
    """Measure these sizes, and keep each as soon as it is known, beside those of earlier runs."""
    place = WORK / "growth.json"
    results = json.loads(place.read_text())["sizes"] if place.exists() else {}
    for size in sizes:
        results[size] = measure(size)
        print(f"{size:8} {results[size]}", flush=True)
        keep("growth", {"sizes": results})


if __name__ == "__main__":
    main(sys.argv[1:] or DEFAULT)
