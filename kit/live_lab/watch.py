"""The live view of a run: the half-topic offset, errors and growth; plain lines without a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from kit.i18n import Lang, labels, printable
from kit.live_lab.probe import Reading
from kit.live_lab.scenario import Scenario

if TYPE_CHECKING:
    from kit.watch.loop import Watch

SHOWN: Final = 4
"""Number of last alerts below the view."""
PLAIN_EVERY: Final = 5.0
"""Seconds between two plain lines."""
PHASES: Final = labels("live_lab")["phases"]
TEXTS: Final = labels("live_lab")["watch"]
RINGS_EVERY: Final = 2.0
"""Seconds between two looks of `rmq-kit watch` at the run."""


class Alarms:
    """The alerts of `rmq-kit watch` during a run, whose logs and stores are below `folder` once it has begun."""

    def __init__(self, folder: Path, lang: Lang) -> None:
        self.folder, self.lang = folder, lang
        self._watch: Watch | None = None
        self._looked = -RINGS_EVERY

    def ring(self, seconds: float) -> list[str]:
        """Return the alerts since the last look, as lines."""
        if seconds - self._looked < RINGS_EVERY or not self.folder.is_dir():
            return []
        from kit.watch.loop import Watch
        from kit.watch.view import alert_line

        self._looked = seconds
        # The disk belongs to the user's machine, not to the run.
        self._watch = self._watch or Watch([self.folder], since=0.0, lang=self.lang, disk=lambda _: (1, 0, 1))
        return [alert_line(alert, self.lang) for alert in self._watch.step()]


def numbers(reading: Reading) -> dict[str, int]:
    """Return what a reading shows, by the name of its heading."""
    names = ("half", "schedule", "op", "real", "errors", "client_errors")
    return {name: getattr(reading, name) for name in names} | {"store": reading.store_bytes >> 10}


def panel(scenario: Scenario, lang: Lang, phase: str, reading: Reading, alerts: list[str]) -> Panel:
    """Return the view of a terminal: numbers, the last alerts and the last warning."""
    table = Table.grid(padding=(0, 2))
    for name, value in numbers(reading).items():
        table.add_row(TEXTS[name].in_(lang), f"{value:,}")
    lines = [*alerts[-SHOWN:], *([f"{TEXTS['last'].in_(lang)}: {reading.last}"] if reading.last else [])]
    # Text, never markup: log lines may contain brackets and control characters.
    notes = [Text(printable(line), overflow="ellipsis", no_wrap=True) for line in lines]
    head = f"{scenario.name} · {PHASES[phase].in_(lang)} · {reading.seconds:.0f} s"
    return Panel(Group(Text(scenario.title.in_(lang)), table, *notes), title=head)


@contextmanager
def watching(
    scenario: Scenario, lang: Lang, *, live: bool, console: Console | None = None, folder: Path | None = None
) -> Iterator[Callable[[str, Reading], None]]:
    """Yield the function for `run` to call: with `live` on a terminal it redraws a view, else prints a line every few
    seconds to stderr. `folder`: where the run writes; with `live` its alerts are shown as well.
    """
    alarms = Alarms(folder, lang) if live and folder is not None else None
    screen = console or Console(stderr=True)
    starting = Text(TEXTS["starting"].say(title=scenario.title).render(lang))
    if live and (screen.is_terminal or screen.is_jupyter):
        alerts: list[str] = []
        with Live(Panel(starting), console=screen, refresh_per_second=4) as drawn:

            def redraw(phase: str, reading: Reading) -> None:
                alerts.extend(alarms.ring(reading.seconds) if alarms else [])
                drawn.update(panel(scenario, lang, phase, reading, alerts))

            yield redraw
        return
    screen.print(starting, soft_wrap=True)
    printed = 0.0

    def show(phase: str, reading: Reading) -> None:
        nonlocal printed
        lines = alarms.ring(reading.seconds) if alarms else []
        if reading.seconds - printed >= PLAIN_EVERY:
            printed = reading.seconds
            values = {"seconds": reading.seconds, "phase": PHASES[phase], **numbers(reading)}
            lines.append(TEXTS["line"].say(**values).render(lang))
        for line in lines:
            screen.print(Text(line), soft_wrap=True)

    yield show
