"""Training labs: questions that follow an investigation, wrong turns included; the evidence answers them.

A question is named `LAB-NUMBER`. Every call works on the lab opened last under that number in this process.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from kit.charts import Table
from kit.i18n import Lang, labels
from kit.notebook import prose
from kit.training.bench import Bench, evidences
from kit.training.lab import labs
from kit.training.session import LabError, Note, Session

__all__ = ["answer", "ask", "check", "hint", "open", "scorecard"]

SAYS: Final = labels("training")["lab"]

_open: dict[int, Session] = {}


def open(  # noqa: A001
    lab: int | str,
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
    number = int(lab) if str(lab).isdecimal() else -1
    if number not in known:
        raise LabError(SAYS["no_lab"].say(lab=str(lab)[:40], known=[str(n) for n in known]).render(lang))
    prose.speak(str(number), lang, interactive)
    paths = evidences(evidence, known[number].hint is not None, cases, draw)
    _open.pop(number, None)  # the lab opened last is the last one
    _open[number] = Session(known[number], Bench(paths, workspace, lang, interactive, options), solve)
    return _open[number]


def _of(id_: int | str) -> Session:
    """Return the open lab of a question, or with that number."""
    lab = str(id_).partition("-")[0]
    if not lab.isdecimal() or int(lab) not in _open:
        raise LabError(SAYS["not_open"].say(lab=str(id_)[:40]).render())
    return _open[int(lab)]


def ask(id: str) -> Note:  # noqa: A002
    """Return the question and what to choose from."""
    return _of(id).ask(id)


def check(id: str, answer: Any) -> Note:  # noqa: A002
    """Judge an answer: what is right, or the misconception behind it; None is “not answered yet”."""
    return _of(id).check(id, answer)


def hint(id: str) -> Note:  # noqa: A002
    """Return where to look; the scorecard records it."""
    return _of(id).hint(id)


def answer(id: str) -> Any:  # noqa: A002
    """Return the answer (None if the evidence does not show it); the scorecard records it."""
    return _of(id).answer(id)


def scorecard(lab: int | str | None = None) -> Table:
    """Return how the lab went (default: the one opened last)."""
    return _of(next(reversed(_open), 80) if lab is None else lab).scorecard()
