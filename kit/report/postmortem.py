"""A blameless postmortem: what the kit found and what the team knows, merged into one offline page. Notes are read,
never written over.

`kit.postmortem.start(evidence, notes="notes.yaml").write("postmortem.html")` writes an example where there are no notes
yet.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib import resources
from pathlib import Path, PurePath
from typing import Any, Final

import pandas as pd
from markupsafe import Markup

from kit import __version__
from kit.charts import Table, clean
from kit.evidence import workspace as ws
from kit.i18n import Lang, T
from kit.notebook import inquiry as notebook
from kit.report import html, notes
from kit.report.labels import page
from kit.report.notes import BadNotes, template

__all__ = ["BadNotes", "Postmortem", "start", "template"]

WORDS: Final[dict[str, T]] = {
    "kicker": T("RocketMQ postmortem"),
    "skip": T("Skip to the postmortem"),
    "blameless": T(
        "This page asks how it could happen, not who is to blame. Everybody acted on what they knew at the time."
    ),
    "unwritten": T("Nobody has written this down yet. Section of the notes:"),
    "summary": T("Summary"),
    "impact": T("Impact"),
    "detection": T("Detection"),
    "timeline": T("Timeline"),
    "timeline_note": T(
        "From the evidence and from the team's notes, in order of time. Times without an offset in the notes are read in {zone}."
    ),
    "chain": T("Root cause"),
    "no_cause": T("No root cause is confirmed by this evidence."),
    "resolution": T("Resolution"),
    "went_well": T("What went well"),
    "went_badly": T("What went badly"),
    "lucky": T("Where we got lucky"),
    "actions": T("Actions"),
    "missing": T("What is missing"),
    "made": T("Made by rmq-kit {version} from evidence and notes; nothing in it comes from anywhere else."),
}
COLUMNS: Final[dict[str, T]] = {
    "at": T("time (UTC)"),
    "source": T("source"),
    "what": T("what", "postmortem"),
    "place": T("where it says so"),
    "owner": T("owner"),
    "due": T("due"),
    "kind": T("kind"),
    "ticket": T("ticket"),
}
FIRST, LAST = T("First sign of: {title}"), T("Last sign of: {title}")
EVIDENCE, TEAM, DECISION = T("evidence"), T("team"), T("decision")
AS_WRITTEN = T("notes: {text}")
PROPOSED = T("proposed by the kit")
NOBODY = T("nobody yet")
UNKNOWN = T("Sections of the notes that nobody reads: {names}")
UNDATED = T("Entries of the notes without a time that can be read: {count}. They stand at the end.")
WHO = T("{what} ({who})")
BECAUSE = T("{what} Why: {why}")
STATUS, SEVERITY, AUTHORS = T("status: {text}"), T("severity: {text}"), T("authors: {text}")
MOST_ROWS: Final = 500

_ENV: Final = html.environment()


def start(
    evidence: str | Path,
    workspace: str = "",
    lang: Lang = "en",
    interactive: bool = True,
    notes: str | Path = "",
    options: Mapping[str, Any] | None = None,
) -> Postmortem:
    """Triage the evidence and read the notes. Notes that are not there yet are written as an example; empty: no notes.

    Raise `BadNotes`, `FileNotFoundError`, `WorkspaceInside` (notes inside the evidence: nothing is ever written there).
    """
    inquiry = notebook.start(evidence, workspace, lang, interactive, options)
    return Postmortem(inquiry, _notes(Path(notes), inquiry) if str(notes) else None)


def _notes(path: Path, inquiry: notebook.Inquiry) -> notes.Notes:
    ws.base(path, inquiry.case.path)
    return notes.read(template(path, inquiry.lang), inquiry.lang)


class Postmortem:
    """What the kit found and what the team wrote. `written`: the notes, None without a file."""

    def __init__(self, inquiry: notebook.Inquiry, written: notes.Notes | None) -> None:
        self.inquiry = inquiry
        self.written = written or notes.nothing()
        self.lang = inquiry.lang

    @cached_property
    def causes(self) -> list[Mapping[str, Any]]:
        """Return what is confirmed: root causes by harm, then their neighbours."""
        found = [f for f in self.inquiry.findings["findings"] if f["verdict"] == "confirmed"]
        order = {slug: n for n, slug in enumerate(self.inquiry.findings["root_causes"])}
        return sorted(found, key=lambda f: (order.get(f["cause"], len(order)), f["cause"]))

    # --- timeline --------------------------------------------------------------------------------------------------------

    @cached_property
    def events(self) -> pd.DataFrame:
        """Return the merged timeline: columns at (UTC, NaT at the end), source, what, place."""
        rows = [*self._found(), *self._told()]
        frame = pd.DataFrame(rows, columns=pd.Index(["at", "source", "what", "place"]))
        frame["at"] = pd.to_datetime(frame["at"], utc=True)
        return frame.sort_values("at", kind="stable", na_position="last", ignore_index=True)

    def _found(self) -> list[tuple[Any, str, str, str]]:
        source = EVIDENCE.render(self.lang)
        steps = [(step["claim"], step["evidence"]) for f in self.causes for step in f["steps"] if step["holds"]]
        times = moments(self.inquiry.case, (ref for _, refs in steps for ref in refs))
        rows: list[tuple[Any, str, str, str]] = []
        for finding in self.causes:
            for text, at in zip((FIRST, LAST), finding["window"] or (), strict=False):
                rows.append(
                    (_instant(at), source, text.say(title=finding["title"]).render(self.lang), finding["cause"])
                )
        for claim, refs in steps:
            timed = [ref for ref in map(_place, refs) if ref in times]
            if timed:
                at, (file, line, offset) = min(((times[ref], ref) for ref in timed), key=lambda both: both[0])
                rows.append((at, source, claim, f"{file}:{line}" if line is not None else f"{file} @ {offset}"))
        return rows

    def _told(self) -> list[tuple[Any, str, str, str]]:
        rows = []
        for name, source in (("timeline", TEAM), ("decisions", DECISION)):
            for row in self.written.tables[name]:
                at = notes.moment(row["time"], self.written.zone, self._day)
                what = row["what"]
                what = BECAUSE.say(what=what, why=row["why"]).render(self.lang) if row.get("why") else what
                what = WHO.say(what=what, who=row["who"]).render(self.lang) if row["who"] else what
                said = AS_WRITTEN.say(text=row["time"]).render(self.lang) if row["time"] else ""
                rows.append((at, source.render(self.lang), what, said))
        return rows

    @cached_property
    def _day(self) -> dt.date | None:
        """Day of notes that give a clock time only: the notes' own date, else that of the first window, in the notes'
        zone.
        """
        said = notes.moment(self.written.texts["date"], self.written.zone)
        first = said or next((_instant(f["window"][0]) for f in self.causes if f["window"]), None)
        return None if first is None else first.astimezone(self.written.zone).date()

    # --- what notebooks show
    # ---------------------------------------------------------------------------------------------

    def timeline(self) -> Table:
        """Return the merged timeline as a table."""
        return Table(self.events, WORDS["timeline"].render(self.lang), self._names, self.lang, MOST_ROWS)

    def actions(self) -> Table:
        """Return the team's actions, then what the kit proposes and nobody owns yet."""
        nobody = NOBODY.render(self.lang)
        rows = [
            (a["what"], a["owner"] or nobody, a["due"], a["kind"], a["ticket"]) for a in self.written.tables["actions"]
        ]
        remedies = dict.fromkeys(r["action"] for f in self.causes for r in f["remedies"])
        rows += [(action, nobody, "", PROPOSED.render(self.lang), "") for action in remedies]
        frame = pd.DataFrame(rows, columns=pd.Index(["what", "owner", "due", "kind", "ticket"]))
        return Table(frame, WORDS["actions"].render(self.lang), self._names, self.lang, MOST_ROWS)

    @property
    def _names(self) -> dict[str, str]:
        return {name: text.render(self.lang) for name, text in COLUMNS.items()}

    # --- the page --------------------------------------------------------------------------------------------------------

    def page(self) -> str:
        """Return the page. Everything from evidence and notes passes `clean` and an autoescaping template."""
        css = resources.files("kit.report").joinpath("templates", "report.css").read_text(encoding="utf-8")
        views = [html.finding_view(f, (), self.lang) for f in self.causes]
        roots = [v for v in views if v["kind"] == "root_cause"]
        words = page(self.lang) | {
            name: text.say(version=__version__, zone=str(self.written.zone)).render(self.lang)
            for name, text in WORDS.items()
        }
        title = (
            self.written.texts["title"] or " · ".join(v["title"] for v in roots) or WORDS["no_cause"].render(self.lang)
        )
        return _ENV.get_template("postmortem.html.j2").render(
            lang_tag="zh-CN" if self.lang == "zh" else "en",
            words=words,
            version=clean(__version__),
            title=clean(title),
            evidence_name=clean(PurePath(self.inquiry.case.path).name),
            about=self._about(),
            banners=self._banners(),
            texts={
                name: [clean(line) for line in text.splitlines() if line.strip()]
                for name, text in self.written.texts.items()
            },
            lists={name: [clean(text) for text in items] for name, items in self.written.lists.items()},
            found_summary=[v["summary"] for v in roots or views],
            causes=views,
            timeline=self.timeline().as_dict(),
            actions=self.actions().as_dict(),
            wanted=list({m["command"]: m for v in views for m in v["missing"]}.values()),
            csp=html.policy(css),
            css=Markup(css),
        )

    def _about(self) -> list[str]:
        texts = self.written.texts
        said = {STATUS: texts["status"], SEVERITY: texts["severity"], AUTHORS: ", ".join(self.written.lists["authors"])}
        return [
            *([clean(texts["date"])] if texts["date"] else []),
            *(clean(text.say(text=value).render(self.lang)) for text, value in said.items() if value),
        ]

    def _banners(self) -> list[str]:
        undated = int(self.events["at"].isna().sum())
        unknown = [clean(name, 60) for name in self.written.unknown]
        return [
            *([UNKNOWN.say(names=unknown).render(self.lang)] if unknown else []),
            *([UNDATED.say(count=undated).render(self.lang)] if undated else []),
        ]

    def write(self, out: str | Path = "postmortem.html") -> Path:
        """Write the page and return its path. Raise `WorkspaceInside` where that is inside the evidence, `ValueError`
        where it is the notes' own.
        """
        path = Path(out)
        ws.base(path, self.inquiry.case.path)
        if path.resolve() == self.written.path.resolve():
            raise ValueError(str(path))
        ws.write_text(path, self.page())
        return path


def _instant(iso: str) -> dt.datetime:
    return dt.datetime.fromisoformat(iso.replace("Z", "+00:00"))


_Place = tuple[str, int | None, int | None]


def _place(ref: Mapping[str, Any]) -> _Place:
    return ref["file"], ref.get("line"), ref.get("physical_offset")


def moments(case: Any, refs: Iterable[Mapping[str, Any]]) -> dict[_Place, dt.datetime]:
    """Return when each reference was written, where its log entry or record says so: {(file, line, physical offset):
    UTC}. Needs no Spark.
    """
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    wanted = {_place(ref) for ref in refs}
    files = sorted({file for file, _, _ in wanted})
    found: dict[_Place, dt.datetime] = {}
    records = [place for place in wanted if place[2] is not None]
    if records:
        chosen = pc.field("file").isin(files) & pc.field("physical_offset").isin([offset for _, _, offset in records])
        table = ds.dataset(case.folder("messages"), format="parquet").to_table(
            columns=["file", "physical_offset", "store_timestamp"], filter=chosen
        )
        at = {(row["file"], row["physical_offset"]): row["store_timestamp"] for row in table.to_pylist()}
        found |= {place: _utc(at[place[0], place[2]]) for place in records if at.get((place[0], place[2])) is not None}
    logs = ds.dataset(case.folder("logs"), format="parquet")
    for place in wanted:
        file, line, _ = place
        if line is None:
            continue
        # A quoted line may be one of those folded into an entry.
        covers = (pc.field("file") == file) & (pc.field("line") <= line) & (pc.field("line") + pc.field("lines") > line)
        rows = logs.to_table(columns=["ts"], filter=covers).to_pylist()
        if rows and rows[0]["ts"] is not None:
            found[place] = _utc(rows[0]["ts"])
    return found


def _utc(at: dt.datetime) -> dt.datetime:
    return at.replace(tzinfo=dt.UTC) if at.tzinfo is None else at.astimezone(dt.UTC)
