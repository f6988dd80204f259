"""Rows of data beside a test: `rows_of(__file__, "name")` are those of that name in the YAML file of the same stem."""

import functools
from pathlib import Path

import msgspec


@functools.cache
def _tables(file):
    return msgspec.yaml.decode(file.read_bytes())


def tables_of(file):
    """Return all of them by name."""
    return _tables(Path(file).with_suffix(".yaml"))


def rows_of(file, name):
    return tables_of(file)[name]
