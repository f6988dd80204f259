"""Consume queue files: which unit of the queue points at which record. Plain, batch and extension units."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any, Final

import numpy as np

from kit.facts import format as f

PLAIN: Final = np.dtype([("physical_offset", ">i8"), ("size", ">i4"), ("tags_code", ">i8")])
BATCH: Final = np.dtype(
    [
        ("physical_offset", ">i8"),
        ("size", ">i4"),
        ("tags_code", ">i8"),
        ("store_time", ">i8"),
        ("base_offset", ">i8"),
        ("batch_size", ">i2"),
        ("compacted_offset", ">i4"),
        ("reserved", ">i4"),
    ]
)
EXT: Final = np.dtype([("size", ">i2"), ("tags_code", ">i8"), ("store_time", ">i8"), ("bitmap_size", ">i2")])

_PLACE: Final = re.compile(r"(?:^|/)(consumequeue|batchconsumequeue|consumequeue_ext)/([^/]+)/(\d+)/(\d{20})$")
_KIND: Final = {"consumequeue": "plain", "batchconsumequeue": "batch", "consumequeue_ext": "ext"}
_MOST_OFFSET: Final = 1 << 56
_MS: Final = (10**12, 10**13)
"""2001 to 2286 in milliseconds: what a time in a unit can be."""
_EXT_ADDRESS: Final = -(2**63) + (1 << 48)
"""An address in the extension file is Long.MIN_VALUE + position (`ConsumeQueueExt.decorate`)."""


def place(file: str) -> tuple[str, str, int, int] | None:
    """Read (kind of unit, topic, queue id, first byte's offset) from a path; None where it is not RocketMQ's own."""
    found = _PLACE.search(str(PurePosixPath(file.replace("!/", "/"))))
    return (_KIND[found[1]], found[2], int(found[3]), int(found[4])) if found else None


def sniff(head: bytes | np.ndarray, file: str = "") -> dict[str, Any] | None:
    """Say whether a file's first bytes are a consume queue: None, or {"kind": "consumequeue", "unit": "plain" | "batch" | "ext"}.

    A queue still empty is all zeros, and only its path (`file`) can tell what it is.
    """
    buf = np.frombuffer(head, np.uint8) if isinstance(head, (bytes, bytearray, memoryview)) else head
    if not buf.any():
        known = place(file)
        return {"kind": "consumequeue", "unit": known[0]} if known and len(buf) else None
    for unit, fits in (("plain", _plain), ("batch", _batch), ("ext", _ext)):
        if fits(buf):
            return {"kind": "consumequeue", "unit": unit}
    return None


def _units(buf: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return buf[: len(buf) // dtype.itemsize * dtype.itemsize].view(dtype)


def _ordered(units: np.ndarray) -> np.ndarray | None:
    """The used units, None where what stands there cannot be offsets and sizes of records in store order."""
    filler = (units["physical_offset"] == 0) & (units["size"] == f.CQ_PREFILL_SIZE)
    units = units[~filler] if filler.any() else units
    used = units["size"] != 0
    count = int(used.sum())
    # Used units first, then nothing but zeros.
    if not used[:count].all() or units["physical_offset"][count:].any() or units["tags_code"][count:].any():
        return None
    units = units[:count]
    offsets = units["physical_offset"]
    good = (offsets >= 0).all() and (offsets < _MOST_OFFSET).all() and (np.diff(offsets) > 0).all() and (units["size"] >= f.MIN_RECORD).all()
    return units if good and (count or filler.any()) else None


def _plain(buf: np.ndarray) -> bool:
    units = _ordered(_units(buf, PLAIN))
    if units is None:
        return False
    code = units["tags_code"].astype(np.int64)
    return bool(((np.abs(code) <= 2**31) | ((code > _MS[0]) & (code < _MS[1])) | (code < _EXT_ADDRESS)).all())


def _batch(buf: np.ndarray) -> bool:
    units = _ordered(_units(buf, BATCH))
    if units is None or not len(units):
        return False
    time = units["store_time"]
    return bool((units["batch_size"] > 0).all() and (units["base_offset"] >= 0).all() and (time > _MS[0]).all() and (time < _MS[1]).all())


def _ext(buf: np.ndarray) -> bool:
    at = seen = 0
    while seen < 8 and at + f.EXT_MIN_UNIT <= len(buf):
        unit = buf[at : at + f.EXT_MIN_UNIT].view(EXT)[0]
        size = int(unit["size"])
        if size in (0, f.EXT_END):
            break
        if size < f.EXT_MIN_UNIT or size != f.EXT_MIN_UNIT + int(unit["bitmap_size"]) or not _MS[0] < int(unit["store_time"]) < _MS[1]:
            return False
        at += size
        seen += 1
    return seen > 0
