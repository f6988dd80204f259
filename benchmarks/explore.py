"""The explorer on a million records and on nine million log lines: seconds until it is ready, milliseconds from a click until
every view of its widget has followed, memory of the kernel. The browser draws beside that.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any, Final

import kit
from benchmarks import blowup, loglines
from benchmarks.common import WORK, keep
from kit.explorer import Selection

LINES: Final = 1_210_000_000
"""Bytes of nine million lines."""


def measure(evidence: Path, workspace: Path) -> dict[str, Any]:
    """Return seconds and MiB of getting ready, milliseconds of each way to point."""
    case = kit.open_case(evidence, workspace)
    began = time.monotonic()
    explorer = kit.explore(case)
    view = explorer.widget
    ready = time.monotonic() - began
    times = next(each.frame["ts"] for each in explorer.parts.values() if len(each.frame))
    chosen = [
        Selection(str(times.quantile(a)), str(times.quantile(b))) for a, b in ((0.3, 0.5), (0.2, 0.6), (0.6, 0.64))
    ]
    chosen += [
        Selection(**{field: value})
        for field in ("levels", "topics", "stages")
        for value in [*explorer.values(field)][:2]
    ]
    taken = []
    for selection in chosen:
        began = time.monotonic()
        view.select(selection)
        taken.append(round(1000 * (time.monotonic() - began)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return {"ready_s": round(ready, 1), "peak_mib": peak, "median_ms": statistics.median(taken), "most_ms": max(taken)}


def run() -> dict[str, Any]:
    """Return what `measure` finds for each evidence, made where it is not there yet."""
    found = {}
    base = Path(os.environ.get("WORK", WORK))
    for name, make in (("blow", blowup.write), ("lines", lambda folder: loglines.write(folder, LINES))):
        evidence = base / name
        if not evidence.exists():
            make(evidence)
        if len(sys.argv) < 2 or name in sys.argv[1:]:
            found[name] = measure(evidence, base / "workspace")
            print(name, found[name], flush=True)
    keep("explore", found)
    return found


if __name__ == "__main__":
    run()
