"""The live view of a run: records, errors and growth, as the files of a running broker tell them; plain lines without a
terminal. Read-only.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import attrs
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from kit.evidence.files import walk
from kit.i18n import Lang, labels
from kit.live_lab.scenario import Scenario
from kit.rocketmq import names
from kit.watch import view
from kit.watch.lag import Lags

PLAIN_EVERY: Final = 5.0
"""Seconds between two plain lines."""
PHASES: Final = labels("live_lab")["phases"]
TEXTS: Final = labels("live_lab")["watch"]
TROUBLE: Final = re.compile(rb" (?:WARN|ERROR) ")
LINE: Final = 160


@attrs.frozen
class Reading:
    """The state at one time. `store_bytes`: on disk, where mapped files take what is written in them; `last`: the last
    warning or error; the others since the start.
    """

    seconds: float
    half: int = 0
    op: int = 0
    schedule: int = 0
    real: int = 0
    errors: int = 0
    transaction_errors: int = 0
    client_errors: int = 0
    store_bytes: int = 0
    last: str = ""


class Probe:
    """Readings of one run. `store` and `logs` are the broker's, `clients` the folders of the applications."""

    def __init__(self, store: Path, logs: Path, clients: list[Path]) -> None:
        self.store, self.logs, self.clients = store, logs, clients
        self.began = time.monotonic()
        self._queues = Lags(store, {})
        self._at: dict[Path, tuple[int, int]] = {}
        self._errors: Counter[str] = Counter()
        self._last = ""

    def read(self) -> Reading:
        """Read what is new since the last reading."""
        for path in sorted(self.logs.glob("*.log")):
            self._follow(path, path.stem)
        for folder in self.clients:
            for path in sorted(folder.rglob("*.log")):
                self._follow(path, "client")
        self._queues.look()
        counts: Counter[str] = Counter()
        for (topic, _), end in self._queues.ends.items():
            counts[topic] += end
        real = sum(n for topic, n in counts.items() if topic not in names.SYSTEM_TOPICS and not topic.startswith("%"))
        stored = {
            "half": counts[names.HALF_TOPIC], "op": counts[names.OP_TOPIC], "schedule": counts[names.SCHEDULE_TOPIC],
            "real": real, "store_bytes": sum(info.st_blocks * 512 for _, _, info in walk(self.store)[0]),
        }  # fmt: skip
        errors = {"client_errors": self._errors["client"], "transaction_errors": self._errors["transaction"]}
        broker = self._errors.total() - self._errors["client"]
        seconds = time.monotonic() - self.began
        return Reading(seconds, **stored, **errors, errors=broker, last=self._last)

    def _follow(self, path: Path, name: str) -> None:
        """Count the errors written since the last look; rolled files are left out."""
        with contextlib.suppress(OSError), path.open("rb") as file:
            state = os.fstat(file.fileno())
            inode, at = self._at.get(path, (state.st_ino, 0))
            file.seek(at if inode == state.st_ino and state.st_size >= at else 0)
            lines = [line for line in file.read().splitlines() if TROUBLE.search(line)]
            self._at[path] = (state.st_ino, file.tell())
            self._errors[name] += sum(b" ERROR " in line for line in lines)
            if lines:
                self._last = f"{path.name}: {lines[-1].decode('utf-8', 'replace').strip()[:LINE]}"


def numbers(reading: Reading) -> dict[str, int]:
    """Return what a reading shows, by the name of its heading."""
    names = ("half", "schedule", "op", "real", "errors", "client_errors")
    return {name: getattr(reading, name) for name in names} | {"store": reading.store_bytes >> 10}


def watching(
    scenario: Scenario, lang: Lang, *, live: bool, console: Console | None = None
) -> AbstractContextManager[Callable[[str, Reading], None]]:
    """Show a run, which calls the function with its phase and a reading: with `live` on a terminal it redraws a view,
    else prints a line every few seconds to stderr.
    """
    screen, printed = console or Console(stderr=True), 0.0
    starting = TEXTS["starting"].say(title=scenario.title).render(lang)

    def draw(phase: str, reading: Reading) -> Panel:
        last = [f"{TEXTS['last'].in_(lang)}: {reading.last}"] if reading.last else []
        head = f"{scenario.name} · {PHASES[phase].in_(lang)} · {reading.seconds:.0f} s"
        counts = {TEXTS[name].in_(lang): value for name, value in numbers(reading).items()}
        return view.panel(head, counts, last)

    def lines(phase: str, reading: Reading) -> Iterator[str]:
        nonlocal printed
        if reading.seconds - printed >= PLAIN_EVERY:
            printed = reading.seconds
            values = {"seconds": reading.seconds, "phase": PHASES[phase], **numbers(reading)}
            yield TEXTS["line"].say(**values).render(lang)

    screen.print(Text(starting), soft_wrap=True)
    return view.display(screen, draw if live else None, lines)
