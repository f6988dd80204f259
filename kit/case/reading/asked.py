"""What the readers ask of a case: a shape of their own, so that they need not know the case, which calls them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kit.case.options import Options
    from kit.evidence.workspace import Workspace
    from kit.inventory.inventory import Inventory
    from kit.inventory.zones import Zone


class Asked(Protocol):
    """A case, as far as its readers need it."""

    options: Options

    @property
    def found(self) -> Inventory: ...
    @property
    def zones(self) -> Mapping[str, Zone]: ...
    @property
    def workspace(self) -> Workspace: ...
    @property
    def reads_here(self) -> bool: ...
    @property
    def spark(self) -> SparkSession: ...
    def folder(self, name: str) -> Path: ...
    def written_records(self) -> Path | None: ...
