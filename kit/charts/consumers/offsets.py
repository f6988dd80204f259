"""Chart of moved offsets: from where to where in each queue, what was skipped and what was handled again."""

from __future__ import annotations

from typing import Any

import pandas as pd

from kit.charts import GREEN, VERMILLION, Captions, Chart, escape, figure, line, segments
from kit.i18n import Lang

MOVED = Captions.of("offsets moved")
MOST = 60
"""Most queues drawn; the table has all."""


def moved(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the table `offset_moves`: kind, group, topic, broker, queue_id, start, end, skipped, repeated, at."""
    table = frame[[c for c in MOVED.columns if c in frame]]
    if frame.empty:
        return MOVED.nothing(lang, table)
    drawn = frame.dropna(subset=["start", "end"]).head(MOST)
    several = drawn["topic"].nunique() > 1 or drawn["broker"].nunique() > 1
    labels = [_label(row, several=several) for row in drawn.itertuples()]
    traces = []
    looks = (("skipped", VERMILLION, "triangle-right"), ("repeated", GREEN, "triangle-left"))
    for what, colour, symbol in looks:
        lines = zip(labels, drawn["start"], drawn["end"], strict=True)
        x, y = segments((int(a), label, int(b), label) for label, a, b in lines if (b > a) == (what == "skipped"))
        if x:
            moved = line(x, y, MOVED.columns[what].render(lang), colour, width=6, mode="lines+markers")
            traces.append(moved.update(marker={"symbol": symbol, "size": 11, "color": colour}))
    chart = figure(*traces, height=170 + 34 * len(drawn))
    chart.update_xaxes(title=MOVED["offset"].render(lang))
    chart.update_yaxes(title=MOVED["queue"].render(lang), type="category", autorange="reversed")
    skipped, again = (int(frame[column].fillna(0).sum()) for column in ("skipped", "repeated"))
    said = MOVED["reading"].say(queues=len(frame), skipped=skipped, again=again)
    return MOVED.chart(chart, table, said, lang, min_width=520)


def _label(row: Any, *, several: bool) -> str:
    queue = "?" if pd.isna(row.queue_id) else str(row.queue_id)
    return escape(f"{row.topic} {row.broker or ''} {queue}" if several else queue, 60)
