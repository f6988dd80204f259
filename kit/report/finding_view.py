"""One finding of findings.json prepared for the templates: its steps, its numbers as cards or tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from kit import causes
from kit.charts.safe_text import brief
from kit.charts.table import Table, cell
from kit.formats.printed_times import is_local, iso
from kit.i18n import CLOCK, Lang, T, on_clock
from kit.report.labels import HOLDS, INNER, KEYS, PAGE, VERDICTS
from kit.report.notebooks import Story

KEY = T("kind", "种类")
NUMBER = T("value", "值")
COUNTED: Final = "次条个种"
"""Measure words: a Chinese label begins with the one that its number takes, and has none where there is no number."""
MOMENT: Final = re.compile(r"^(\d{4,}-\d\d-\d\d)T([\d:.]+)Z$")
SPANS: Final = ((86_400, "days"), (3_600, "hours"), (60, "minutes"), (1, "seconds"))


def finding_view(finding: Mapping[str, Any], stories: Sequence[Story], lang: Lang) -> dict[str, Any]:
    """Return a finding for the page, with its `stories`. The templates clean and escape every text."""
    icon, name = VERDICTS[finding["verdict"]]
    return {
        "id": finding["cause"],
        **{field: finding[field] for field in ("kind", "verdict", "title", "summary", "missing")},
        "verdict_name": name.in_(lang),
        "icon": icon,
        "window": when(finding["window"], lang),
        "explained_by": list(finding.get("explained_by", ())),
        "steps": [_step(finding["cause"], number, step, lang) for number, step in enumerate(finding["steps"], 1)],
        **_figures(finding, lang),
        "remedies": [{k: brief(v) for k, v in remedy.items()} for remedy in finding["remedies"]],
        "charts": [block for s in stories for block in s.blocks if block["kind"] == "chart"],
        "blocks": [block for s in stories for block in s.blocks if block["kind"] != "chart"],
    }


def _step(cause: str, number: int, step: Mapping[str, Any], lang: Lang) -> dict[str, Any]:
    state, mark, holds = HOLDS[step["holds"]]
    return {
        "place": f"{cause}-{number}",
        "state": state,
        "mark": mark,
        "claim": step["claim"],
        "role": PAGE[step["role"]].in_(lang),
        "holds": PAGE[holds].in_(lang),
        "shown": step["holds"] is True,
        "evidence": [{"file": ref["file"], "place": place(ref, lang), "text": ref["text"]} for ref in step["evidence"]],
    }


def place(ref: Mapping[str, Any], lang: Lang) -> str:
    """Return where in its file a reference leads to; nothing for a whole file."""
    if ref.get("line") is not None:
        return PAGE["line"].say(n=ref["line"]).render(lang)
    offset = ref.get("physical_offset")
    return "" if offset is None else PAGE["byte"].say(n=offset).render(lang)


def _figures(finding: Mapping[str, Any], lang: Lang) -> dict[str, Any]:
    """Return `numbers` (cards), `number_tables` and `not_known` (names), in the order that the cause declares."""
    rank = {name: place for place, name in enumerate(causes.tiles(finding["cause"]))}
    cards: list[dict[str, str]] = []
    tables: list[dict[str, Any]] = []
    unknown: list[str] = []
    for name, value in sorted(finding["figures"].items(), key=lambda each: rank.get(each[0], len(rank))):
        known = causes.figures().get(name)
        label = known.label.in_(lang) if known else name.replace("_", " ")
        alone = label.lstrip(COUNTED) if lang == "zh" else label
        number: Any = None
        if value is None:
            unknown.append(alone)
        elif isinstance(value, Mapping):
            if value and known and known.total:
                number = sum(value.values())
            elif value and known and known.largest:
                largest = max(value, key=value.__getitem__)
                number, label = value[largest], f"{label}: {largest}"
            heads = KEYS.get(name, KEY).in_(lang), NUMBER.in_(lang)
            rows = [
                {heads[0]: key, **(each if isinstance(each, Mapping) else {heads[1]: each})}
                for key, each in value.items()
            ]
            tables += [_table(rows, alone, lang)] if rows else []
        elif isinstance(value, list):
            words = {own: text.in_(lang) for own, text in known.values.items()} if known else {}
            rows = [{key: _readable(words.get(str(each), each), key) for key, each in item.items()} for item in value
                    if isinstance(item, Mapping)]  # fmt: skip
            # Reasons are shown as text, not counted.
            number = None if any("why" in row for row in rows) else len(value)
            tables += [_table(rows, alone, lang)] if rows else []
        else:
            number = _readable(value)
        if number is not None:
            cards.append({"value": cell(number)[0], "label": label})
    return {"numbers": cards, "number_tables": tables, "not_known": unknown}


def _table(rows: Sequence[Mapping[str, Any]], caption: str, lang: Lang) -> dict[str, Any]:
    return Table(pd.DataFrame(rows).astype(object), caption, INNER, lang).as_dict()


def _readable(value: Any, name: str = "") -> Any:
    """Return a time of findings.json as the page writes times, a share in percent; anything else as it is."""
    if name == "share" and isinstance(value, float):
        return f"{value:.0%}"
    return MOMENT.sub(r"\1 \2 UTC", value) if isinstance(value, str) else value


def when(window: Sequence[str] | None, lang: Lang) -> str | None:
    """Return the first and last time of a finding as a sentence, a single time where less than a second is between."""
    if not window:
        return None
    first, last = map(iso, window)
    seconds = (last - first).total_seconds()
    with on_clock("local" if is_local(window[0]) else CLOCK.get()):
        if seconds < 1:
            return PAGE["at"].say(first=first).render(lang)
        size, unit = next(((size, unit) for size, unit in SPANS if seconds >= 2 * size), SPANS[-1])
        span = f"{seconds / size:.{int(size > 1 or seconds < 10)}f}"
        return PAGE["from_to"].say(first=first, last=last, span=span, unit=PAGE[unit]).render(lang)
