"""How the tables of a case are read: one task a file for the small ones (configuration, rows, mqadmin outputs, metrics,
thread dumps), the kit's Spark data sources for records, logs, queues and indexes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
import pyarrow as pa

from kit.case.tables import MAX_OUTPUT, Task, changed, specs
from kit.evidence.files import open_readonly
from kit.evidence.unread import Unread
from kit.formats.commitlog import schema
from kit.formats.logs import thread_dumps
from kit.formats.printed_times import converter
from kit.formats.tables import business_tables as rows
from kit.formats.tables import configs, host_network, metrics, mqadmin, store_json
from kit.formats.values import batch as fitted
from kit.inventory.inventory import Inventory, log_files
from kit.inventory.model import Item
from kit.rocketmq import names
from kit.spark import log_source
from kit.spark.commitlog_source import CommitLogDataSource, TraceDataSource
from kit.spark.queue_sources import ConsumeQueueDataSource, IndexDataSource
from kit.spark.sources import part_name

MAX_CONFIG: Final = 64 << 20
"""How many bytes of a configuration file are read: thousands of topics take a few megabytes."""
_DAMAGED_JSON: Final = (ValueError, KeyError, TypeError, AttributeError)


def tasks(inventory: Inventory, name: str, options: Mapping[str, Any], part: Path) -> list[Task]:
    """Return the tasks that fill the folder `part` with a table.

    `options`: tz_broker, tz_app, zones {file: zone}, needed (the commit log files to be read again, None for all).
    """
    items = specs()[name].files(inventory)
    unread = Unread(str(part.resolve()))  # what cannot be read is noted there
    changed(items, unread)
    if opened := _source(name, items, options, unread):
        return _cut(opened, options.get("needed"))
    return [Task(partial(unread.through, item.file, partial(_read, name, item, options))) for item in items]


# --- small tables: one task a file ------------------------------------------------------------------------------------


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


# --- big tables: tasks of a data source -------------------------------------------------------------------------------


def _once(read: Callable[..., Any], *arguments: Any) -> list[Any]:
    return [read(*arguments)]


def stores(items: Sequence[Item], unread: Unread) -> str:
    """Return commit log files as option `files` of the readers, examined once here instead of in every task."""
    if not items:  # kernels take a moment to load
        return "[]"
    from kit.formats.commitlog.segments import examine

    files = (unread.through(i.file, partial(_once, examine, i.file, str(i.path), i.base)) for i in items)
    return json.dumps([attrs.asdict(file) for each in files for file in each])


def _cut(source: Any, needed: frozenset[str] | None) -> list[Task]:
    """Return what reads a big table, cut as its data source cuts it."""
    parts = source.tasks()
    if needed is not None:
        parts = [attrs.evolve(each, ranges=tuple(at for at in each.ranges if at[0].file in needed)) for each in parts]
        parts = [each for each in parts if each.ranges]
    return [Task(partial(source.rows, each), part_name(source.options, each)) for each in parts]


def _source(name: str, items: Sequence[Item], options: Mapping[str, Any], unread: Unread) -> Any:
    """Return the data source of a big table, None for a small one."""
    known = {"unread": str(unread.folder), "digests": json.dumps({i.path: i.content for i in items if i.content})}
    if name == "messages":
        # The body of an op record says which half messages it ends.
        wanted = {"body_topics": names.OP_TOPIC, "columns": ",".join(schema.STORED)}
        return CommitLogDataSource({**known, **wanted, "files": stores(items, unread)})
    if name == "skipped":
        return CommitLogDataSource({**known, "files": stores(items, unread), "table": "skipped"})
    if name == "traces":
        return TraceDataSource({**known, "files": stores(items, unread)})
    if name in ("consumequeue", "index"):
        kind = ConsumeQueueDataSource if name == "consumequeue" else IndexDataSource
        return kind({**known, "files": json.dumps([{"file": i.file, "path": i.path} for i in items])})
    if name == "logs":
        # A declared zone is in the options and holds for every file.
        files = log_files(items, {} if options.get("tz_app") else options["zones"])
        zoned = {zone: options[zone] for zone in ("tz_broker", "tz_app") if options.get(zone)}
        pieces = json.dumps(log_source.plan(files, unread))
        return log_source.LogDataSource({**known, **zoned, "events": "true", "pieces": pieces})
    return None
