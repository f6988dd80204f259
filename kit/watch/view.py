"""What a watch prints: its alerts, and its figures in one line every few seconds."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import click

from kit.causes.alerts import STAGE
from kit.i18n import Lang, labels, printable
from kit.rocketmq.catalogue import PROBLEM
from kit.watch.loop import Watch

TEXTS: Final = labels("watch")["view"]
PRINT_EVERY: Final = 10.0
"""Seconds between two lines of figures."""
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
"""Figures of the line: the signs and the stages of records that they count."""


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


def showing(watch: Watch, lang: Lang) -> Callable[[list[dict[str, Any]]], None]:
    """Return what prints, after each step, files that cannot be read (once), its alerts, and every few seconds a line."""
    printed, named = -PRINT_EVERY, set[str]()

    def show(alerts: list[dict[str, Any]]) -> None:
        nonlocal printed
        unread = {name: why for name, why in watch.figures.unread.items() if name not in named}
        named.update(unread)
        texts = [TEXTS["not_read"].say(file=name, why=why.say(lang)).render(lang) for name, why in unread.items()]
        texts += [alert_line(alert, lang) for alert in alerts]
        if watch.clock() - printed >= PRINT_EVERY:
            printed = watch.clock()
            texts.append(line(watch, lang))
        for text in texts:
            click.echo(printable(text), err=True)

    return show
