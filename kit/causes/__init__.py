"""Causes, neighbours and hazards: one module each, registered by being in this folder.

A module holds `SLUG`, `KIND`, `LOOKS_LIKE`, `FIGURES` and `examine(case) -> Finding`. Its name is the slug with underscores. How
to add one: docs/adding-a-cause.md.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

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
    """The numbers it gives, in the order a reader sees them: what each counts, and which harm it is."""
    examine: Callable[[Case], Finding]


def leads_to() -> dict[str, tuple[str, ...]]:
    """Return {cause: the causes it explains}: what modules that explain others say in `LEADS_TO`, by slug."""
    return {cause.SLUG: getattr(cause, "LEADS_TO", ()) for cause in discover()}


@cache
def discover() -> tuple[Cause, ...]:
    """Return every cause module in this folder, root causes first, then by slug. A module without `SLUG` is machinery."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = [cast("Cause", module) for module in modules if hasattr(module, "SLUG")]
    return tuple(sorted(found, key=lambda m: (m.KIND != "root_cause", m.SLUG)))


@cache
def figures() -> dict[str, Figure]:
    """Return every figure by its name, as the causes and the known problems declare them."""
    problems = importlib.import_module(f"{__name__}.known_problems")
    return {name: figure for each in (*discover(), problems) for name, figure in each.FIGURES.items()}
