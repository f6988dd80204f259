"""What notebook cells call: open evidence, show verdicts, steps and tables, draw; the work is done elsewhere."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd
from pyspark.sql import DataFrame, SparkSession

import kit
from kit import causes
from kit.analysis import noise
from kit.case.case import Case
from kit.case.progress import Progress
from kit.causes import look_alikes, release_advice, results, timeline
from kit.charts import Chart, Table, clean, overview, undrawn
from kit.i18n import Clock, Lang, Sentence, labels, on_clock, rendered
from kit.interrupts import Interrupts
from kit.notebook import answers, places, prose
from kit.notebook.walks import NOTHING, Stop
from kit.report.labels import HOLDS, PAGE, VERDICTS, ranked, requests
from kit.tables import frames
from kit.tables.queries import catalogue
from kit.tables.runner import collect

if TYPE_CHECKING:
    from kit.explorer.explorer import Explorer
    from kit.explorer.selection import Selection

TEXTS: Final = labels("notebook")["inquiry"]
VIEWS: Final = labels("notebook")["answers"]
_ROW: Final = re.compile(r"-- One row per ([^:.(]+)")
"""What a query says that a row of it is."""
COMMON: Final = (
    "records", "originals", "ops", "transactions", "leaked_records", "events", "entries", "deliveries", "rows",
    "sends", "offsets", "configs", "metrics"
)  # fmt: skip
ROWS: Final = 10
MOST: Final = 20_000
"""Rows of an answer that are fetched; a picture draws fewer."""


def locate(evidence: str | Path) -> Path:
    """Return the path of the evidence: as given, else in a parent folder, else next to the kit, where the sample is."""
    wanted = Path(evidence).expanduser()
    here = Path.cwd()
    for base in (here, *here.parents, Path(__file__).resolve().parents[2]):
        if (base / wanted).exists():
            return (base / wanted).resolve()
    raise FileNotFoundError(TEXTS["not_found"].say(path=str(evidence)).render())


class NoSuchCause(KeyError):
    """The kit has no such cause."""


def _or_sentence(show: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method return one sentence if it fails; errors in what the reader asked for are still raised."""

    @functools.wraps(show)
    def ask(self: Inquiry, *arguments: Any, **named: Any) -> Any:
        try:
            with on_clock(self.case.clock):
                return show(self, *arguments, **named)
        except NoSuchCause:
            raise
        except Exception as error:
            return undrawn(error, Table(pd.DataFrame(), show.__name__, lang=self.lang))

    return ask


@attrs.frozen(repr=False)
class Inquiry:
    """One triaged case for notebooks."""

    case: Case
    findings: Mapping[str, Any]
    lang: Lang
    interactive: bool

    def finding(self, cause: str) -> Mapping[str, Any]:
        """Return the finding of a cause as in findings.json."""
        by_cause = {f["cause"]: f for f in self.findings["findings"]}
        if cause not in by_cause:
            raise NoSuchCause(TEXTS["no_such"].say(cause=cause, known=sorted(by_cause)).render(self.lang))
        return by_cause[cause]

    def first(self) -> str:
        """Return the cause to look at first: the most harmful confirmed one, else the most likely."""
        return (self.findings["root_causes"] or [f["cause"] for f in ranked(self.findings)])[0]

    @property
    def spark(self) -> SparkSession:
        return self.case.spark

    def sql(self, text: str, /, **values: Any) -> DataFrame:
        """Return the answer to a query over the tables of the case; `values` are bound to `:name` in it."""
        return self.case.sql(text, **values)

    def answer(
        self,
        rows: DataFrame | pd.DataFrame,
        so: Stop | None = None,
        draw: Callable[..., Chart | Table] | None = None,
        mark: Sequence[str] | Mapping[str, Any] = (),
    ) -> answers.Answer:
        """Show what a query answers: drawn, else a table of at most ten rows, and below it what follows.

        `mark`: the columns of the table that decide, or {column: value} for the cells that do.
        """
        fetched = rows if isinstance(rows, pd.DataFrame) else collect(rows.limit(MOST))
        frame = fetched if isinstance(fetched, pd.DataFrame) else frames.to_pandas(fetched)
        with on_clock(self._clock(frame)):
            sentences = rendered(so.of(self.case, fetched) if so else "", self.lang)
            if frame.empty or (so and not so.answers(self.case)):
                return answers.Answer(frame, (), sentences or NOTHING.in_(self.lang))
            if draw is None:
                first = frame.head(ROWS)
                references = places.places_of(first.to_dict("records"))
                table = Table(answers.readable(first), "", {}, self.lang, ROWS, mark, references=references)
                return answers.Answer(frame, (self._linked(table),), sentences)
            drawn = answers.drawn(draw, frame, "", self.lang)
            if isinstance(drawn, Chart) and sentences:
                drawn, sentences = attrs.evolve(drawn, reading=clean(sentences)), ""
        return answers.Answer(frame, (drawn,), sentences)

    def _clock(self, frame: pd.DataFrame) -> Clock:
        """Return the clock of an answer's times: of its files, or of all where it names none."""
        local, clock = self.case.local_files, self.case.clock
        if not local or clock == "local":
            return clock
        files = set(frame["file"].dropna()) if "file" in frame else None
        return "either" if files is None or (files & local and files - local) else "local" if files & local else clock

    def query(self, name: str, cause: str = "") -> answers.Text:
        """Show the queries behind a step (of `cause`, else of all), or the one behind a table. Raise `KeyError`."""
        steps = [step for each in causes.discover() if cause in ("", each.slug) for step in each.steps if step.tables]
        wanted = [table for step in steps if step.id == name for table in step.tables] or [name]
        try:
            return answers.Text(tuple((each, self.case.query(each).strip()) for each in dict.fromkeys(wanted)))
        except KeyError:
            known = sorted({step.id for step in steps})
            raise KeyError(VIEWS["no_such"].say(name=name, steps=known).render(self.lang)) from None

    def views(self, *names: str) -> Table:
        """Return tables that `sql` can ask with their columns and what a row of each is; by default the commonest."""
        rows = []
        for name in names or COMMON:
            columns = ", ".join(self.sql(f"select * from {name} limit 0").columns)
            row = _ROW.search(catalogue()[name].text) if name in catalogue() else None
            rows.append((name, columns, " ".join(row[1].replace("--", "").split()) if row else ""))
        heads = {name: VIEWS[name] for name in ("view", "columns", "row")}
        return Table(pd.DataFrame(rows, columns=pd.Index(list(heads))), "", heads, self.lang)

    def table(self, name: str, selection: Selection | None = None) -> pd.DataFrame:
        """Return a result table of the causes, else a gold table, or what a selection leaves of it; empty if none."""
        is_gold = name in catalogue() and name not in results.names(self.case)
        frame = self.case.facts(name) if is_gold else results.table(self.case, name)
        return frame if selection is None else selection.keep(frame)

    @_or_sentence
    def rows(self, name: str, most: int = 10, selection: Selection | None = None) -> Any:
        """Return the first rows of a table (`table`), safe to display."""
        frame = self.table(name, selection)
        if name == timeline.TABLE:  # in the reader's language only
            frame = frame.rename(columns={self.lang: "what"}).drop(columns=["en", "zh"], errors="ignore")
        references = places.places_of(frame.head(most).to_dict("records"))
        return self._linked(Table(frame, clean(name), lang=self.lang, max_rows=most, references=references))

    def draw(
        self, chart: Callable[..., Chart], name: str, selection: Selection | None = None
    ) -> Chart | Table | answers.Answer:
        """Draw a table (`table`), or what a selection leaves of it; show a sentence if there is nothing of it."""
        frame = self.table(name, selection)
        if frame.empty:
            return answers.sentence(NOTHING, self.lang)
        return answers.drawn(chart, frame, clean(name), self.lang)

    @_or_sentence
    def verdicts(self, every: bool = False) -> Table | answers.Answer:
        """Return the causes that hold or may hold with their verdicts, in reading order; or `every` cause."""
        findings, rows = ranked(self.findings), []
        for f in findings:
            if every or f["verdict"] not in ("ruled_out", "insufficient_evidence"):
                icon, name = VERDICTS[f["verdict"]]
                rows.append((f"{icon}\N{NO-BREAK SPACE}{name.in_(self.lang)}", f["cause"], f["summary"]))
        counts = Counter(f["verdict"] for f in ([] if every else findings))
        folded: dict[str, Any] = {"open": counts["insufficient_evidence"] or None, "out": counts["ruled_out"] or None}
        folded |= {"all": "`inquiry.verdicts(every=True)`" if any(folded.values()) else None}
        if not rows:
            return answers.sentence(TEXTS["none_holds"].say(**folded), self.lang)
        return self._table(rows, TEXTS["verdicts"].say(**folded), "verdict", "cause", "reason")

    def _table(self, rows: list[Any], caption: Sentence, *columns: str) -> Table:
        heads = {name: PAGE[name] for name in columns}
        return Table(pd.DataFrame(rows, columns=pd.Index(columns)), caption, heads, self.lang)

    def __repr__(self) -> str:
        confirmed = self.findings["root_causes"]
        lines = [
            str(self.case),
            (TEXTS["confirmed"].say(causes=confirmed) if confirmed else TEXTS["none_confirmed"]).render(self.lang),
            *[self.finding(cause)["summary"] for cause in confirmed[:1]],
            TEXTS["ask"].render(self.lang),
        ]
        return "\n".join(clean(line) for line in lines)

    @_or_sentence
    def chain(self, cause: str) -> Table:
        """Return the steps of a cause: claim, role, whether it is shown, number of references."""
        rows = [
            (n, HOLDS[s["holds"]][1], PAGE[s["role"]].in_(self.lang), s["claim"], len(s["evidence"]))
            for n, s in enumerate(self.finding(cause)["steps"], 1)
        ]
        return self._table(rows, TEXTS["chain"].say(cause=cause), "step", "holds", "role", "chain", "refs")

    @_or_sentence
    def evidence(self, cause: str, step: int) -> Any:
        """Return the lines and records behind step number `step` (the first is 1), without its claim."""
        refs, caption = self.finding(cause)["steps"][step - 1]["evidence"], TEXTS["quotes"].say(n=step)
        rows = [(ref["file"], str(ref.get("line", ref.get("physical_offset"))), ref["text"]) for ref in refs]
        frame = answers.readable(pd.DataFrame(rows, columns=pd.Index(["file", "line", "text"]) if rows else None))
        heads = answers.HEADS | {"line": TEXTS["line"]}
        return self._linked(Table(frame, caption, heads, self.lang, references=refs))

    @_or_sentence
    def remedies(self, cause: str) -> Table | answers.Answer:
        """Return what to do, why it helps, its risk, how to see that it worked. Files are named as tables."""
        if not self.finding(cause)["remedies"]:
            return answers.sentence(TEXTS["no_remedy"], self.lang)
        names = {"action": "remedies", "why": "helps", "risk": "risk", "verify": "verify"}
        frame = pd.DataFrame(self.finding(cause)["remedies"], columns=pd.Index(list(names)))
        frame = frame.replace(r"`?\b([a-z0-9_]+)\.csv`?", r"""`inquiry.table("\1")`""", regex=True)
        return Table(frame, PAGE["remedies"], {k: PAGE[v] for k, v in names.items()}, self.lang)

    @_or_sentence
    def missing(self) -> Table | answers.Answer:
        """Return what to collect next, each command once."""
        rows = requests(ranked(self.findings))
        if not rows:
            return answers.sentence(TEXTS["none_missing"], self.lang)
        frame = pd.DataFrame(rows, columns=pd.Index(["artefact", "why", "command"]))
        return Table(frame, TEXTS["missing"], answers.HEADS, self.lang)

    @_or_sentence
    def noise(self, show: bool = True) -> Table | None:
        """Return the known benign log texts; nothing unless `show`."""
        if not show:
            return None
        frame = noise.harmless_texts(self.case.facts, self.lang)[list(noise.SHOWN)]
        return Table(frame, noise.HEAD, noise.SHOWN, self.lang)

    @_or_sentence
    def look_alikes(self, *slugs: str) -> Table:
        """Return what these causes look like (by default those confirmed or suspected, else all), told apart."""
        frame = look_alikes.frame(self.lang, slugs or release_advice.confirmed_or_suspected(self.findings) or None)
        return Table(frame, PAGE["look_alikes"], look_alikes.COLUMNS, self.lang, max_rows=100)

    @_or_sentence
    def timeline(self) -> Chart:
        """Chart the timeline across all files; the moments that decide are marked."""
        titles = {finding["cause"]: finding["title"] for finding in self.findings["findings"]}
        return overview.timeline(self.table(timeline.TABLE), self.lang, titles)

    @_or_sentence
    def coverage(self) -> Chart:
        """Chart the time the evidence covers, with the window of the first confirmed cause shaded."""
        items = self.case.inventory.items
        times = {name: pd.to_datetime([getattr(item, name) for item in items], utc=True) for name in ("first", "last")}
        timed = pd.DataFrame({"kind": [item.called for item in items], **times})
        windows = [self.finding(cause)["window"] for cause in self.findings["root_causes"]]
        window = next(((pd.Timestamp(w[0]), pd.Timestamp(w[1])) for w in windows if w), None)
        return overview.coverage(timed, window, self.lang)

    def place(self, reference: places.Reference | str | tuple[str, int]) -> Any:
        """Show the line of a reference with 20 lines around it, or the record with all its properties and its copies
        before and after: a reference of findings.json, (file, line), `FILE:LINE` or `FILE @ BYTE`. Raise
        `BadReference`.
        """
        return self._linked(places.place(self.case, reference))

    def trace(self, id: str) -> Any:  # noqa: A002 - as in `kit.trace`
        return self._linked(places.traced(self.case, id))

    def _linked(self, shown: Table | places.View) -> Any:
        """Return what can be clicked of a table with references, a place or a life, if interactive."""
        clickable = self.interactive and (isinstance(shown, places.View) or any(shown.references))
        return places.Trail(self.case, shown).box if clickable else shown

    def explore(self, **narrowed: Any) -> Explorer:
        """Return the linked views of the whole case, narrowed by the arguments of `kit.explore`."""
        from kit.explorer.explorer import explore

        explorer = explore(self.case, **{"interactive": self.interactive, **narrowed})
        explorer.linked = functools.partial(places.Trail, self.case)
        return explorer


def start(
    evidence: str | Path,
    workspace: str = "",
    lang: Lang = "en",
    interactive: bool = True,
    options: Mapping[str, Any] | None = None,
    book: str | None = "",
) -> Inquiry:
    """Open and triage the evidence; results already in the workspace are reused, without Spark.

    `workspace`: empty for the user's cache folder. `options` as on the command line (`{"tz_app": "Asia/Shanghai"}`).
    `book`: the kit's notebook this is, whose text is then said in `lang`; None: somebody else has seen to that.
    """
    if book is not None:
        prose.speak(book, lang, interactive)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    chosen = {"lang": lang, **(options or {})}
    case = kit.open_case(locate(evidence), workspace or None, **chosen)
    with watched(case, lang, interactive):
        return Inquiry(case, kit.triage(case), lang, interactive)


@contextlib.contextmanager
def watched(case: Case, lang: Lang, interactive: bool) -> Iterator[None]:
    """Show the progress of a case's work and let an interrupt stop it in the block, in a notebook from then on."""
    # JupyterLab leaves a red box where something was written to stderr, even after it is cleared.
    stream = sys.stderr if prose.shell() is None else sys.stdout
    progress = Progress(lang, stream, is_live=True) if interactive else Progress()
    cell = contextlib.ExitStack()
    # Otherwise jobs and threads would go on, and those that wait for them.
    stop = Interrupts(case.cancel)

    def begin(*_: Any) -> None:
        cell.close()
        case.resume()
        cell.callback(stop.forget)
        cell.callback(setattr, case, "progress", case.progress)
        cell.callback(progress.end)
        case.progress = progress
        if threading.current_thread() is threading.main_thread():
            cell.callback(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, stop))

    def end(*_: Any) -> None:
        cell.close()

    if prose.shell() is not None:
        before = prose.listen("progress", pre_run_cell=begin, post_run_cell=end)
        before.get("post_run_cell", end)()
    begin()
    try:
        yield
    finally:
        if prose.shell() is None:
            end()
