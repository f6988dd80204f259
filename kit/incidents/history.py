"""Many incidents for notebooks: an overview, known causes, similar incidents, what changed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pandas as pd

from kit.charts import Chart, Table, overview
from kit.i18n import Lang, Sentence, labels
from kit.incidents import reading
from kit.incidents.reading import Incident
from kit.report import compare

SAYS: Final = labels("incidents")["history"]
HEADS: Final = labels("incidents")["columns"]
NAMES_SHOWN: Final = 4


def start(folder: str | Path, lang: Lang = "en", interactive: bool = True) -> History:
    """Read every findings.json below a folder; anything but a folder counts as unreadable."""
    from kit.notebook import prose
    from kit.notebook.inquiry import locate

    prose.speak("92", lang, interactive)
    try:
        return History(reading.read(locate(str(folder))), lang)
    except (FileNotFoundError, NotADirectoryError):
        return History(reading.Incidents([], [SAYS["no_folder"].say(path=str(folder))]), lang)


class History:
    """Many incidents, as tables and charts. `incidents`: in the order in which they began."""

    def __init__(self, found: reading.Incidents, lang: Lang = "en") -> None:
        self.incidents, self.unread = found
        self.lang = lang

    def incident(self, name: str = "") -> Incident | None:
        """Return an incident by its folder or its evidence; without a name the latest; None if there are no incidents.

        Raise `KeyError` with the known names.
        """
        if not name:
            return self.incidents[-1] if self.incidents else None
        for one in self.incidents:
            if name in (one.name, one.evidence):
                return one
        names = [one.name for one in self.incidents]
        raise KeyError(SAYS["no_such"].say(name=name, names=names).render(self.lang))

    @cached_property
    def rows(self) -> pd.DataFrame:
        """Return one row for each finding that is confirmed or suspected: began, name, cause (title), slug, verdict, kind."""
        rows = [
            (one.began, one.name, str(f.get("title") or f["cause"]), f["cause"], f["verdict"], f.get("kind"))
            for one in self.incidents
            for f in one.held()
        ]
        frame = pd.DataFrame(rows, columns=pd.Index(["began", "name", "cause", "slug", "verdict", "kind"]))
        return frame.assign(began=pd.to_datetime(frame["began"], utc=True, errors="coerce"))

    def overview(self) -> Table:
        """Return one row for each incident."""
        rows = [
            (
                one.began,
                one.name,
                one.evidence,
                ", ".join(one.root_causes),
                ", ".join(f["cause"] for f in one.held("suspected") if f.get("kind") == "root_cause"),
                ", ".join(f["cause"] for f in one.held("confirmed") if f.get("kind") != "root_cause"),
            )
            for one in self.incidents
        ]
        columns = ["began", "name", "evidence", "root_causes", "suspected", "neighbours"]
        return self._table(pd.DataFrame(rows, columns=pd.Index(columns)), SAYS["overview"])

    def chart(self) -> Chart:
        """Chart which cause struck when."""
        frame = self.rows
        return overview.occurrences(frame[frame["kind"] == "root_cause"], self.lang)

    def known_before(self) -> Table:
        """Return the confirmed root causes that an earlier incident had, or pointed to, as a root cause, a suspicion or a hazard."""
        columns = ["began", "name", "cause", "earlier", "known_as", "same"]
        frame = pd.DataFrame(self._known_before(), columns=pd.Index(columns))
        return self._table(frame, SAYS["before"])

    def _known_before(self) -> Iterator[tuple[Any, ...]]:
        for n, one in enumerate(self.incidents):
            names = {trait for trait in reading.traits(one) if trait.kind == "name"}
            for earlier in self.incidents[:n]:
                known = {f["cause"]: f["verdict"] for f in earlier.held()}
                shared = sorted(trait.what for trait in names & reading.traits(earlier))
                for slug in one.root_causes:
                    if slug in known and (earlier.began, one.began) != (None, None):
                        verdict = compare.VERDICTS[known[slug]].render(self.lang)
                        yield one.began, one.name, slug, earlier.name, verdict, ", ".join(shared[:NAMES_SHOWN])

    def alike(self, name: str = "") -> Table:
        """Return the incidents that resemble this one (default: the latest), and what they share."""
        columns = ["name", "began", "likeness", "why"]
        one = self.incident(name)
        rows = [
            (match.incident.name, match.incident.began, round(match.likeness, 2), why(match, self.lang))
            for match in (reading.alike(one, self.incidents) if one else ())
        ]
        caption = SAYS["alike"].say(name=one.name if one else name)
        return self._table(pd.DataFrame(rows, columns=pd.Index(columns)), caption)

    def compare(self, before: str = "", after: str = "") -> Table:
        """Return what differs between two incidents. `after`: default the latest; `before`: default the one most like it."""
        new = self.incident(after)
        nearest = reading.alike(new, self.incidents, least=0.0)[:1] if new else []
        old = self.incident(before) if before else next((match.incident for match in nearest), None)
        changes = compare.compare(old.findings, new.findings) if old and new else []
        columns = pd.Index(["cause", "what", "before", "after", "change"])
        frame = pd.DataFrame(compare.rows(changes, self.lang), columns=columns)
        names = {"before": old.name if old else before, "after": new.name if new else after}
        return self._table(frame, SAYS["changed"].say(**names))

    def not_read(self) -> Table:
        """Return the files that are not a findings.json or could not be read."""
        frame = pd.DataFrame({"file": [said.render(self.lang) for said in self.unread]})
        return self._table(frame, SAYS["unread"])

    def _table(self, frame: pd.DataFrame, caption: Sentence) -> Table:
        return Table(frame, caption, HEADS, self.lang, max_rows=500)


def why(match: reading.Match, lang: Lang) -> str:
    """Return what two incidents share as one line, the most important first."""
    by_kind: dict[reading.Kind, list[str]] = {kind: [] for kind in reading.WEIGHTS}
    for trait in match.shared:
        by_kind[trait.kind].append(trait.what)
    shared = {kind: ", ".join(whats[:NAMES_SHOWN]) for kind, whats in by_kind.items() if whats}
    return "; ".join(reading.LABELS[kind].say(what=what).render(lang) for kind, what in shared.items())
