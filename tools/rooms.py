"""Write how many lines each room of the kit has into docs/architecture.md: `python tools/rooms.py [--check]`.

`--check` writes nothing and fails where a room is more than five percent beyond its budget.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- rooms -->\n", "<!-- /rooms -->\n"
DATA: Final = (".yaml", ".tsv", ".sql", ".txt")
SLACK: Final = 1.05
BUDGETS: Final = {
    "analysis": 6_060,
    "case": 1_520,
    "causes": 7_100,
    "charts": 3_800,
    "cli": 1_400,
    "collection": 500,
    "evidence": 1_800,
    "explanation": 900,
    "explorer": 800,
    "formats": 5_850,
    "incidents": 500,
    "inventory": 2_200,
    "live_lab": 1_500,
    "notebook": 2_700,
    "postmortem": 400,
    "redaction": 1_600,
    "report": 2_200,
    "rocketmq": 2_700,
    "spark": 1_300,
    "tables": 740,
    "training": 1_100,
    "watch": 1_550,
}
"""Python lines a room may have. A room that is not listed has none: a new one is added here."""


def lines(paths: list[Path]) -> int:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in paths)


def rooms() -> dict[str, tuple[int, int, int]]:
    """Return {room: (modules, lines of Python, lines of data)}, the largest first."""
    counts = {}
    for folder in (ROOT / "kit").iterdir():
        modules = sorted(folder.rglob("*.py")) if folder.is_dir() else []
        if modules:
            data = [path for path in folder.rglob("*") if path.suffix in DATA]
            counts[folder.name] = (len(modules), lines(modules), lines(data))
    return dict(sorted(counts.items(), key=lambda room: -room[1][1]))


def table(counts: dict[str, tuple[int, int, int]]) -> str:
    rows = [(f"`{name}/`", *counted, BUDGETS.get(name, 0)) for name, counted in counts.items()]
    total = ("all", *map(sum, zip(*counts.values(), strict=True)), sum(BUDGETS.values()))
    head = "| room | modules | Python | data | budget of Python |\n|---|---|---|---|---|\n"
    return head + "".join(
        f"| {name} | {n} | {python:,} | {data:,} | {most:,} |\n" for name, n, python, data, most in [*rows, total]
    )


def main() -> int:
    """Write the table, or check the budgets."""
    counts = rooms()
    if "--check" not in sys.argv:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(before + BEGIN + table(counts) + END + rest.partition(END)[2], encoding="utf-8")
        return 0
    beyond = [
        f"kit/{name}: {python:,} lines of Python, its budget is {BUDGETS.get(name, 0):,} (tools/rooms.py)"
        for name, (_, python, _) in counts.items()
        if python > SLACK * BUDGETS.get(name, 0)
    ]
    print("\n".join(beyond), end="\n" if beyond else "")
    return bool(beyond)


if __name__ == "__main__":
    sys.exit(main())
