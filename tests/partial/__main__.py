"""What parts of the recordings say against the whole: `python -m tests.partial [RECORDING…] [--part NAME] [--findings DIR]`.

Each part is triaged in this process; what contradicts the whole (`tests/golden/findings`) is printed. Exits 1 if anything does.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "builders"))

import golden
import partial
import recorded

import kit


def main() -> int:
    at = argparse.ArgumentParser(prog="python -m tests.partial", description=__doc__.split("\n")[0])
    at.add_argument("names", nargs="*", metavar="RECORDING", default=recorded.EVERY)
    at.add_argument("--part", metavar="TEXT", help="only parts whose name contains this")
    at.add_argument("--workspace", type=Path, metavar="DIR", help="keep unpacked recordings here, for the next time")
    at.add_argument("--findings", type=Path, metavar="DIR", help="write findings.json of each part here")
    asked = at.parse_args()
    wrong = 0
    for name in asked.names:
        whole = golden.load(name)
        with tempfile.TemporaryDirectory(prefix="partial-", dir=asked.workspace) as folder:
            evidence = (asked.workspace or Path(folder)) / "evidence" / name / "evidence"
            if not evidence.is_dir():
                recorded.unpack(name, evidence.parent)
            for n, (part, files) in enumerate(partial.parts(evidence).items()):
                if asked.part and asked.part not in part:
                    continue
                begun = time.monotonic()
                place = Path(folder, str(n))
                case = kit.open_case(partial.link(evidence, files, place / "evidence"), place / "ws")
                found = kit.triage(case)
                said = list(partial.contradictions(whole, found))
                print(
                    f"{name} / {part}: {len(said) or 'no'} contradictions ({time.monotonic() - begun:.1f} s)",
                    flush=True,
                )
                for each in said:
                    print(f"  {each}", flush=True)
                if asked.findings:
                    kept = asked.findings / name / f"{part.replace('/', '_')}.json"
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    kept.write_text(json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8")
                wrong += bool(said)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
