"""What `doctor` prints: hazards, faults of the releases seen, and for configuration alone a guide to every parameter in it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, Final

from kit.analysis.deployment import Broker
from kit.causes import release_advice
from kit.causes.doctor import Checkup
from kit.causes.hazards import Hazard
from kit.i18n import Lang, labels
from kit.report import terminal
from kit.rocketmq import config
from kit.rocketmq.config import Parameter

TEXTS: Final = labels("report")["advice"]

ALIKE: Final = 0.85
"""difflib's ratio from which on a name may be a slip of the pen: one or two letters of ten."""


def checkup(found: Checkup, lang: Lang) -> str:
    """Return the tables for a terminal."""
    parts = []
    if found.seen.configuration_only:
        parts += [_guide(broker, lang) for broker in found.seen.brokers]
    hazards = [h for h in found.hazards if h.grade == "hazard"]
    notes = [h for h in found.hazards if h.grade == "note"]
    settings = sum(len(broker.settings.given) for broker in found.seen.brokers)
    parts.append(
        _hazards(hazards, lang)
        if hazards
        else TEXTS["nothing"].say(settings=settings, groups=len(found.seen.groups)).render(lang) + "\n"
    )
    if notes:
        parts.append(TEXTS["notes"].in_(lang) + "\n" + _hazards(notes, lang))
    if found.faults:
        parts.append(TEXTS["faults"].in_(lang) + "\n" + _faults(found, lang))
    return "\n".join(parts)


def _hazards(rows: Sequence[Hazard], lang: Lang) -> str:
    table = terminal.sheet(TEXTS["hazard"], TEXTS["where"], TEXTS["becomes"], TEXTS["set"], lang=lang)
    for row in rows:
        becomes = f"{row.cause}: {row.becomes.render(lang)}" if row.cause else row.becomes.render(lang)
        table.add_row(
            *map(
                terminal.cell,
                (f"{row.slug}: {row.what.render(lang)}", row.where(lang), becomes, row.instead.render(lang)),
            )
        )
    return terminal.printed(table)


def _faults(found: Checkup, lang: Lang) -> str:
    table = terminal.sheet(*release_advice.COLUMNS.values(), TEXTS["fitting"], lang=lang)
    for each in found.faults:
        table.add_row(*map(terminal.cell, (*each.row(lang), (TEXTS["yes"].in_(lang) if each.fits else ""))))
    return terminal.printed(table)


def _guide(broker: Broker, lang: Lang) -> str:
    against: dict[str, list[str]] = {}
    for conflict in config.conflicts(broker.settings):
        for name in conflict.names:
            against.setdefault(name, []).append(conflict.slug)
    table = terminal.sheet(
        TEXTS["parameter"],
        TEXTS["value"],
        TEXTS["default"],
        TEXTS["meaning"],
        TEXTS["trades"],
        TEXTS["against"],
        lang=lang,
    )
    for row in config.guide(broker.settings):
        known: Parameter | None = row["parameter"]
        meaning = (
            _not_here(row["name"], lang)
            if known is None
            else f"{known.meaning.in_(lang)} ({known.unit})"
            if known.unit != "text"
            else known.meaning.in_(lang)
        )
        trade = known.trade.in_(lang) if known and known.trade else ""
        said = (
            row["name"],
            _shown(row["value"]),
            _shown(row["default"]),
            meaning,
            trade,
            ", ".join(against.get(row["name"], ())),
        )
        table.add_row(*map(terminal.cell, said))
    version = broker.settings.version
    head = (
        TEXTS["guide"]
        .say(broker=broker.name or TEXTS["the_broker"], version=str(version) if version else TEXTS["any_release"])
        .render(lang)
    )
    return terminal.cell(head).plain + "\n" + terminal.printed(table)


def _not_here(name: str, lang: Lang) -> str:
    alike = difflib.get_close_matches(name, config.PARAMETERS, 1, ALIKE)
    return TEXTS["not_here_like"].say(like=alike[0]).render(lang) if alike else TEXTS["not_here"].in_(lang)


def _shown(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
