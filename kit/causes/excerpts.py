"""What evidence cannot show by what it lacks: a step is shown false only where it would be seen (`shown_by`), and by whole logs.

Whoever pastes ten lines of a log has chosen them. A complete log without a line shows that it was not printed; an excerpt does not.
"""

from __future__ import annotations

from typing import Any, Final

import attrs

from kit.analysis.messages import lookups
from kit.causes import collect_next, shown_by
from kit.causes.findings import Finding, Step
from kit.i18n import T
from kit.tables.facts import Facts

LACKS = T("Not known: this evidence lacks {artefacts}.")
NOT_KNOWN = T("Not known from this evidence.")
NAMED: Final = 2
"""Most artefacts that a summary names."""
WANT_SHOWN = T("nothing here would show whether this is so: {claim}")
WANT_OTHERS = T("these logs may not be of every client: {claim}", "这些日志可能未涵盖每个客户端：{claim}")
WANT = T("a few copied lines show nothing by what they lack; the whole log does")


def weighed(facts: Facts, finding: Finding) -> Finding:
    """Return a finding without what it concludes from what is not there, where the evidence would not show it."""
    finding = _documented(facts, _without_absence(facts, finding))
    if _excerpt(facts):
        finding.figures = {name: value if value != 0 else None for name, value in finding.figures.items()}
    if finding.verdict == "insufficient_evidence" and finding.says_nothing:
        # "Nothing happened" would be more than the evidence shows.
        lacks = [missing.artefact for missing in finding.missing[:NAMED]]
        finding.summary = LACKS.say(artefacts=lacks) if lacks else NOT_KNOWN.say()
    return finding


def _documented(facts: Facts, finding: Finding) -> Finding:
    """Return a finding that documents alone do not confirm: a runbook or a change log quotes a message without it having been printed."""
    documents = {item.file for item in facts.files.items if item.detail.get("document")}
    if documents and finding.verdict == "confirmed":
        finding.steps = [
            attrs.evolve(step, role="supporting")
            if step.holds and step.evidence and all(ref.file in documents for ref in step.evidence)
            else step
            for step in finding.steps
        ]
    return finding


def _without_absence(facts: Facts, finding: Finding) -> Finding:
    absent = [step for step in finding.steps if _absent(step)]
    if not absent:
        return finding
    chosen = _excerpt(facts) and not any(step.holds for step in finding.steps)
    unsure = absent if chosen else [s for s in absent if not shown_by.would_show(facts, finding.cause, s.id)]
    if not unsure:
        return finding
    finding.steps = [attrs.evolve(step, holds=None) if step in unsure else step for step in finding.steps]
    if not any(step.holds is not None for step in finding.steps):
        finding.figures = {name: _unknown(value) for name, value in finding.figures.items()}
    if finding.missing:
        return finding
    if chosen:
        finding.missing = [collect_next.ask("whole logs", WANT)]
    else:
        first = unsure[0]
        others = shown_by.lacks_other_clients(facts, finding.cause, first.id)
        why = (WANT_OTHERS if others else WANT_SHOWN).say(claim=first.claim)
        finding.missing = shown_by.wanted(facts, finding.cause, first.id, why)
    return finding


def _absent(step: Step) -> bool:
    """Return whether a step is shown false by nothing that could be quoted."""
    return step.role == "deciding" and step.holds is False and not step.evidence


def _unknown(value: Any) -> Any:
    return None if isinstance(value, int | float | dict | list) and not value else value


def _excerpt(facts: Facts) -> bool:
    """Return whether the evidence is a paste. The output of a command is complete, however short."""
    return lookups.is_paste(facts) and not facts.files.of_kind("mqadmin")
