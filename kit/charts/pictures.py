"""Pictures of whatever a query answers: its columns say what is drawn, so that a changed query is drawn too.

The first column is the place (a time or a label), the last one the number, a text between them tells the series apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, GREY, PALETTE, SYMBOLS, VERMILLION, Chart, escape, figure
from kit.i18n import Lang, T

LINES = T("{value} by {place}", "{value}，按 {place}")
ALT = T(
    "{count} {count:row|rows} of {value}; the same rows are in the table.", "{value} 的 {count} 行；同样的行在表中。"
)
TIME = T("{name} (UTC)", "{name} (UTC)")
WORDS = {
    word.en: word
    for word in (
        T("second", "秒"), T("time", "时间"), T("store timestamp", "存储时间"), T("records", "记录数"), T("count", "数量"),
        T("log lines", "日志行数"), T("lines", "行数"), T("room left", "剩余字节"), T("sends", "发送次数"),
        T("transactions", "事务数"), T("lag", "堆积"), T("bytes", "字节"), T("slowest ms", "最慢耗时（毫秒）"), T("stage", "阶段"),
        T("kind", "类型"), T("producer group", "生产者组"), T("born host", "发送主机"), T("consumer", "消费者"), T("written", "写入内容"),
    )
}  # fmt: skip
"""What the columns of the walks are called; a column that somebody else names keeps its name."""
SERIES = 8
"""Series that get a colour of their own; the smallest of more are left to the table."""


def lines(frame: pd.DataFrame, lang: Lang = "en", log: bool = False) -> Chart:
    """Chart a number over time, a line for each series."""
    place, value = str(frame.columns[0]), str(frame.columns[-1])
    traces = [
        go.Scatter(
            x=part[place],
            y=part[value],
            mode="lines+markers",
            name=name,
            line={"color": PALETTE[n % len(PALETTE)], "width": 1.5},
            marker={"symbol": SYMBOLS[n % len(SYMBOLS)], "size": 6},
            hovertemplate="%{x}<br>%{y:,}<extra>" + name + "</extra>",
        )
        for n, (name, part) in enumerate(_series(frame))
    ]
    chart = figure(*traces, height=360)
    times = pd.api.types.is_datetime64_any_dtype(frame[place])
    chart.update_xaxes(title=TIME.say(name=_words(place, lang)).render(lang) if times else _words(place, lang))
    chart.update_yaxes(
        title=_words(value, lang),
        **({"type": "log", "dtick": 1, "tickformat": ",d"} if log else {"rangemode": "tozero"}),
    )
    return _chart(chart, frame, lang)


def log_lines(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart a number over time on a logarithmic scale: doubling is a straight line."""
    return lines(frame, lang, log=True)


def bars(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart a number for each label as bars to the right, one for each series."""
    place, value = str(frame.columns[0]), str(frame.columns[-1])
    labels = [escape(each, 60) for each in frame[place].drop_duplicates()]
    traces = [
        go.Bar(
            y=[escape(each, 60) for each in part[place]],
            x=part[value],
            orientation="h",
            name=name,
            marker={"color": PALETTE[n % len(PALETTE)], "pattern": {"shape": ["", "/", ".", "x"][n % 4]}},
            text=[f"{each:,}" if pd.notna(each) else "" for each in part[value]],
            textposition="outside",
            textangle=0,
            cliponaxis=False,
            hovertemplate="%{y}: %{x:,}<extra>" + name + "</extra>",
        )
        for n, (name, part) in enumerate(_series(frame))
    ]
    chart = figure(*traces, height=120 + 30 * len(labels) * (1 if len(traces) < 2 else min(len(traces), 3)))
    chart.update_yaxes(type="category", autorange="reversed", categoryorder="array", categoryarray=labels)
    most, least = float(frame[value].max()), min(0.0, float(frame[value].min()))
    room = 0.08 * (most - least)  # for the number beyond the longest bar
    chart.update_xaxes(title=_words(value, lang), tickformat=",", range=[least - room if least else 0, most + room])
    return _chart(chart, frame, lang)


def lanes(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart moments in lanes: time, lane, then what is said on hovering."""
    time, lane, *more = map(str, frame.columns)
    frame = frame.head(2000)
    names = [escape(each, 40) for each in frame[lane].drop_duplicates()]
    hover = ["<br>".join(f"{name}: {escape(row[name], 120)}" for name in more) for row in frame.to_dict("records")]
    marks = go.Scatter(
        x=frame[time],
        y=[escape(each, 40) for each in frame[lane]],
        mode="markers",
        customdata=hover,
        marker={"size": 10, "color": [PALETTE[names.index(escape(each, 40)) % len(PALETTE)] for each in frame[lane]]},
        hovertemplate="%{x}<br>%{customdata}<extra></extra>",
        showlegend=False,
    )
    chart = figure(marks, height=110 + 42 * len(names))
    chart.update_yaxes(type="category", autorange="reversed", categoryorder="array", categoryarray=names)
    chart.update_xaxes(title=TIME.say(name=_words(time, lang)).render(lang))
    return _chart(chart, frame, lang, lane)


Node = tuple[float, float, T]
"""Where a box stands, from 0 to 10 and from 0 to 6, and its words."""
Hop = tuple[float, float, float, float, float, float, T | None]
"""An arrow: from, to, where its words stand, its words (None: an arrow that nothing is counted on)."""


def diagram(
    frame: pd.DataFrame,
    nodes: Sequence[Node],
    hops: Mapping[str, Hop],
    title: T,
    alt: T,
    lang: Lang = "en",
    strong: Sequence[str] = (),
) -> Chart:
    """Draw boxes and arrows; each arrow with words has its number of `frame` (`hop`, `records`), a question mark where there is none. `strong`: arrows in red."""
    # Rows of a query without an order come as they like; its table follows the picture.
    frame = frame.sort_values(
        "hop", key=lambda hop: hop.map({name: n for n, name in enumerate(hops)}), ignore_index=True
    )
    counts = dict(zip(frame["hop"], frame["records"], strict=True))
    height = 90 + 60 * (max(y for _, y, _ in nodes) + 0.8)
    chart = figure(height=int(height), showlegend=False)
    chart.update_xaxes(visible=False, range=[0, 10], fixedrange=True)
    chart.update_yaxes(visible=False, range=[0, max(y for _, y, _ in nodes) + 0.8], fixedrange=True)
    at = {
        "xref": "x",
        "yref": "y",
        "axref": "x",
        "ayref": "y",
        "showarrow": True,
        "arrowhead": 2,
        "arrowwidth": 2.2,
        "text": "",
    }
    for hop, (x0, y0, x1, y1, x, y, text) in hops.items():
        chart.add_annotation(x=x1, y=y1, ax=x0, ay=y0, arrowcolor=VERMILLION if hop in strong else GREY, **at)
        if text is None:
            continue
        count = counts.get(hop)
        number = "?" if count is None or pd.isna(count) else f"{int(count):,}"
        chart.add_annotation(x=x, y=y, text=f"{text.render(lang)}<br>{number}", showarrow=False, font={"size": 12})
    for x, y, text in nodes:
        chart.add_annotation(
            x=x,
            y=y,
            text=text.render(lang),
            font={"weight": "bold"},
            showarrow=False,
            bgcolor="rgba(0,114,178,0.14)",
            bordercolor=BLUE,
            borderpad=6,
        )
    return Chart(chart, frame, "", alt, title, lang=lang, min_width=760)


def _series(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each series; the column between the first and the last tells them apart."""
    between = [str(name) for name in frame.columns[1:-1]]
    if not between:
        return [("", frame)]
    parts = [(escape(name, 60), part) for name, part in frame.groupby(between[0], sort=False, dropna=False)]
    value = frame.columns[-1]
    return sorted(parts, key=lambda each: -float(each[1][value].sum()))[:SERIES]


def _words(column: object, lang: Lang) -> str:
    name = str(column).replace("_", " ")
    return WORDS[name].in_(lang) if name in WORDS else name


def _chart(chart: go.Figure, frame: pd.DataFrame, lang: Lang, value: str = "") -> Chart:
    said = {"place": _words(frame.columns[0], lang), "value": _words(value or frame.columns[-1], lang)}
    return Chart(chart, frame, "", ALT.say(count=len(frame), **said), LINES.say(**said), lang=lang, min_width=520)
