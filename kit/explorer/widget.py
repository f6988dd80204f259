"""The explorer in a notebook: timelines to drag over, bars to click, menus, what is selected as chips, tables."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import ipywidgets
import pandas as pd
import plotly.graph_objects as go

from kit.analysis.consumers import positions
from kit.charts import GREEN, GREY, PALETTE, clean, escape, figure
from kit.charts.controls import outputs
from kit.explorer.explorer import BY, LABELS, LEVELS, PARTS, STEPS
from kit.explorer.selection import VALUES, Part, Selection
from kit.i18n import T

if TYPE_CHECKING:
    from kit.explorer.explorer import Explorer

BARS: Final = 8
"""Most bars of a field, the values with most rows; the menu has all of them."""
COMPARED: Final[dict[Part, tuple[str, ...]]] = {
    "entries": ("levels", "sources", "topics"),
    "records": ("stages", "topics", "groups"),
}
TIME: Final = {
    "type": "date",
    "tickformat": "%H:%M:%S\n%Y-%m-%d",
    "hoverformat": "%Y-%m-%d %H:%M:%S.%L",
    "title": "UTC",
}
MORE_COLOURS: Final = ("#44AA99", "#882255", "#999933", "#AA4499", GREY)
"""Paul Tol's palette, since there are more stages than the kit's palette has colours."""
CLEAR = T("Clear", "清除")
OF = T("{count} of {total} {what}", "{what} {count} / {total}")
NOTHING = T("Nothing matches.", "没有符合的内容。")
EVERYTHING = T("Everything is selected.", "未作选择，显示全部。")
BEHIND, METRIC = T("messages behind"), T("host metric")


class View(ipywidgets.VBox):
    """The widget of an explorer. Every part of it sets `explorer.selection`, and `refresh` draws the others anew."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer, self.lang = explorer, explorer.lang
        self._busy = False
        self._follow: list[Callable[[], None]] = []
        self.bars: dict[tuple[Part, str], dict[str, tuple[Any, Any, Any]]] = {}
        """The button, bar and number of each value, by part and field."""
        self.chips, self.counts = ipywidgets.HBox(layout={"flex_flow": "row wrap"}), ipywidgets.Label()
        shown: list[Any] = [self._menus(), self.chips, self.counts]
        parts = [part for part, each in explorer.parts.items() if len(each.frame)]
        for part in parts:
            bars = [self._bars(part, name) for name in COMPARED[part] if len(explorer.parts[part].counts(name)) > 1]
            shown += [self._timeline(part), ipywidgets.HBox(bars, layout={"flex_flow": "row wrap"})]
        shown += [*self._lag(), *self._metrics(), *map(self._table, parts)]
        super().__init__(shown)
        self.add_class("rmq-kit-explorer")
        self.refresh()

    def select(self, selection: Selection) -> None:
        """Select, and let everything follow."""
        if not self._busy and selection != self.explorer.selection:
            self.explorer.selection = selection
            self.refresh()

    def refresh(self) -> None:
        with self._quietly():
            self._say()
            for follow in self._follow:
                follow()

    @contextlib.contextmanager
    def _quietly(self) -> Iterator[None]:
        """What the widget draws itself is nobody's click."""
        self._busy = True
        try:
            yield
        finally:
            self._busy = False

    def _say(self) -> None:
        """Show what is selected as chips that let go of it, and how much that is."""
        chosen = self.explorer.selection
        chips = [
            self._chip(f"{LABELS[field].in_(self.lang)}: {clean(value, 80)}", chosen.toggled(field, value))
            for field in VALUES
            for value in getattr(chosen, field)
        ]
        if chosen.since or chosen.until:
            ends = [f"{at:%Y-%m-%d %H:%M:%S}" if at else "…" for at in (chosen.since, chosen.until)]
            values = {field: getattr(chosen, field) for field in VALUES}
            chips.insert(0, self._chip(f"{ends[0]} – {ends[1]} UTC", Selection(**values)))
        clear = [self._chip(CLEAR.in_(self.lang), Selection(), "times-circle")] if chips else []
        self.chips.children = (*chips, *clear) or (ipywidgets.Label(EVERYTHING.in_(self.lang)),)
        selected = {part: int(each.mask(chosen).sum()) for part, each in self.explorer.parts.items()}
        numbers = [
            OF.say(count=selected[part], total=len(each.frame), what=PARTS[part]).render(self.lang)
            for part, each in self.explorer.parts.items()
        ]
        nothing = [] if any(selected.values()) else [NOTHING.in_(self.lang)]
        self.counts.value = " · ".join([*nothing, *numbers])

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
            menu = ipywidgets.Combobox(
                placeholder=LABELS[field].in_(self.lang), options=sorted(values), ensure_option=True, continuous_update=False,
                layout={"width": "11em"}, tooltip=LABELS[field].in_(self.lang),
            )  # fmt: skip
            menu.observe(lambda change, field=field, values=values: self._chosen(change, field, values), "value")
            menus.append(menu)
        return ipywidgets.HBox(menus, layout={"flex_flow": "row wrap"})

    def _chosen(self, change: Any, field: str, values: dict[str, str]) -> None:
        if change["new"] in values:
            change["owner"].value = ""
            self.select(self.explorer.selection.toggled(field, values[change["new"]]))

    # --- charts ----------------------------------------------------------------------------------------------------------

    def _timeline(self, part: Part) -> Any:
        """Return the rows over time, coloured by level or stage; known moments as lines; dragging selects a span."""
        each, field = self.explorer.parts[part], "levels" if part == "entries" else "stages"
        spare = iter([*PALETTE, *MORE_COLOURS, *[GREY] * 100])
        names = [*each.counts(field), None]
        colours = {name: (LEVELS.get(str(name), GREY) if part == "entries" else next(spare)) for name in names}
        bars = [go.Bar(name=escape(name or "–"), marker={"color": colours[name]}) for name in names]
        chart = self._over_time(bars, PARTS[part], 230)
        chart.update_layout(barmode="stack", bargap=0)
        for at, what in self.explorer.moments.head(60).itertuples(index=False, name=None):
            chart.add_vline(x=at, line={"color": GREEN, "width": 1, "dash": "dot"}, opacity=0.5)
            chart.add_scatter(
                x=[at], y=[0], mode="markers", showlegend=False, marker={"color": GREEN, "symbol": "diamond", "size": 6},
                hovertemplate=f"{escape(what, 100)}<extra></extra>",
            )  # fmt: skip

        def follow() -> None:
            counted = each.steps(self.explorer.selection, BY[part], STEPS)
            with chart.batch_update():
                for bar, name in zip(chart.data, names, strict=False):
                    rows = counted[counted["by"].isna() if name is None else counted["by"] == name]
                    bar.x, bar.y = rows["ts"].to_numpy(), rows["rows"].to_numpy()

        self._follow.append(follow)
        return chart

    def _over_time(self, data: list[Any], label: T, height: int) -> Any:
        """Return a figure over the common axis of time, 24 hours a day with date and zone, whose span is the selection's."""
        times = pd.concat([each.frame["ts"] for each in self.explorer.parts.values()]).dropna()
        whole = [times.min(), times.max()] if len(times) else []
        chart = go.FigureWidget(
            figure(*data, height=height, xaxis=TIME, yaxis={"title": label.in_(self.lang), "fixedrange": True})
        )
        chart.update_layout(dragmode="zoom")
        chart.layout.on_change(lambda layout, *_: self._dragged(layout.xaxis), "xaxis.range", "xaxis.autorange")

        def follow() -> None:
            chosen = self.explorer.selection
            ends = [at or edge for at, edge in zip((chosen.since, chosen.until), whole, strict=True)] if whole else []
            if ends:
                chart.update_layout(
                    xaxis={"range": [f"{pd.Timestamp(at):%Y-%m-%d %H:%M:%S.%f}" for at in ends], "autorange": False}
                )

        self._follow.append(follow)
        return chart

    def _dragged(self, axis: Any) -> None:
        if self._busy:
            return
        values = {field: getattr(self.explorer.selection, field) for field in VALUES}
        if axis.autorange is not True and not all(isinstance(at, str | dt.datetime) for at in axis.range or ()):
            return  # dragged before its times arrived
        ends = [] if axis.autorange is True or not axis.range else sorted(pd.Timestamp(at) for at in axis.range)
        since, until = [f"{at}" for at in ends] or ["", ""]
        self.select(Selection(since, until, **values))

    def _bars(self, part: Part, field: str) -> Any:
        """Return one bar for each of the most frequent values of a field; a click selects it or lets go of it."""
        each = self.explorer.parts[part]
        rows = {}
        for value in list(each.counts(field))[:BARS]:
            button = ipywidgets.Button(description=clean(value, 40), layout={"width": "14em"})
            button.on_click(lambda _, value=value: self.select(self.explorer.selection.toggled(field, value)))
            rows[value] = (button, ipywidgets.IntProgress(layout={"width": "8em"}), ipywidgets.Label())

        def follow() -> None:
            counted = each.counts(field, each.mask(self.explorer.selection, without=field))
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
            [ipywidgets.Label(LABELS[field].in_(self.lang)), *lines], layout={"margin": "0 2em 1em 0"}
        )

    def _lag(self) -> list[Any]:
        """Return the lag of each group in a topic, all queues together, at each look."""
        looks = positions.every(self.explorer.case)
        sums = looks.groupby(["topic", "group", "time"])["lag"].sum(min_count=1).dropna().reset_index()
        lines = [
            go.Scatter(
                x=rows["time"].to_numpy(), y=rows["lag"].to_numpy(), name=escape(f"{group} {topic}", 60), mode="lines"
            )
            for (topic, group), rows in sums.groupby(["topic", "group"])
        ]
        return [self._over_time(lines[:20], BEHIND, 190)] if lines else []

    def _metrics(self) -> list[Any]:
        """Return a menu of host metrics and the one chosen, over time."""
        if not self.explorer.case.has("metrics"):
            return []
        asked = "select ts, concat_ws(' ', origin, subject, name) as metric, value from metrics where ts is not null order by ts"
        metrics = self.explorer.case.sql(asked).toPandas()
        if metrics.empty:
            return []
        names = list(metrics["metric"].value_counts().index)
        chart = self._over_time([go.Scatter(mode="lines")], METRIC, 190)
        menu = ipywidgets.Dropdown(
            options=[(clean(name, 100), name) for name in names],
            description=METRIC.in_(self.lang),
            layout={"width": "auto"},
        )

        def chosen(*_: Any) -> None:
            rows = metrics[metrics["metric"] == menu.value]
            with chart.batch_update():
                chart.data[0].x, chart.data[0].y = rows["ts"].to_numpy(), rows["value"].to_numpy()

        menu.observe(chosen, "value")
        chosen()
        return [menu, chart]

    def _table(self, part: Part) -> Any:
        place = ipywidgets.Output(layout={"max_height": "300px", "overflow": "auto"})
        self._follow.append(lambda: setattr(place, "outputs", outputs([self.explorer.table(part)])))
        return place
