"""The tables of records, logs, queues and indexes: read by the kit's Spark data sources."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from kit.case.tables import READS, Task
from kit.evidence.unread import Unread
from kit.formats.commitlog import schema
from kit.formats.logs.schema import LogFile
from kit.formats.printed_times import zone as zone_minutes
from kit.inventory.inventory import Inventory, as_log_files
from kit.rocketmq import names
from kit.spark import log_source
from kit.spark.sources import data_sources, part_name


def _once(read: Callable[..., Any], *arguments: Any) -> list[Any]:
    return [read(*arguments)]


def stores(found: Inventory, unread: Unread, *, replicas: bool = True) -> list[dict[str, Any]]:
    """Return the commit log files in the form the readers take, examined once here instead of in every task."""
    items = found.of_kind("commitlog", "dledger", replicas=replicas)
    if not items:  # kernels take a moment to load
        return []
    from kit.formats.commitlog.segments import examine

    return [
        attrs.asdict(file)
        for item in items
        for file in unread.through(item.file, partial(_once, examine, item.file, str(item.path), item.base))
    ]


def tasks(name: str, found: Inventory, options: dict[str, Any], part: Path) -> list[Task]:
    """Return what reads a big table, cut as its data source cuts it. Parts that were read from the same bytes for other evidence are linked from
    the cache (`adopt`). With `needed`, only files in it are read again.
    """
    source, said = _source(name, found, options, part)
    kind = next(each for each in data_sources() if each.name() == source)
    reader: Any = kind(said).reader(None)  # type: ignore[arg-type]
    parts = reader.partitions()
    needed = options.get("needed")
    if needed is not None:
        parts = [attrs.evolve(each, ranges=tuple(at for at in each.ranges if at[0].file in needed)) for each in parts]
        parts = [each for each in parts if each.ranges]
    # Columns that are dictionary-coded already are cheaper to hand over.
    read = getattr(reader, "rows", reader.read)
    planned = [Task(partial(read, each), part_name(said, each)) for each in parts]
    if adopt := options.get("adopt"):
        adopt([task.name for task in planned])
    return planned


def _source(name: str, found: Inventory, options: dict[str, Any], part: Path) -> tuple[str, dict[str, str]]:
    """Return the data source of a table and its options; files that cannot be read are noted in `part`."""
    unread = Unread(str(part.resolve()))
    source, said = _asked(name, found, options, unread)
    digests = {str(item.path): item.content for item in found.items if item.kind in READS[name] and item.content}
    return source, {**said, "unread": str(unread.folder), "digests": json.dumps(digests)}


def _asked(name: str, found: Inventory, options: dict[str, Any], unread: Unread) -> tuple[str, dict[str, str]]:
    if name == "messages":
        # The body of an op record says which half messages it ends.
        listed = {"files": json.dumps(stores(found, unread))}
        return "rocketmq.commitlog", listed | {"body_topics": names.OP_TOPIC, "columns": ",".join(schema.STORED)}
    if name == "skipped":
        return "rocketmq.commitlog", {"files": json.dumps(stores(found, unread)), "table": "skipped"}
    if name == "traces":
        return "rocketmq.trace", {"files": json.dumps(stores(found, unread, replicas=False))}
    if name in ("consumequeue", "index"):
        return f"rocketmq.{name}", {
            "files": json.dumps([{"file": i.file, "path": i.path} for i in found.of_kind(name, replicas=False)])
        }
    if name == "logs":
        files = [_with_zone(file, options) for file in as_log_files(found)]
        zoned = {zone: options[zone] for zone in ("tz_broker", "tz_app") if options.get(zone)}
        return "rocketmq.log", {"events": "true", "pieces": json.dumps(log_source.plan(files, unread)), **zoned}
    raise KeyError(name)


def _with_zone(file: LogFile, options: dict[str, Any]) -> LogFile:
    """Give a text file the zone that was settled for it; a declared zone is in the options and holds for every file."""
    if not options.get("tz_app"):
        known = zone_minutes(options["zones"].get(file.file))
        file.zone_minutes = known if isinstance(known, int) else None
    return file
