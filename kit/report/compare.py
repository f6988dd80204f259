"""Compare two findings.json: what a fix, or more evidence, changed.

What only one side has is absent on the other, which is not unknown (null).
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, Required, TypedDict

import attrs
import msgspec

from kit import causes
from kit.causes.findings import VERDICTS
from kit.i18n import LIST_SEPARATOR, Lang, headings, labels
from kit.report.console import table

ABSENT: Final = "absent"
TEXTS: Final = headings() | labels("report")["compare"]
WHATS: Final = headings() | labels("report")["compare whats"]
OF_A_FINDING: Final = ("verdict", "figure", "missing")


class _Finding(TypedDict, total=False):
    cause: Required[str]
    window: tuple[str, str] | None
    steps: list[dict[str, str | bool | list[dict[str, Any]] | None]] | None
    figures: dict[str, Any] | None
    missing: list[dict[str, Any]] | None


class _Findings(TypedDict, total=False):
    schema: Required[Literal[1]]
    findings: Required[list[_Finding]]
    root_causes: list[str] | None
    evidence: dict[str, str | list[str | dict[str, str | float | bool | None]] | None] | None


@attrs.frozen
class Change:
    """One difference. `what`: root_causes, verdict, figure, missing or evidence; `title`: what the cause is called."""

    cause: str
    what: str
    name: str
    before: Any
    after: Any
    title: str = attrs.field(default="", eq=False)


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return the differences of two findings.json (`read`), in the order of causes in `after`."""
    sides = (before, after)
    old, new = ({f["cause"]: f for f in side["findings"]} for side in sides)
    titles = {slug: f.get("title") or slug for slug, f in (*old.items(), *new.items())}
    was, now = ([titles.get(slug, slug) for slug in side.get("root_causes") or ()] for side in sides)
    changes = [] if was == now else [Change("", "root_causes", "", was, now)]
    files = [{file.get("sha256") for file in (side.get("evidence") or {}).get("files") or ()} for side in sides]
    changes += [] if files[0] == files[1] else [Change("", "evidence", "files", len(files[0]), len(files[1]))]
    for cause in dict.fromkeys([*new, *old]):
        facts = [_facts(side.get(cause, {"verdict": ABSENT})) for side in (old, new)]
        for what, name in sorted({*facts[0], *facts[1]}, key=lambda fact: (OF_A_FINDING.index(fact[0]), fact[1])):
            one, other = (side.get((what, name), ABSENT) for side in facts)
            changes += [] if one == other else [Change(cause, what, name, one, other, titles[cause])]
    return changes


def _facts(finding: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    """Return what a finding says, by what that is and its name."""
    figures = {("figure", name): value for name, value in _flat(finding.get("figures") or {}).items()}
    missing = sorted(str(item.get("artefact")) for item in finding.get("missing") or ())
    return {("verdict", ""): finding.get("verdict"), **figures, ("missing", ""): missing}


def _flat(figures: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested figures: `errors_by_kind.OVERLOAD`, none of an empty one; lists stay whole."""
    flat: dict[str, Any] = {}
    for name, value in figures.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


def read(path: Path) -> dict[str, Any]:
    """Read a findings.json. Raise `msgspec.ValidationError` (another shape), `OSError`, `ValueError`, `RecursionError`."""
    findings: dict[str, Any] = json.loads(path.read_text(encoding="utf-8-sig"))
    msgspec.convert(findings, _Findings)
    return findings


def rows(changes: list[Change], lang: Lang = "en") -> list[dict[str, str]]:
    """Return the changes as texts: cause, what, before, after, change (after − before of two numbers)."""
    known = causes.figures()
    table = []
    for change in changes:
        name, _, part = change.name.partition(".")
        label = known[name].label.in_(lang) if name in known else name.replace("_", " ")
        what = ": ".join(filter(None, (label, part))) if change.what == "figure" else WHATS[change.what].in_(lang)
        before, after = change.before, change.after
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (before, after))
        texts = {"before": _text(before, lang), "after": _text(after, lang)}
        delta = f"{after - before:+,.1f}".removesuffix(".0") if numbers else ""
        table.append({"cause": change.title or change.cause, "what": what, **texts, "change": delta})
    return table


def render(changes: list[Change], lang: Lang = "en") -> str:
    """Return the changes as a table for a terminal; one sentence if nothing changed."""
    if not changes:
        return TEXTS["no_change"].in_(lang)
    heads = [TEXTS[name].in_(lang) for name in ("cause", "what", "before", "after", "change")]
    return table([list(row.values()) for row in rows(changes, lang)], heads, (4,)).rstrip()


def _text(value: Any, lang: Lang) -> str:
    if value is None or value == ABSENT:
        return TEXTS["unknown" if value is None else "not_there"].in_(lang)
    if isinstance(value, list):
        if value and all(isinstance(item, Mapping) for item in value):
            return f"[{len(value)}]"
        return LIST_SEPARATOR[lang].join(map(str, value)) or TEXTS["none"].in_(lang)
    if isinstance(value, str) and value in VERDICTS:
        return VERDICTS[value].in_(lang)
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
