"""The display of a watch: one line every few seconds, or a table that redraws itself on a terminal."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from kit.i18n import Lang, T, labels, printable
from kit.watch.loop import Figures, Watch

SAYS: Final = labels("watch")["view"]

PRINT_EVERY: Final = 10.0
"""Seconds between two lines where the output is not a terminal."""


def _signs(*names: str) -> Callable[[Figures], int]:
    return lambda figures: sum(figures.signs[name] for name in names)


def _stages(*names: str) -> Callable[[Figures], int]:
    return lambda figures: sum(figures.stages[name] for name in names)


ROWS: Final[tuple[tuple[T, Callable[[Figures], int]], ...]] = (
    (SAYS["half"], _stages("half", "check-back")),
    (SAYS["leaked"], _stages("leaked")),
    (SAYS["put_back"], _signs("put-back-failed", "message-size-exceeded")),
    (SAYS["unanswered"], _signs("check-channel-null", "producer-table-empty")),
    (SAYS["discarded"], _signs("check-discard")),
    (SAYS["dead"], _stages("dlq")),
    (SAYS["refused"], _signs("flow-control")),
    (SAYS["retries"], _stages("retry")),
    (SAYS["lag"], lambda figures: max(figures.lag.values(), default=0)),
    (SAYS["problems"], lambda figures: sum(n for name, n in figures.signs.items() if name.startswith("problem:"))),
    (SAYS["read"], lambda figures: figures.read >> 20),
    (SAYS["unread"], lambda figures: len(figures.unread)),
    (SAYS["skipped"], lambda figures: figures.skipped.total()),
)


def alert_line(alert: dict[str, Any], lang: Lang) -> str:
    """Return an alert as one line."""
    places = [f"{ref['file']}:{ref.get('line', ref.get('physical_offset'))}" for ref in alert["evidence"]]
    values = {"severity": alert["severity"], "cause": alert["cause"], "summary": alert["summary"]}
    return printable(SAYS["alert"].say(time=alert["time"][11:19], where=" ".join(places), **values).render(lang))


class View:
    """The figures now and at the previous line."""

    def __init__(self, watch: Watch, lang: Lang) -> None:
        self.watch, self.lang = watch, lang
        self.before = [0] * len(ROWS)
        self.last: list[str] = []

    def line(self) -> str:
        """Return the current figures, with what is new since the previous line."""
        now = [value(self.watch.figures) for _, value in ROWS]
        parts = [
            f"{name.in_(self.lang)} {count:,}" + (f" (+{count - old:,})" if count > old else "")
            for (name, _), count, old in zip(ROWS, now, self.before, strict=True)
            if count
        ]
        self.before = now
        alerts = f"{SAYS['open'].in_(self.lang)} {len(self.watch.kept.episodes.open)}"
        moment = dt.datetime.fromtimestamp(self.watch.clock(), dt.UTC).strftime("%H:%M:%S")
        return f"{moment} " + " · ".join([*parts, alerts])

    def draw(self) -> Panel:
        table = Table.grid(padding=(0, 2))
        table.add_column()
        table.add_column(justify="right")
        for name, value in ROWS:
            table.add_row(name.in_(self.lang), f"{value(self.watch.figures):,}")
        episodes = [
            Text(printable(f"{each.severity} {each.cause} {' '.join(each.key)}"), overflow="ellipsis", no_wrap=True)
            for each in self.watch.kept.episodes.open.values()
        ]
        told = [Text(text, overflow="ellipsis", no_wrap=True) for text in self.last[-5:]]
        return Panel(Group(table, *episodes[:10], *told), title=SAYS["title"].in_(self.lang))


@contextmanager
def showing(
    watch: Watch, lang: Lang, console: Console | None = None
) -> Iterator[Callable[[list[dict[str, Any]]], None]]:
    """Yield a function to call after each step with its alerts: it redraws a table on a terminal, else prints a line every `PRINT_EVERY` seconds to stderr."""
    screen = console or Console(stderr=True)
    view = View(watch, lang)
    if screen.is_terminal:
        with Live(view.draw(), console=screen, refresh_per_second=2) as drawn:

            def redraw(alerts: list[dict[str, Any]]) -> None:
                view.last += [alert_line(alert, lang) for alert in alerts]
                view.last = view.last[-20:]
                drawn.update(view.draw())

            yield redraw
        return
    printed = -PRINT_EVERY
    named: set[str] = set()

    def tell(alerts: list[dict[str, Any]]) -> None:
        nonlocal printed
        for name, refused in watch.figures.unread.items():
            if name not in named:
                named.add(name)
                screen.print(
                    Text(printable(SAYS["not_read"].say(file=name, why=refused.say(lang)).render(lang))), soft_wrap=True
                )
        for alert in alerts:
            screen.print(Text(alert_line(alert, lang)), soft_wrap=True)
        if watch.clock() - printed >= PRINT_EVERY:
            printed = watch.clock()
            screen.print(Text(view.line()), soft_wrap=True)

    yield tell
