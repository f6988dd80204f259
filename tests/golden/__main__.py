"""What the findings of recordings differ from those kept: `python -m tests.golden NAME… [--cause SLUG] [--update]`.

A NAME is a recording (`half-topic-blowup`), `pastes`, `all`, or a path to any evidence, which is compared with `--expected FILE`.
The kit asked is the one Python imports: `PYTHONPATH=OTHER python tests/golden/__main__.py PATH --expected FILE --update`
writes what another checkout finds. Exits 1 on a difference.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "builders"))

import golden
import recorded

import kit


def main() -> int:
    at = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__.split("\n")[0])
    at.add_argument("names", nargs="+", metavar="NAME", help="a recording, `pastes`, `all`, or a path to evidence")
    at.add_argument("--cause", metavar="SLUG", help="examine only this cause, neighbour or known problem")
    at.add_argument("--update", action="store_true", help="keep what is found instead of comparing")
    at.add_argument("--expected", type=Path, metavar="FILE", help="what a path is compared with, or written to")
    at.add_argument("--spark", action="store_true", help="on Apache Spark, with two local cores")
    at.add_argument("--workspace", type=Path, metavar="DIR", help="keep evidence and tables here, for the next time")
    asked = at.parse_args()
    if asked.update and asked.cause:
        at.error("--update keeps whole findings, without --cause")
    how = {"master": "local[2]"} if asked.spark else {}
    names = [each for name in asked.names for each in (golden.NAMES if name == "all" else (name,))]
    different = 0
    for name in names:
        with tempfile.TemporaryDirectory(prefix="golden-") as folder:
            begun = time.monotonic()
            said = one(name, asked, asked.workspace or Path(folder), Path(folder), how)
            took = time.monotonic() - begun
        print(
            f"{name}: {f'{len(said)} differences' if said else 'kept' if asked.update else 'as kept'} ({took:.1f} s)",
            flush=True,
        )
        for each in said:
            print(f"  {each}", flush=True)
        different += bool(said)
    return min(different, 1)


def one(name: str, asked: argparse.Namespace, keep: Path, scratch: Path, how: dict[str, Any]) -> list[str]:
    """Return the differences of one recording, of the pastes, or of evidence at a path; [] if it was updated or printed."""
    kept = golden.file(name) if name in golden.NAMES else asked.expected
    if name == golden.PASTES:
        found = golden.pasted(scratch, **how)
    else:
        if name in golden.NAMES:
            evidence = keep / "evidence" / name / "evidence"
            if not evidence.is_dir():
                recorded.unpack(name, evidence.parent)
        elif not (evidence := Path(name)).exists():
            raise SystemExit(f"{name} is neither a recording nor a path; recordings: {' '.join(golden.NAMES)}")
        case = kit.open_case(evidence, keep / "ws", **how)
        if asked.cause:
            one = golden.of_cause(case, asked.cause)
            if kept is None:
                print(json.dumps(one, indent=1, ensure_ascii=False))
                return []
            expected = json.loads(kept.read_text(encoding="utf-8"))["findings"].get(asked.cause)
            if expected and one:
                one["explained_by"] = expected["explained_by"]
            return golden.of_finding(asked.cause, expected, one)
        found = golden.digest(kit.triage(case))
    if kept is None:
        print(golden.text(found), end="")
    elif asked.update:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(golden.text(found), encoding="utf-8")
    else:
        return golden.differences(json.loads(kept.read_text(encoding="utf-8")), found)
    return []


if __name__ == "__main__":
    sys.exit(main())
