"""The zones of the evidence's files, from what its records and logs say, and the time spans that follow from them."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from kit.case.options import Options
from kit.formats.printed_times import converter
from kit.inventory import inventory as inv
from kit.inventory import spans, zones
from kit.inventory.model import Item
from kit.rocketmq.log_layouts import BROKER_SIDE

Moments = Callable[[set[str]], Iterable[Mapping[str, Any]]]
"""Returns name and `at` (ms) of the stored records with one of these ids or keys."""


def by_file(inventory: inv.Inventory, options: Options, stored: Moments) -> zones.Zones:
    """Return the zone in which each file with floating times is read."""
    items = [item for item in inventory.items if item.replica_of is None]
    brokers = [item for item in items if item.source == "broker" and not options.tz_broker]

    def moments(names: set[str]) -> Mapping[str, tuple[int, ...]]:
        times = defaultdict(list, {name: [*each] for name, each in zones.first_seen(brokers, names).items()})
        for row in stored(names):
            times[row["name"]].append(row["at"])
        return {name: tuple(sorted(each)) for name, each in times.items()}

    return zones.settle(items, moments, options.tz_app)


def zoned(item: Item, options: Options, known: zones.Zones) -> Item:
    """Return a file with the zone its times are read in, and its first and last time in UTC. `known`: `by_file`."""
    if item.kind == "log" and item.first is not None:
        declared = options.tz_broker if item.source in BROKER_SIDE else None
        return attrs.evolve(item, zone=declared or "+08:00")
    zone = known.get(item.replica_of or item.file)
    if item.kind not in inv.TEXTS or (item.replica_of or item.file) not in known:
        return attrs.evolve(item, zone=zone)
    to_utc = converter(zone)
    try:
        first, last = (spans.shift(at, to_utc) for at in spans.printed(Path(item.path), item.bytes, dt.UTC))
    except Exception:  # the file is gone, or no zone can shift the time: the span stays unknown
        first = last = None
    return attrs.evolve(item, zone=zone, first=first, last=last)
