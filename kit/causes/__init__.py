"""Causes, neighbours and hazards: one YAML each, `<slug>.yaml` in `root_causes/` or `neighbours/`, and a module beside it where counting is not enough.

How to add one: docs/adding-a-cause.md.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache, partial
from importlib import resources
from typing import Final

import attrs

from kit.causes import texts
from kit.causes.findings import Figure, Finding, Kind
from kit.causes.texts import Texts
from kit.tables.facts import Facts

FOLDERS: Final = ("root_causes", "neighbours")


@attrs.frozen
class Cause:
    """What is declared of a cause, and how it is examined."""

    texts: Texts
    examine: Callable[[Facts], Finding]

    @property
    def slug(self) -> str:
        return self.texts.slug

    @property
    def kind(self) -> Kind:
        return self.texts.kind


def leads_to() -> dict[str, tuple[str, ...]]:
    """Return {cause: the causes it explains}, by slug."""
    return {cause.slug: cause.texts.leads_to for cause in discover()}


@cache
def discover() -> tuple[Cause, ...]:
    """Return every cause, root causes first, then by slug."""
    causes = [
        _cause(folder, file.name.removesuffix(".yaml"))
        for folder in FOLDERS
        for file in resources.files(__name__).joinpath(folder).iterdir()
        if file.name.endswith(".yaml")
    ]
    return tuple(sorted(causes, key=lambda cause: (cause.kind != "root_cause", cause.slug)))


def _cause(folder: str, slug: str) -> Cause:
    declaration = texts.read(folder, slug)
    if declaration.steps:
        return Cause(declaration, partial(_declared, declaration))
    return Cause(declaration, partial(_examined, f"{__name__}.{folder}.{slug.replace('-', '_')}"))


def _examined(module: str, facts: Facts) -> Finding:
    finding: Finding = importlib.import_module(module).examine(facts)
    return finding


def _declared(declaration: Texts, facts: Facts) -> Finding:
    from kit.causes import declared

    return declared.examine(facts, declaration)


def examine(facts: Facts, slug: str) -> Finding:
    """Examine one cause."""
    return next(cause for cause in discover() if cause.slug == slug).examine(facts)


@cache
def tiles(slug: str) -> tuple[str, ...]:
    """Return the figures that a cause declares to be read first, in their order."""
    texts = next((cause.texts for cause in discover() if cause.slug == slug), None)
    return () if texts is None else tuple(name for name, each in texts.figures.items() if each.tile)


def figures() -> dict[str, Figure]:
    """Return every figure by its name, as the causes and the known problems declare them."""
    from kit.causes import known_problems

    declared = {name: figure for cause in discover() for name, figure in cause.texts.declared_figures().items()}
    return declared | known_problems.FIGURES
