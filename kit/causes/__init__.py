"""Causes, neighbours and hazards: one YAML each, and a function in a module beside it where counting is not enough.

How to add one: docs/adding-a-cause.md.
"""

from functools import cache
from pathlib import Path

from kit.causes import texts
from kit.causes.texts import Cause, Figure


@cache
def discover() -> tuple[Cause, ...]:
    """Return every cause, root causes first, then by slug."""
    causes = [texts.read(path.parent.name, path.stem) for path in Path(__file__).parent.glob("*/*.yaml")]
    return tuple(sorted(causes, key=lambda cause: (cause.kind != "root_cause", cause.slug)))


def figures() -> dict[str, Figure]:
    """Return every figure by its name, as the causes and the known problems declare them."""
    from kit.causes import known_problems

    declared = {name: figure for cause in discover() for name, figure in cause.figures.items()}
    return declared | known_problems.FIGURES
