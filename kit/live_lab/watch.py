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

from kit.i18n import Lang, labels
from kit.live_lab.probe import Reading
from kit.live_lab.scenario import Scenario

if TYPE_CHECKING:
    from kit.watch.loop import Watch

BARS: Final = "▁▂▃▄▅▆▇█"
SHOWN: Final = 4
"""Number of last alerts below the view."""
KEPT: Final = 60
"""Number of readings in a line of bars."""
PLAIN_EVERY: Final = 5.0
"""Seconds between two plain lines."""
PHASES: Final = labels("live_lab")["phases"]
SAYS: Final = labels("live_lab")["watch"]
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
        self._watch = self._watch or Watch([self.folder], since=0.0, lang=self.lang, disk=lambda _: (1, 1))
        return [alert_line(alert, self.lang) for alert in self._watch.step()]


class View:
    """Readings of one run, and how they are drawn."""

    def __init__(self, scenario: Scenario, lang: Lang = "en") -> None:
        self.scenario, self.lang = scenario, lang
        self.readings: list[Reading] = []
        self.alerts: list[str] = []
        self.phase = "traffic"

    def add(self, phase: str, reading: Reading) -> None:
        self.phase = phase
        self.readings.append(reading)

    def doubling(self) -> float | None:
        """Return the seconds in which the half topic doubled, None if it grows no faster than the business topics."""
        if not self.readings or self.readings[-1].half <= 2 * self.readings[-1].real:
            return None
        last = self.readings[-1]
        before = [r for r in self.readings if 0 < r.half <= last.half / 2]
        return last.seconds - before[-1].seconds if before else None

    def plain(self) -> str:
        """Return the last reading as one line."""
        r = self.readings[-1]
        return SAYS["line"].say(seconds=r.seconds, phase=PHASES[self.phase], **numbers(r)).render(self.lang)

    def draw(self) -> Panel:
        """Return the view unchanged."""
        title = self.scenario.title.in_(self.lang)
        if not self.readings:
            return Panel(Text(SAYS["starting"].say(title=title).render(self.lang)))
        table = Table.grid(padding=(0, 2))
        table.add_column()
        table.add_column(justify="right")
        table.add_column()
        for name, value in numbers(self.readings[-1]).items():
            course = [numbers(reading)[name] for reading in self.readings[-KEPT:]]
            table.add_row(SAYS[name].in_(self.lang), f"{value:,}", bars(course))
        seconds = self.doubling()
        said = [SAYS["doubled"].say(seconds=seconds).render(self.lang)] if seconds is not None and seconds < 10 else []
        last = self.readings[-1].last
        said = [*self.alerts[-SHOWN:], *said]
        lines = [*said, f"{SAYS['last'].in_(self.lang)}: {last}"] if last else said
        head = f"{self.scenario.name} · {PHASES[self.phase].in_(self.lang)} · {self.readings[-1].seconds:.0f} s"
        # Text, never markup: log lines may contain brackets and control characters.
        notes = [
            Text("".join(c if c.isprintable() else " " for c in line), overflow="ellipsis", no_wrap=True)
            for line in lines
        ]
        return Panel(Group(Text(title), table, *notes), title=head)


def numbers(reading: Reading) -> dict[str, int]:
    """Return what a reading shows, by the name of its sentence."""
    names = ("half", "schedule", "op", "real", "errors", "client_errors")
    return {name: getattr(reading, name) for name in names} | {"store": reading.store_bytes >> 10}


def bars(values: list[int]) -> str:
    """Return a line of bars, the highest the greatest value."""
    top = max(values, default=0)
    return "".join(BARS[value * (len(BARS) - 1) // top] for value in values) if top else ""


@contextmanager
def watching(
    scenario: Scenario, lang: Lang, *, live: bool, console: Console | None = None, folder: Path | None = None
) -> Iterator[Callable[[str, Reading], None]]:
    """Yield the function for `run` to call: with `live` on a terminal a view that redraws itself, else a plain line every few
    seconds on stderr. `folder`: where the run writes; with `live` its alerts are shown as well.
    """
    alarms = Alarms(folder, lang) if live and folder is not None else None
    screen = console or Console(stderr=True)
    view = View(scenario, lang)
    if live and (screen.is_terminal or screen.is_jupyter):
        with Live(view.draw(), console=screen, refresh_per_second=4) as drawn:

            def redraw(phase: str, reading: Reading) -> None:
                view.add(phase, reading)
                view.alerts += alarms.ring(reading.seconds) if alarms else []
                drawn.update(view.draw())

            yield redraw
        return
    screen.print(Text(SAYS["starting"].say(title=scenario.title).render(lang)), soft_wrap=True)
    said = [0.0]

    def tell(phase: str, reading: Reading) -> None:
        view.add(phase, reading)
        for line in alarms.ring(reading.seconds) if alarms else []:
            screen.print(Text(line), soft_wrap=True)
        if reading.seconds - said[0] >= PLAIN_EVERY:
            said[0] = reading.seconds
            screen.print(Text(view.plain()), soft_wrap=True)

    yield tell
