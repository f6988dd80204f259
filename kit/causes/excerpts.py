"""What a few copied lines can show: what they say, and nothing by what they lack.

Whoever pastes ten lines of a log has chosen them. A complete log without a line shows that it was not printed; an excerpt does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from kit.analysis.messages import pasted_ids
from kit.causes import collect_next
from kit.causes.findings import Finding, Step
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case

WANT = T("a few copied lines show nothing by what they lack; the whole log does")


def weighed(case: Case, finding: Finding) -> Finding:
    """Return a finding of a paste without what it concludes from lines that are not there; one of other evidence as it is."""
    shown = any(step.holds for step in finding.steps)
    if shown or not any(_absent(step) for step in finding.steps) or not _excerpt(case):
        return finding
    finding.steps = [attrs.evolve(step, holds=None) if _absent(step) else step for step in finding.steps]
    finding.figures = {name: _unknown(value) for name, value in finding.figures.items()}
    finding.missing = finding.missing or [collect_next.whole_logs(WANT)]
    return finding


def _absent(step: Step) -> bool:
    """Return whether a step is shown false by nothing that could be quoted."""
    return step.role == "deciding" and step.holds is False and not step.evidence


def _unknown(value: Any) -> Any:
    return None if isinstance(value, int | float | dict | list) and not value else value


def _excerpt(case: Case) -> bool:
    """Return whether the evidence is a paste. The output of a command is complete, however short."""
    return pasted_ids.is_paste(case) and not case.found.of_kind("mqadmin")
