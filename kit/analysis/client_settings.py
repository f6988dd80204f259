"""Clients described by sources and settings of applications in the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.case.memoize import per_case
from kit.evidence.files import open_readonly
from kit.formats.tables import client_settings
from kit.formats.tables.client_settings import Client

if TYPE_CHECKING:
    from kit.case.case import Case

KINDS: Final = ("source_code", "text", "broker_conf", "log")
"""What sources and settings of applications are recognised as."""


@per_case
def clients(case: Case) -> list[tuple[str, Client]]:
    """Return (file, client) of each; files too large for source code or configuration are left out."""
    items = [item for item in case.found.of_kind(*KINDS, replicas=False) if item.bytes <= client_settings.MOST]
    return [(item.file, client) for item in items for client in _of(item.path, item.file)]


def _of(path: str, name: str) -> list[Client]:
    try:
        with open_readonly(path) as stream:
            return client_settings.read(stream.read(client_settings.MOST).decode("utf-8", "replace"), name)
    except OSError:
        return []  # the inventory names it
