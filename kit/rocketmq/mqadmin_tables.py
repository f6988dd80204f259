"""The tables that mqadmin prints (tools/command, `facts/mqadmin_tables.yaml`)."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.data import Row, facts


class _Tables(Row, frozen=True):
    heads: tuple[tuple[str, str], ...]
    meanings: dict[str, T]


_EVERY: Final = facts("mqadmin_tables.yaml", _Tables)
TABLES: Final = _EVERY.heads
"""How a head begins, with one blank between its words, and the command that prints it; the longer ones first."""
MEANINGS: Final = _EVERY.meanings
"""Command → what its table shows."""
PAIRS: Final = "getSyncStateSet"
"""Prints one name and value a line: tools/command/ha/GetSyncStateSetSubCommand."""
