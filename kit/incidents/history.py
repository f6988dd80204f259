"""Many incidents as tables: an overview, what was known before, which resemble each other and why, what changed.

The likeness is the shared weight of traits by the weight of all (a weighted Jaccard index): 1 for the same findings.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Final

import pandas as pd

from kit.charts import Chart, Table, overview
from kit.i18n import Filled, Lang, Sentence, labels
from kit.incidents.reading import Incident, read
from kit.report import compare

SAYS: Final = labels("incidents")["history"]
HEADS: Final = labels("incidents")["columns"]
LIKE: Final = labels("incidents")["likeness"]
WEIGHTS: Final = {"cause": 4.0, "name": 2.0, "suspected": 1.5, "step": 1.0, "release": 0.5}
"""A confirmed cause weighs most; a common name shows that it is the same system; a step alone means little."""
LEAST: Final = 0.05
NAMES_SHOWN: Final = 4


def start(folder: str | Path, lang: Lang = "en", interactive: bool = True) -> History:
    """Read every findings.json below a folder; anything but a folder counts as unreadable."""
    from kit.notebook import prose
    from kit.notebook.inquiry import locate

    prose.speak("92", lang, interactive)
    try:
        return History(*read(locate(str(folder))), lang)
    except (FileNotFoundError, NotADirectoryError):
        return History([], [SAYS["no_folder"].say(path=str(folder))], lang)


class History:
    """Many incidents, as tables and a chart. `incidents`: in the order in which they began."""

    def __init__(self, incidents: list[Incident], unread: list[Filled], lang: Lang = "en") -> None:
        self.incidents, self.unread, self.lang = incidents, unread, lang

    def incident(self, name: str = "") -> Incident | None:
        """Return an incident by its folder or evidence, else the latest. Raise `KeyError` with the known names."""
        if not name:
            return self.incidents[-1] if self.incidents else None
        for one in self.incidents:
            if name in (one.name, one.evidence):
                return one
        names = [one.name for one in self.incidents]
        raise KeyError(SAYS["no_such"].say(name=name, names=names).render(self.lang))

    @cached_property
    def findings(self) -> pd.DataFrame:
        """What is confirmed or suspected: incident (number), began, name, cause (title), slug, verdict, kind, root."""
        rows = [
            {**f, "incident": n, "began": one.began, "name": one.name, "root": f["cause"] in one.root_causes}
            for n, one in enumerate(self.incidents)
            for f in one.held()
        ]
        columns = ["incident", "began", "name", "title", "cause", "verdict", "kind", "root"]
        frame = pd.DataFrame(rows).reindex(columns=columns)
        title = frame["title"].where(frame["title"].notna() & frame["title"].ne(""), frame["cause"]).astype(str)
        began = pd.to_datetime(frame["began"], utc=True, errors="coerce")
        return frame.assign(title=title, began=began).rename(columns={"title": "cause", "cause": "slug"})

    @cached_property
    def traits(self) -> pd.DataFrame:
        """Return what each incident shows: name, kind, what, weight, what weighs most first."""
        rows = [(one.name, kind, what, WEIGHTS[kind]) for one in self.incidents for kind, what in one.traits()]
        frame = pd.DataFrame(rows, columns=pd.Index(["name", "kind", "what", "weight"]))
        return frame.sort_values(["weight", "what"], ascending=[False, True], ignore_index=True)

    def likeness(self, name: str, least: float = 0.0) -> pd.DataFrame:
        """Return the incidents that resemble this one, most similar first: name, likeness, why."""
        own = self.traits[self.traits["name"] == name]
        others = self.traits[self.traits["name"] != name]
        shared = others.merge(own[["kind", "what"]])
        common, every = (each.groupby("name")["weight"].sum() for each in (shared, others))
        like = (common / (every + own["weight"].sum() - common)).dropna().rename("likeness").reset_index()
        like = like[like["likeness"] >= least]
        why = [self._why(shared[shared["name"] == other]) for other in like["name"]]
        return like.assign(why=why).sort_values(["likeness", "name"], ascending=[False, True], ignore_index=True)

    def _why(self, shared: pd.DataFrame) -> str:
        whats = shared.groupby("kind", sort=False)["what"].agg(lambda what: ", ".join(what.head(NAMES_SHOWN)))
        return "; ".join(LIKE[str(kind)].say(what=what).render(self.lang) for kind, what in whats.items())

    def overview(self) -> Table:
        """Return one row for each incident."""
        rows = [
            {
                "began": one.began,
                "name": one.name,
                "evidence": one.evidence,
                "root_causes": ", ".join(one.root_causes),
                "suspected": ", ".join(f["cause"] for f in one.held("suspected") if f.get("kind") == "root_cause"),
                "neighbours": ", ".join(f["cause"] for f in one.held("confirmed") if f.get("kind") != "root_cause"),
            }
            for one in self.incidents
        ]
        return self._table(pd.DataFrame(rows), SAYS["overview"])

    def chart(self) -> Chart:
        """Chart which cause struck when."""
        return overview.occurrences(self.findings[self.findings["kind"] == "root_cause"], self.lang)

    def known_before(self) -> Table:
        """Return the confirmed root causes that an earlier incident had, suspected or had as a hazard."""
        roots = self.findings[self.findings["root"].astype(bool)]
        both = roots.merge(self.findings, on="slug", suffixes=("", "_then")).query("incident_then < incident")
        both = both[both["began"].notna() | both["began_then"].notna()]
        names = self.traits[self.traits["kind"] == "name"].groupby("name")["what"].agg(set)
        pairs = zip(both["name"], both["name_then"], strict=True)
        same = [", ".join(sorted(names.get(a, set()) & names.get(b, set()))[:NAMES_SHOWN]) for a, b in pairs]
        known = [compare.VERDICTS[verdict].render(self.lang) for verdict in both["verdict_then"]]
        table = both.assign(cause=both["slug"], earlier=both["name_then"], known_as=known, same=same)
        return self._table(table[["began", "name", "cause", "earlier", "known_as", "same"]], SAYS["before"])

    def alike(self, name: str = "") -> Table:
        """Return the incidents that resemble this one (default: the latest), and what they share."""
        one = self.incident(name)
        like = self.likeness(one.name if one else "", LEAST)
        began = {each.name: each.began for each in self.incidents}
        table = like.assign(began=like["name"].map(began)).round({"likeness": 2})
        caption = SAYS["alike"].say(name=one.name if one else name)
        return self._table(table[["name", "began", "likeness", "why"]], caption)

    def compare(self, before: str = "", after: str = "") -> Table:
        """Return what differs between two incidents: the latest (`after`) and the one most like it, unless named."""
        new = self.incident(after)
        nearest = self.likeness(new.name if new else "")["name"].tolist()
        old = self.incident(before or nearest[0]) if before or nearest else None
        changes = compare.compare(old.findings, new.findings) if old and new else []
        columns = pd.Index(["cause", "what", "before", "after", "change"])
        frame = pd.DataFrame(compare.rows(changes, self.lang), columns=columns)
        names = {"before": old.name if old else before, "after": new.name if new else after}
        return self._table(frame, SAYS["changed"].say(**names))

    def not_read(self) -> Table:
        """Return the files that are not a findings.json or could not be read."""
        frame = pd.DataFrame({"file": [sentence.render(self.lang) for sentence in self.unread]})
        return self._table(frame, SAYS["unread"])

    def _table(self, frame: pd.DataFrame, caption: Sentence) -> Table:
        return Table(frame, caption, HEADS, self.lang, max_rows=500)
