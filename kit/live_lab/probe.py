"""What can be read from a running broker's files: entries of consume queues, errors in its logs, bytes on disk. Read-only."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Final

import attrs

from kit.rocketmq import names

UNIT: Final = 20
"""Bytes of a consume queue entry: offset (8), size (4), tags code (8)."""
TROUBLE: Final = re.compile(rb" (?:WARN|ERROR) ")
ERROR: Final = re.compile(rb" ERROR ")
CHUNK: Final = 4 << 20
LINE: Final = 160


@attrs.frozen
class Reading:
    """The state at one time. Counts since the start; `store_bytes`: on disk; `last`: the last warning or error, after its file name."""

    seconds: float
    half: int
    op: int
    schedule: int
    real: int
    errors: int
    warnings: int
    transaction_errors: int
    client_errors: int
    store_bytes: int
    last: str


class Probe:
    """Readings of one run. `store` and `logs` are the broker's, `clients` the folders of the applications."""

    def __init__(self, store: Path, logs: Path, clients: list[Path]) -> None:
        self.store, self.logs, self.clients = store, logs, clients
        self.began = time.monotonic()
        self._at: dict[Path, tuple[int, int]] = {}
        self._errors: dict[str, int] = {}
        self._warnings = 0
        self._last = ""

    def read(self) -> Reading:
        """Read what is new since the last reading."""
        for path in sorted(self.logs.glob("*.log")):
            self._follow(path, path.stem)
        for folder in self.clients:
            for path in sorted(folder.rglob("*.log")):
                self._follow(path, "client")
        queues = self.store / "consumequeue"
        counts = (
            {topic.name: sum(entries(queue) for queue in topic.iterdir()) for topic in queues.iterdir()}
            if queues.is_dir()
            else {}
        )
        system = names.SYSTEM_TOPICS
        real = sum(n for topic, n in counts.items() if topic not in system and not topic.startswith("%"))
        broker_errors = sum(n for name, n in self._errors.items() if name != "client")
        return Reading(
            time.monotonic() - self.began,
            counts.get(names.HALF_TOPIC, 0),
            counts.get(names.OP_TOPIC, 0),
            counts.get(names.SCHEDULE_TOPIC, 0),
            real,
            broker_errors,
            self._warnings,
            self._errors.get("transaction", 0),
            self._errors.get("client", 0),
            on_disk(self.store),
            self._last,
        )

    def _follow(self, path: Path, name: str) -> None:
        """Count the warnings and errors written since the last look. Beyond `CHUNK` bytes the rest is extrapolated; rolled files are left out."""
        try:
            state = path.stat()
            inode, at = self._at.get(path, (state.st_ino, 0))
            if inode != state.st_ino or state.st_size < at:
                at = 0
            fresh = state.st_size - at
            if not fresh:
                return
            with path.open("rb") as file:
                file.seek(at)
                data = file.read(CHUNK)
        except OSError:
            return
        self._at[path] = (state.st_ino, state.st_size)
        scale = max(1.0, fresh / max(1, len(data)))
        errors, all_ = len(ERROR.findall(data)), len(TROUBLE.findall(data))
        self._errors[name] = self._errors.get(name, 0) + round(errors * scale)
        if name != "client":
            self._warnings += round((all_ - errors) * scale)
        if all_:
            line = next(line for line in reversed(data.splitlines()) if TROUBLE.search(line))
            self._last = f"{path.name}: {line.decode('utf-8', 'replace').strip()[:LINE]}"


def entries(queue: Path) -> int:
    """Return how many entries a consume queue folder has, by searching its last file for the first empty one."""
    try:
        files = sorted(path for path in queue.iterdir() if path.name.isdecimal())
        if not files:
            return 0
        # A file may be created in advance, still empty.
        for path in reversed(files):
            filled = _filled(path)
            if filled or path == files[0]:
                return int(path.name) // UNIT + filled
    except OSError:
        pass
    return 0


def _filled(path: Path) -> int:
    low, high = 0, path.stat().st_size // UNIT
    with path.open("rb") as file:
        while low < high:
            middle = (low + high) // 2
            file.seek(middle * UNIT + 8)
            if int.from_bytes(file.read(4), "big") > 0:
                low = middle + 1
            else:
                high = middle
    return low


def on_disk(folder: Path) -> int:
    """Return the bytes a folder takes on disk; mapped files are larger than their written part."""
    total = 0
    for root, _, files in os.walk(folder):
        for name in files:
            try:
                total += (Path(root) / name).lstat().st_blocks * 512
            except OSError:
                continue
    return total
