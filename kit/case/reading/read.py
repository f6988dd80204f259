"""How one table of a case is read: by Spark, or by tasks of this process."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit.case import tables
from kit.case.reading import big_tables, small_tables
from kit.evidence.unread import Unread

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kit.case.reading.readable_case import ReadableCase


def table(
    case: ReadableCase, name: str, spec: tables.Spec, part: Path, *, public: bool = False
) -> DataFrame | list[tables.Task]:
    """Return the frame or the tasks that fill the folder `part` with a table. `public`: with the columns users see,
    not those of the workspace.
    """
    options: dict[str, Any] = {"tz_broker": case.options.tz_broker, "tz_app": case.options.tz_app, "public": public}
    if spec.zoned:
        options["zones"] = {file: zone.zone for file, zone in case.zones.items()}
    for needed in tables.NEEDS.get(name, ()):
        options[needed] = case.folder(needed)
    if name in ("skipped", "traces"):
        options["records"] = case.written_records()
    tables.changed(name, case.found, Unread(str(part)))
    if name not in tables.BY_SPARK:
        return small_tables.tasks(name, case.found, options, part)
    if not public:
        options["adopt"] = partial(case.workspace.adopt_parts, name, part)
    if case.reads_here:
        return big_tables.here(name, case.found, options, part)
    return big_tables.frame(case.spark, name, case.found, options, part)
