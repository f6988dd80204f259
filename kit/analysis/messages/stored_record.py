"""One record as it is stored: every field, all properties, the beginning of its body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.analysis import refs
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
    record = refs.stored(case, file, physical_offset, (*SHOWN, "stage", schema.TEXT, "body"))
    body = record["body"]
    properties = schema.as_dict(record.pop(schema.TEXT) or "")
    return record | {"properties": properties, "body": None if body is None else bytes(body[:PREVIEW])}
