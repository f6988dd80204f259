"""The declared queries: each file below `silver/` and `gold/` is a table with the name of the file.

`.sql`: one SELECT; `.py` with `query(spark) -> DataFrame` where SQL says it badly, or with `fold(case) -> DataFrame` (pandas) for a small
table worked out from gold tables. A `.py` names what it reads in `READS`, a fold the Arrow columns it returns in `SCHEMA`.
The comment at the head says the grain, the columns with units, the most rows, and where RocketMQ does what is asked for.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Final, Literal

import attrs

HERE: Final = Path(__file__).parent
_COMMENTS: Final = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
_READS: Final = re.compile(r"\b(?:from|join)\s+(\w+)", re.IGNORECASE)
Layer = Literal["silver", "gold"]


@attrs.frozen
class Query:
    """One declared table. `reads`: the tables it is made from; `stored`: silver that is kept as Parquet instead of being a view."""

    name: str
    layer: Layer
    text: str
    reads: tuple[str, ...]
    stored: bool
    module: str | None = None
    """Where its Python is, None for SQL."""

    @property
    def python(self) -> ModuleType:
        assert self.module is not None
        return importlib.import_module(self.module)

    @property
    def is_fold(self) -> bool:
        return self.module is not None and "\ndef fold(" in self.text


@functools.cache
def catalogue() -> Mapping[str, Query]:
    """Return every declared table by name. Raise `ValueError` if two files have one name."""
    found: dict[str, Query] = {}
    for path in sorted(HERE.glob("*/**/*")):
        layer = path.relative_to(HERE).parts[0]
        if path.suffix not in (".sql", ".py") or path.stem == "__init__" or layer not in ("silver", "gold"):
            continue
        if path.stem in found:
            raise ValueError(f"two tables are called {path.stem}")
        found[path.stem] = _query(path, "gold" if layer == "gold" else "silver")
    return found


def _query(path: Path, layer: Layer) -> Query:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".sql":
        named = _READS.findall(_COMMENTS.sub(" ", text))
        stored = layer == "gold" or "-- stored" in text
        return Query(path.stem, layer, text, tuple(dict.fromkeys(named)), stored)
    module = ".".join(("kit", "tables", *path.relative_to(HERE).with_suffix("").parts))
    python = importlib.import_module(module)
    return Query(path.stem, layer, text, tuple(python.READS), layer == "gold" or hasattr(python, "STORED"), module)
