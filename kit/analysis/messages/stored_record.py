"""One record as it is stored: every field, all properties, the beginning of its body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow.dataset as ds

from kit.case import scan
from kit.formats.commitlog import schema

if TYPE_CHECKING:
    from kit.case.case import Case

PREVIEW: Final = 1000
"""Bytes of a body that are shown."""
SHOWN: Final = tuple(name for name in schema.FIELDS if name not in ("body", "properties"))


def stored_record(case: Case, file: str, physical_offset: int) -> dict[str, Any]:
    """Return {field: value} of a record, its `stage`, `properties` as {name: value} and `body`: the first `PREVIEW`
    decompressed bytes, None where they cannot be read. Raise `KeyError` for a file or an offset without a record.
    """
    where = (ds.field("file") == file) & (ds.field("physical_offset") == physical_offset)
    found = scan.table(case, "messages", [*SHOWN, "stage", schema.TEXT], where).to_pylist()
    if not found:
        raise KeyError(f"{file} @ {physical_offset}")
    record = found[0]
    return record | {"properties": schema.as_dict(record.pop(schema.TEXT) or ""), "body": _body(case, record)}


def _body(case: Case, record: dict[str, Any]) -> bytes | None:
    """Return the beginning of a body, read from the commitlog itself: the workspace holds none."""
    from kit.formats.commitlog.segments import examine, messages

    item = case.found.get(record["file"])
    if item is None:
        return None
    try:
        file = examine(item.file, str(item.path), item.base)
        at = record["physical_offset"] - file.base - file.head
        wanted = schema.Wanted(("physical_offset", "body"), offsets=(record["physical_offset"],) * 2)
        for batch in messages(file, max(0, at), at + file.head + 1, wanted):
            for body in batch["body"].to_pylist():
                return None if body is None else bytes(body[:PREVIEW])
    except OSError:  # gone meanwhile; all else of the record is in the workspace
        pass
    return None
