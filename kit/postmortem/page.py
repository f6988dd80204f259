"""A blameless postmortem: what the kit found and what the team knows, merged into one offline page. Notes are read, never overwritten.

`kit.postmortem.start(evidence, notes="notes.yaml").write("postmortem.html")` writes an example if there are no notes yet.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any, Final

import pandas as pd

from kit import __version__
from kit.case import bug_report, output
from kit.causes import timeline
from kit.charts import Chart, Table, clean, messages, sends, sizes, transactions
from kit.charts import timeline as charts
from kit.evidence import disk
from kit.evidence import workspace as ws
from kit.formats.printed_times import iso
from kit.i18n import Lang, labels, on_clock
from kit.notebook import hypotheses, notes
from kit.notebook import inquiry as notebook
from kit.report import build, html, manifest, write
from kit.report.finding_view import finding_view
from kit.report.labels import COLUMNS as LABELS
from kit.report.labels import page

BadNotes, template = notes.BadNotes, notes.template
__all__ = ["BadNotes", "Postmortem", "start", "template"]

PAGE_NAME: Final = "postmortem.html"
MOST_ROWS: Final = 500

_ENV: Final = html.environment()
WORDS: Final = labels("postmortem")["page words"]
COLUMNS: Final = labels("postmortem")["page columns"]
TEXTS: Final = labels("postmortem")["page"]
CHARTS: Final[Mapping[str, tuple[tuple[str, Callable[..., Chart]], ...]]] = {
    "half-topic-blowup": (("half_topic_growth", transactions.growth), ("half_topic_flow", transactions.flow)),
    "message-size-mismatch": (("size_half_queue", sizes.half_queue), ("size_near_limit", sizes.near_limit)),
    "message-identity": (("identity_funnel", messages.funnel),),
    "broker-busy": (("busy_axis", sends.axis), ("busy_outcome", sends.outcome)),
    "transaction-consistency": (("transaction_flow", transactions.accounting),),
}
"""The most useful charts of each cause: result table and chart function."""


def start(
    evidence: str | Path,
    workspace: str = "",
    lang: Lang = "en",
    interactive: bool = True,
    notes: str | Path = "",
    options: Mapping[str, Any] | None = None,
) -> Postmortem:
    """Triage the evidence and read the notes. If the notes do not exist, an example is written; empty: no notes.

    Raise `BadNotes`, `FileNotFoundError`, `WorkspaceInside` (notes inside the evidence: nothing is ever written there).
    """
    inquiry = notebook.start(evidence, workspace, lang, interactive, options, book="90")
    return Postmortem(inquiry, noted(Path(notes), inquiry.case) if str(notes) else None)


def noted(path: Path, case: Any) -> notes.Notes:
    """Read the notes, after writing an example if absent. Raise `BadNotes`, `WorkspaceInside`, `OSError`."""
    ws.base(path, case.path)
    return notes.read(template(path, case.lang), case.lang)


class Postmortem:
    """What the kit found and what the team wrote. `written`: the notes, None without a file."""

    def __init__(self, inquiry: notebook.Inquiry, written: notes.Notes | None) -> None:
        self.inquiry = inquiry
        self.written = written or notes.nothing()
        self.lang = inquiry.lang
        self.failed: list[str] = []
        """Charts that could not be drawn; the page names them."""

    @cached_property
    def causes(self) -> list[Mapping[str, Any]]:
        """Return the confirmed findings: root causes in the order of the findings, then their neighbours."""
        return self._of("confirmed")

    @cached_property
    def suspected(self) -> list[Mapping[str, Any]]:
        return self._of("suspected")

    def _of(self, verdict: str) -> list[Mapping[str, Any]]:
        found = [f for f in self.inquiry.findings["findings"] if f["verdict"] == verdict]
        order = {slug: n for n, slug in enumerate(self.inquiry.findings["root_causes"])}
        return sorted(found, key=lambda f: (order.get(f["cause"], len(order)), f["kind"] != "root_cause", f["cause"]))

    # --- timeline --------------------------------------------------------------------------------------------------------

    @cached_property
    def moments(self) -> pd.DataFrame:
        """Return the timeline of the evidence and the team's notes, with the columns of `kit.causes.timeline` and
        `source`; notes whose time cannot be read come last, `at` null.
        """
        found = self.inquiry.table(timeline.TABLE)
        told = pd.DataFrame(self._told(), columns=pd.Index(["at", "source", "en", "file"]))
        team = told.assign(zh=told["en"], lane="team", decides=False)
        parts = [found.assign(source=TEXTS["evidence"].render(self.lang)), team]
        every = [row for part in parts for row in part.to_dict("records")]
        frame = timeline.typed(pd.DataFrame(every, columns=pd.Index([*timeline.COLUMNS, "source"])))
        return frame.sort_values("at", kind="stable", na_position="last", ignore_index=True)

    @cached_property
    def events(self) -> pd.DataFrame:
        """Return the merged timeline for its table: columns at (UTC, NaT at the end), source, what, decides, place."""
        places = zip(self.moments["file"], self.moments["line"], self.moments["physical_offset"], strict=True)
        shown = self.moments.assign(what=self.moments[self.lang], place=[charts.place(*each) for each in places])
        shown["decides"] = ["◆" if one else "" for one in shown["decides"]]
        return shown[["at", "source", "what", "decides", "place"]]

    def chart(self) -> Chart:
        """Chart the timed rows of the merged timeline."""
        titles = {f["cause"]: clean(f["title"]) for f in self.inquiry.findings["findings"]}
        return charts.timeline(self.moments[self.moments["at"].notna()], self.lang, titles)

    def _told(self) -> list[tuple[Any, str, str, str]]:
        rows = []
        for name, source in (("timeline", TEXTS["team"]), ("decisions", TEXTS["decision"])):
            for row in self.written.tables[name]:
                at = notes.moment(row["time"], self.written.zone, self._day)
                what = row["what"]
                what = TEXTS["because"].say(what=what, why=row["why"]).render(self.lang) if row.get("why") else what
                what = TEXTS["who"].say(what=what, who=row["who"]).render(self.lang) if row["who"] else what
                said = TEXTS["as_written"].say(text=row["time"]).render(self.lang) if row["time"] else ""
                rows.append((at, source.render(self.lang), what, said))
        return rows

    @cached_property
    def _day(self) -> dt.date | None:
        """Return the day for notes with only a clock time: the notes' own date, else that of the first window, in the notes' zone."""
        said = notes.moment(self.written.texts["date"], self.written.zone)
        first = said or next((iso(f["window"][0]) for f in self.causes if f["window"]), None)
        return None if first is None else first.astimezone(self.written.zone).date()

    # --- what notebooks show
    # ---------------------------------------------------------------------------------------------

    def timeline(self) -> Table:
        """Return the merged timeline as a table."""
        return Table(self.events, WORDS["timeline"], COLUMNS, self.lang, MOST_ROWS)

    def turns(self) -> Table:
        """Return what of the timeline decides, and what the team did and noted."""
        told = (self.events["source"] != TEXTS["evidence"].render(self.lang)) | (self.events["decides"] != "")
        return Table(self.events[told], WORDS["timeline"], COLUMNS, self.lang, MOST_ROWS)

    def actions(self) -> Table:
        """Return the team's actions, then what the kit proposes and nobody owns yet."""
        nobody = TEXTS["nobody"].render(self.lang)
        rows = [
            (a["what"], a["owner"] or nobody, a["due"], a["kind"], a["ticket"]) for a in self.written.tables["actions"]
        ]
        remedies = dict.fromkeys(r["action"] for f in self.causes for r in f["remedies"])
        rows += [(action, nobody, "", TEXTS["proposed"].render(self.lang), "") for action in remedies]
        frame = pd.DataFrame(rows, columns=pd.Index(["what", "owner", "due", "kind", "ticket"]))
        return Table(frame, WORDS["actions"], COLUMNS, self.lang, MOST_ROWS)

    # --- the page --------------------------------------------------------------------------------------------------------

    def page(self, options: Mapping[str, Any] | None = None, manifest_hash: str | None = None) -> str:
        """Return the page. Everything from evidence and notes passes `clean` and an autoescaping template.

        `options`: as on the command line, for the line that creates the page again.
        """
        with on_clock(self.inquiry.case.clock):
            views, suspected = [self._views(found) for found in (self.causes, self.suspected)]
        roots = [v for v in views if v["kind"] == "root_cause"]
        words = page(self.lang) | {
            name: text.say(version=__version__, zone=str(self.written.zone)).render(self.lang)
            for name, text in WORDS.items()
        }
        title = (
            self.written.texts["title"] or " · ".join(v["title"] for v in roots) or WORDS["no_cause"].render(self.lang)
        )
        findings = self.inquiry.findings
        return _ENV.get_template("postmortem.html.j2").render(
            lang_tag="zh-CN" if self.lang == "zh" else "en",
            words=words,
            version=clean(__version__),
            title=clean(title),
            evidence_name=clean(PurePath(self.inquiry.case.path).name),
            about=self._about(),
            texts={
                name: [clean(line) for line in text.splitlines() if line.strip()]
                for name, text in self.written.texts.items()
            },
            lists={name: [clean(text) for text in items] for name, items in self.written.lists.items()},
            found_summary=[v["summary"] for v in roots or views],
            causes=views,
            suspected=suspected,
            titles={f["cause"]: clean(f["title"]) for f in findings["findings"]},
            # The merged table is below it.
            chart=html.drawn(self.chart(), "timeline") | {"table": None},
            timeline=self.timeline().as_dict(),
            turns=self.turns().as_dict(),
            actions=self.actions().as_dict(),
            hypotheses=self.hypotheses().as_dict(),
            overruled=hypotheses.table(self.written, "overruled", hypotheses.OVERRULED, self.inquiry).as_dict(),
            wanted=list({m["command"]: m for v in (*views, *suspected) for m in v["missing"]}.values()),
            inputs=self._inputs().as_dict(),
            command=html.command(findings, dict(options or {}), self.lang, "postmortem"),
            manifest_hash=manifest_hash,
            # Last, when all charts are drawn.
            banners=self._banners(),
            **html.bundled(),
        )

    def hypotheses(self) -> Table:
        """Return the team's hypotheses, in its own words, with their references."""
        return hypotheses.table(self.written, "hypotheses", hypotheses.HYPOTHESES, self.inquiry)

    def _views(self, found: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [
            finding_view(f, (), self.lang) | {"drawn": self._drawn(f), "overruled": self._overruled(f["cause"])}
            for f in found
        ]

    def _overruled(self, cause: str) -> list[str]:
        rows = [row for row in self.written.tables["overruled"] if row["cause"] == cause]
        return [clean(hypotheses.mark(row).render(self.lang)) for row in rows]

    def _drawn(self, finding: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the charts of a cause with rows in this evidence; one that fails does not break the page, which names it."""
        drawn: list[dict[str, Any]] = []
        for name, draw in CHARTS.get(finding["cause"], ()):
            frame = self.inquiry.table(name)
            if frame.empty:
                continue
            try:
                drawn.append(html.drawn(draw(frame, lang=self.lang), name.replace("_", "-")))
            except Exception:
                self.failed.append(name)
        return drawn

    def _inputs(self) -> Table:
        files = [(f["file"], f["kind"], f["bytes"], f["sha256"]) for f in self.inquiry.findings["evidence"]["files"]]
        if self.written.path.name:
            raw = self.written.path.read_bytes()
            files.append((self.written.path.name, "notes", len(raw), hashlib.sha256(raw).hexdigest()))
        frame = pd.DataFrame(files, columns=pd.Index(["file", "kind", "bytes", "sha256"]))
        return Table(frame, WORDS["inputs"], LABELS, self.lang, MOST_ROWS)

    def _about(self) -> list[str]:
        texts = self.written.texts
        said = {
            TEXTS["status"]: texts["status"],
            TEXTS["severity"]: texts["severity"],
            TEXTS["authors"]: ", ".join(self.written.lists["authors"]),
        }
        return [
            *([clean(texts["date"])] if texts["date"] else []),
            *(clean(text.say(text=value).render(self.lang)) for text, value in said.items() if value),
        ]

    def _banners(self) -> list[str]:
        undated = int(self.events["at"].isna().sum())
        unknown = [clean(name, 60) for name in self.written.unknown]
        return [
            *([TEXTS["unknown"].say(names=unknown).render(self.lang)] if unknown else []),
            *([TEXTS["undated"].say(count=undated).render(self.lang)] if undated else []),
            *([TEXTS["not_drawn"].say(names=self.failed).render(self.lang)] if self.failed else []),
        ]

    def write(self, out: str | Path = "postmortem.html") -> Path:
        """Write the page and return its path. Raise `WorkspaceInside` if that is inside the evidence, `ValueError` if it is the notes' own."""
        path = Path(out)
        ws.base(path, self.inquiry.case.path)
        if path.resolve() == self.written.path.resolve():
            raise ValueError(str(path))
        disk.write_text(path, self.page(self._options()))
        return path

    def _options(self) -> dict[str, Any]:
        said = build.declared(self.inquiry.case, "auto")
        return said | ({"notes": str(self.written.path)} if self.written.path.name else {})

    def write_all(self, out: Path) -> Path:
        """Write `out/postmortem.html`, findings.json, the tables, manifest.json and run.json; return the page's path."""
        started = dt.datetime.now(dt.UTC)
        case, findings, options = self.inquiry.case, self.inquiry.findings, self._options()
        content = manifest.manifest(findings, {**options, "lang": self.lang}, notes=self.written.path)
        page = self.page(options, content["manifest_sha256"])
        with output.into(out, "postmortem", self.lang) as folder:
            disk.write_json(folder / "findings.json", findings)
            write.tables(case, folder / "tables")
            (folder / PAGE_NAME).write_text(page, encoding="utf-8", errors="backslashreplace")
            disk.write_json(folder / "manifest.json", content)
            manifest.write_run(folder / "run.json", started, build.places(case, out))
            if case.failures:
                bug_report.write(folder, case)
        return out / PAGE_NAME
