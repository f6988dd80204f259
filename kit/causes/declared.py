"""Neighbours that count, quote and say: all of one is in its YAML, nothing is code.

`values` are entries of known texts or rows of a gold table. A step holds if one of its values is not 0; it is shown false if none is and the evidence
would show it (`shown_by.tsv`). docs/adding-a-cause.md adds one.
"""

from __future__ import annotations

from typing import Any

import attrs
import pandas as pd

from kit.analysis import refs
from kit.causes import collect_next, shown_by
from kit.causes.findings import Finding, Step
from kit.causes.texts import Cause, Value
from kit.inventory.references import Ref
from kit.tables.facts import Facts


@attrs.frozen
class Counted:
    """What the evidence shows of one value: how many, references, and when (`window`: first and last; None if no time is known)."""

    count: int
    quoted: tuple[Ref, ...] = ()
    window: tuple[Any, Any] | None = None


def examine(facts: Facts, cause: Cause) -> Finding:
    """Examine a declared neighbour."""
    counted = {name: _count(facts, value) for name, value in cause.values.items()}
    counts = {name: each.count for name, each in counted.items()}
    finding = cause.finding()
    for step in cause.steps:
        happened = any(counts[name] for name in step.any)
        seen = shown_by.would_show(facts, cause.slug, step.id)
        quoted = [ref for name in step.any for ref in counted[name].quoted][: step.quotes]
        holds = True if happened else False if seen and step.role == "deciding" else None
        finding.steps.append(Step(step.claim.say(**counts), step.role, holds, quoted, step.id))
    for name, figure in cause.figures.items():
        known = any(counts[each] for each in (figure.value, *figure.known_with)) or shown_by.has(facts, figure.known_if)
        finding.figures[name] = counts[figure.value] if known else None
    if any(step.holds for step in finding.steps):
        finding.summary = cause.say("summary", **counts)
        finding.remedies = [cause.remedy(name, **counts) for name in cause.remedies]
        finding.window = next((each.window for each in counted.values() if each.window), None)
    else:
        wanted = [want for want in cause.missing if not shown_by.has(facts, want.unless)]
        finding.missing = [collect_next.ask(want.artefact, want.why) for want in wanted]
    return finding


def _count(facts: Facts, value: Value) -> Counted:
    if not value.fact:
        seen = refs.seen(facts, *value.texts)
        window = (seen.first, seen.last) if seen.first and seen.last else None
        return Counted(seen.count, refs.quote(facts, seen, value.quotes), window)
    if value.texts and not refs.seen(facts, *value.texts):
        return Counted(0)
    rows = facts(value.fact)
    for column, wanted in value.where.items():
        rows = rows[rows[column] == wanted]
    if rows.empty:
        return Counted(0)
    count = int(rows[value.sum].sum()) if value.sum else int(rows[value.column].iloc[0]) if value.column else len(rows)
    return Counted(count, _quoted(facts, rows, value))


def _quoted(facts: Facts, rows: pd.DataFrame, value: Value) -> tuple[Ref, ...]:
    if "physical_offset" in rows:
        return refs.records_at(facts, rows, value.quotes)
    if value.within:
        return refs.earliest(facts, rows, value.quotes, within=value.within)
    return refs.lines(facts, rows, value.quotes)
