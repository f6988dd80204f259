"""Rows of data beside a test: `rows_of(__file__, "name")` are those of that name in the YAML file of the same stem."""

import functools
from pathlib import Path
from typing import Any

import msgspec


@functools.cache
def _tables(file: Path) -> dict[str, Any]:
    return msgspec.yaml.decode(file.read_bytes())


def tables_of(file: str) -> dict[str, Any]:
    """Return all of them by name."""
    return _tables(Path(file).with_suffix(".yaml"))


def rows_of(file: str, name: str) -> Any:
    return tables_of(file)[name]
