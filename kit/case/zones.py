"""The zones of a case's files, settled once and kept, and the time spans that follow from them."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from kit.evidence import workspace as ws
from kit.formats.printed_times import converter
from kit.inventory import inventory as inv
from kit.inventory import spans, zones
from kit.rocketmq.log_layouts import BROKER_SIDE
from kit.tables.runner import TableFailed

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.model import Item

_MOMENTS: Final = """
with wanted as (select explode(split(:names, '\\u0002')) as name),
named as (
  select w.name, m.born_timestamp, m.store_timestamp from wanted w join stored_messages m on m.uniq_key = w.name
  union all
  select w.name, m.born_timestamp, m.store_timestamp from wanted w join stored_messages m on m.offset_msg_id = w.name
  union all
  select w.name, m.born_timestamp, m.store_timestamp from wanted w join stored_messages m on m.keys = w.name
), moments as (
  select name, unix_millis(born_timestamp) as at from named
  union
  select name, unix_millis(store_timestamp) as at from named
), ranked as (
  select name, at, row_number() over (partition by name order by at) as nth from moments where at <> 0
)
select name, at from ranked where nth <= 40
"""
"""When the records with some ids or keys were born and stored. A message in a loop has thousands of records."""


def by_file(case: Case) -> dict[str, zones.Zone]:
    """Return the zone in which each file with floating times is read."""
    key = f"zones-{ws.code_hash(*ws.READING)}-{case.options.digest()}"
    kept = case.workspace.read_json(key)
    if kept is None:
        items = [i for i in case.found.items if i.replica_of is None]
        try:
            brokers = [i for i in items if i.source == "broker" and not case.options.tz_broker]
            settled = zones.settle(items, partial(_moments, case, brokers), case.options.tz_app)
        except (OSError, TableFailed):  # whoever needs the table of messages gets the error again
            return zones.settle(items, lambda names: {}, case.options.tz_app)
        kept = [attrs.asdict(zone) for zone in settled.values()]
        case.workspace.write_json(key, kept)
    return {zone["file"]: zones.Zone(**zone) for zone in kept}


def _moments(case: Case, brokers: list[Item], names: set[str]) -> Mapping[str, tuple[int, ...]]:
    """Return the times (ms) of the records with these ids or keys, and of clients with these ids in the brokers' logs."""
    times: dict[str, list[int]] = defaultdict(list)
    times.update({name: [*each] for name, each in zones.first_seen(brokers, names).items()})
    if not names or not case.found.of_kind("commitlog", "dledger"):
        return {name: tuple(each) for name, each in times.items()}
    try:
        rows = case.tables.sql(_MOMENTS, names="\x02".join(sorted(names))).collect()
    except Exception as error:  # the errors of engines share no class
        case.go_on()
        raise TableFailed("stored_messages", error) from error
    for row in rows:
        times[row.name].append(row.at)
    return {name: tuple(sorted(each)) for name, each in times.items()}


def zoned(case: Case, item: Item) -> Item:
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
