"""The investigator's hypotheses: appended to the team's notes, never written into the evidence;
existing notes are not changed.
"""

from __future__ import annotations

import datetime as dt
import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import pandas as pd
import yaml

from kit.charts import Table
from kit.evidence import workspace as ws
from kit.explorer.selection import Selection
from kit.i18n import Sentence, T, labels
from kit.notebook import notes, places

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.i18n import Lang

DEFAULT: Final = "out/postmortem-notes.yaml"
"""Default file for notes, where the postmortem notebook looks for them."""
MOST_REFERENCES: Final = 3
"""How many references of a step a note keeps; the step has the others."""
TEXTS: Final = labels("notebook")["hypotheses"]
HYPOTHESES, OVERRULED = (
    T("Hypotheses, in the team's words", "假设（团队的原话）"),
    T("Verdicts the team overrules, in its words", "团队推翻的结论（团队的原话）"),
)
HEADS: Final = labels("notebook")["hypotheses heads"]


class Notebook(Protocol):
    """What notes need of an `Inquiry`. `notes`: their file."""

    @property
    def case(self) -> Case: ...
    @property
    def lang(self) -> Lang: ...
    @property
    def notes(self) -> str | Path: ...
    def finding(self, cause: str) -> Mapping[str, Any]:
        """Return the finding of a cause as in findings.json."""


def note(inquiry: Notebook, text: str, about: Any = None, who: str = "") -> Table:
    """Add a hypothesis to the notes; see `Inquiry.note`."""
    said, references = _about(inquiry, about)
    add(inquiry, "hypotheses", {"time": _now(), "what": text, "who": who, "about": said, "references": references})
    return hypotheses(inquiry)


def overrule(inquiry: Notebook, cause: str, who: str, why: str) -> Table:
    """Add to the notes that the team overrules a verdict; see `Inquiry.overrule`."""
    verdict = inquiry.finding(cause)["verdict"]
    add(inquiry, "overruled", {"time": _now(), "cause": cause, "verdict": verdict, "who": who, "why": why})
    return overruled(inquiry)


def hypotheses(inquiry: Notebook) -> Table:
    """Return the hypotheses noted so far."""
    return table(read(inquiry), "hypotheses", HYPOTHESES, inquiry)


def overruled(inquiry: Notebook) -> Table:
    """Return the verdicts overruled so far."""
    return table(read(inquiry), "overruled", OVERRULED, inquiry)


def marks(inquiry: Notebook) -> dict[str, str]:
    """Return {cause: what to add to its verdict} for verdicts the team overrules; nothing if the notes cannot be read."""
    try:
        rows = read(inquiry).tables["overruled"]
    except (notes.BadNotes, OSError):
        return {}
    return {row["cause"]: " " + mark(row).render(inquiry.lang) for row in rows}


def mark(row: Mapping[str, str]) -> Sentence:
    """Return a sentence that says who overrules a verdict and why."""
    return TEXTS["overruled_by"].say(who=row["who"] or "–", why=row["why"] or "–")


def table(written: notes.Notes, name: str, caption: T, inquiry: Notebook) -> Table:
    """Return one section of the notes as a table."""
    frame = pd.DataFrame(written.tables[name], columns=pd.Index(notes.TABLES[name]))
    return Table(frame, caption, HEADS, inquiry.lang, max_rows=500)


def read(inquiry: Notebook) -> notes.Notes:
    """Return the notes written so far. Raise `BadNotes`."""
    path = Path(inquiry.notes)
    return notes.read(path, inquiry.lang) if path.is_file() else notes.nothing()


def add(inquiry: Notebook, section: str, entry: Mapping[str, Any]) -> None:
    """Append one entry to a section of the notes, as a separate document. Raise `BadNotes` if existing notes cannot be
    read, `WorkspaceInside` for notes inside the evidence, `OSError`.
    """
    path = Path(inquiry.notes)
    ws.base(path, inquiry.case.path)
    read(inquiry)
    path.parent.mkdir(parents=True, exist_ok=True)
    filled = {name: value for name, value in entry.items() if value}
    said = yaml.safe_dump({section: [filled]}, allow_unicode=True, sort_keys=False, width=1000)
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(("\n" if file.tell() else "") + f"---\n{said}")
        file.flush()
        os.fsync(file.fileno())


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def _about(inquiry: Notebook, about: Any) -> tuple[str, list[str]]:
    """Return the subject of a note as a text, and the references it keeps. Raise `BadReference`, `NoSuchCause`."""
    if about is None:
        return "", []
    if isinstance(about, Selection):
        return "; ".join(f"{name}: {value}" for name, value in about.as_dict().items()), []
    if isinstance(about, tuple) and len(about) == 2 and isinstance(about[1], str):
        cause, id_ = about
        steps = {step.get("id"): step for step in inquiry.finding(cause)["steps"]}
        if id_ not in steps:
            raise places.BadReference(TEXTS["no_step"].say(cause=cause, id=id_).render(inquiry.lang))
        return f"{cause}: {steps[id_]['claim']}", [places.spelled(r) for r in steps[id_]["evidence"][:MOST_REFERENCES]]
    ref = places.known(inquiry.case, places.reference(about))
    shown = places.place(inquiry.case, ref).tables[0]
    quoted = ""
    if ref.get("line"):
        quoted = inquiry.case.line(ref["file"], int(ref["line"]))[: places.PIECE]
    return quoted or shown.table.caption, [places.spelled(ref)]
