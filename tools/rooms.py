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
    "analysis": 3_820,
    "case": 1_160,
    "causes": 4_390,
    "charts": 1_390,
    "cli": 1_070,
    "collection": 250,
    "evidence": 1_280,
    "explanation": 610,
    "explorer": 570,
    "formats": 4_290,
    "incidents": 290,
    "inventory": 1_350,
    "live_lab": 900,
    "notebook": 1_210,
    "redaction": 900,
    "report": 1_440,
    "rocketmq": 1_680,
    "spark": 990,
    "tables": 620,
    "training": 510,
    "watch": 1_000,
}
"""Python lines a room may have. A room that is not listed has none: a new one is added here."""
TESTS: Final = 14_000
"""Python lines all tests together may have, without the rows of data beside them."""


def lines(paths: list[Path]) -> int:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in paths)


def counted(folder: Path) -> tuple[int, int, int]:
    """Return (modules, lines of Python, lines of data) of a folder."""
    modules = sorted(folder.rglob("*.py"))
    return len(modules), lines(modules), lines([path for path in folder.rglob("*") if path.suffix in DATA])


def rooms() -> dict[str, tuple[int, int, int]]:
    """Return what each room has, the largest first."""
    counts = {folder.name: counted(folder) for folder in (ROOT / "kit").iterdir() if any(folder.rglob("*.py"))}
    return dict(sorted(counts.items(), key=lambda room: -room[1][1]))


def table(counts: dict[str, tuple[int, int, int]]) -> str:
    rows = [(f"`{name}/`", *count, BUDGETS.get(name, 0)) for name, count in counts.items()]
    total = ("all", *map(sum, zip(*counts.values(), strict=True)), sum(BUDGETS.values()))
    tests = ("`tests/`", *counted(ROOT / "tests"), TESTS)
    head = "| room | modules | Python | data | budget of Python |\n|---|---|---|---|---|\n"
    return head + "".join(
        f"| {name} | {n} | {python:,} | {data:,} | {most:,} |\n"
        for name, n, python, data, most in [*rows, total, tests]
    )


def main() -> int:
    """Write the table, or check the budgets."""
    counts = rooms()
    if "--check" not in sys.argv:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(before + BEGIN + table(counts) + END + rest.partition(END)[2], encoding="utf-8")
        return 0
    budgets = [(f"kit/{name}", python, BUDGETS.get(name, 0)) for name, (_, python, _) in counts.items()]
    beyond = [
        f"{name}: {python:,} lines of Python, its budget is {most:,} (tools/rooms.py)"
        for name, python, most in [*budgets, ("tests", counted(ROOT / "tests")[1], TESTS)]
        if python > SLACK * most
    ]
    print("\n".join(beyond), end="\n" if beyond else "")
    return bool(beyond)


if __name__ == "__main__":
    sys.exit(main())
