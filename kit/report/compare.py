"""Compare two findings.json: what a fix, or more evidence, changed.

Compared is what a reader acts on: verdicts, root causes, figures, and what was missing. Runs of different kit versions are compared by name; a cause or
figure that only one side has is shown as absent on the other, which is not the same as unknown (null).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, Literal

import attrs

from kit import causes
from kit.causes.findings import VERDICTS
from kit.i18n import Lang, T, labels, printable

What = Literal["root_causes", "verdict", "figure", "missing", "evidence"]

ABSENT: Final = "absent"
SCHEMA: Final = 1

TEXTS: Final = labels("report")["compare"]
PARTS: Final = 3
"""Most parts of one figure that are listed."""
WHATS: Final = labels("report")["compare whats"]


@attrs.frozen
class Change:
    """One difference. `delta`: after − before if both are numbers; `title`: what the cause is called."""

    cause: str
    what: What
    name: str
    before: Any
    after: Any
    delta: float | None = None
    title: str = attrs.field(default="", eq=False)


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return the differences between two findings.json (parsed), verdicts first, in the order of causes in `after`.

    Raise ValueError if one of them is no findings.json.
    """
    for name, findings in (("before", before), ("after", after)):
        if not is_findings(findings):
            raise ValueError(TEXTS["not_findings"].say(name=name).render())
    changes: list[Change] = []
    roots = [list(side.get("root_causes") or []) for side in (before, after)]
    if roots[0] != roots[1]:
        titles = {f["cause"]: f.get("title", f["cause"]) for side in (before, after) for f in side["findings"]}
        was, now = ([titles.get(slug, slug) for slug in side] for side in roots)
        changes.append(Change("", "root_causes", "", was, now))
    hashes = [{file.get("sha256") for file in _files(side)} for side in (before, after)]
    if hashes[0] != hashes[1]:
        changes.append(
            Change("", "evidence", "files", len(hashes[0]), len(hashes[1]), len(hashes[1]) - len(hashes[0]) or None)
        )
    old, new = _by_cause(before), _by_cause(after)
    for cause in [*new, *(cause for cause in old if cause not in new)]:
        title = (new.get(cause) or old[cause]).get("title", "")
        changes += [attrs.evolve(change, title=title) for change in _finding(cause, old.get(cause), new.get(cause))]
    return changes


def rows(changes: list[Change], lang: Lang = "en") -> list[dict[str, str]]:
    """Return the changes as texts for a table: cause, what, before, after, change."""
    return [
        {
            "cause": change.title or change.cause,
            "what": _what(change, lang),
            "before": _text(change.before, lang),
            "after": _text(change.after, lang),
            "change": "" if change.delta is None else f"{change.delta:+,.1f}".removesuffix(".0"),
        }
        for change in changes
    ]


def render(changes: list[Change], lang: Lang = "en") -> str:
    """Return the changes in words, below each cause what changed of it; one sentence if nothing changed."""
    if not changes:
        return TEXTS["no_change"].in_(lang)
    lines: list[str] = []
    for cause, group in itertools.groupby(changes, key=lambda change: change.cause):
        of_cause = list(group)
        if cause and of_cause[0].what != "verdict":
            lines.append(of_cause[0].title or cause)
        for _, parts in itertools.groupby(of_cause, key=lambda change: (change.what, change.name.partition(".")[0])):
            shown = list(parts)
            for change, row in zip(shown[:PARTS], rows(shown[:PARTS], lang), strict=True):
                what = (change.title or cause) if change.what == "verdict" else ("  " if cause else "") + row["what"]
                sign = f" ({row['change']})" if row["change"] else ""
                lines.append(f"{what}: {row['before']} → {row['after']}{sign}")
            if len(shown) > PARTS:
                lines.append("  " + TEXTS["more"].say(n=len(shown) - PARTS).render(lang))
    return "\n".join(map(printable, lines))


def _what(change: Change, lang: Lang) -> str:
    """Return what changed: a figure by its label and the key of its part."""
    if change.what != "figure":
        return WHATS[change.what].in_(lang)
    name, *parts = change.name.split(".", 1)
    label = _labels()[name].in_(lang) if name in _labels() else name.replace("_", " ")
    return ": ".join([label, *parts])


@cache
def _labels() -> dict[str, T]:
    declared = (cause.figures for cause in causes.discover())
    return {name: figure.label for figures in declared for name, figure in figures.items()}


def _finding(cause: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Iterator[Change]:
    verdicts = [side.get("verdict") if side is not None else ABSENT for side in (old, new)]
    if verdicts[0] != verdicts[1]:
        yield Change(cause, "verdict", "", verdicts[0], verdicts[1])
    figures = [_flat((side or {}).get("figures") or {}) for side in (old, new)]
    for name in sorted(figures[0].keys() | figures[1].keys()):
        was, now = (side.get(name, ABSENT) for side in figures)
        if was != now:
            yield Change(cause, "figure", name, was, now, _delta(was, now))
    wanted = [[str(item.get("artefact")) for item in (side or {}).get("missing") or []] for side in (old, new)]
    if sorted(wanted[0]) != sorted(wanted[1]):
        yield Change(cause, "missing", "", wanted[0], wanted[1])


def _flat(figures: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested figures: `errors_by_kind.OVERLOAD`; lists stay whole."""
    flat: dict[str, Any] = {}
    for name, value in figures.items():
        if isinstance(value, Mapping) and value:
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _delta(was: Any, now: Any) -> float | None:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (was, now))
    return now - was if numbers else None


def is_findings(findings: Any) -> bool:
    listed = findings.get("findings") if isinstance(findings, Mapping) else None
    if not isinstance(listed, list) or findings.get("schema") != SCHEMA:
        return False
    return all(isinstance(item, Mapping) and isinstance(item.get("cause"), str) for item in listed)


def _by_cause(findings: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {finding["cause"]: finding for finding in findings["findings"]}


def _files(findings: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    evidence = findings.get("evidence")
    return list(evidence.get("files") or []) if isinstance(evidence, Mapping) else []


def _text(value: Any, lang: Lang) -> str:
    if value is None:
        return TEXTS["unknown"].in_(lang)
    if value == ABSENT:
        return TEXTS["not_there"].in_(lang)
    if isinstance(value, list):
        if value and all(isinstance(item, Mapping) for item in value):
            return f"[{len(value)}]"
        return (", " if lang == "en" else "、").join(map(str, value)) or TEXTS["none"].in_(lang)
    if isinstance(value, str) and value in VERDICTS:
        return VERDICTS[value].in_(lang)
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
