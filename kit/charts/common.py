"""Charts that several causes share: the topic flow of messages, the life of one message, what the evidence covers."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kit.charts import GREY, MAX_POINTS, PALETTE, SYMBOLS, VERMILLION, Chart, escape, figure, segments
from kit.i18n import Lang, Sentence, T

FLOW = T("Where the records went, topic by topic")
FLOW_READING = T("{count} {count:record|records} went from {source} to {target}, the widest of {links} flows.")
FLOW_FLOOR = T("Thin flows are drawn wider so that they can be seen; the numbers are exact.")
FLOW_ALT = T("Flow diagram between {nodes} topics; every flow with its number is in the table.")
NO_FLOW = T("No record moved from one topic to another.")
AGAIN = T("{topic} (again)")
SOURCE, TARGET, COUNT = T("from"), T("to"), T("records")

LIFE = T("The life of one message")
LIFE_READING = T(
    "{records} {records:record|records} of this message in {seconds} s, in {topics} {topics:topic|topics}: first {first}, last {last}."
)
LIFE_ALT = T(
    "One lane for each topic, one mark for each record in the order of store time; the same rows are in the table."
)
NO_RECORD = T("No record of this message is in the evidence.")
STORED, STAGE, TOPIC = T("stored at"), T("stage"), T("topic")
QUEUE, OFFSET_ID, WHY, CHECKS = T("queue"), T("offset message id"), T("why"), T("checks")

COVERAGE = T("Time covered by the evidence")
COVERAGE_READING = T("{files} {files:file has|files have} times, from {first} to {last} UTC.")
COVERAGE_WINDOW = T("The incident, {first} to {last}, is shaded.")
COVERAGE_ALT = T("One bar for each kind of evidence, from its first to its last time; the same rows are in the table.")
NO_TIMES = T("No file of this evidence has times.")
KIND, FILES, FIRST, LAST = T("kind"), T("files"), T("first"), T("last")

FLOOR: Final = 0.02
"""Narrowest visible flow, as a share of the widest."""


def flow(frame: pd.DataFrame, lang: Lang = "en", title: Sentence = FLOW, reading: Sentence | None = None) -> Chart:
    """Chart the topic flow of one message or many as a Sankey diagram. `reading`: None for a sentence on the widest flow.

    `frame`: `source`, `target` (topics or stages), `count`; further columns are summed over. A flow back to its source ends in a node of its
    own ("again"), so that the diagram reads from left to right.
    """
    links = frame.groupby(["source", "target"], as_index=False, sort=False)["count"].sum()
    links = links[links["count"] > 0].reset_index(drop=True)
    names = {"source": SOURCE, "target": TARGET, "count": COUNT}
    if links.empty:
        return Chart(figure(), links, reading or NO_FLOW, NO_FLOW, title, names, lang)
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
        through = max(
            count[(links["source"] == topic) & (not back)].sum(), count[[end == (topic, back) for end in ends]].sum()
        )
        labels.append(
            f"{AGAIN.say(topic=escape(topic, 48)).render(lang) if back else escape(topic, 48)}  {through:,.0f}"
        )
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
    said = (reading or FLOW_READING.say(count=int(widest["count"]), **flows)).render(lang)
    if (drawn != count).any():
        said = f"{said} {FLOW_FLOOR.render(lang)}"
    alt = FLOW_ALT.say(nodes=len({t for t, _ in nodes}))
    return Chart(chart, links, said, alt, title, names, lang, min_width=680)


def timeline(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart one message's records in lanes, a lane for each topic.

    `frame`: `store_timestamp`, `stage`, `topic`, `queue_id`, `offset_msg_id`, `why`, `check_times`, one row per record in store order.
    """
    columns = ["store_timestamp", "stage", "topic", "queue_id", "offset_msg_id", "why", "check_times"]
    frame = frame.reindex(columns=columns)
    named = dict(zip(columns, (STORED, STAGE, TOPIC, QUEUE, OFFSET_ID, WHY, CHECKS), strict=True))
    if frame.empty:
        return Chart(figure(), frame, NO_RECORD, NO_RECORD, LIFE, named, lang)
    shown = (
        frame
        if len(frame) <= MAX_POINTS // 2
        else frame.iloc[np.unique(np.linspace(0, len(frame) - 1, MAX_POINTS // 2).astype(int))]
    )
    lanes = {topic: escape(topic, 40) for topic in frame["topic"].drop_duplicates()}
    traces = [
        go.Scatter(
            x=shown["store_timestamp"],
            y=[lanes[t] for t in shown["topic"]],
            mode="lines",
            line={"color": GREY, "width": 1, "shape": "hv"},
            opacity=0.5,
            hoverinfo="skip",
            showlegend=False,
        )
    ]
    for i, (stage, part) in enumerate(shown.groupby("stage", sort=False, dropna=False)):
        said = part[["offset_msg_id", "why"]].fillna("").itertuples(index=False, name=None)
        hover = [f"{escape(stage)}<br>{escape(offset_id)}<br>{escape(why, 120)}" for offset_id, why in said]
        traces.append(
            go.Scatter(
                x=part["store_timestamp"],
                y=[lanes[t] for t in part["topic"]],
                mode="markers",
                name=escape(stage, 40),
                customdata=hover,
                marker={
                    "color": PALETTE[i % len(PALETTE)],
                    "symbol": SYMBOLS[i % len(SYMBOLS)],
                    "size": 10,
                    "line": {"width": 0},
                },
                hovertemplate="%{x}<br>%{customdata}<extra></extra>",
            )
        )
    chart = figure(*traces, height=170 + 52 * len(lanes))
    chart.update_yaxes(type="category", autorange="reversed", categoryorder="array", categoryarray=list(lanes.values()))
    chart.update_xaxes(title=STORED.render(lang))
    first, last = frame.iloc[0], frame.iloc[-1]
    seconds = (last["store_timestamp"] - first["store_timestamp"]).total_seconds()
    reading = LIFE_READING.say(
        records=len(frame),
        seconds=round(seconds, 1),
        topics=len(lanes),
        first=str(first["stage"]),
        last=str(last["stage"]),
    )
    return Chart(chart, frame, reading, LIFE_ALT, LIFE, named, lang, min_width=680)


def coverage(frame: pd.DataFrame, window: tuple[pd.Timestamp, pd.Timestamp] | None = None, lang: Lang = "en") -> Chart:
    """Chart the time span of each kind of evidence, the incident shaded.

    `frame`: `kind`, `first`, `last` (NaT if a file has no times), one row per file.
    """
    timed = frame.dropna(subset=["first", "last"])
    spans = timed.groupby("kind", as_index=False, sort=False).agg(
        files=("kind", "size"), first=("first", "min"), last=("last", "max")
    )
    spans = spans.sort_values(["first", "kind"], ignore_index=True)
    named = {"kind": KIND, "files": FILES, "first": FIRST, "last": LAST}
    if spans.empty:
        return Chart(figure(), spans, NO_TIMES, NO_TIMES, COVERAGE, named, lang)
    times = spans[["kind", "first", "last"]].itertuples(index=False, name=None)
    x, y = segments((start, lane, end, lane) for kind, start, end in times for lane in [escape(kind, 40)])
    chart = figure(
        go.Scatter(
            x=x,
            y=y,
            mode="lines+markers",
            line={"color": PALETTE[0], "width": 9},
            marker={"size": 9, "symbol": "line-ns-open"},
            hovertemplate="%{y}<br>%{x}<extra></extra>",
        ),
        height=110 + 30 * len(spans),
        showlegend=False,
    )
    chart.update_yaxes(type="category", autorange="reversed")
    first, last = spans["first"].min(), spans["last"].max()
    if last - first < pd.Timedelta(seconds=10):
        chart.update_xaxes(range=[first - pd.Timedelta(seconds=5), last + pd.Timedelta(seconds=5)])
    reading = COVERAGE_READING.say(
        files=len(timed), first=f"{first:%Y-%m-%d %H:%M:%S}", last=f"{last:%Y-%m-%d %H:%M:%S}"
    ).render(lang)
    if window is not None:
        chart.add_vrect(x0=window[0], x1=window[1], fillcolor=VERMILLION, opacity=0.18, line_width=0, layer="below")
        reading += " " + COVERAGE_WINDOW.say(first=f"{window[0]:%H:%M:%S}", last=f"{window[1]:%H:%M:%S}").render(lang)
    return Chart(chart, spans, reading, COVERAGE_ALT, COVERAGE, named, lang, min_width=520)


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
