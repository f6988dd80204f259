"""How the tables of a case are read: one task a file for the small ones (configuration, rows, mqadmin outputs, metrics,
thread dumps), the kit's Spark data sources for records, logs, queues and indexes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
import pyarrow as pa

from kit.case import tables
from kit.case.tables import READS, Task
from kit.evidence.files import open_readonly
from kit.evidence.unread import Unread
from kit.formats.commitlog import schema
from kit.formats.logs import thread_dumps
from kit.formats.logs.schema import LogFile
from kit.formats.printed_times import converter
from kit.formats.printed_times import zone as zone_minutes
from kit.formats.tables import business_tables as rows
from kit.formats.tables import configs, host_network, metrics, mqadmin, store_json
from kit.formats.values import batch as fitted
from kit.inventory.inventory import Inventory, as_log_files
from kit.inventory.model import Item
from kit.rocketmq import names
from kit.spark import log_source
from kit.spark.sources import data_sources, part_name

MAX_OUTPUT: Final = 256 << 20
"""How many bytes of an application's output are searched for thread dumps (`kill -3`)."""
MAX_CONFIG: Final = 64 << 20
"""How many bytes of a configuration file are read: thousands of topics take a few megabytes."""
_DAMAGED_JSON: Final = (ValueError, KeyError, TypeError, AttributeError)


def tasks(inventory: Inventory, name: str, options: Mapping[str, Any], part: Path) -> list[Task]:
    """Return the tasks that fill the folder `part` with a table.

    `options`: tz_broker, tz_app, zones {file: zone}, needed (the commit log files to be read again, None for all).
    """
    tables.changed(name, inventory, Unread(str(part)))
    return _big(name, inventory, options, part) if name in tables.BIG else _small(name, inventory, options, part)


# --- small tables -----------------------------------------------------------------------------------------------------


def _small(name: str, inventory: Inventory, options: Mapping[str, Any], part: Path) -> list[Task]:
    """Return the tasks that read a small table, one for each file; what cannot be read is noted in `part`."""
    unread = Unread(str(part))
    return [
        Task(partial(unread.through, item.file, partial(_read, name, item, options)))
        for item in _of_table(name, inventory)
    ]


def _of_table(name: str, inventory: Inventory) -> list[Item]:
    """Return the files that a small table is read from."""
    if name == "threads":
        return [item for item in inventory.of_kind(*READS[name], replicas=False) if _may_dump(item)]
    if name == "offsets":
        # Copies are read too: two equal files of different times show that nothing moved.
        dated = ("consumerOffset", "lmqConsumerOffset")
        items = inventory.of_kind("store_json", "checkpoint")
        return [item for item in items if item.replica_of is None or item.detail.get("name") in dated]
    if name == "config_files":
        settings = [item for item in inventory.of_kind("text", replicas=False) if item.detail.get("settings")]
        return [*inventory.of_kind("broker_conf", "store_json", replicas=False), *settings]
    if name == "metrics":
        return list(inventory.of_metrics())
    return list(inventory.of_mqadmin() if name == "admin" else inventory.of_kind(name, replicas=False))


def _read(name: str, item: Item, options: Mapping[str, Any]) -> Iterable[pa.RecordBatch]:
    """Read one file of a small table. Raise whatever its reader raises."""
    if name in ("rows", "sends"):
        zone = options["zones"].get(item.file)
        wanted = bool(item.detail.get("role"))
        return rows.read(Path(item.path), item.file, item.detail, converter(zone)) if wanted else ()
    if name == "admin":
        reader = mqadmin.parse if item.kind == "mqadmin" else mqadmin.parse_quoted
        return mqadmin.read(item.file, item.path, item.modified, reader)
    if name == "threads":
        return _threads(item, options)
    if name == "network":
        return (host_network.read(item.file, item.path),)
    if name == "metrics":
        # Metrics come from the broker's host, whose zone may differ from that of its logs.
        zone = converter(options.get("tz_broker") or options["zones"].get(item.file))
        return metrics.read(item.file, item.path, zone, short=item.kind != "metrics")
    try:
        if name == "config_files":
            return _records(configs.CONFIGS, configs.configs(item.file, _bytes(item), item.detail, item.kind))
        offsets = configs.offsets(item.file, _bytes(item), item.detail, item.kind)
        return _records(configs.OFFSETS, ({**row, "time": item.modified} for row in offsets))
    except _DAMAGED_JSON:
        if item.kind == "store_json":  # `broken_configs` lists it
            return ()
        raise


def _records(schema: pa.Schema, records: Iterable[dict[str, Any]]) -> list[pa.RecordBatch]:
    rows = list(records)
    return [fitted(rows, schema)] if rows else []


def _may_dump(item: Item) -> bool:
    """Return whether a file may hold thread dumps: a dump, a running info file, or the output of an application."""
    if item.kind in ("thread_dump", "mqadmin"):
        return True
    return item.source in ("app", "text") and item.bytes <= MAX_OUTPUT


def _threads(item: Item, options: Mapping[str, Any]) -> Iterable[pa.RecordBatch]:
    zone = converter(options.get("tz_app") or options["zones"].get(item.file))
    with open_readonly(item.path) as stream:
        raw = stream.read(MAX_OUTPUT)
    dumped = item.kind == "thread_dump" or thread_dumps.MARK in raw or (item.kind == "mqadmin" and b" TID: " in raw)
    return thread_dumps.read(item.file, raw, zone) if dumped else ()


def _bytes(item: Item) -> bytes:
    with open_readonly(item.path) as stream:
        return stream.read(MAX_CONFIG)


def broken_configs(inventory: Inventory) -> list[str]:
    """Return the configuration files that cannot be parsed."""
    broken = []
    for item in inventory.of_kind("store_json"):
        try:
            data = _bytes(item)
            store_json.parse_json(data.decode("utf-8-sig", "replace"))
            for read in (configs.configs, configs.offsets):
                read(item.file, data, item.detail, item.kind)
        except OSError:
            continue  # reported by whoever reads its table
        except Exception:
            broken.append(item.file)
    return broken


# --- big tables -------------------------------------------------------------------------------------------------------


def _once(read: Callable[..., Any], *arguments: Any) -> list[Any]:
    return [read(*arguments)]


def stores(inventory: Inventory, unread: Unread, *, replicas: bool = True) -> list[dict[str, Any]]:
    """Return the commit log files in the form the readers take, examined once here instead of in every task."""
    items = inventory.of_kind("commitlog", "dledger", replicas=replicas)
    if not items:  # kernels take a moment to load
        return []
    from kit.formats.commitlog.segments import examine

    return [
        attrs.asdict(file)
        for item in items
        for file in unread.through(item.file, partial(_once, examine, item.file, str(item.path), item.base))
    ]


def _big(name: str, inventory: Inventory, options: Mapping[str, Any], part: Path) -> list[Task]:
    """Return what reads a big table, cut as its data source cuts it."""
    source, settings = _source(name, inventory, options, part)
    kind = next(each for each in data_sources() if each.name() == source)
    opened: Any = kind(settings)
    parts = opened.tasks()
    needed = options.get("needed")
    if needed is not None:
        parts = [attrs.evolve(each, ranges=tuple(at for at in each.ranges if at[0].file in needed)) for each in parts]
        parts = [each for each in parts if each.ranges]
    return [Task(partial(opened.rows, each), part_name(settings, each)) for each in parts]


def _source(name: str, inventory: Inventory, options: Mapping[str, Any], part: Path) -> tuple[str, dict[str, str]]:
    """Return the data source of a table and its options; files that cannot be read are noted in `part`."""
    unread = Unread(str(part.resolve()))
    source, settings = _asked(name, inventory, options, unread)
    digests = {str(item.path): item.content for item in inventory.items if item.kind in READS[name] and item.content}
    return source, {**settings, "unread": str(unread.folder), "digests": json.dumps(digests)}


def _asked(name: str, inventory: Inventory, options: Mapping[str, Any], unread: Unread) -> tuple[str, dict[str, str]]:
    if name == "messages":
        # The body of an op record says which half messages it ends.
        listed = {"files": json.dumps(stores(inventory, unread))}
        return "rocketmq.commitlog", listed | {"body_topics": names.OP_TOPIC, "columns": ",".join(schema.STORED)}
    if name == "skipped":
        return "rocketmq.commitlog", {"files": json.dumps(stores(inventory, unread)), "table": "skipped"}
    if name == "traces":
        return "rocketmq.trace", {"files": json.dumps(stores(inventory, unread, replicas=False))}
    if name in ("consumequeue", "index"):
        return f"rocketmq.{name}", {
            "files": json.dumps([{"file": i.file, "path": i.path} for i in inventory.of_kind(name, replicas=False)])
        }
    if name == "logs":
        files = [_with_zone(file, options) for file in as_log_files(inventory)]
        zoned = {zone: options[zone] for zone in ("tz_broker", "tz_app") if options.get(zone)}
        return "rocketmq.log", {"events": "true", "pieces": json.dumps(log_source.plan(files, unread)), **zoned}
    raise KeyError(name)


def _with_zone(file: LogFile, options: Mapping[str, Any]) -> LogFile:
    """Give a text file the zone that was settled for it; a declared zone is in the options and holds for every file."""
    if not options.get("tz_app"):
        known = zone_minutes(options["zones"].get(file.file))
        file.zone_minutes = known if isinstance(known, int) else None
    return file
