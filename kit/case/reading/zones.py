"""The zones of a case's files, settled once and kept, and the time spans that follow from them."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from kit.evidence import workspace as ws
from kit.evidence.unread import QUIET, Unread
from kit.formats.printed_times import converter
from kit.inventory import inventory as inv
from kit.inventory import spans, zones
from kit.rocketmq.log_layouts import BROKER_SIDE

if TYPE_CHECKING:
    from kit.case.reading.readable_case import ReadableCase
    from kit.inventory.model import Item


def by_file(case: ReadableCase, *, from_table: bool) -> dict[str, zones.Zone]:
    """Return the zone in which each file with floating times is read. `from_table`: the table of messages will be
    built anyway.
    """
    key = f"zones-{ws.code_hash(*ws.READING)}-{case.options.digest()}"
    kept = case.workspace.read_json(key)
    if kept is None:
        items = [i for i in case.found.items if i.replica_of is None]
        found = zones.settle(items, partial(_moments, case, from_table), case.options.tz_app)
        kept = [attrs.asdict(zone) for zone in found.values()]
        case.workspace.write_json(key, kept)
    return {zone["file"]: zones.Zone(**zone) for zone in kept}


def _moments(case: ReadableCase, from_table: bool, names: Collection[str]) -> Mapping[str, tuple[int, ...]]:
    """Return the times of the records with these ids or keys."""
    if not names or not case.found.of_kind("commitlog", "dledger"):
        return {}
    from kit.case.reading import big_tables, message_times  # kernels take a moment to load

    if from_table:
        with contextlib.suppress(Exception):  # whoever needs the table will get the error again
            copies = [i.file for i in case.found.of_kind("commitlog", "dledger") if i.replica_of]
            return message_times.in_table(case.folder("messages"), copies, names)
    return message_times.of(big_tables.stores(case.found, Unread(mode=QUIET), replicas=False), names)


def zoned(case: ReadableCase, item: Item) -> Item:
    """Return a file with the zone its times are read in, and its first and last time in UTC."""
    if item.kind == "log" and item.first is not None:
        declared = case.options.tz_broker if item.source in BROKER_SIDE else None
        return attrs.evolve(item, zone=declared or "+08:00")
    known = case.zones.get(item.replica_of or item.file)
    if known is None or item.kind not in inv.TEXTS:
        return attrs.evolve(item, zone=known.zone if known else None)
    to_utc = converter(known.zone)
    try:
        first, last = (spans.shift(at, to_utc) for at in spans.printed(Path(item.path), item.bytes, dt.UTC))
    except Exception:  # the file is gone, or no zone can shift the time: the span stays unknown
        first = last = None
    return attrs.evolve(item, zone=known.zone, first=first, last=last)
