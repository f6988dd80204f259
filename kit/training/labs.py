"""The training labs: every module `kit/training/questions_*.py` defines one as `LAB`; they are found automatically."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

import kit.training
from kit.training.question import Lab


@cache
def labs() -> dict[int, Lab]:
    """Return the labs by number."""
    names = sorted(m.name for m in pkgutil.iter_modules(kit.training.__path__) if m.name.startswith("questions_"))
    found = [importlib.import_module(f"kit.training.{name}").LAB for name in names]
    return {lab.number: lab for lab in sorted(found, key=lambda lab: lab.number)}
