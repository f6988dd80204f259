"""An incident and its twin side by side, for the live lab's notebook: two evidence sets, given or made."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd

from kit.causes.release_advice import confirmed_or_suspected
from kit.charts import Table
from kit.i18n import Lang, labels
from kit.live_lab import run
from kit.live_lab.scenario import find
from kit.live_lab.watch import watching
from kit.notebook import inquiry, prose
from kit.notebook.inquiry import Inquiry
from kit.report import compare

SAYS: Final = labels("live_lab")["comparison"]


def start(
    evidence: str,
    fixed: str,
    scenario: str = "",
    out: str = "out/lab",
    workspace: str = "",
    lang: Lang = "en",
    interactive: bool = True,
    options: Mapping[str, Any] | None = None,
) -> tuple[Inquiry, Inquiry]:
    """Return the incident and its twin, triaged: `evidence` and `fixed`, or with `scenario` two new runs below `out`.

    Raise `LabError` if the live lab cannot run here, `ValueError` for an unknown scenario.
    """
    prose.speak("75", lang, interactive)
    paths = [evidence, fixed]
    if scenario:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        both = (find(scenario, lang), find(scenario, lang, fixed=True))
        folders = [(one, Path(out, f"{one.name}-{stamp}")) for one in both]
        paths = [str(run.run(one, folder, watch=watching(one, lang)).evidence) for one, folder in folders]
    incident, twin = (inquiry.start(path, workspace, lang, interactive, options, book=None) for path in paths)
    return incident, twin


def changes(incident: Inquiry, twin: Inquiry) -> Table:
    """Return what differs between the two, of the causes that hold on either side."""
    sides = [incident.findings, twin.findings]
    holding = frozenset().union(*map(confirmed_or_suspected, sides))
    differ = [each for each in compare.compare(*sides) if each.cause in holding and each.what in ("verdict", "figure")]
    frame = pd.DataFrame(
        compare.rows(differ, incident.lang), columns=pd.Index(["cause", "what", "before", "after", "change"])
    )
    return Table(frame, SAYS["changes"], compare.TEXTS | SAYS, incident.lang)
