"""Training labs: questions that follow an investigation, wrong turns included; the evidence answers them.

A question is named `LAB-NUMBER`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kit.i18n import Lang
from kit.notebook import prose
from kit.training.bench import Bench, evidences
from kit.training.lab import labs
from kit.training.session import SAYS, LabError, Session

__all__ = ["open"]


def open(  # noqa: A001
    lab: int,
    evidence: str | Path | Sequence[str],
    workspace: str = "",
    lang: Lang = "en",
    interactive: bool = True,
    options: Mapping[str, Any] | None = None,
    *,
    solve: bool = False,
    cases: int | None = None,
    draw: int = 1,
) -> Session:
    """Open a lab on its evidence and return it; results already in the workspace are reused.

    `evidence`: as for `kit.open_case`; for a lab on several a list, or a folder of archives of which `cases` are drawn;
    another number of the `draw`, others. `solve`: questions without an answer are answered by the lab. Raise
    `LabError`, `FileNotFoundError`.
    """
    known = labs()
    if lab not in known:
        raise LabError(SAYS["no_lab"].say(lab=str(lab)[:40], known=[str(n) for n in known]).render(lang))
    prose.speak(str(lab), lang, interactive)
    bench = Bench(evidences(evidence, cases, draw), workspace, lang, interactive, options)
    return Session(known[lab], bench, solve)
