"""The tables of small files (configuration, rows, mqadmin outputs, metrics, thread dumps), one task for each file."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from kit.case.tables import READS, Task
from kit.evidence.files import open_readonly
from kit.evidence.unread import Unread
from kit.formats.logs import thread_dumps
from kit.formats.printed_times import converter
from kit.formats.tables import business_tables as rows
from kit.formats.tables import configs, host_network, metrics, mqadmin, store_json
from kit.formats.values import batch as fitted
from kit.inventory.inventory import Inventory
from kit.inventory.model import Item

MAX_OUTPUT: Final = 256 << 20
"""How many bytes of an application's output are searched for thread dumps (`kill -3`)."""
MAX_CONFIG: Final = 64 << 20
"""How many bytes of a configuration file are read: thousands of topics take a few megabytes."""
_DAMAGED_JSON: Final = (ValueError, KeyError, TypeError, AttributeError)


def tasks(name: str, found: Inventory, options: dict[str, Any], part: Path) -> list[Task]:
    """Return the tasks that read a small table, one for each file. `options`: tz_broker, tz_app, zones {file: zone}. Files that cannot be read are noted in `part`."""
    unread = Unread(str(part))
    made: list[Task] = [
        Task(partial(unread.through, item.file, partial(_read, name, item, options))) for item in _of_table(name, found)
    ]
    if name == "config_files":
        outputs = found.of_kind("mqadmin", replicas=False)
        made += [Task(partial(unread.through, item.file, partial(_printed_config, item))) for item in outputs]
    return made


def _of_table(name: str, found: Inventory) -> list[Item]:
    """Return the files that a small table is read from."""
    if name == "threads":
        return [item for item in found.of_kind(*READS[name], replicas=False) if _may_dump(item)]
    if name == "offsets":
        # Copies are read too: two equal files of different times show that nothing moved.
        dated = ("consumerOffset", "lmqConsumerOffset")
        items = found.of_kind("store_json", "checkpoint")
        return [item for item in items if item.replica_of is None or item.detail.get("name") in dated]
    if name == "config_files":
        said = [item for item in found.of_kind("text", replicas=False) if item.detail.get("settings")]
        return [*found.of_kind("broker_conf", "store_json", replicas=False), *said]
    if name == "metrics":
        return list(found.of_metrics())
    return list(found.of_mqadmin() if name == "admin" else found.of_kind(name, replicas=False))


def _read(name: str, item: Item, options: dict[str, Any]) -> Iterable[pa.RecordBatch]:
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


def _records(schema: pa.Schema, found: Iterable[dict[str, Any]]) -> list[pa.RecordBatch]:
    kept = list(found)
    return [fitted(kept, schema)] if kept else []


def _may_dump(item: Item) -> bool:
    """Return whether a file may hold thread dumps: a dump, a running info file, or the output of an application."""
    if item.kind in ("thread_dump", "mqadmin"):
        return True
    return item.source in ("app", "text") and item.bytes <= MAX_OUTPUT


def _threads(item: Item, options: dict[str, Any]) -> Iterable[pa.RecordBatch]:
    zone = converter(options.get("tz_app") or options["zones"].get(item.file))
    with open_readonly(item.path) as stream:
        raw = stream.read(MAX_OUTPUT)
    dumped = item.kind == "thread_dump" or thread_dumps.MARK in raw or (item.kind == "mqadmin" and b" TID: " in raw)
    return thread_dumps.read(item.file, raw, zone) if dumped else ()


def _bytes(item: Item) -> bytes:
    with open_readonly(item.path) as stream:
        return stream.read(MAX_CONFIG)


def broken_configs(found: Inventory) -> list[str]:
    """Return the configuration files that cannot be parsed."""
    broken = []
    for item in found.of_kind("store_json"):
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


def _printed_config(item: Item) -> Iterable[pa.RecordBatch]:
    text = _bytes(item).decode(item.detail.get("encoding") or "utf-8", "replace")
    return _records(configs.CONFIGS, configs.broker_config_output(item.file, text))
