"""What notebook cells call: open evidence, show verdicts, steps and tables, draw. A thin layer: the work is done
elsewhere.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs
import pandas as pd

from kit.causes import results
from kit.charts import Chart, Table, Undrawn, clean, undrawn
from kit.charts.overview import coverage
from kit.i18n import Lang, Sentence, labels, on_clock
from kit.notebook import answers, hypotheses, places, prose
from kit.notebook.progress import watched
from kit.notebook.stops import NOTHING, Stop

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kit.case.case import Case
    from kit.explorer import Explorer, Selection
    from kit.notebook.places import Reference
    from kit.notebook.trail import Trail

R = TypeVar("R")

TEXTS: Final = labels("notebook")["inquiry"]
HEADS: Final = labels("notebook")["inquiry heads"]
FIGURE_HEADS: Final = labels("notebook")["inquiry figure heads"]


def locate(evidence: str | Path) -> Path:
    """Return the path of the evidence: as given, else in a parent folder, else next to the kit (so that the sample is found
    from anywhere).
    """
    wanted = Path(evidence).expanduser()
    here = Path.cwd()
    for base in (here, *here.parents, Path(__file__).resolve().parents[2]):
        if (base / wanted).exists():
            return (base / wanted).resolve()
    raise FileNotFoundError(TEXTS["not_found"].say(path=str(evidence)).render())


class NoSuchCause(KeyError):
    """The kit has no such cause."""


def _or_sentence(show: Callable[..., R]) -> Callable[..., R | Undrawn]:
    """Make a method return one sentence if it fails; errors in what the reader asked for are still raised."""

    @functools.wraps(show)
    def ask(self: Inquiry, *arguments: Any, **named: Any) -> R | Undrawn:
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
    notes: str | Path = hypotheses.DEFAULT
    """The file to which `note` and `overrule` append."""

    def finding(self, cause: str) -> Mapping[str, Any]:
        """Return the finding of a cause as in findings.json."""
        found = {f["cause"]: f for f in self.findings["findings"]}
        if cause not in found:
            raise NoSuchCause(TEXTS["no_such"].say(cause=cause, known=sorted(found)).render(self.lang))
        return found[cause]

    def first(self) -> str:
        """Return the cause to look at first: the most harmful confirmed one, else the most likely."""
        return (self.findings["root_causes"] or [f["cause"] for f in self._ranked()])[0]

    def _ranked(self) -> list[Mapping[str, Any]]:
        """Return the findings, confirmed ones first."""
        from kit.report.labels import VERDICTS as WORDS

        order = list(WORDS)
        key = lambda f: (order.index(f["verdict"]), f["kind"] != "root_cause", f["cause"])  # noqa: E731
        return sorted(self.findings["findings"], key=key)

    @property
    def spark(self) -> SparkSession:
        """The session of the case, with every table as a temp view."""
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
        with on_clock(self.case.clock):
            given = answers.answer(self.case, rows, so, draw, mark, self.lang)
        if not self.interactive or draw is not None or given.frame.empty:
            return given
        references = [places.place_of(row) for row in given.frame.head(answers.ROWS).to_dict("records")]  # type: ignore[arg-type]
        return attrs.evolve(
            given, shown=tuple(self._linked(each, references) for each in given.shown if isinstance(each, Table))
        )

    def query(self, name: str, cause: str = "") -> answers.Text:
        """Show the queries behind a step (of every cause that has it, or of `cause`), or the one behind a table. Raise `KeyError` for neither."""
        return answers.queries(self.case, name, cause)

    def views(self, *names: str) -> Table:
        """Return the tables that `sql` can ask, with their columns; by default those an investigation needs most."""
        return answers.views(self.case, names or answers.COMMON, self.lang)

    def table(self, name: str) -> pd.DataFrame:
        """Return a result table of the causes; empty if this evidence has none."""
        return results.table(self.case, name)

    @_or_sentence
    def rows(self, name: str, most: int = 10, selection: Selection | None = None) -> Any:
        """Return the first rows of a result table, safe to display; empty if this evidence has none."""
        frame = self._left(name, selection)
        references = [places.place_of(row) for row in frame.head(most).to_dict("records")]  # type: ignore[arg-type]
        return self._linked(Table(frame, clean(name), lang=self.lang, max_rows=most), references)

    def _left(self, name: str, selection: Selection | None) -> pd.DataFrame:
        return self.table(name) if selection is None else selection.keep(self.table(name))

    def draw(
        self, chart: Callable[..., Chart], name: str, selection: Selection | None = None
    ) -> Chart | Table | Undrawn | answers.Answer:
        """Draw a result table, or the rows of it in a selection; show a sentence if it is absent."""
        if name not in results.names(self.case):
            return answers.sentence(NOTHING, self.lang)
        return self._drawn(chart, self._left(name, selection), name)

    def _drawn(self, chart: Callable[..., Any], frame: pd.DataFrame, name: str) -> Any:
        try:
            return chart(frame, lang=self.lang)
        except Exception as error:
            return undrawn(error, Table(frame, clean(name), lang=self.lang))

    @_or_sentence
    def verdicts(self, every: bool = False) -> Table | answers.Answer:
        """Return the causes that are not ruled out with their verdicts, confirmed ones first; or `every` cause."""
        from kit.report.labels import PAGE
        from kit.report.labels import VERDICTS as WORDS

        said = hypotheses.marks(self)
        shown = [f for f in self._ranked() if every or f["verdict"] != "ruled_out"]
        rows = [
            (f"{WORDS[f['verdict']][0]}\N{NO-BREAK SPACE}{WORDS[f['verdict']][1].in_(self.lang)}", f["cause"], f["summary"] + said.get(f["cause"], ""))
            for f in shown
        ]  # fmt: skip
        if not rows:
            return answers.sentence(TEXTS["all_out"].say(count=len(self.findings["findings"])), self.lang)
        heads = [PAGE[name].in_(self.lang) for name in ("verdict", "cause", "reason")]
        left = len(self.findings["findings"]) - len(shown)
        caption = TEXTS["verdicts_left"].say(count=left) if left else TEXTS["verdicts"]
        return Table(pd.DataFrame(rows, columns=pd.Index(heads)), caption, lang=self.lang)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        confirmed = self.findings["root_causes"]
        lines = [
            str(self.case),
            (TEXTS["confirmed"].say(causes=confirmed) if confirmed else TEXTS["none_confirmed"]).render(self.lang),
            *[self.finding(cause)["summary"] for cause in confirmed[:1]],
            TEXTS["ask"].render(self.lang),
        ]
        return {"text/plain": "\n".join(clean(line) for line in lines)}

    def __repr__(self) -> str:
        return self._repr_mimebundle_()["text/plain"]

    @_or_sentence
    def chain(self, cause: str) -> Table:
        """Return the steps of a cause: claim, role, whether it is shown, number of references."""
        from kit.report.labels import PAGE

        holds = {True: "✓", False: "✗", None: "?"}
        steps = self.finding(cause)["steps"]
        rows = [
            (n, holds[s["holds"]], PAGE[s["role"]].in_(self.lang), s["claim"], len(s["evidence"]))
            for n, s in enumerate(steps, 1)
        ]
        names = [
            "#",
            PAGE["holds"].in_(self.lang),
            TEXTS["role"].in_(self.lang),
            *(PAGE[name].in_(self.lang) for name in ("chain", "refs")),
        ]
        return Table(pd.DataFrame(rows, columns=pd.Index(names)), TEXTS["chain"].say(cause=cause), lang=self.lang)

    @_or_sentence
    def step(self, cause: str, id: str) -> Any:  # noqa: A002
        """Return one step of a cause, by its id: whether it is shown, its claim, and the lines and records behind
        it.
        """
        from kit.report.labels import PAGE

        found = next((s for s in self.finding(cause)["steps"] if s["id"] == id), None)
        if found is None:
            return Table(pd.DataFrame(), TEXTS["not_a_step"].say(id=id), lang=self.lang)
        mark, state = {True: ("✓", "holds"), False: ("✗", "fails"), None: ("?", "open")}[found["holds"]]
        said = TEXTS["step"].say(mark=mark, state=PAGE[state], role=PAGE[found["role"]], claim=found["claim"])
        return self._quoted(said, found["evidence"])

    @_or_sentence
    def evidence(self, cause: str, step: int) -> Any:
        """Return the lines and records behind step number `step` (the first is 1)."""
        return self._quoted(TEXTS["quotes"].say(n=step), self.finding(cause)["steps"][step - 1]["evidence"])

    def _quoted(self, caption: Sentence, refs: Sequence[Mapping[str, Any]]) -> Any:
        rows = [(ref["file"], str(ref.get("line", ref.get("physical_offset"))), ref["text"]) for ref in refs]
        frame = answers.readable(pd.DataFrame(rows, columns=pd.Index(list(HEADS)) if rows else None))
        return self._linked(Table(frame, caption, HEADS, self.lang), refs)

    @_or_sentence
    def figures(self, cause: str) -> Table:
        """Return the figures of a cause, with what each counts."""
        from kit import causes

        known = causes.figures()

        rows = [
            (name, value, known[name].label.in_(self.lang) if name in known else "")
            for name, value in self.finding(cause)["figures"].items()
        ]
        return Table(
            pd.DataFrame(rows, columns=pd.Index(list(FIGURE_HEADS)), dtype=object),
            TEXTS["figures"].say(cause=cause),
            FIGURE_HEADS,
            self.lang,
        )

    @_or_sentence
    def remedies(self, cause: str) -> Table | answers.Answer:
        """Return what to do, why it helps, its risk, how to see that it worked. Tables that a report writes as files are named as they are had here."""
        from kit.report.labels import PAGE

        if not self.finding(cause)["remedies"]:
            return answers.sentence(TEXTS["no_remedy"], self.lang)
        names = {"action": "remedies", "why": "helps", "risk": "risk", "verify": "verify"}
        frame = pd.DataFrame(self.finding(cause)["remedies"], columns=pd.Index(list(names)))
        frame = frame.map(
            lambda text: re.sub(r"`?([a-z0-9_]+)\.csv`?", r"""`inquiry.table("\1")`""", text), na_action="ignore"
        )
        return Table(frame, TEXTS["fixes"], {k: PAGE[v] for k, v in names.items()}, self.lang)

    @_or_sentence
    def missing(self) -> Table | answers.Answer:
        """Return what to collect next, each command once."""
        rows = {
            m["command"]: (m["artefact"], m["why"], m["command"])
            for f in self.findings["findings"]
            for m in f["missing"]
        }
        if not rows:
            return answers.sentence(TEXTS["none_missing"], self.lang)
        return Table(
            pd.DataFrame(rows.values(), columns=pd.Index(["artefact", "why", "command"])),
            TEXTS["missing"],
            lang=self.lang,
        )

    @_or_sentence
    def noise(self, show: bool = True) -> Table | None:
        """Return the known benign log texts; nothing unless `show`."""
        from kit.analysis import noise

        if not show:
            return None
        frame = noise.harmless_texts(self.case.facts, self.lang)[list(noise.SHOWN)]
        return Table(frame, noise.HEAD, noise.SHOWN, self.lang)

    @_or_sentence
    def look_alikes(self, *slugs: str) -> Table:
        """Return what these causes look like and how to tell them apart; by default of those confirmed or suspected, else
        of all.
        """
        from kit.causes import look_alikes

        wanted = set(slugs) or {
            f["cause"] for f in self.findings["findings"] if f["verdict"] in ("confirmed", "suspected")
        }
        frame = look_alikes.frame(self.lang, wanted or None)
        return Table(frame, TEXTS["apart"], look_alikes.COLUMNS, self.lang, max_rows=100)

    @_or_sentence
    def timeline(self) -> Chart:
        """Chart the timeline across all files; the moments that decide are marked."""
        from kit.causes.timeline import TABLE
        from kit.charts.timeline import timeline

        return timeline(self.table(TABLE), self.lang)

    @_or_sentence
    def coverage(self) -> Chart:
        """Chart the time the evidence covers, with the window of the first confirmed cause shaded."""
        files = [
            (f"{i.kind} ({i.source})" if i.source not in (None, i.kind) else i.kind, i.first, i.last)
            for i in self.case.inventory.items
        ]
        timed = pd.DataFrame(files, columns=pd.Index(["kind", "first", "last"]))
        timed = timed.assign(
            first=pd.to_datetime(timed["first"], utc=True), last=pd.to_datetime(timed["last"], utc=True)
        )
        windows = [self.finding(cause)["window"] for cause in self.findings["root_causes"]]
        window = next(((pd.Timestamp(w[0]), pd.Timestamp(w[1])) for w in windows if w), None)
        return coverage(timed, window, self.lang)

    def place(self, said: Reference | str | tuple[str, int]) -> Any:
        """Show the line of a reference with 20 lines around it, or the record with all its properties and its copies
        before and after: a reference of findings.json, (file, line), `FILE:LINE` or `FILE @ BYTE`. Raise `BadReference`.
        """
        return self._opened(places.place(self.case, said))

    def trace(self, id: str, within: Selection | None = None) -> Any:  # noqa: A002 - as in `kit.trace`
        """Show the life of a message, or the part of it in a selection."""
        return self._opened(places.traced(self.case, id, within))

    def note(self, text: str, about: Any = None, who: str = "") -> Table:
        """Add a hypothesis to the notes and return all of them. `about`: a reference as `place` takes it, a step as (cause,
        id), or an explorer's selection. Raise `BadReference` if it leads nowhere, `WorkspaceInside`, `BadNotes`.
        """
        return hypotheses.note(self, text, about, who)

    def overrule(self, cause: str, who: str, why: str) -> Table:
        """Add to the notes that the team overrules a verdict; the finding stays the same, and is marked."""
        return hypotheses.overrule(self, cause, who, why)

    def _opened(self, shown: places.Shown) -> Any:
        from kit.notebook.trail import opened

        return opened(self.case, shown) if self.interactive else shown

    def _linked(self, table: Table, references: Sequence[Reference | None]) -> Any:
        """Return a table whose references can be clicked, if interactive."""
        if not self.interactive or not any(references):
            return table
        from kit.notebook.trail import Trail

        return Trail(self.case, places.Linked(table, tuple(references))).box

    def explore(self, **narrowed: Any) -> Explorer:
        """Return the linked views of the whole case, narrowed by the arguments of `kit.explore`."""
        from kit.explorer import explore

        explorer = explore(self.case, **{"interactive": self.interactive, **narrowed})
        explorer.linked = self._rows_of_explorer
        return explorer

    def _rows_of_explorer(self, table: Table, frame: pd.DataFrame, shown: Trail | None) -> Trail:
        """Return a trail of rows that open, the one shown already if there is one."""
        from kit.notebook.trail import Trail

        given = places.Linked(table, tuple(places.place_of(row) for row in frame.to_dict("records")))
        if shown is None:
            return Trail(self.case, given)
        shown.fill(given)
        return shown


def start(
    evidence: str | Path,
    workspace: str = "",
    lang: Lang = "en",
    interactive: bool = True,
    options: Mapping[str, Any] | None = None,
    notes: str | Path = hypotheses.DEFAULT,
    book: str | None = "",
) -> Inquiry:
    """Open and triage the evidence; results already in the workspace are reused, without Spark.

    `workspace`: empty for the user's cache folder. `options` as on the command line (`{"tz_app": "Asia/Shanghai"}`).
    `notes`: the YAML file to which `Inquiry.note` appends; it is not created before.
    `book`: the kit's notebook this is, whose text is then said in `lang`; None: somebody else has seen to that.
    """
    import kit

    if book is not None:
        prose.speak(book, lang, interactive)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    chosen = {"lang": lang, **(options or {})}
    case = kit.open_case(locate(evidence), workspace or None, **chosen)
    with watched(case, lang, interactive):
        return Inquiry(case, kit.triage(case), lang, interactive, notes)
