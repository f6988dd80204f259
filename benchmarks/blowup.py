"""The recorded blow-up of the half topic going on: its commit log again and again, each round later in time and place."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.common import unpacked
from kit.rocketmq import binary_format as f

SIZE: Final = 721_000_000
"""A million records."""
STORED: Final = f.AT_BORN_HOST + f.HOST_V4
PREPARED: Final = STORED + 8 + f.HOST_V4 + 4


def write(folder: Path, size: int = SIZE) -> Path:
    """Write at least `size` bytes of commit log into `folder/store/commitlog`, as one file; return it."""
    segments = sorted((unpacked("half-topic-blowup") / "evidence" / "broker" / "store" / "commitlog").iterdir())
    data, starts = _records(segments)
    stored = _read(data, starts, STORED)
    span = int(stored.max() - stored.min()) + 1
    target = folder / "store" / "commitlog" / ("0" * f.FILE_NAME_DIGITS)
    target.parent.mkdir(parents=True)
    physical = _read(data, starts, f.AT_PHYSICAL_OFFSET)
    of = dict(zip(physical.tolist(), starts.tolist(), strict=True))
    prepared = _read(data, starts, PREPARED)
    # A record is now where it begins in this file, and what points at one points there.
    pointed = np.array([of.get(at, at) for at in prepared.tolist()], np.int64)
    ends = int(_read(data, starts, f.AT_QUEUE_OFFSET).max()) + 1
    with target.open("wb") as out:
        for round_ in range(-(-size // len(data))):
            made, base = data.copy(), round_ * len(data)
            _write(made, starts, f.AT_PHYSICAL_OFFSET, starts + base)
            _write(made, starts, PREPARED, np.where(prepared > 0, pointed + base, prepared))
            _write(made, starts, f.AT_QUEUE_OFFSET, _read(data, starts, f.AT_QUEUE_OFFSET) + round_ * ends)
            for field in (STORED, f.AT_BORN_HOST - 8):
                _write(made, starts, field, _read(data, starts, field) + round_ * span)
            made.tofile(out)
    return target


def _records(segments: list[Path]) -> tuple[np.ndarray, np.ndarray]:
    """Return the records of these files without what fills their ends, and where each begins."""
    pieces, starts, at = [], [], 0
    for path in segments:
        raw, here = path.read_bytes(), 0
        while here + 8 <= len(raw) and int.from_bytes(raw[here + 4 : here + 8], "big") == f.MAGIC_V1:
            starts.append(at + here)
            here += int.from_bytes(raw[here : here + 4], "big")
        pieces.append(raw[:here])
        at += here
    return np.frombuffer(b"".join(pieces), np.uint8), np.array(starts, np.int64)


def _read(data: np.ndarray, starts: np.ndarray, field: int) -> np.ndarray:
    return data[starts[:, None] + field + np.arange(8)].copy().view(">i8").reshape(-1).astype(np.int64)


def _write(data: np.ndarray, starts: np.ndarray, field: int, values: np.ndarray) -> None:
    data[starts[:, None] + field + np.arange(8)] = values.astype(">i8").view(np.uint8).reshape(-1, 8)
