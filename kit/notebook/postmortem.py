"""What notebook 90 shows: what the kit found and what the team knows. `rmq-kit postmortem` makes it a page."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pandas as pd

from kit import causes
from kit.causes import timeline
from kit.charts import Chart, Table, overview, sends, sizes, transactions
from kit.charts.safe_text import clean
from kit.evidence import workspace as ws
from kit.formats.printed_times import iso
from kit.i18n import Lang, Sentence, labels, rendered
from kit.notebook import inquiry as notebook
from kit.notebook import notes, places
from kit.notebook.answers import HEADS, Answer
from kit.report.labels import HOLDS, ranked

MOST_ROWS: Final = 500
TEXTS: Final = labels("notebook")["postmortem"]
CHARTS: Final[Mapping[str, tuple[str, Callable[..., Chart]]]] = {
    "half-topic-blowup": ("half_topic_growth", transactions.growth),
    "message-size-mismatch": ("half_queue", sizes.half_queue),
    "broker-busy": ("busy_axis", sends.axis),
    "transaction-consistency": ("transaction_flow", transactions.accounting),
}
"""The most useful chart of a cause: table and chart function."""


def start(
    evidence: str | Path,
    workspace: str = "",
    lang: Lang = "en",
    interactive: bool = True,
    notes_path: str | Path = "",
    options: Mapping[str, Any] | None = None,
) -> "Postmortem":
    """Triage the evidence and read the notes. If these do not exist, an example is written; empty: no notes.

    Raise `BadNotes`, `FileNotFoundError`, `WorkspaceInside` (notes inside the evidence: nothing is ever written there).
    """
    inquiry = notebook.start(evidence, workspace, lang, interactive, options, book="90")
    return Postmortem(inquiry, written(Path(notes_path), inquiry.case) if str(notes_path) else notes.read(""))


def written(path: Path, case: Any) -> notes.Notes:
    """Read the notes, after writing an example if absent. Raise `BadNotes`, `WorkspaceInside`, `OSError`."""
    ws.base(path, case.path)
    read = notes.read(notes.template(path, case.lang), case.lang)
    _ = read.zone
    return read


class Postmortem:
    """What the kit found, and what the team wrote."""

    def __init__(self, inquiry: notebook.Inquiry, team: notes.Notes) -> None:
        self.inquiry, self.team, self.lang = inquiry, team, inquiry.lang

    def about(self) -> Answer:
        """Say the team's heading, and what of its notes could not be used."""
        texts, unknown, undated = self.team.texts, list(self.team.unknown), int(self.moments["at"].isna().sum())
        heading = {name: texts[name] for name in ("title", "date", "status", "severity")}
        heading |= {"authors": ", ".join(self.team.lists["authors"])}
        sentences: list[Sentence] = [
            TEXTS["about"].say(name=TEXTS[name], text=text) for name, text in heading.items() if text
        ]
        sentences += [TEXTS["blameless"], TEXTS["zone"].say(zone=str(self.team.zone))]
        sentences += [TEXTS["unknown"].say(names=unknown)] if unknown else []
        return self._say(*sentences, *([TEXTS["undated"].say(count=undated)] if undated else []))

    def section(self, name: str) -> Answer:
        """Say what the team wrote in a section of the notes."""
        items = [self.team.texts[name]] if name in self.team.texts else [f"• {item}" for item in self.team.lists[name]]
        return self._say(*filter(None, items)) if any(items) else self._say(TEXTS["unwritten"].say(name=name))

    def _say(self, *sentences: Sentence | str) -> Answer:
        return Answer(pd.DataFrame(), (), "\n".join(rendered(each, self.lang) for each in sentences))

    def _table(self, rows: list[Any], caption: str, *columns: str) -> Table | Answer:
        frame = pd.DataFrame(rows, columns=pd.Index(columns))
        none = TEXTS.get(f"none_{caption}", TEXTS["none"])
        return Table(frame, TEXTS[caption], HEADS, self.lang, MOST_ROWS) if rows else self._say(none)

    def findings(self, verdict: str = "confirmed") -> list[Mapping[str, Any]]:
        """Return the findings of a verdict in reading order: root causes, then their neighbours."""
        return [f for f in ranked(self.inquiry.findings) if f["verdict"] == verdict]

    def summary(self) -> Answer:
        """Say what is confirmed: the root causes, else their neighbours."""
        roots = [f["summary"] for f in self.findings() if f["kind"] == "root_cause"]
        return self._say(*(roots or [f["summary"] for f in self.findings()] or [TEXTS["none"]]))

    def numbers(self) -> Table | Answer:
        """Return the single figures of what is confirmed."""
        known = causes.figures()

        def said(name: str, value: Any) -> tuple[str, Any]:
            if name not in known:
                return name, value
            word = known[name].values.get(str(value))
            return known[name].label.in_(self.lang), word.in_(self.lang) if word else value

        rows = [
            (f["title"], *said(name, value))
            for f in self.findings()
            for name, value in f["figures"].items()
            if value is not None and not isinstance(value, list | dict)
        ]
        return self._table(rows, "numbers", "cause", "figure", "value")

    @cached_property
    def moments(self) -> pd.DataFrame:
        """Return the timeline and the team's notes, with `source`; notes without a time come last, `at` null."""
        evidence = self.inquiry.table(timeline.TABLE).assign(source=TEXTS["evidence"].render(self.lang))
        rows = evidence.to_dict("records") + [
            {"at": at, "source": source, "en": what, "zh": what, "file": origin, "lane": "team", "decides": False}
            for at, source, what, origin in self._noted()
        ]
        frame = timeline.typed(pd.DataFrame(rows, columns=pd.Index([*timeline.COLUMNS, "source"])))
        return frame.sort_values("at", kind="stable", na_position="last", ignore_index=True)

    def _noted(self) -> Iterator[tuple[Any, str, str, str]]:
        day = notes.moment(self.team.texts["date"], self.team.zone)
        day = day or next((iso(f["window"][0]) for f in self.findings() if f["window"]), None)
        for name, source in (("timeline", "team"), ("decisions", "decision")):
            for row in self.team.tables[name]:
                at = notes.moment(row["time"], self.team.zone, day.astimezone(self.team.zone).date() if day else None)
                what = TEXTS["noted"].say(what=row["what"], why=row.get("why") or None, who=row["who"] or None)
                place = TEXTS["as_written"].say(text=row["time"]).render(self.lang) if row["time"] else ""
                yield at, TEXTS[source].render(self.lang), what.render(self.lang), place

    def timeline(self) -> Chart:
        titles = {f["cause"]: f["title"] for f in self.inquiry.findings["findings"]}
        return overview.timeline(self.moments[self.moments["at"].notna()], self.lang, titles)

    def events(self) -> Table:
        """Return the merged timeline: what decides is marked."""
        table = overview.rows(self.moments, self.lang).assign(source=self.moments["source"])
        columns = ["at", "source", "what", "decides", "place"]
        return Table(table[columns], TEXTS["moments"], HEADS, self.lang, MOST_ROWS)

    def chains(self, verdict: str = "confirmed") -> Table | Answer:
        """Return the steps of what is confirmed (or suspected), each with the first line or record that carries it."""
        rows = []
        for title, step in ((f["title"], step) for f in self.findings(verdict) for step in f["steps"]):
            quotes = ((places.spelled(ref), clean(ref.get("text", ""), 200)) for ref in step["evidence"])
            rows.append((title, HOLDS[step["holds"]][1], step["claim"], *next(quotes, ("", ""))))
        return self._table(rows, verdict, "cause", "holds", "claim", "place", "quote")

    def pictures(self) -> Answer:
        wanted = [CHARTS[f["cause"]] for f in self.findings() if f["cause"] in CHARTS]
        drawn = (self.inquiry.draw(chart, name) for name, chart in wanted)
        return Answer(pd.DataFrame(), tuple(each for each in drawn if not isinstance(each, Answer)), "")

    def actions(self) -> Table | Answer:
        """Return the team's actions, then what the kit proposes and nobody owns yet."""
        nobody, proposed = (TEXTS[name].render(self.lang) for name in ("nobody", "proposed"))
        team = self.team.tables["actions"]
        rows = [(each["what"], each["owner"] or nobody, each["due"], each["kind"], each["ticket"]) for each in team]
        remedies = dict.fromkeys(r["action"] for f in self.findings() for r in f["remedies"])
        rows += [(action, nobody, "", proposed, "") for action in remedies]
        return self._table(rows, "actions", "what", "owner", "due", "kind", "ticket")

    def inputs(self) -> Table | Answer:
        files = [(f["file"], f["kind"], f["bytes"], f["sha256"]) for f in self.inquiry.findings["evidence"]["files"]]
        if self.team.path.is_file():
            raw = self.team.path.read_bytes()
            files.append((self.team.path.name, "notes", len(raw), hashlib.sha256(raw).hexdigest()))
        return self._table(files, "inputs", "file", "kind", "bytes", "sha256")
