"""What a running broker's files tell: entries of consume queues, errors in logs, bytes on disk. Read-only."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections import Counter
from pathlib import Path
from typing import Final

import attrs

from kit.evidence.files import open_raw, walk
from kit.formats.queues import consumequeue
from kit.rocketmq import names

TROUBLE: Final = re.compile(rb" (?:WARN|ERROR) ")
ERROR: Final = re.compile(rb" ERROR ")
LINE: Final = 160


@attrs.frozen
class Reading:
    """The state at one time. Counts since the start; `store_bytes`: on disk; `last`: the last warning or error."""

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
        self._errors: Counter[str] = Counter()
        self._warnings = 0
        self._last = ""

    def read(self) -> Reading:
        """Read what is new since the last reading."""
        for path in sorted(self.logs.glob("*.log")):
            self._follow(path, path.stem)
        for folder in self.clients:
            for path in sorted(folder.rglob("*.log")):
                self._follow(path, "client")
        counts: Counter[str] = Counter()
        for queue in (self.store / "consumequeue").glob("*/*"):
            counts[queue.parent.name] += entries(queue)
        real = sum(n for topic, n in counts.items() if topic not in names.SYSTEM_TOPICS and not topic.startswith("%"))
        return Reading(
            time.monotonic() - self.began,
            counts[names.HALF_TOPIC],
            counts[names.OP_TOPIC],
            counts[names.SCHEDULE_TOPIC],
            real,
            self._errors.total() - self._errors["client"],
            self._warnings,
            self._errors["transaction"],
            self._errors["client"],
            on_disk(self.store),
            self._last,
        )

    def _follow(self, path: Path, name: str) -> None:
        """Count the warnings and errors written since the last look; rolled files are left out."""
        with contextlib.suppress(OSError), path.open("rb") as file:
            state = os.fstat(file.fileno())
            inode, at = self._at.get(path, (state.st_ino, 0))
            file.seek(at if inode == state.st_ino and state.st_size >= at else 0)
            lines = [line for line in file.read().splitlines() if TROUBLE.search(line)]
            self._at[path] = (state.st_ino, file.tell())
            errors = sum(ERROR.search(line) is not None for line in lines)
            self._errors[name] += errors
            self._warnings += len(lines) - errors if name != "client" else 0
            if lines:
                self._last = f"{path.name}: {lines[-1].decode('utf-8', 'replace').strip()[:LINE]}"


def entries(queue: Path) -> int:
    """Return how many entries a consume queue folder has."""
    with contextlib.suppress(OSError):
        # A file may be created in advance, still empty.
        for path in sorted((path for path in queue.iterdir() if path.name.isdecimal()), reverse=True):
            with open_raw(path) as stream:
                used = consumequeue.used(stream, str(path))
            if used or int(path.name) == 0:
                return (int(path.name) + used) // consumequeue.PLAIN.itemsize
    return 0


def on_disk(folder: Path) -> int:
    """Return the bytes a folder takes on disk; mapped files are larger than their written part."""
    return sum(info.st_blocks * 512 for _, _, info in walk(folder)[0])
