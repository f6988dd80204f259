"""What `doctor` prints: hazards, faults of the releases seen, and for configuration alone a guide to every parameter in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from kit.doctor import Checkup, Hazard
from kit.facts import config
from kit.facts.parameters import Parameter
from kit.inquiry.known import Broker
from kit.report import terminal
from kit.texts import Lang, T

HAZARD: Final = T("hazard", "隐患")
WHERE: Final = T("where", "位置")
BECOMES: Final = T("what it can become", "可能演变为")
SET: Final = T("what to set", "应如何设置")
NOTES: Final = T("Worth knowing (what the release ships with, or close to a limit):", "值得了解（版本自带的默认设置，或接近上限）：")
NOTHING: Final = T("No hazard found in what is here: {settings} settings, {groups} consumer groups looked at.",
                 "现有内容中未发现隐患：已检查 {settings} 项设置、{groups} 个消费者组。")  # fmt: skip
FAULTS: Final = T("Known faults of the releases seen:", "所见版本的已知缺陷：")
RELEASE: Final = T("release", "版本")
FAULT: Final = T("fault", "缺陷")
FIXED: Final = T("fixed in", "修复版本")
NOT_FIXED: Final = T("not fixed", "未修复")
REFERENCE: Final = T("reference", "参考")
SIDES: Final = {"broker": T("broker {version}", "Broker {version}"), "client": T("client {version}", "客户端 {version}")}

GUIDE: Final = T("Every parameter of {broker}; defaults of {version}:", "{broker} 的全部参数；默认值取自 {version}：")
THE_BROKER: Final = T("the broker", "该 Broker")
ANY_RELEASE: Final = T("all releases alike (--broker VERSION names one)", "各版本一致者（可用 --broker VERSION 指定版本）")
PARAMETER: Final = T("parameter", "参数")
VALUE: Final = T("value", "值")
DEFAULT: Final = T("default", "默认值")
MEANING: Final = T("meaning", "含义")
TRADES: Final = T("what it trades", "取舍")
AGAINST: Final = T("contradicts", "相互矛盾")
NOT_HERE: Final = T("not described here", "此处没有说明")


def checkup(found: Checkup, lang: Lang) -> str:
    """Return the tables for a terminal."""
    parts = []
    if found.seen.configuration_only:
        parts += [_guide(broker, lang) for broker in found.seen.brokers]
    hazards = [h for h in found.hazards if h.grade == "hazard"]
    notes = [h for h in found.hazards if h.grade == "note"]
    settings = sum(len(broker.settings.given) for broker in found.seen.brokers)
    parts.append(_hazards(hazards, lang) if hazards else NOTHING.say(settings=settings, groups=len(found.seen.groups)).render(lang) + "\n")
    if notes:
        parts.append(NOTES.in_(lang) + "\n" + _hazards(notes, lang))
    if found.faults:
        parts.append(FAULTS.in_(lang) + "\n" + _faults(found, lang))
    return "\n".join(parts)


def _hazards(rows: Sequence[Hazard], lang: Lang) -> str:
    table = terminal.sheet(HAZARD, WHERE, BECOMES, SET, lang=lang)
    for row in rows:
        becomes = f"{row.cause}: {row.becomes.render(lang)}" if row.cause else row.becomes.render(lang)
        table.add_row(*map(terminal.cell, (f"{row.slug}: {row.what.render(lang)}", row.where(lang), becomes, row.instead.render(lang))))
    return terminal.printed(table)


def _faults(found: Checkup, lang: Lang) -> str:
    table = terminal.sheet(RELEASE, FAULT, FIXED, REFERENCE, lang=lang)
    for fix, version in found.faults:
        fixed = str(fix.fixed) if fix.fixed else NOT_FIXED.in_(lang)
        said = (SIDES[fix.side].say(version=str(version)).render(lang), f"{fix.slug}: {fix.symptom.in_(lang)}", fixed, fix.reference)
        table.add_row(*map(terminal.cell, said))
    return terminal.printed(table)


def _guide(broker: Broker, lang: Lang) -> str:
    against: dict[str, list[str]] = {}
    for conflict in config.conflicts(broker.settings):
        for name in conflict.names:
            against.setdefault(name, []).append(conflict.slug)
    table = terminal.sheet(PARAMETER, VALUE, DEFAULT, MEANING, TRADES, AGAINST, lang=lang)
    for row in config.guide(broker.settings):
        known: Parameter | None = row["parameter"]
        meaning = NOT_HERE.in_(lang) if known is None else f"{known.meaning.in_(lang)} ({known.unit})" if known.unit != "text" else known.meaning.in_(lang)
        trade = known.trade.in_(lang) if known and known.trade else ""
        said = (row["name"], _shown(row["value"]), _shown(row["default"]), meaning, trade, ", ".join(against.get(row["name"], ())))
        table.add_row(*map(terminal.cell, said))
    version = broker.settings.version
    head = GUIDE.say(broker=broker.name or THE_BROKER, version=str(version) if version else ANY_RELEASE).render(lang)
    return terminal.cell(head).plain + "\n" + terminal.printed(table)


def _shown(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
