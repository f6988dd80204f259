"""`kit.explore(case)`: the linked views, and what is selected in them as Python values."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from kit.charts import Chart, Table
from kit.charts import overview as charts
from kit.explorer import spec
from kit.explorer.database import EVENTS, Database, parquet
from kit.explorer.selection import COLUMNS, VALUES, Part, Selection
from kit.i18n import Lang, T

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kit.case.case import Case

MOST: Final = 100_000
"""Most rows of a pandas frame; `spark` returns all of them."""
AROUND: Final = dt.timedelta(minutes=1)
"""Time shown before and after a message."""

MISSING = T(
    "The explorer needs the packages duckdb and mosaic-widget: pip install 'duckdb>=1.5.4,<3' 'mosaic-widget>=0.34,<0.35'"
)
NO_MESSAGE = T("no record with a time has {id}")
ENTRIES, RECORDS = T("Log entries, in order of time"), T("Records, in order of time")


class ExplorerMissing(ImportError):
    """A package the explorer needs is not installed; the message says what to install."""


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
) -> Explorer:
    """Return linked views over the logs, records, lag and host metrics of a case, narrowed by the arguments (see
    `Selection`).

    `interactive`: False for charts and tables without widgets. `message`: an id or business key; shows the time from a
    minute before its first record to a minute after its last. Moments that the causes report are marked once the case was
    triaged. Raise `ExplorerMissing`, or `ValueError` for an invalid time or a message without one.
    """
    base = Selection(since, until, topics, groups, hosts, levels, sources, threads, events, stages)
    return Explorer(case, base & around(case, message) if message else base, interactive)


def around(case: Case, message: str) -> Selection:
    """Return the time span of a message with its margins. Raise `ValueError` if none of its records has a time."""
    from kit.analysis.messages.trace import trace

    found = [pd.Timestamp(r["store_timestamp"]) for r in trace(case, message)["records"] if r["store_timestamp"]]
    if not found:
        raise ValueError(NO_MESSAGE.say(id=message).render(case.lang))
    return Selection(min(found).to_pydatetime() - AROUND, max(found).to_pydatetime() + AROUND)


class Explorer:
    """The views of one case. Displayed as a widget, or as charts and tables if not interactive."""

    def __init__(self, case: Case, base: Selection, interactive: bool = True) -> None:
        try:
            import duckdb  # noqa: F401

            if interactive:
                import mosaic_widget  # noqa: F401
        except ImportError:
            raise ExplorerMissing(MISSING.render(case.lang)) from None
        self.case, self.base, self.interactive = case, base, interactive
        self.lang: Lang = case.lang
        self.database = Database(case)
        self.database.narrow(base.where("entries"), base.where("records"))

    # --- what is selected ------------------------------------------------------------------------------------------------

    @property
    def selection(self) -> Selection:
        """The current selection, by arguments and widget."""
        if "widget" not in self.__dict__:
            return self.base
        said = self.widget.params
        values = {
            name: self._chosen(name, said[name]["predicate"])
            for name in VALUES
            if name in said and said[name].get("predicate")
        }
        since, until = _span(said.get("span", {}).get("value"))
        return self.base & Selection(since, until, **values)

    def _chosen(self, name: str, predicate: str) -> list[str]:
        """Return the values of a field that satisfy a condition of the widget."""
        part: Part = next(part for part in COLUMNS if name in COLUMNS[part] and part in self._content.has)
        column = COLUMNS[part][name]
        if name != "events":
            return self.database.values(part, column, predicate)
        each = self.database.values(part, column)
        asked = "SELECT v FROM (SELECT unnest(?) AS v, [v] AS events) WHERE " + predicate
        return [row[0] for row in self.database.ask(asked, [each]).fetchall()]

    @property
    def entries(self) -> pd.DataFrame:
        """The first `MOST` selected log entries in order of time, with the columns of `case.logs`."""
        return self._frame("entries", "logs", ("file", "line"), "ts", ("events", '"offset"'))

    @property
    def records(self) -> pd.DataFrame:
        """The first `MOST` selected records in order of time, with the columns of `case.records`."""
        return self._frame("records", "messages", ("file", "physical_offset"), "store_timestamp", ("body",))

    def _frame(self, part: Part, table: str, key: tuple[str, str], time: str, hidden: Iterable[str]) -> pd.DataFrame:
        where, base = self.selection.where(part), parquet(self.case.folder(table))
        chosen = (
            f"SELECT {', '.join(key)}, ts AS ts_ FROM {part} WHERE {where} ORDER BY ts, {', '.join(key)} LIMIT {MOST}"
        )
        shown = f"* EXCLUDE ({', '.join(hidden)}, ts_) REPLACE (ts_ AS {time})"
        asked = f"SELECT {shown} FROM {base} JOIN ({chosen}) USING ({', '.join(key)}) ORDER BY {time}, {', '.join(key)}"
        found = self.database.ask(asked).df()
        return found.assign(**{time: pd.to_datetime(found[time], utc=True)})

    def spark(self, part: Part) -> DataFrame:
        """Return all selected `entries` or `records` as a Spark DataFrame, with the columns of `case.logs` or
        `case.records`.
        """
        from pyspark.sql import functions as F  # noqa: N812

        from kit.case.frames import within

        chosen, key = self.selection, ("file", "line" if part == "entries" else "physical_offset")
        kept = self.case.session.read.parquet(self.case.uri(self.database.folders[part]))
        kept = kept.where(within("ts", chosen.since, chosen.until))
        if chosen.since or chosen.until:
            kept = kept.where(F.col("ts").isNotNull())
        for name, column in COLUMNS[part].items():
            if wanted := list(getattr(chosen, name)):
                listed = F.array(*map(F.lit, wanted))
                kept = kept.where(
                    F.arrays_overlap(F.split("known", rf"\{EVENTS}"), listed)
                    if name == "events"
                    else F.col(column).isin(wanted)
                )
        whole = self.case.logs if part == "entries" else self.case.records
        return whole.join(kept.select(*key), list(key), "left_semi")

    # --- what is shown ---------------------------------------------------------------------------------------------------

    @functools.cached_property
    def _content(self) -> spec.Content:
        ask = self.database
        has = frozenset(n for n in ("entries", "records", "lag", "metrics", "moments") if ask.count(n))
        times = " UNION ALL ".join(f"SELECT ts FROM {part}" for part in COLUMNS)
        first, last = ask.ask(f"SELECT epoch_ms(min(ts)), epoch_ms(max(ts)) FROM ({times})").fetchall()[0]
        ask.count_up(spec.counted((last or 0) - (first or 0)))
        values = {(part, name): ask.values(part, column) for part in COLUMNS for name, column in COLUMNS[part].items()}
        often = "SELECT metric FROM metrics GROUP BY metric ORDER BY count(*) DESC, metric LIMIT 1"
        metric = [row[0] for row in ask.ask(often).fetchall()]
        return spec.Content((first or 0, (last or 0) + 1), values, has, self.lang, *metric)

    @functools.cached_property
    def widget(self) -> Any:
        """The widget itself, a `MosaicWidget` with linked views."""
        from kit.explorer.widget import themed

        ask = self.database.ask
        for part in COLUMNS:
            ask(spec.shown_view(part, self.lang))
        for (name, column), values in spec.menus(self._content).items():
            kind = "[[v]]" if name == "events" else "v"  # a menu unnests a list once
            ask(f'CREATE TABLE menu_{name} AS SELECT {kind} AS "{column}" FROM (SELECT unnest(?) AS v)', [values])
        made = themed()(spec.specification(self._content), con=self.database.con.cursor())
        made.explorer = self  # keep its scratch folder as long as the widget
        return made

    def timeline(self, part: Part = "entries") -> Chart:
        """Chart the selected entries by level, or records by stage, over time."""
        first, last = self._content.axis
        step = max(1000, round((last - first) / spec.STEPS))
        by = "level" if part == "entries" else "stage"
        asked = f"""
            SELECT make_timestamp(CAST(floor(epoch_ms(ts) / {step}) AS BIGINT) * {step} * 1000) AS ts, {by} AS "by", count(*) AS rows
            FROM {part} WHERE ts IS NOT NULL AND {self.selection.where(part)} GROUP BY 1, 2 ORDER BY 1, 2"""
        moments = self.database.ask("SELECT ts, what FROM moments ORDER BY ts").df()
        frame = self.database.ask(asked).df()
        colours = spec.LEVELS if part == "entries" else {}
        label = (spec.ENTRIES if part == "entries" else spec.RECORDS).in_(self.lang)
        return charts.over_time(frame, moments, label, colours, self.lang)

    def table(self, part: Part = "entries", most: int = 50) -> Table:
        """Return the first selected entries or records as a table."""
        heads = spec.HEADS[part]
        columns = ", ".join(f"{expression} AS c{n}" for n, expression in enumerate(heads))
        place = "line" if part == "entries" else "physical_offset"
        asked = (
            f"SELECT {columns} FROM {part} WHERE {self.selection.where(part)} ORDER BY ts, file, {place} LIMIT {most}"
        )
        frame = self.database.ask(asked).df()
        names = {f"c{n}": head.in_(self.lang) for n, head in enumerate(heads.values())}
        return Table(frame, (ENTRIES if part == "entries" else RECORDS).in_(self.lang), names, self.lang, most)

    def cut(self, out: str = "DIR") -> str:
        """Return the command line that copies the selected part of the evidence; see `Selection.cut`."""
        return self.selection.cut(self.case, out)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        if self.interactive:
            display(self.widget)
            return
        for part in COLUMNS:
            if part in self._content.has:
                display(self.timeline(part))


def _span(value: Any) -> tuple[dt.datetime | None, dt.datetime | None]:
    """Return the times of a brush, which arrive as ISO texts or as milliseconds."""
    if not isinstance(value, list) or len(value) != 2:
        return None, None
    at = sorted(pd.Timestamp(each, unit="ms" if isinstance(each, int | float) else None) for each in value)
    first, last = (each.tz_localize("UTC") if each.tzinfo is None else each for each in at)
    return first.to_pydatetime(), last.to_pydatetime()
