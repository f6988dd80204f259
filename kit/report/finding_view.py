"""One finding of findings.json prepared for the page templates: every text clean, numbers as cards or tables."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd
from markupsafe import Markup, escape

from kit import causes
from kit.charts.safe_text import brief, clean
from kit.charts.table import Table, cell
from kit.formats.printed_times import is_local, iso
from kit.i18n import IN_BRACKETS, LOCAL, Lang, T, offset, own_time
from kit.report.labels import INNER, KEYS, PAGE, VERDICTS
from kit.report.notebooks import Story

MARKS: Final = {True: ("yes", "✓", "holds"), False: ("no", "✗", "fails"), None: ("maybe", "?", "open")}
KEY = T("kind", "种类")
NUMBER = T("value", "值")
COUNTED: Final = "次条个种"
"""Measure words: a Chinese label begins with the one that its number takes, and has none where there is no number."""
NEIGHBOURS: Final = 12
"""Most lines apart that are quoted together."""
BODY: Final = re.compile(r"body=\[[\d, -]{24,}\]?")
NAMED: Final = re.compile(
    r"[A-Z][A-Z0-9_]{3,}|[a-z]+(?:[A-Z][a-z]+)+|(?<![\d.,])\d{2,}(?![\d.,])|[\w.]*[a-z]\.[A-Z]\w+(?:\.\w+)*"
)
"""What a claim names of its evidence: constants and properties, fields, numbers, classes with their methods."""
MOMENT: Final = re.compile(r"^(\d{4,}-\d\d-\d\d)T([\d:.]+)Z$")


def finding_view(finding: Mapping[str, Any], stories: Sequence[Story], lang: Lang) -> dict[str, Any]:
    """Return a finding for the page, with its `stories`."""
    icon, name = VERDICTS[finding["verdict"]]
    first = causes.tiles(finding["cause"])
    rank = {name: place for place, name in enumerate(first)}
    ordered = sorted(finding["figures"], key=lambda name: rank.get(name, len(first)))
    figures = {name: finding["figures"][name] for name in ordered}
    numbers, number_tables, unknown = _figures(figures, lang)
    return {
        "id": clean(finding["cause"]),
        "kind": finding["kind"],
        "verdict": finding["verdict"],
        "verdict_name": name.in_(lang),
        "icon": icon,
        "title": clean(finding["title"]),
        "summary": clean(finding["summary"]),
        "window": when(finding["window"], lang),
        "explained_by": list(finding.get("explained_by", ())),
        "steps": _steps(finding, lang),
        "numbers": numbers,
        "number_tables": number_tables,
        "not_known": unknown,
        "remedies": [{k: brief(clean(v)) for k, v in remedy.items()} for remedy in finding["remedies"]],
        "missing": [{k: clean(v) for k, v in missing.items()} for missing in finding["missing"]],
        "charts": [chart for s in stories for chart in s.charts],
        "blocks": [block for s in stories for block in s.blocks],
    }


def _steps(finding: Mapping[str, Any], lang: Lang) -> list[dict[str, Any]]:
    """Return the steps; what an earlier step quotes comes last in a later one, and is not quoted openly again."""
    steps: list[dict[str, Any]] = []
    quoted: list[Any] = []
    for number, step in enumerate(finding["steps"], 1):
        state, mark, holds = MARKS[step["holds"]]
        evidence = sorted(step["evidence"], key=lambda ref: ref in quoted)
        fresh = [ref for ref in evidence if ref not in quoted]
        quoted += fresh[:1]
        steps.append(
            {
                "place": f"{clean(finding['cause'])}-{number}",
                "state": state,
                "mark": mark,
                "claim": clean(step["claim"]),
                "role": PAGE[step["role"]].in_(lang),
                "holds": PAGE[holds].in_(lang),
                "shown": step["holds"] is True,
                "moments": [],
                "open": min(1, len(fresh)),
                "evidence": [_quote(refs, step["claim"], lang) for refs in _together(evidence)],
            }
        )
    return steps


def _together(evidence: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Return the references, neighbouring lines of one file together: a row and its head, the two sides of a gap."""
    parts: list[list[Mapping[str, Any]]] = []
    for ref in evidence:
        last = parts[-1][-1] if parts else {}
        line, before = ref.get("line"), last.get("line")
        if line and before and ref["file"] == last["file"] and 0 < line - before <= NEIGHBOURS:
            parts[-1].append(ref)
        else:
            parts.append([ref])
    return parts


def _quote(refs: Sequence[Mapping[str, Any]], claim: str, lang: Lang) -> dict[str, Any]:
    text = "\n".join(clean(ref["text"]) for ref in refs)
    short = BODY.sub("body=[…]", text)
    lines, first = [ref["line"] for ref in refs if ref.get("line") is not None], refs[0]
    offset = first.get("physical_offset")
    where = (
        {"lines": lines}
        if len(lines) > 1
        else {"line": lines[0]}
        if lines
        else {}
        if offset is None
        else {"byte": offset}
    )
    place = "".join(PAGE[name].say(n=value).render(lang) for name, value in where.items())
    return {
        "file": clean(first["file"]),
        "place": place,
        "text": _marked(short, claim),
        "whole": text if short != text else "",
    }


def _marked(text: str, claim: str) -> Markup:
    """Return a quoted text with what the claim names marked: fields and their values, numbers, methods."""
    names = "|".join(map(re.escape, sorted(set(NAMED.findall(claim)), key=len, reverse=True)))
    if not names:
        return Markup(escape(text))
    parts = re.split(rf"(?<![\w.])(?<!\d-)(?<!\d\d:)((?:{names})(?:=[^,}}\s]*)?)(?![\w]|-\d|:\d\d)", text)
    return Markup("").join(Markup("<mark>{}</mark>").format(p) if n % 2 else p for n, p in enumerate(parts))


def _figures(figures: Mapping[str, Any], lang: Lang) -> tuple[list[dict[str, str]], list[dict[str, Any]], list[str]]:
    """Return single numbers as cards, the others as tables, and the names of unknown figures."""
    cards: list[dict[str, str]] = []
    tables: list[dict[str, Any]] = []
    unknown: list[str] = []
    known = causes.figures()
    for name, value in figures.items():
        label = known[name].label.in_(lang) if name in known else clean(name.replace("_", " "))
        alone = label.lstrip(COUNTED) if lang == "zh" else label
        if value is None:
            unknown.append(alone)
        elif isinstance(value, Mapping):
            heads = KEYS.get(name, KEY).in_(lang), NUMBER.in_(lang)
            rows = [
                {heads[0]: key, **(inner if isinstance(inner, Mapping) else {heads[1]: inner})}
                for key, inner in value.items()
            ]
            if value and name in known and known[name].total:
                cards.append({"value": f"{sum(value.values()):,}", "label": label})
            elif value and name in known and known[name].largest:
                largest = max(value, key=value.__getitem__)
                cards.append({"value": f"{value[largest]:,}", "label": f"{label}: {clean(largest)}"})
            if rows:
                tables.append(Table(pd.DataFrame(rows).astype(object), alone, INNER, lang).as_dict())
        elif isinstance(value, list):
            # Reasons are shown as text, not counted.
            if not any("why" in item for item in value if isinstance(item, Mapping)):
                cards.append({"value": f"{len(value):,}", "label": label})
            if value and all(isinstance(item, Mapping) for item in value):
                said = {own: text.in_(lang) for own, text in known[name].values.items()} if name in known else {}
                rows = [
                    {
                        key: _readable(said.get(each, each) if isinstance(each, str) else each, key)
                        for key, each in item.items()
                    }
                    for item in value
                ]
                tables.append(Table(pd.DataFrame(rows).astype(object), alone, INNER, lang).as_dict())
        else:
            told = _readable(value)
            word = {"word": "yes"} if isinstance(value, str) and told == value else {}
            cards.append({"value": cell(told)[0], "label": label} | word)
    return cards, tables, unknown


def _readable(value: Any, name: str = "") -> Any:
    """Return the text of a time of findings.json (ISO 8601, UTC) as the page writes times, a share in percent; anything else as it is."""
    if name == "share" and isinstance(value, float):
        return f"{value:.0%}"
    return MOMENT.sub(r"\1 \2 UTC", value) if isinstance(value, str) else value


def when(window: Sequence[str] | None, lang: Lang) -> str | None:
    """Return the first and last time of a finding as a sentence, a single time where less than a second is between.

    In the zone of the evidence where it has one (`+08:00`), as its lines print it, then in UTC.
    """
    if not window:
        return None
    first, last = (iso(t) for t in window)
    begin, end = own_time(first), own_time(last)
    if is_local(window[0]):
        text = _from_to(first, last, LOCAL[lang], lang)
    elif begin is None or end is None:
        text = _from_to(first, last, "UTC", lang)
    else:
        there = _from_to(first, last, "UTC", lang, date=first.date() != begin.date())
        text = _from_to(begin, end, offset(begin), lang) + IN_BRACKETS[lang].format(there)
    if _at_once(first, last):
        return text
    lasted = PAGE["lasted"].say(span=_span((last - first).total_seconds(), lang))
    return f"{text} {PAGE['in_brackets'].say(text=lasted).render(lang)}"


def _at_once(first: dt.datetime, last: dt.datetime) -> bool:
    return (last - first).total_seconds() < 1


def _from_to(first: dt.datetime, last: dt.datetime, zone: str, lang: Lang, *, date: bool = True) -> str:
    begin = f"{first:%Y-%m-%d %H:%M:%S}" if date else f"{first:%H:%M:%S}"
    if _at_once(first, last):
        return f"{begin} {zone}"
    end = f"{last:%H:%M:%S}" if first.date() == last.date() else f"{last:%Y-%m-%d %H:%M:%S}"
    return PAGE["from_to"].in_(lang).format(first=begin, last=end, zone=zone)


def _span(seconds: float, lang: Lang) -> str:
    for size, en, zh in ((86400, "days", "天"), (3600, "hours", "小时"), (60, "minutes", "分钟")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {zh if lang == 'zh' else en}"
    return f"{seconds:.{int(seconds < 10)}f} {'秒' if lang == 'zh' else 'seconds'}"
