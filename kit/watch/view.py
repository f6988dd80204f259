"""The display of a watch: one line every few seconds, or a table that redraws itself on a terminal."""

from __future__ import annotations

import datetime as dt
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from kit.causes.alerts import STAGE
from kit.i18n import Lang, labels, printable
from kit.rocketmq.catalogue import PROBLEM
from kit.watch.loop import Watch

TEXTS: Final = labels("watch")["view"]
PRINT_EVERY: Final = 10.0
"""Seconds between two lines where the output is not a terminal."""
COUNTED: Final = {
    "half": ("stage:half", "stage:check-back"),
    "leaked": ("stage:leaked",),
    "dead": ("stage:dlq",),
    "retries": ("stage:retry",),
    "put_back": ("put-back-failed", "message-size-exceeded"),
    "unanswered": ("check-channel-null", "producer-table-empty"),
    "discarded": ("check-discard",),
    "refused": ("flow-control",),
}
"""Rows of the table: the signs and the stages of records that they count."""


def numbers(watch: Watch) -> dict[str, int]:
    """Return what is counted, by the name of its heading."""
    figures = watch.figures
    seen = figures.signs | Counter({STAGE + stage: count for stage, count in figures.stages.items()})
    return {
        **{name: sum(seen[each] for each in signs) for name, signs in COUNTED.items()},
        "lag": max(figures.lag.values(), default=0),
        "problems": sum(n for name, n in seen.items() if name.startswith(PROBLEM)),
        "read": figures.read >> 20,
        "unread": len(figures.unread),
        "skipped": sum(place.skipped for place in watch.kept.places.values()),
    }


def alert_line(alert: dict[str, Any], lang: Lang) -> str:
    """Return an alert as one line."""
    places = [f"{ref['file']}:{ref.get('line', ref.get('physical_offset'))}" for ref in alert["evidence"]]
    values = {name: alert[name] for name in ("severity", "cause", "summary")}
    return printable(TEXTS["alert"].say(time=alert["time"][11:19], where=" ".join(places), **values).render(lang))


def line(watch: Watch, lang: Lang) -> str:
    """Return the current figures."""
    counts = {**numbers(watch), "open": len(watch.kept.episodes.open)}
    moment = dt.datetime.fromtimestamp(watch.clock(), dt.UTC).strftime("%H:%M:%S")
    parts = [f"{TEXTS[name].in_(lang)} {n:,}" for name, n in counts.items() if n or name == "open"]
    return f"{moment} " + " · ".join(parts)


def panel(title: str, numbers: Mapping[str, int], notes: Iterable[str]) -> Panel:
    """Return what is redrawn on a terminal: numbers by their headings, and notes in a line each."""
    table = Table.grid(padding=(0, 2))
    for name, count in numbers.items():
        table.add_row(name, f"{count:,}")
    # Text, never markup: log lines may contain brackets and control characters.
    return Panel(Group(table, *(Text(printable(n), overflow="ellipsis", no_wrap=True) for n in notes)), title=title)


@contextmanager
def display(
    screen: Console, draw: Callable[..., Panel] | None, lines: Callable[..., Iterable[str]], begin: Panel | str = ""
) -> Iterator[Callable[..., None]]:
    """Yield a function to call after each step: on a terminal it redraws what `draw` returns, else it prints `lines`."""
    if draw is not None and (screen.is_terminal or screen.is_jupyter):
        with Live(begin, console=screen, refresh_per_second=2) as live:
            yield lambda *step: live.update(draw(*step))
        return

    def show(*step: Any) -> None:
        for text in lines(*step):
            screen.print(Text(printable(text)), soft_wrap=True)

    yield show


def showing(
    watch: Watch, lang: Lang, console: Console | None = None
) -> AbstractContextManager[Callable[[list[dict[str, Any]]], None]]:
    """Show a watch, with its last alerts, after each step."""
    last: deque[str] = deque(maxlen=5)
    printed, named = -PRINT_EVERY, set[str]()

    def draw(alerts: Sequence[dict[str, Any]] = ()) -> Panel:
        last.extend(alert_line(alert, lang) for alert in alerts)
        episodes = [f"{each.severity} {each.cause} {' '.join(each.place)}" for each in watch.kept.episodes.open]
        counts = {TEXTS[name].in_(lang): count for name, count in numbers(watch).items()}
        return panel(TEXTS["title"].in_(lang), counts, (*episodes[:10], *last))

    def lines(alerts: list[dict[str, Any]]) -> Iterator[str]:
        nonlocal printed
        for name in [name for name in watch.figures.unread if name not in named]:
            named.add(name)
            yield TEXTS["not_read"].say(file=name, why=watch.figures.unread[name].say(lang)).render(lang)
        yield from (alert_line(alert, lang) for alert in alerts)
        if watch.clock() - printed >= PRINT_EVERY:
            printed = watch.clock()
            yield line(watch, lang)

    return display(console or Console(stderr=True), draw, lines, draw())
