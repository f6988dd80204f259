"""Facts as data: the YAML files below `facts` and `texts`, each read once into typed rows."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final, TypeVar

import msgspec

from kit import data

Read = TypeVar("Read")

FOLDER: Final[Traversable] = resources.files("kit.rocketmq")


class Row(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """What all rows have in common: unknown fields and values of another type are errors when they are read."""


def facts(name: str, kind: type[Read]) -> Read:
    """Return a file of `facts`. Raise `msgspec.ValidationError`, which names the place."""
    return data.read(f"rocketmq/facts/{name}", kind)
