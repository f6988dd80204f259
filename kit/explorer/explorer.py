"""`kit.explore(case)`: the linked views, and what is selected in them as Python values."""

from __future__ import annotations

import datetime as dt
import difflib
import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from kit.causes import results, timeline
from kit.charts import BLUE, GREY, ORANGE, PURPLE, SKY, VERMILLION, Chart, Table, clean
from kit.charts import overview as charts
from kit.explorer import narrow
from kit.explorer.selection import COLUMNS, KEYS, LABELS, SAYS, VALUES, Part, Selection
from kit.i18n import Lang

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kit.case.case import Case
    from kit.explorer.widget import View

MOST: Final = 100_000
"""Most rows of a pandas frame; `spark` returns all of them."""
AROUND: Final = dt.timedelta(minutes=1)
"""Time shown before and after a message."""
STEPS: Final = 160
"""Bars of a timeline."""
LEVELS: Final = {"FATAL": PURPLE, "ERROR": VERMILLION, "WARN": ORANGE, "INFO": BLUE, "DEBUG": SKY, "TRACE": GREY}
BY: Final[dict[Part, str]] = {"entries": "level", "records": "stage"}


def explore(
    case: Case,
    *,
    interactive: bool = True,
    message: str = "",
    since: str | dt.datetime | None = None,
    until: str | dt.datetime | None = None,
    topics: str | Iterable[str] = (),
    groups: str | Iterable[str] = (),
    hosts: str | Iterable[str] = (),
    levels: str | Iterable[str] = (),
    sources: str | Iterable[str] = (),
    threads: str | Iterable[str] = (),
    events: str | Iterable[str] = (),
    stages: str | Iterable[str] = (),
    text: str = "",
) -> Explorer:
    """Return linked views over the logs, records, lag and host metrics of a case, narrowed by the arguments (see `Selection`).

    `interactive`: False for charts and tables without widgets. `message`: an id or business key; shows the time from a
    minute before its first record to a minute after its last. Moments that the causes report are marked once the case was
    triaged. Raise `ValueError` for an invalid time, a value that is not in the evidence, a message without a time.
    """
    chosen = Selection(since, until, topics, groups, hosts, levels, sources, threads, events, stages, text)
    return Explorer(case, chosen & around(case, message) if message else chosen, interactive)


def around(case: Case, message: str) -> Selection:
    """Return the time span of a message with its margins. Raise `ValueError` if none of its records has a time."""
    from kit.analysis.messages.trace import trace

    found = [pd.Timestamp(r["store_timestamp"]) for r in trace(case, message)["records"] if r["store_timestamp"]]
    if not found:
        raise ValueError(SAYS["no_message"].say(id=message).render(case.lang))
    return Selection(min(found).to_pydatetime() - AROUND, max(found).to_pydatetime() + AROUND)


class Explorer:
    """The views of one case. Displayed as a widget, or as charts and tables if not interactive; `selection` may be set."""

    def __init__(self, case: Case, selection: Selection, interactive: bool = True) -> None:
        self.case, self.interactive = case, interactive
        self.linked: Callable[[Table, pd.DataFrame, Any], Any] | None = None
        """Makes what shows rows that can be clicked, with a `box`, of a table, its rows and what it returned before (None at first)."""
        self.lang: Lang = case.lang
        self.parts = {part: narrow.read(case, part) for part in COLUMNS}
        for field in VALUES:
            self._check(field, getattr(selection, field))
        self.selection = selection

    def _check(self, field: str, values: Iterable[str]) -> None:
        known = [*self.values(field)]
        for value in values:
            if value not in known:
                near = difflib.get_close_matches(value, known, 5, 0.5) or known[:10]
                said = SAYS["unknown"].say(
                    field=LABELS["fields"][field], value=clean(value, 80), known=[clean(each, 80) for each in near]
                )
                raise ValueError(said.render(self.lang))

    def values(self, field: str) -> dict[str, int]:
        """Return the values of a field with the number of rows that have them, the most frequent first."""
        found: dict[str, int] = {}
        for part, each in self.parts.items():
            for value, count in each.counts(field).items() if field in COLUMNS[part] else ():
                found[value] = found.get(value, 0) + count
        return found

    @property
    def entries(self) -> pd.DataFrame:
        """The first `MOST` selected log entries in order of time, with the columns of `case.logs`."""
        return self._first("entries", "ts")

    @property
    def records(self) -> pd.DataFrame:
        """The first `MOST` selected records in order of time, with the columns of `case.records`, without bodies."""
        return self._first("records", "store_timestamp")

    def _first(self, part: Part, time: str) -> pd.DataFrame:
        found = self.spark(part).drop("body").orderBy(time, *KEYS[part]).limit(MOST).toPandas()
        return found.assign(**{time: pd.to_datetime(found[time], utc=True)})

    def spark(self, part: Part) -> DataFrame:
        """Return all selected `entries` or `records` as a Spark DataFrame, with the columns of `case.logs` or `case.records`."""
        whole = self.case.logs if part == "entries" else self.case.records
        if self.selection == Selection():
            return whole
        return whole.join(self.parts[part].spark(self.case, self.selection), list(KEYS[part]), "left_semi")

    @functools.cached_property
    def moments(self) -> pd.DataFrame:
        """The moments that the causes report (ts, what); none before a triage."""
        found = results.table(self.case, timeline.TABLE)
        if found.empty:
            return pd.DataFrame({"ts": pd.to_datetime([]), "what": []})
        at = pd.to_datetime(found["at"], utc=True).dt.tz_localize(None)
        return pd.DataFrame({"ts": at, "what": found[self.case.lang].map(clean)}).dropna(subset="ts").sort_values("ts")

    def timeline(self, part: Part = "entries", log: bool = False) -> Chart:
        """Chart the selected entries by level, or records by stage, over time; `log`: on a logarithmic scale, beside instead of above each other."""
        frame = self.parts[part].steps(self.selection, BY[part], STEPS)
        colours = LEVELS if part == "entries" else {}
        chart = charts.over_time(frame, self.moments, LABELS["parts"][part].in_(self.lang), colours, self.lang)
        if log:
            chart.figure.update_yaxes(type="log", dtick=1, tickformat=",d")
            chart.figure.update_layout(barmode="group")
        return chart

    def table(self, part: Part = "entries", most: int = 50) -> Table:
        """Return the first selected entries or records as a table."""
        return self.rows(part, most)[0]

    def rows(self, part: Part = "entries", most: int = 50) -> tuple[Table, pd.DataFrame]:
        """Return the first selected entries or records as a table, and as they are kept."""
        rows = self.parts[part].rows(self.selection, most)
        return self._table(part, rows), rows

    def _table(self, part: Part, rows: pd.DataFrame) -> Table:
        file, number = KEYS[part]
        where = [f"{a}{':' if part == 'entries' else ' @ '}{b}" for a, b in zip(rows[file], rows[number], strict=True)]
        at = rows["ts"].dt.strftime("%Y-%m-%d %H:%M:%S.%f").str[:-3]
        heads = {name: head.in_(self.lang) for name, head in LABELS[part].items()}
        named = rows.assign(file=[each.rpartition("!/")[2] for each in where], ts=at)[list(heads)]
        return Table(named, LABELS["captions"][part], heads, self.lang, len(rows) or 1)

    def follow(self, draw: Callable[[], Chart | Table]) -> Any:
        """Return what a function shows, anew after each selection; without widgets what it shows now."""
        return self.widget.follow(draw) if self.interactive else draw()

    def cut(self, out: str = "DIR") -> str:
        """Return the command line that copies the selected part of the evidence; see `Selection.cut`."""
        return self.selection.cut(self.case, out)

    @functools.cached_property
    def widget(self) -> View:
        """The widget itself: its charts, menus and chips set `selection`, and follow it."""
        from kit.explorer.widget import View

        return View(self)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        if self.interactive:
            display(self.widget)
            return
        for part, each in self.parts.items():
            if len(each.frame):
                display(self.timeline(part))
