"""Print all log layouts as the Markdown table of docs/evidence.md: `python tools/layouts.py`."""

from __future__ import annotations

from typing import Final

from kit.rocketmq.log_layouts import LAYOUTS

HEADS: Final = ("layout", "a line", "zone of its times", "resolution", "sample", "reference")
RESOLUTION: Final = {"ms": "milliseconds", "none": "seconds", "seconds twice": "seconds (the fraction repeats them)"}


def table() -> str:
    """Return the table, a row a layout that begins an entry."""
    rows = [
        (_code(x.layout), _code(x.line), x.zone, RESOLUTION[x.fraction], _code(x.example), _cell(x.source))
        for x in LAYOUTS
        if x.entry
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in (HEADS, ("---",) * len(HEADS), *rows))


def _code(text: str) -> str:
    return f"`{_cell(text)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(table())
