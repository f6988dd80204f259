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

from kit.i18n import Lang, labels, printable
from kit.watch.loop import Watch

TEXTS: Final = labels("watch")["view"]
PRINT_EVERY: Final = 10.0
"""Seconds between two lines where the output is not a terminal."""
STAGES: Final = {"half": ("half", "check-back"), "leaked": ("leaked",), "dead": ("dlq",), "retries": ("retry",)}
"""Rows of the table: the stages of records that they count."""
SIGNS: Final = {
    "put_back": ("put-back-failed", "message-size-exceeded"),
    "unanswered": ("check-channel-null", "producer-table-empty"),
    "discarded": ("check-discard",),
    "refused": ("flow-control",),
}
"""Rows of the table: the signs that they count."""


def numbers(watch: Watch) -> dict[str, int]:
    """Return what is counted, by the name of its heading."""
    figures = watch.figures
    return {
        **{name: sum(figures.stages[each] for each in stages) for name, stages in STAGES.items()},
        **{name: sum(figures.signs[each] for each in signs) for name, signs in SIGNS.items()},
        "lag": max(figures.lag.values(), default=0),
        "problems": sum(n for name, n in figures.signs.items() if name.startswith("problem:")),
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


def panel(watch: Watch, lang: Lang, last: list[str]) -> Panel:
    """Return the table of a terminal with open episodes and the last alerts."""
    table = Table.grid(padding=(0, 2))
    for name, count in numbers(watch).items():
        table.add_row(TEXTS[name].in_(lang), f"{count:,}")
    episodes = [f"{each.severity} {each.cause} {' '.join(each.place)}" for each in watch.kept.episodes.open]
    notes = [Text(printable(text), overflow="ellipsis", no_wrap=True) for text in (*episodes[:10], *last)]
    return Panel(Group(table, *notes), title=TEXTS["title"].in_(lang))


@contextmanager
def showing(
    watch: Watch, lang: Lang, console: Console | None = None
) -> Iterator[Callable[[list[dict[str, Any]]], None]]:
    """Yield a function to call after each step: it redraws a table on a terminal, else prints lines to stderr."""
    screen = console or Console(stderr=True)
    if screen.is_terminal:
        last: list[str] = []
        with Live(panel(watch, lang, last), console=screen, refresh_per_second=2) as live:

            def redraw(alerts: list[dict[str, Any]]) -> None:
                last[:] = [*last, *(alert_line(alert, lang) for alert in alerts)][-5:]
                live.update(panel(watch, lang, last))

            yield redraw
        return
    printed = -PRINT_EVERY
    named: set[str] = set()

    def show(alerts: list[dict[str, Any]]) -> None:
        nonlocal printed
        unread = [(name, refused) for name, refused in watch.figures.unread.items() if name not in named]
        named.update(watch.figures.unread)
        texts = [TEXTS["not_read"].say(file=name, why=refused.say(lang)).render(lang) for name, refused in unread]
        texts += [alert_line(alert, lang) for alert in alerts]
        if watch.clock() - printed >= PRINT_EVERY:
            printed = watch.clock()
            texts.append(line(watch, lang))
        for text in texts:
            screen.print(Text(printable(text)), soft_wrap=True)

    yield show
