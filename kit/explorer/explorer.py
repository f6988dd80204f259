"""`kit.explore(case)`: linked views, and what is selected in them as Python values."""

import datetime as dt
import difflib
import functools
import threading
from collections.abc import Callable
from typing import Any, Final

import attrs
import ipywidgets
import pandas as pd
from IPython.display import display
from pyspark.sql import DataFrame

from kit.analysis.consumers import lag
from kit.analysis.messages.trace import trace
from kit.case.case import Case
from kit.causes import results, timeline
from kit.charts import Chart, Table, clean, overview, pictures
from kit.charts.controls import outputs, standing
from kit.explorer.selection import COLUMNS, KEYS, LABELS, SAYS, VALUES, Part, Selection, narrow
from kit.i18n import Lang

MOST: Final = 100_000
"""Most rows of a pandas frame; `spark` returns all of them."""
AROUND: Final = dt.timedelta(minutes=1)
"""Time shown before and after a message."""
STEPS: Final = 160
"""Bars of a timeline."""
BY: Final[dict[Part, str]] = {"entries": "level", "records": "stage"}


def explore(case: Case, *, interactive: bool = True, message: str = "", **selected: Any) -> "Explorer":
    """Return linked views over the logs, records, lag and host metrics of a case, narrowed by what is `selected`.

    `interactive`: False for charts and tables without widgets. `message`: an id or business key; shows the time from a
    minute before its first record to a minute after its last. Moments that the causes report are marked once the case
    was triaged. Raise `ValueError` for an invalid time, a value that is not in the evidence, a message without a time.
    """
    chosen = Selection(**selected)
    if message:
        times = [pd.Timestamp(r["store_timestamp"]) for r in trace(case, message)["records"] if r["store_timestamp"]]
        if not times:
            raise ValueError(SAYS["no_message"].say(id=message).render(case.lang))
        since, until = min(times).to_pydatetime() - AROUND, max(times).to_pydatetime() + AROUND
        chosen = attrs.evolve(chosen, since=max(since, chosen.since or since), until=min(until, chosen.until or until))
    return Explorer(case, chosen, interactive)


class Explorer:
    """The views of one case: a widget, or charts and tables if not interactive; `selection` may be set."""

    def __init__(self, case: Case, selection: Selection, interactive: bool = True) -> None:
        self.case, self.interactive = case, interactive
        self.linked: Callable[[Table], Any] | None = None
        """Makes a table whose rows can be clicked: a `box`, and `fill`, which shows another table in it."""
        self.lang: Lang = case.lang
        self.parts = {part: narrow(case, part) for part in COLUMNS}
        for field in VALUES:
            known = [*self.values(field)]
            for value in sorted(set(getattr(selection, field)).difference(known)):
                near = [clean(each, 80) for each in difflib.get_close_matches(value, known, 5, 0.5) or known[:10]]
                problem = SAYS["unknown"].say(field=LABELS["fields"][field], value=clean(value, 80), known=near)
                raise ValueError(problem.render(self.lang))
        self.selection = selection

    def values(self, field: str) -> dict[str, int]:
        """Return the values of a field with the number of rows that have them, the most frequent first in each part."""
        counts = [each.counts(field) for part, each in self.parts.items() if field in COLUMNS[part]]
        return {value: sum(each.get(value, 0) for each in counts) for each in counts for value in each}

    @property
    def entries(self) -> pd.DataFrame:
        """The first `MOST` selected log entries in order of time, with the columns of `case.logs`."""
        return self._first("entries", "ts")

    @property
    def records(self) -> pd.DataFrame:
        """The first `MOST` selected records in order of time, with the columns of `case.records`, without bodies."""
        return self._first("records", "store_timestamp")

    def _first(self, part: Part, time: str) -> pd.DataFrame:
        rows = self.spark(part).drop("body").orderBy(time, *KEYS[part]).limit(MOST).toPandas()
        return rows.assign(**{time: pd.to_datetime(rows[time], utc=True)})

    def spark(self, part: Part) -> DataFrame:
        whole = self.case.logs if part == "entries" else self.case.records
        if self.selection == Selection():
            return whole
        return whole.join(self.parts[part].spark(self.case, self.selection), list(KEYS[part]), "left_semi")

    @functools.cached_property
    def moments(self) -> pd.DataFrame:
        """The moments that the causes report (ts, what); none before a triage."""
        table = results.table(self.case, timeline.TABLE).reindex(columns=["at", self.case.lang])
        at = pd.to_datetime(table["at"], utc=True).dt.tz_localize(None)
        what = table[self.case.lang].map(clean, na_action="ignore")
        return pd.DataFrame({"ts": at, "what": what}).dropna(subset="ts").sort_values("ts")

    def timeline(self, part: Part = "entries") -> Chart:
        """Chart the selected entries by level, or records by stage, over time."""
        frame = self.parts[part].steps(self.selection, BY[part], STEPS)
        return overview.over_time(frame, self.moments, LABELS["parts"][part].in_(self.lang), self.lang)

    def table(self, part: Part = "entries", most: int = 50) -> Table:
        rows = self.parts[part].rows(self.selection, most)
        references: list[Any] = rows[list(KEYS[part])].to_dict("records")
        where = [(":" if part == "entries" else " @ ").join(map(str, each.values())) for each in references]
        at = rows["ts"].dt.strftime("%Y-%m-%d %H:%M:%S.%f").str[:-3]
        heads = {name: head.in_(self.lang) for name, head in LABELS[part].items()}
        named = rows.assign(file=[each.rpartition("!/")[2] for each in where], ts=at)[list(heads)]
        return Table(named, LABELS["captions"][part], heads, self.lang, len(rows) or 1, references=references)

    @functools.cached_property
    def widget(self) -> "View":
        """The widget itself: its charts, menus and chips set `selection`, and follow it."""
        return View(self)

    def _ipython_display_(self) -> None:
        charts = [self.timeline(part) for part, each in self.parts.items() if len(each.frame)]
        if self.interactive:
            charts = [standing(self.widget, outputs(charts))]
        for each in charts:
            display(each)


# --- the widget -------------------------------------------------------------------------------------------------------

BARS: Final = 8
"""Most bars of a field, the values with most rows; the menu has all of them."""
COMPARED: Final[dict[Part, tuple[str, ...]]] = {
    "entries": ("levels", "sources", "topics"), "records": ("stages", "topics", "groups"),
}  # fmt: skip
TICKS: Final = 1000
"""Places of the slider of times."""


class View(ipywidgets.VBox):
    """The widget of an explorer. Every part of it sets `explorer.selection`, and `refresh` draws the others anew."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer, self.lang = explorer, explorer.lang
        # JupyterLab sends clicks to a thread of their own, while a cell runs or an earlier click is still drawn.
        self._drawing = threading.RLock()
        self._drawer: int | None = None
        """The thread that draws; what its own drawing changes is nobody's click."""
        self._follow: list[Callable[[], None]] = []
        self.bars: dict[tuple[Part, str], dict[str, tuple[Any, Any, Any]]] = {}
        """The button, bar and number of each value, by part and field."""
        self.chips, self.counts = ipywidgets.HBox(layout={"flex_flow": "row wrap"}), ipywidgets.Label()
        widgets: list[Any] = [self._menus(), *self._span(), self.chips, self.counts]
        parts = [part for part, each in explorer.parts.items() if len(each.frame)]
        for part in parts:
            bars = [self._bars(part, name) for name in COMPARED[part] if len(explorer.parts[part].counts(name)) > 1]
            drawn = self._drawn(functools.partial(explorer.timeline, part))
            widgets += [drawn, ipywidgets.HBox(bars, layout={"flex_flow": "row wrap"})]
        widgets += [*self._measured(), *map(self._table, parts)]
        super().__init__(widgets)
        self.add_class("rmq-kit-explorer")
        self.refresh()

    def select(self, selection: Selection) -> None:
        if self._drawer == threading.get_ident():
            return
        with self._drawing:
            if selection != self.explorer.selection:
                self.explorer.selection = selection
                self.refresh()

    def _change(self, **fields: Any) -> None:
        self.select(attrs.evolve(self.explorer.selection, **fields))

    def refresh(self) -> None:
        with self._drawing:
            self._drawer = threading.get_ident()
            try:
                self._say()
                for follow in self._follow:
                    follow()
            finally:
                self._drawer = None

    def _say(self) -> None:
        """Show what is selected as chips that let go of it, and how much that is."""
        chosen = self.explorer.selection
        heads = {field: label.in_(self.lang) for field, label in LABELS["fields"].items()}
        chips = []
        if chosen.since or chosen.until:
            ends = [f"{at:%Y-%m-%d %H:%M:%S}" if at else "…" for at in (chosen.since, chosen.until)]
            chips.append((f"{ends[0]} – {ends[1]} UTC", attrs.evolve(chosen, since=None, until=None)))
        values = [(field, value) for field in VALUES for value in getattr(chosen, field)]
        chips += [(f"{heads[field]}: {clean(value, 80)}", chosen.toggled(field, value)) for field, value in values]
        if chosen.text:
            chips.append((f"{heads['text']}: {clean(chosen.text, 80)}", attrs.evolve(chosen, text="")))
        buttons = [self._chip(*chip) for chip in chips]
        if chips:
            buttons.append(self._chip(SAYS["clear"].in_(self.lang), Selection(), "times-circle"))
        self.chips.children = buttons or (ipywidgets.Label(SAYS["everything"].in_(self.lang)),)
        counts = {part: int(each.mask(chosen).sum()) for part, each in self.explorer.parts.items()}
        totals = ((n, len(self.explorer.parts[part].frame), LABELS["parts"][part]) for part, n in counts.items())
        numbers = [SAYS["of"].say(count=n, total=total, what=what).render(self.lang) for n, total, what in totals]
        self.counts.value = " · ".join([*([] if any(counts.values()) else [SAYS["nothing"].in_(self.lang)]), *numbers])

    def _chip(self, text: str, then: Selection, icon: str = "times") -> Any:
        chip = ipywidgets.Button(description=text, icon=icon, layout={"width": "auto"})
        chip.on_click(lambda _: self.select(then))
        return chip

    def _menus(self) -> Any:
        """Return a menu for each field with a choice; what is not in it is refused."""
        menus = []
        for field in VALUES:
            values = {clean(value, 200): value for value in self.explorer.values(field)}
            if len(values) < 2:
                continue
            look = {"placeholder": LABELS["fields"][field].in_(self.lang), "layout": {"width": "11em"}}
            menu = ipywidgets.Combobox(options=sorted(values), ensure_option=True, continuous_update=False, **look)

            def chosen(change: Any, field: str = field, values: dict[str, str] = values) -> None:
                if change["new"] in values:
                    change["owner"].value = ""
                    self.select(self.explorer.selection.toggled(field, values[change["new"]]))

            menu.observe(chosen, "value")
            menus.append(menu)
        hint = SAYS["search"].in_(self.lang)
        self.search = ipywidgets.Text(placeholder=hint, continuous_update=False, layout={"width": "16em"})
        self.search.observe(lambda change: self._change(text=change["new"].strip()), "value")
        self._follow.append(lambda: setattr(self.search, "value", self.explorer.selection.text))
        return ipywidgets.HBox([self.search, *menus], layout={"flex_flow": "row wrap"})

    # --- charts -------------------------------------------------------------------------------------------------------

    def _drawn(self, draw: Callable[[], Chart | Table]) -> Any:
        """Return a place for a chart, drawn anew whenever the selection changes."""
        place = ipywidgets.Output()
        self._follow.append(lambda: setattr(place, "outputs", outputs([draw()])))
        return place

    def _span(self) -> list[Any]:
        """Return a slider over all times: what is between its handles is selected."""
        times = pd.concat([each.frame["ts"] for each in self.explorer.parts.values()]).dropna()
        if times.empty or times.min() == times.max():
            return []
        first, last = times.min(), times.max()
        slider = ipywidgets.IntRangeSlider(
            value=(0, TICKS), min=0, max=TICKS, continuous_update=False, readout=False, layout={"width": "100%"}
        )

        def moved(change: Any) -> None:
            ends = [first + (last - first) * tick / TICKS for tick in change["new"]]
            since = f"{ends[0]}" if change["new"][0] else ""
            until = f"{ends[1]}" if change["new"][1] < TICKS else ""
            self._change(since=since, until=until)

        def follow() -> None:
            chosen = self.explorer.selection
            ends = [pd.Timestamp(at or edge) for at, edge in ((chosen.since, first), (chosen.until, last))]
            low, high = (min(TICKS, max(0, round(TICKS * ((at - first) / (last - first))))) for at in ends)
            slider.value = (low, high)

        slider.observe(moved, "value")
        self._follow.append(follow)
        self.span = slider
        return [slider]

    def _bars(self, part: Part, field: str) -> Any:
        """Return one bar for each of the most frequent values of a field; a click selects it or lets go of it."""
        each = self.explorer.parts[part]
        rows = {}
        for value in list(each.counts(field))[:BARS]:
            button = ipywidgets.Button(description=clean(value, 40), layout={"flex": "0 1 14em", "min_width": "6em"})
            button.on_click(lambda _, value=value: self.select(self.explorer.selection.toggled(field, value)))
            bar = ipywidgets.IntProgress(layout={"flex": "0 1 8em", "min_width": "2em"})
            rows[value] = (button, bar, ipywidgets.Label(layout={"flex": "none"}))

        def follow() -> None:
            others: dict[str, Any] = {field: ()}
            counted = each.counts(field, each.mask(attrs.evolve(self.explorer.selection, **others)))
            chosen, most = getattr(self.explorer.selection, field), max(counted.values(), default=0) or 1
            for value, (button, bar, number) in rows.items():
                bar.max = max(bar.max, most)
                bar.value, bar.max = counted.get(value, 0), most
                number.value = f"{counted.get(value, 0):,}"
                button.button_style = "primary" if value in chosen else ""

        self.bars[part, field] = rows
        self._follow.append(follow)
        lines = [ipywidgets.HBox(row) for row in rows.values()]
        return ipywidgets.VBox(
            [ipywidgets.Label(LABELS["fields"][field].in_(self.lang)), *lines], layout={"margin": "0 2em 1em 0"}
        )

    def _measured(self) -> list[Any]:
        """Return a menu of what was measured (lag of groups, host metrics), and the chosen one over time."""
        case, behind = self.explorer.case, SAYS["behind"].in_(self.lang)
        looks = lag.positions(case.facts).groupby(["time", "topic", "group"])["lag"].sum(min_count=1)
        waiting = looks.dropna().rename(behind).reset_index()
        measured = {behind: waiting.assign(of=waiting["group"] + " " + waiting["topic"])} if len(waiting) else {}
        if case.has("metrics"):
            named = "select ts as time, concat_ws(' ', origin, subject, name) as of, value from metrics"
            every = case.sql(f"{named} where ts is not null order by ts").toPandas()
            measured |= {str(name): every[every["of"] == name] for name in every["of"].value_counts().index}
        if not measured:
            return []
        options, label = [(clean(name, 100), name) for name in measured], SAYS["measured"].in_(self.lang)
        menu = ipywidgets.Dropdown(options=options, description=label, layout={"width": "auto"})

        def draw() -> Chart:
            rows = self.explorer.selection.keep(measured[menu.value])
            chart = pictures.lines(rows[["time", "of", "value" if "value" in rows else behind]], self.lang)
            chart.figure.update_layout(height=230)
            return chart

        menu.observe(lambda _: self.refresh(), "value")
        return [menu, self._drawn(draw)]

    def _table(self, part: Part) -> Any:
        linked = self.explorer.linked and self.explorer.linked(self.explorer.table(part))
        if linked:
            self._follow.append(lambda: linked.fill(self.explorer.table(part)))
        rows = linked.box if linked else self._drawn(lambda: self.explorer.table(part))
        place = ipywidgets.VBox([rows], layout={} if linked else {"max_height": "420px", "overflow": "auto"})
        place.add_class("rmq-kit-rows")
        return place
