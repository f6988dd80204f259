"""How one table of a case is read: the tasks that Spark runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit.case import tables
from kit.case.reading import big_tables, small_tables
from kit.evidence.unread import Unread

if TYPE_CHECKING:
    from kit.case.reading.readable_case import ReadableCase


def tasks(case: ReadableCase, name: str, spec: tables.Spec, part: Path) -> list[tables.Task]:
    """Return the tasks that fill the folder `part` with a table."""
    options: dict[str, Any] = {"tz_broker": case.options.tz_broker, "tz_app": case.options.tz_app}
    if spec.zoned:
        options["zones"] = {file: zone.zone for file, zone in case.zones.items()}
    if name in ("skipped", "traces"):
        options["needed"] = case.files_with(name)
    tables.changed(name, case.found, Unread(str(part)))
    if name not in tables.BIG:
        return small_tables.tasks(name, case.found, options, part)
    options["adopt"] = partial(case.workspace.adopt_parts, name, part)
    return big_tables.tasks(name, case.found, options, part)
