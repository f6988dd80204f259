"""A run while it goes on: records and errors, as the files of a running broker tell them. Read-only."""

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs
import click

from kit.evidence.files import open_raw, walk
from kit.formats import queues
from kit.i18n import Lang, labels
from kit.live_lab.scenario import Scenario
from kit.rocketmq import names

PLAIN_EVERY: Final = 5.0
"""Seconds between two lines."""
PHASES: Final = labels("live_lab")["phases"]
TEXTS: Final = labels("live_lab")["watch"]


@attrs.frozen
class Reading:
    """The state at one time: counts since the start; `store_bytes`: on disk, what is written in mapped files."""

    seconds: float
    half: int = 0
    errors: int = 0
    transaction_errors: int = 0
    client_errors: int = 0
    store_bytes: int = 0


class Probe:
    """Readings of one run. `store` and `logs` are the broker's, `clients` the folders of the applications."""

    def __init__(self, store: Path, logs: Path, clients: list[Path]) -> None:
        self.store, self.logs, self.clients = store, logs, clients
        self.began = time.monotonic()
        self._at: dict[Path, tuple[int, int]] = {}
        self._errors: Counter[str] = Counter()

    def read(self) -> Reading:
        for path in sorted(self.logs.glob("*.log")):
            self._follow(path, path.stem)
        for folder in self.clients:
            for path in sorted(folder.rglob("*.log")):
                self._follow(path, "client")
        half = 0
        for path in self.store.glob(f"consumequeue/{names.HALF_TOPIC}/*/*"):
            with contextlib.suppress(OSError), open_raw(path) as stream:
                half += queues.used(stream)
        errors = {"client_errors": self._errors["client"], "transaction_errors": self._errors["transaction"]}
        broker = self._errors.total() - self._errors["client"]
        store = sum(info.st_blocks * 512 for _, _, info in walk(self.store)[0])
        return Reading(time.monotonic() - self.began, half, broker, **errors, store_bytes=store)

    def _follow(self, path: Path, name: str) -> None:
        """Count the errors written since the last look; rolled files are left out."""
        with contextlib.suppress(OSError), path.open("rb") as file:
            state = os.fstat(file.fileno())
            inode, at = self._at.get(path, (state.st_ino, 0))
            file.seek(at if inode == state.st_ino and state.st_size >= at else 0)
            self._errors[name] += sum(b" ERROR " in line for line in file.read().splitlines())
            self._at[path] = (state.st_ino, file.tell())


def watching(scenario: Scenario, lang: Lang) -> Callable[[str, Reading], None]:
    """Say what starts; return what prints a line of a run every few seconds, of its phase and a reading."""
    printed = 0.0

    def show(phase: str, reading: Reading) -> None:
        nonlocal printed
        if reading.seconds - printed >= PLAIN_EVERY:
            printed = reading.seconds
            values = attrs.asdict(reading) | {"phase": PHASES[phase]}
            click.echo(TEXTS["line"].say(**values).render(lang), err=True)

    click.echo(TEXTS["starting"].say(title=scenario.title).render(lang), err=True)
    return show
