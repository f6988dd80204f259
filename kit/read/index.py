"""Index files: which key hash points at which record (`store/index/IndexFile`)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from kit.facts import format as f

HEAD: Final = np.dtype(
    [
        ("begin_timestamp", ">i8"),
        ("end_timestamp", ">i8"),
        ("begin_physical_offset", ">i8"),
        ("end_physical_offset", ">i8"),
        ("slots_used", ">i4"),
        ("index_count", ">i4"),
    ]
)
ENTRY: Final = np.dtype([("key_hash", ">i4"), ("physical_offset", ">i8"), ("time_diff", ">i4"), ("prev", ">i4")])
_MOST_MS: Final = 10**13


def header(head: bytes | np.ndarray) -> dict[str, int] | None:
    """Read the 40-byte header; None where its values cannot be those of an index file."""
    buf = np.frombuffer(head, np.uint8) if isinstance(head, (bytes, bytearray, memoryview)) else head
    if len(buf) < f.INDEX_HEADER:
        return None
    row = buf[: f.INDEX_HEADER].view(HEAD)[0]
    facts = {name: int(row[name]) for name in HEAD.names or ()}
    begin, end = facts["begin_timestamp"], facts["end_timestamp"]
    empty = facts["index_count"] in (0, 1) and not (begin or end or facts["begin_physical_offset"] or facts["end_physical_offset"])
    if empty:
        return facts if facts["index_count"] == 1 and facts["slots_used"] == 0 else None
    good = (
        10**12 < begin < _MOST_MS
        # The broker's clock may have stepped back in between, but not by years.
        and abs(end - begin) < 10 * 365 * 86_400_000
        and 0 <= facts["begin_physical_offset"] <= facts["end_physical_offset"] < 1 << 56
        and facts["index_count"] > 1
        and 0 < facts["slots_used"] < facts["index_count"]
    )
    return facts if good else None


def sniff(head: bytes | np.ndarray, size: int | None = None) -> dict[str, Any] | None:
    """Say whether a file's first bytes (and size) are an index file: None, or {"kind": "index", "base": physical offset of its first entry}."""
    facts = header(head)
    if facts is None or (size is not None and (size - f.INDEX_HEADER) % 4):
        return None
    return {"kind": "index", "base": facts["begin_physical_offset"]}
