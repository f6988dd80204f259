"""Charts of sizes against the limit: refused writes, stored half records, the blocked half queue."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from kit.charts import (
    BLUE,
    GREY,
    LABELS,
    ORANGE,
    VERMILLION,
    Captions,
    Chart,
    Table,
    escape,
    figure,
    line,
    marks,
    named,
    pictures,
)
from kit.i18n import Lang

REFUSALS = Captions.of("refused writes")
NEAR = Captions.of("near the limit")
QUEUE = Captions.of("half queue")
WRITERS: Final = LABELS["limit writers"]

FATES: Final = LABELS["near the limit fates"]
MARKS: Final = {
    "refused": (VERMILLION, "x"),
    "at_risk": (ORANGE, "diamond"),
    "fits": (BLUE, "circle"),
    "ended": (GREY, "circle-open"),
}
ZOOM: Final = 200
"""How many bytes below the limit are drawn: a put-back adds 26 to about 70."""
LINES: Final = LABELS["half queue lines"]


def refusals(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Return refused writes, one row per file and text: who wrote, what was printed, how often, when. `frame`: the table
    `size_refusals`.
    """
    writers: list[Any] = [WRITERS[w].render(lang) if w in WRITERS else None for w in frame["writer"]]
    shown = frame.assign(writer=writers)
    return REFUSALS.table(shown.astype(object), lang)


def near_limit(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart stored half records near the limit. `frame`: `queue_offset`, `store_size`, `last_size`, `limit`, `fate`, `offset_msg_id`."""
    limit = int(frame["limit"].iloc[0]) if len(frame) and frame["limit"].notna().any() else None
    near = frame.head(0)
    if limit is not None:
        near = frame[frame["last_size"] > limit - ZOOM].sort_values("queue_offset", ignore_index=True)
    table = near.assign(fate=named(near["fate"], FATES, lang))
    if near.empty or limit is None:
        return NEAR.nothing(lang, table, zoom=ZOOM)
    traces = []
    look = {"hovertemplate": "%{x:,} · %{y:,}<br>%{customdata}<extra></extra>"}
    for fate, (colour, symbol) in MARKS.items():
        part = near[near["fate"] == fate]
        hover = [escape(offset_id) for offset_id in part["offset_msg_id"]]
        name = FATES[fate].render(lang)
        if len(part):
            traces.append(marks(part["queue_offset"], part["store_size"], name, colour, symbol, hover=hover, **look))
    chart = figure(*traces, height=380)
    words = f"{NEAR.columns['limit'].render(lang)} {limit:,}"
    chart.add_hline(y=limit, line={"color": VERMILLION, "width": 2, "dash": "dash"}, annotation_text=words)
    grows = int((near["last_size"] - near["store_size"]).max())
    chart.add_hrect(y0=limit - grows, y1=limit, fillcolor=ORANGE, opacity=0.2, line_width=0, layer="below")
    chart.update_xaxes(title=NEAR.columns["queue_offset"].render(lang), tickformat=",d")
    chart.update_yaxes(title=NEAR.columns["store_size"].render(lang), tickformat=",d")
    counts = near["fate"].value_counts()
    reading = NEAR["reading"].say(**{fate: int(counts.get(fate, 0)) for fate in FATES})
    return NEAR.chart(chart, table, reading, lang)


def half_queue(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the half queue over time. `frame`: `ts`, `offset`, `line` (`stored`, `checked`)."""
    ordered = frame.sort_values(["ts", "line"], ignore_index=True)
    table = ordered.assign(line=named(ordered["line"], LINES, lang))
    if ordered.empty:
        return QUEUE.nothing(lang, table)
    traces, last = [], {}
    look = {"steps": True, "mode": "lines+markers", "hovertemplate": "%{x}<br>%{y:,}<extra></extra>"}
    for end_of, colour, dash in (("stored", BLUE, "solid"), ("checked", VERMILLION, "dash")):
        part = ordered[ordered["line"] == end_of]
        if len(part):
            last[end_of] = int(part["offset"].iloc[-1])
            x, y = [*part["ts"], ordered["ts"].max()], [*part["offset"], last[end_of]]
            traces.append(line(x, y, LINES[end_of].render(lang), colour, dash, **look))
    chart = figure(*traces, height=340)
    chart.update_xaxes(title=QUEUE.columns["ts"].render(lang))
    chart.update_yaxes(title=QUEUE.columns["offset"].render(lang), tickformat=",d", rangemode="tozero")
    end = last.get("stored")
    reading = QUEUE["end"].say(end=end)
    if "checked" in last:
        behind = None if end is None else max(end - last["checked"], 0)
        reading = QUEUE["reading"].say(at=last["checked"], end=end, behind=behind)
    return QUEUE.chart(chart, table, reading, lang)


def loop(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Draw why the check does not get on. `frame`: `hop` (accepted, read, refused, waiting), `records`."""
    return pictures.diagram("check loop", frame, lang)
