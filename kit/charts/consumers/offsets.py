"""Chart of moved offsets: from where to where in each queue, what was skipped and what was handled again."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from kit.charts import GREEN, VERMILLION, Chart, escape, figure, segments
from kit.i18n import Lang, T

TITLE = T("Where the offsets moved")
READING = T(
    "{queues} {queues:queue|queues} moved: {skipped} {skipped:message was|messages were} skipped, {again} handled again."
)
ALT = T(
    "One line for each queue from its old offset to its new one; skipped and repeated ranges differ in colour and mark."
)
NOTHING = T("No offset moved.")
SKIPPED, REPEATED = T("skipped"), T("handled again")
OFFSET, QUEUE = T("queue offset"), T("queue")
COLUMNS = {
    "kind": T("why"), "group": T("group"), "topic": T("topic"), "broker": T("broker"), "queue_id": QUEUE, "start": T("offset before"),
    "end": T("offset after"), "skipped": SKIPPED, "repeated": REPEATED, "at": T("time (UTC)"),
}  # fmt: skip
MOST = 60
"""Most queues drawn; the table has all."""


def moved(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the table `offset_moves`: kind, group, topic, broker, queue_id, start, end, skipped, repeated, at."""
    table = frame[[c for c in COLUMNS if c in frame]]
    if frame.empty:
        return Chart(figure(), table, NOTHING, NOTHING, TITLE, COLUMNS, lang)
    drawn = frame.dropna(subset=["start", "end"]).head(MOST)
    several = drawn["topic"].nunique() > 1 or drawn["broker"].nunique() > 1
    labels = [_label(row, several=several) for row in drawn.itertuples()]
    traces = []
    for ahead, name, colour, mark in (
        (True, SKIPPED, VERMILLION, "triangle-right"),
        (False, REPEATED, GREEN, "triangle-left"),
    ):
        lines = zip(labels, drawn["start"], drawn["end"], strict=True)
        x, y = segments((int(a), label, int(b), label) for label, a, b in lines if (b > a) == ahead)
        if x:
            marker = {"symbol": mark, "size": 11, "color": colour}
            traces.append(
                go.Scatter(
                    x=x,
                    y=y,
                    mode="lines+markers",
                    name=name.render(lang),
                    line={"color": colour, "width": 6},
                    marker=marker,
                )
            )
    chart = figure(*traces, height=170 + 34 * len(drawn))
    chart.update_xaxes(title=OFFSET.render(lang))
    chart.update_yaxes(title=QUEUE.render(lang), type="category", autorange="reversed")
    said = READING.say(
        queues=len(frame), skipped=int(frame["skipped"].fillna(0).sum()), again=int(frame["repeated"].fillna(0).sum())
    )
    return Chart(chart, table, said, ALT, TITLE, COLUMNS, lang, min_width=520)


def _label(row: Any, *, several: bool) -> str:
    queue = "?" if pd.isna(row.queue_id) else str(row.queue_id)
    return escape(f"{row.topic} {row.broker or ''} {queue}" if several else queue, 60)
