"""The explorer's views as a declarative Mosaic specification: timelines to brush, bars to click, menus, tables.

Each field of a `Selection` is one Mosaic selection; `$said` and `$stored` combine those for entries and records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from kit.charts import BLUE, GREEN, GREY, ORANGE, PALETTE, PURPLE, SKY, VERMILLION
from kit.explorer.selection import COLUMNS, Part
from kit.i18n import Lang, T

WIDTH: Final = 960
STEPS: Final = 160
ROUND: Final = tuple(n * unit for unit, numbers in (
    (1, (1, 2, 5, 10, 20, 50, 100, 200, 500)), (1000, (1, 2, 5, 10, 15, 30)), (60_000, (1, 2, 5, 10, 15, 30)), (3_600_000, (1, 3, 6, 12, 24)),
) for n in numbers)  # fmt: skip
TOTAL: Final = {"sql": "sum(rows)"}
"""As text: if Mosaic recognises a sum, it first creates a table for each view and kind of click, which takes longer
than querying the few rows already counted.
"""
BARS: Final = 8
"""Most bars of a column, those with most rows; the menu next to them has all values."""
LEVELS: Final = {"FATAL": PURPLE, "ERROR": VERMILLION, "WARN": ORANGE, "INFO": BLUE, "DEBUG": SKY, "TRACE": GREY}
MORE_COLOURS: Final = ("#44AA99", "#882255", "#999933", "#AA4499", GREY)
"""Paul Tol's palette, since there are more stages than the kit's palette has colours."""
JOINED: Final[Mapping[Part, str]] = {"entries": "said", "records": "stored"}
LABELS: Final[dict[str, T]] = {
    "topics": T("topic"),
    "groups": T("group"),
    "hosts": T("host"),
    "levels": T("level"),
    "sources": T("log", "日志"),
    "threads": T("thread"),
    "events": T("known text"),
    "stages": T("stage"),
}
HEADS: Final[Mapping[Part, Mapping[str, T]]] = {
    "entries": {
        "strftime(ts, '%Y-%m-%d %H:%M:%S.%g')": T("time (UTC)"),
        "level": T("level"),
        "source": T("log", "日志"),
        "message": T("text", "原文"),
        "thread": T("thread"),
        "concat(file, ':', line)": T("where", "位置"),
    },
    "records": {
        "strftime(ts, '%Y-%m-%d %H:%M:%S.%g')": T("time (UTC)"),
        "stage": T("stage"),
        "topic": T("topic"),
        '"group"': T("group"),
        "keys": T("key"),
        "uniq_key": T("UNIQ_KEY"),
        "store_size": T("bytes"),
        "concat(file, ' @ ', physical_offset)": T("where", "位置"),
    },
}
"""Columns of the tables: SQL expression, heading."""
WIDTHS: Final[Mapping[Part, tuple[int, ...]]] = {
    "entries": (180, 55, 85, 430, 150, 330),
    "records": (180, 80, 190, 150, 110, 260, 70, 330),
}
ENTRIES, RECORDS = T("log entries"), T("records", "记录")
BEHIND, METRIC = T("messages behind"), T("host metric")
SHOWN: Final = {"entries": "shown_entries", "records": "shown_records"}


@attrs.frozen
class Content:
    """What there is to show: the time axis (ms), values of columns, the most frequent first, and which views have rows."""

    axis: tuple[float, float]
    values: Mapping[tuple[Part, str], Sequence[str]]
    has: frozenset[str]
    lang: Lang
    metric: str = ""
    """The host metric shown first."""


def specification(content: Content) -> dict[str, Any]:
    """Return the specification of the explorer's widget."""
    parts: list[Part] = [part for part in JOINED if part in content.has]
    fields = {name for part in parts for name in COLUMNS[part]}
    params: dict[str, Any] = {"span": {"select": "single"}}
    params |= {name: {"select": "intersect"} for name in LABELS if name in fields}
    params |= {
        JOINED[part]: {"select": "crossfilter", "include": ["$span", *(f"${name}" for name in COLUMNS[part])]}
        for part in parts
    }
    views: list[Any] = [_menus(content)]
    for part in parts:
        views += [_timeline(part, content), _bars(part, content)]
    if "lag" in content.has:
        views.append(_line("lag", "topic", BEHIND, content))
    if "metrics" in content.has:
        menu = {
            "input": "menu",
            "label": METRIC.in_(content.lang),
            "as": "$metric",
            "from": "metrics",
            "column": "metric",
        }
        views += [menu | {"value": content.metric}, _line("metrics", "metric", METRIC, content)]
        params["metric"] = {"select": "single"}
    for part in parts:
        views += [_table(part, content), {"vspace": 12}]
    return {"params": params, "vconcat": views}


def _menus(content: Content) -> dict[str, Any]:
    """Return a menu for each field with a choice. Their values are queried from tables: in a specification a text that
    begins with `$` would be a name.
    """
    return {
        "hconcat": [
            {"input": "menu", "label": LABELS[name].in_(content.lang), "as": f"${name}", "from": f"menu_{name}"}
            | {"column": column}
            | ({"listMatch": "any"} if name == "events" else {})
            for name, column in menus(content)
        ],
        "wrap": True,
    }


def menus(content: Content) -> Mapping[tuple[str, str], list[str]]:
    """Return the values to choose from, by field and column, if there are at least two."""
    every: dict[tuple[str, str], list[str]] = {}
    for part, columns in COLUMNS.items():
        for name, column in columns.items():
            every.setdefault((name, column), []).extend(content.values[part, name])
    return {key: sorted(set(values)) for key, values in every.items() if len(set(values)) > 1}


def counted(span: float) -> int:
    """Return the step in ms within which rows are counted together: at most half a pixel of this span, and a divisor of what
    a timeline bar covers.
    """
    return max((step for step in ROUND if step <= span / WIDTH / 2), default=1)


def plain(values: Sequence[str]) -> list[str]:
    """Return the values that a specification can contain: a text that begins with `$` would be a name in it."""
    return [value for value in values if not value.startswith("$")]


def _timeline(part: Part, content: Content) -> dict[str, Any]:
    """Return the rows over time, coloured by level or stage, to brush; known moments as vertical lines."""
    by = "level" if part == "entries" else "stage"
    known = plain(content.values[part, "levels" if part == "entries" else "stages"])
    colours = [LEVELS.get(value, GREY) for value in known] if by == "level" else _colours(len(known))
    data = {"from": f"{part}_counts", "filterBy": f"${JOINED[part]}"}
    marks: list[Any] = [
        {"mark": "rectY", "data": data, "x": {"bin": "ts", "steps": STEPS}, "y": TOTAL, "fill": by, "inset": 0.2},
        {"select": "intervalX", "as": "$span"},
    ]
    if "moments" in content.has:
        rule = {"mark": "ruleX", "data": {"from": "moments"}, "x": "ts", "stroke": GREEN, "strokeWidth": 1}
        marks.append(rule | {"strokeOpacity": 0.4, "channels": {"what": "what"}, "tip": True})
    label = (ENTRIES if part == "entries" else RECORDS).in_(content.lang)
    plot = {
        "name": part,
        "plot": marks,
        **_time_axis(content),
        "height": 150,
        "yLabel": label,
        "yTickFormat": "s",
        "colorDomain": known,
        "colorRange": colours,
    }
    return {"vconcat": [{"legend": "color", "for": part}, plot]}


def _bars(part: Part, content: Content) -> dict[str, Any]:
    """Return one clickable bar for each of the most frequent values of the columns worth comparing."""
    shown = {"entries": ("levels", "sources", "topics"), "records": ("stages", "topics", "groups")}[part]
    plots = []
    for name in shown:
        known = plain(content.values[part, name])[:BARS]
        if len(known) < 2:
            continue
        column = COLUMNS[part][name]
        data = {"from": f"{part}_counts", "filterBy": f"${JOINED[part]}"}
        bar = {"mark": "barX", "data": data, "x": TOTAL, "y": column}
        plots.append(
            {
                "plot": [bar | {"fill": BLUE}, {"select": "toggleY", "as": f"${name}"}, {"select": "highlight", "by": f"${name}"}],
                "yDomain": known,
                "yLabel": LABELS[name].in_(content.lang),
                "yLabelAnchor": "top",
                "xLabel": None,
                "xTickFormat": "s",
                "xTicks": 3,
                "width": WIDTH // 3,
                "height": 50 + 18 * len(known),
                "marginLeft": 190,
                "marginTop": 18,
                "marginBottom": 22,
            }
        )  # fmt: skip
    return {"hconcat": plots, "wrap": True}


def _line(table: str, by: str, label: T, content: Content) -> dict[str, Any]:
    """Return lines over the same time axis, one for each value of a column."""
    y = {"lag": "lag", "metrics": "value"}[table]
    mark = {"mark": "lineY", "data": {"from": table}, "x": "ts", "y": y, "stroke": by, "tip": True}
    plot = {
        "plot": [mark, {"select": "intervalX", "as": "$span"}],
        **_time_axis(content),
        "height": 120,
        "yLabel": label.in_(content.lang),
        "colorRange": list(PALETTE),
    }
    if table == "metrics":
        mark["data"] = {"from": table, "filterBy": "$metric"}
    return plot


def _time_axis(content: Content) -> dict[str, Any]:
    first, last = content.axis
    return {
        "width": WIDTH,
        "marginLeft": 60,
        "marginRight": 20,
        "xScale": "utc",
        "xDomain": [first, last],
        "xLabel": None,
    }


def _table(part: Part, content: Content) -> dict[str, Any]:
    heads = [head.in_(content.lang) for head in HEADS[part].values()]
    return {
        "input": "table",
        "from": SHOWN[part],
        "filterBy": f"${JOINED[part]}",
        "columns": heads,
        "width": dict(zip(heads, WIDTHS[part], strict=True)),
        "maxWidth": WIDTH,
        "height": 260,
        "rowBatch": 50,
    }


def shown_view(part: Part, lang: Lang) -> str:
    """Return the SQL of the view behind a part's table: its columns with headings, and those it is filtered by."""
    shown = {head.in_(lang): expression for expression, head in HEADS[part].items()}
    by = {"ts", *COLUMNS[part].values()} - {name.lower() for name in shown}
    own = [f'"{name}"' for name in sorted(by)] + [f'{expression} AS "{name}"' for name, expression in shown.items()]
    return f"CREATE OR REPLACE VIEW {SHOWN[part]} AS SELECT {', '.join(own)} FROM {part}"


def _colours(count: int) -> list[str]:
    several = (*PALETTE, *MORE_COLOURS)
    return [several[n % len(several)] for n in range(count)]
