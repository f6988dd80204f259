"""What the findings of recordings differ from those kept: `python -m tests.golden NAME… [--cause SLUG] [--update]`.

A NAME is a recording (`half-topic-blowup`), `pastes`, or `all`. Exits 1 on a difference.
"""

import argparse
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import pandas
import pyarrow.dataset
import pyarrow.parquet

sys.path.insert(0, str(Path(__file__).parents[1] / "builders"))

import golden
import recorded

import kit

READERS = (
    (pandas, "read_parquet"), (pyarrow.dataset, "dataset"), (pyarrow.parquet, "ParquetDataset"), (pyarrow.parquet, "ParquetFile"),
    (pyarrow.parquet, "read_table"),
)  # fmt: skip
OPENED = []


def note_readers():
    """From now on `OPENED` has every Parquet that this process opens: with Apache Spark only facts, the tables stay with its executors."""
    for module, name in READERS:
        setattr(module, name, partial(noted, getattr(module, name)))


def noted(read, path, *args, **kwargs):
    OPENED.append(str(path))
    return read(path, *args, **kwargs)


def main():
    at = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__.split("\n")[0])
    at.add_argument(
        "names", nargs="+", choices=("all", *golden.NAMES), metavar="NAME", help="a recording, `pastes`, or `all`"
    )
    at.add_argument("--cause", metavar="SLUG", help="examine only this cause, neighbour or known problem")
    at.add_argument("--update", action="store_true", help="keep what is found instead of comparing")
    at.add_argument("--spark", action="store_true", help="on Apache Spark, with two local cores")
    at.add_argument("--workspace", type=Path, metavar="DIR", help="keep evidence and tables here, for the next time")
    asked = at.parse_args()
    if asked.update and asked.cause:
        at.error("--update keeps whole findings, without --cause")
    how = {"master": "local[2]"} if asked.spark else {}
    names = [each for name in asked.names for each in (golden.NAMES if name == "all" else (name,))]
    different = 0
    if asked.spark:
        note_readers()
    for name in names:
        with tempfile.TemporaryDirectory(prefix="golden-") as folder:
            begun = time.monotonic()
            said = one(name, asked, asked.workspace or Path(folder), Path(folder), how)
            said += [f"opened here: {path}" for path in OPENED if "/facts/" not in path and "/results/" not in path]
            OPENED.clear()
            took = time.monotonic() - begun
        outcome = f"{len(said)} differences" if said else "kept" if asked.update else "as kept"
        print(f"{name}: {outcome} ({took:.1f} s)", *said, sep="\n  ", flush=True)
        different += bool(said)
    return min(different, 1)


def one(name, asked, keep, scratch, how):
    """Return the differences of one recording, or of the pastes; [] if it was updated."""
    if name == golden.PASTES:
        found = golden.pasted(scratch, **how)
    else:
        evidence = keep / "evidence" / name / "evidence"
        if not evidence.is_dir():
            recorded.unpack(name, evidence.parent)
        case = kit.open_case(evidence, keep / "ws", **how)
        if asked.cause:
            expected, actual = golden.load(name)["findings"].get(asked.cause), golden.of_cause(case, asked.cause)
            if expected and actual:
                actual["explained_by"] = expected["explained_by"]
            return golden.of_finding(asked.cause, expected, actual)
        found = golden.digest(kit.triage(case))
    if asked.update:
        golden.file(name).write_text(golden.text(found), encoding="utf-8")
        return []
    return golden.differences(golden.load(name), found)


if __name__ == "__main__":
    sys.exit(main())
