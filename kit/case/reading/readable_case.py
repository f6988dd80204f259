"""What the readers need of a case, as a protocol: the case calls the readers, so they must not import it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kit.case.options import Options
    from kit.evidence.workspace import Workspace
    from kit.inventory.inventory import Inventory
    from kit.inventory.zones import Zone
    from kit.tables.runner import Tables


class ReadableCase(Protocol):
    """The part of a case that its readers use."""

    options: Options

    @property
    def found(self) -> Inventory: ...
    @property
    def zones(self) -> Mapping[str, Zone]: ...
    @property
    def workspace(self) -> Workspace: ...
    @property
    def session(self) -> SparkSession: ...
    @property
    def tables(self) -> Tables: ...
    def go_on(self) -> None: ...
    def folder(self, name: str) -> Path: ...
    def files_with(self, name: str) -> Collection[str] | None: ...
