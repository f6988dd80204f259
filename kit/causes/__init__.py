"""Causes, neighbours and hazards: one module each, registered by being in `root_causes/` or in a folder of `neighbours/`.

A module with a `SLUG` is a cause; it holds `SLUG`, `KIND`, `LOOKS_LIKE`, `FIGURES` and `examine(case) -> Finding`. Its name is the slug with underscores. How
to add one: docs/adding-a-cause.md.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from kit.causes import neighbours, root_causes

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.causes.findings import Figure, Finding, Kind
    from kit.i18n import T


class Cause(Protocol):
    """What every module of this folder offers."""

    SLUG: str
    KIND: Kind
    LOOKS_LIKE: tuple[tuple[str, T], ...]
    """Slugs of causes that leave the same trace, and what tells this one apart from them."""
    FIGURES: dict[str, Figure]
    """The numbers it reports, in the order a reader sees them: what each counts, and which harm it is."""
    examine: Callable[[Case], Finding]


def leads_to() -> dict[str, tuple[str, ...]]:
    """Return {cause: the causes it explains}, by slug, from the `LEADS_TO` of each module."""
    return {cause.SLUG: getattr(cause, "LEADS_TO", ()) for cause in discover()}


@cache
def discover() -> tuple[Cause, ...]:
    """Return every cause module, root causes first, then by slug."""
    modules = [
        importlib.import_module(info.name)
        for folder in (root_causes, neighbours)
        for info in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}.")
    ]
    found = [cast("Cause", module) for module in modules if hasattr(module, "SLUG")]
    return tuple(sorted(found, key=lambda cause: (cause.KIND != "root_cause", cause.SLUG)))


@cache
def figures() -> dict[str, Figure]:
    """Return every figure by its name, as the causes and the known problems declare them."""
    problems = importlib.import_module(f"{__name__}.known_problems")
    return {name: figure for each in (*discover(), problems) for name, figure in each.FIGURES.items()}
