"""Charts that several causes share: the topic flow of messages, the life of one message, what the evidence covers."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kit.charts import (
    GREY,
    MAX_POINTS,
    PALETTE,
    SYMBOLS,
    VERMILLION,
    Captions,
    Chart,
    escape,
    figure,
    lanes,
    line,
    marks,
    segments,
)
from kit.i18n import Lang, Sentence

FLOW = Captions.of("flow")
LIFE = Captions.of("life")
COVERAGE = Captions.of("coverage")


FLOOR: Final = 0.02
"""Narrowest visible flow, as a share of the widest."""


def flow(
    frame: pd.DataFrame, lang: Lang = "en", title: Sentence = FLOW["title"], reading: Sentence | None = None
) -> Chart:
    """Chart the topic flow of one message or many as a Sankey diagram. `reading`: None for a sentence on the widest flow.

    `frame`: `source`, `target` (topics or stages), `count`; further columns are summed over. A flow back to its source ends in a node of its
    own ("again"), so that the diagram reads from left to right.
    """
    links = frame.groupby(["source", "target"], as_index=False, sort=False)["count"].sum()
    links = links[links["count"] > 0].reset_index(drop=True)
    if links.empty:
        nothing = reading or FLOW["nothing"]
        return FLOW.chart(figure(), links, nothing, lang, alt=nothing, title=title)
    reach: dict[str, set[str]] = {}
    ends = []
    for source, target in zip(links["source"], links["target"], strict=True):
        back = source == target or source in _reached(reach, target)
        ends.append((target, back))
        if not back:
            reach.setdefault(source, set()).add(target)
    nodes = list(dict.fromkeys([(s, False) for s in links["source"]] + ends))
    place = {node: i for i, node in enumerate(nodes)}
    colours = {topic: PALETTE[i % len(PALETTE)] for i, topic in enumerate(dict.fromkeys(topic for topic, _ in nodes))}
    count = links["count"].to_numpy("float64")
    labels = []
    for topic, back in nodes:
        into, out = [end == (topic, back) for end in ends], (links["source"] == topic) & (not back)
        name = escape(topic, 48)
        name = FLOW["again"].say(topic=name).render(lang) if back else name
        labels.append(f"{name}  {max(count[out].sum(), count[into].sum()):,.0f}")
    drawn = np.maximum(count, count.max() * FLOOR)
    chart = figure(
        go.Sankey(
            arrangement="snap",
            node={
                "label": labels,
                "color": [colours[t] for t, _ in nodes],
                "pad": 28,
                "thickness": 14,
                "line": {"width": 0},
                "hovertemplate": "%{label}<extra></extra>",
            },
            link={
                "source": [place[(s, False)] for s in links["source"]],
                "target": [place[end] for end in ends],
                "value": drawn,
                "color": [_fade(colours[s]) for s in links["source"]],
                "customdata": count,
                "hovertemplate": "%{source.label} → %{target.label}<br>%{customdata:,d}<extra></extra>",
                "label": [f"{int(n):,}" for n in count],
            },
            textfont={"size": 13, "shadow": "none"},  # its own shadow has the colour of a paper that is not there
        ),
        height=max(300, 70 * len(links)),
    )
    chart.update_layout(margin={"l": 8, "r": 8, "t": 16, "b": 16})
    widest = links.loc[links["count"].idxmax()]
    flows = {"source": str(widest["source"]), "target": str(widest["target"]), "links": len(links)}
    said = (reading or FLOW["reading"].say(count=int(widest["count"]), **flows)).render(lang)
    if (drawn != count).any():
        said = f"{said} {FLOW['floor'].render(lang)}"
    alt = FLOW["alt"].say(nodes=len({t for t, _ in nodes}))
    return FLOW.chart(chart, links, said, lang, alt=alt, title=title, min_width=680)


def timeline(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart one message's records in lanes, a lane for each topic.

    `frame`: `store_timestamp`, `stage`, `topic`, `queue_id`, `offset_msg_id`, `why`, `check_times`, one row per record in store order.
    """
    frame = frame.reindex(columns=list(LIFE.columns))
    if frame.empty:
        return LIFE.nothing(lang, frame)
    shown = frame
    if len(frame) > MAX_POINTS // 2:
        shown = frame.iloc[np.unique(np.linspace(0, len(frame) - 1, MAX_POINTS // 2).astype(int))]
    topics = {topic: escape(topic, 40) for topic in frame["topic"].drop_duplicates()}
    y = shown["topic"].map(topics)
    way = line(shown["store_timestamp"], y, "", GREY, width=1, steps=True, opacity=0.5, hoverinfo="skip")
    traces = [way.update(showlegend=False)]
    for i, (stage, part) in enumerate(shown.groupby("stage", sort=False, dropna=False)):
        said = part[["offset_msg_id", "why"]].fillna("").itertuples(index=False, name=None)
        hover = [f"{escape(stage)}<br>{escape(offset_id)}<br>{escape(why, 120)}" for offset_id, why in said]
        colour, symbol = PALETTE[i % len(PALETTE)], SYMBOLS[i % len(SYMBOLS)]
        traces.append(marks(part["store_timestamp"], y[part.index], escape(stage, 40), colour, symbol, hover=hover))
    chart = figure(*traces, height=170 + 52 * len(topics))
    lanes(chart, topics.values())
    chart.update_xaxes(title=LIFE.columns["store_timestamp"].render(lang))
    first, last = frame.iloc[0], frame.iloc[-1]
    reading = LIFE["reading"].say(
        records=len(frame),
        seconds=round((last["store_timestamp"] - first["store_timestamp"]).total_seconds(), 1),
        topics=len(topics),
        first=str(first["stage"]),
        last=str(last["stage"]),
    )
    return LIFE.chart(chart, frame, reading, lang, min_width=680)


def coverage(frame: pd.DataFrame, window: tuple[pd.Timestamp, pd.Timestamp] | None = None, lang: Lang = "en") -> Chart:
    """Chart the time span of each kind of evidence, the incident shaded.

    `frame`: `kind`, `first`, `last` (NaT if a file has no times), one row per file.
    """
    timed = frame.dropna(subset=["first", "last"])
    by_kind = timed.groupby("kind", as_index=False, sort=False)
    spans = by_kind.agg(files=("kind", "size"), first=("first", "min"), last=("last", "max"))
    spans = spans.sort_values(["first", "kind"], ignore_index=True)
    if spans.empty:
        return COVERAGE.nothing(lang, spans)
    times = spans[["kind", "first", "last"]].itertuples(index=False, name=None)
    x, y = segments((start, lane, end, lane) for kind, start, end in times for lane in [escape(kind, 40)])
    bars = line(x, y, "", PALETTE[0], width=9, mode="lines+markers", hovertemplate="%{y}<br>%{x}<extra></extra>")
    bars.update(marker={"size": 9, "symbol": "line-ns-open"})
    chart = figure(bars, height=110 + 30 * len(spans), showlegend=False)
    chart.update_yaxes(type="category", autorange="reversed")
    first, last = spans["first"].min(), spans["last"].max()
    if last - first < pd.Timedelta(seconds=10):
        chart.update_xaxes(range=[first - pd.Timedelta(seconds=5), last + pd.Timedelta(seconds=5)])
    reading = (
        COVERAGE["reading"]
        .say(files=len(timed), first=f"{first:%Y-%m-%d %H:%M:%S}", last=f"{last:%Y-%m-%d %H:%M:%S}")
        .render(lang)
    )
    if window is not None:
        chart.add_vrect(x0=window[0], x1=window[1], fillcolor=VERMILLION, opacity=0.18, line_width=0, layer="below")
        reading += " " + COVERAGE["window"].say(first=f"{window[0]:%H:%M:%S}", last=f"{window[1]:%H:%M:%S}").render(
            lang
        )
    return COVERAGE.chart(chart, spans, reading, lang, min_width=520)


def _reached(reach: dict[str, set[str]], start: str) -> set[str]:
    """Return all nodes reachable from `start`."""
    seen: set[str] = set()
    todo = [start]
    while todo:
        for following in reach.get(todo.pop(), ()):
            if following not in seen:
                seen.add(following)
                todo.append(following)
    return seen


def _fade(colour: str) -> str:
    return f"rgba({int(colour[1:3], 16)},{int(colour[3:5], 16)},{int(colour[5:7], 16)},0.42)"
