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
DATA: Final = (".yaml", ".tsv", ".sql")
SLACK: Final = 1.05
BUDGETS: Final[dict[str, int]] = {}
"""Python lines a room may have. What is not listed may not grow either: it has no budget of its own but the sum."""
SUM: Final = 30_000


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
    rows = [*counts.items(), ("**all**", tuple(map(sum, zip(*counts.values(), strict=True))))]
    head = "| room | modules | Python | data |\n|---|---|---|---|\n"
    return head + "".join(f"| {name} | {n} | {python:,} | {data:,} |\n" for name, (n, python, data) in rows)


def main() -> int:
    """Write the table, or check the budgets."""
    counts = rooms()
    if "--check" not in sys.argv:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(before + BEGIN + table(counts) + END + rest.partition(END)[2], encoding="utf-8")
        return 0
    beyond = [f"{name}: {counts[name][1]:,} lines, {most:,} are its budget" for name, most in BUDGETS.items() if counts[name][1] > SLACK * most]
    print("\n".join(beyond), end="\n" if beyond else "")
    return bool(beyond)


if __name__ == "__main__":
    sys.exit(main())
