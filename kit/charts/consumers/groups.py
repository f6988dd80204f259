"""Charts of consumer groups: their lag over time, who pulled which queue when, what was handled against what is stored."""

from __future__ import annotations

import posixpath
from typing import Any, Final

import pandas as pd

from kit.charts import GREEN, PALETTE, SKY, SYMBOLS, VERMILLION, Captions, Chart, bar, bars, escape, figure, marks
from kit.i18n import Lang

LAG = Captions.of("lag")
OWNERS = Captions.of("owners")
HANDLED = Captions.of("handled")


MOST_QUEUES: Final = 64


def lag(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the lag over time. `frame`: time, source, group, topic, broker, queue_id, offset, end, lag."""
    known = frame[frame["time"].notna() & frame["lag"].notna()] if len(frame) else frame
    if known.empty:
        return LAG.nothing(lang, frame)
    keys = ["group", "topic", "broker", "queue_id"]
    last = known.sort_values("time").drop_duplicates(keys, keep="last")
    largest: Any = last.groupby(["group", "topic"])["lag"].sum().astype("int64").idxmax()
    group, topic = largest
    of_group = known[(known["group"] == group) & (known["topic"] == topic)]
    traces = []
    queues = list(of_group.sort_values("time").groupby(["broker", "queue_id"], sort=True))
    for n, ((broker, queue_id), part) in enumerate(queues[:MOST_QUEUES]):
        name, colour, symbol = escape(f"{broker} {queue_id}", 40), PALETTE[n % len(PALETTE)], SYMBOLS[n % len(SYMBOLS)]
        lags, look = part["lag"].astype("float64"), {"mode": "lines+markers", "hovertemplate": None}
        traces.append(marks(part["time"], lags, name, colour, symbol, size=7, **look))
    chart = figure(*traces, height=420)
    chart.update_xaxes(title=LAG.columns["time"].render(lang))
    chart.update_yaxes(title=LAG.columns["lag"].render(lang), rangemode="tozero")
    ending = last[(last["group"] == group) & (last["topic"] == topic)]
    said = LAG["reading"].say(name=f"{topic}@{group}", lag=int(ending["lag"].sum()), queues=len(ending))
    table = known[list(LAG.columns)].reset_index(drop=True)
    return LAG.chart(chart, table, said, lang)


def owners(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart which process held which queue when. `frame`: place, client_id, topic, broker, queue_id, first, last (null: to the end)."""
    known = frame[frame["first"].notna()] if len(frame) else frame
    if known.empty:
        return OWNERS.nothing(lang, frame)
    known = known.sort_values(["topic", "queue_id", "first", "place"]).reset_index(drop=True)
    begin = pd.to_datetime(known["first"])
    final = max(begin.max(), pd.to_datetime(known["last"]).max()) if known["last"].notna().any() else begin.max()
    # A queue still held is drawn beyond the last change, so that it can be seen.
    end = pd.to_datetime(known["last"]).fillna(final + max((final - begin.min()) * 0.1, pd.Timedelta(seconds=5)))
    queues = zip(known["topic"], known["queue_id"], strict=True)
    lanes = pd.Series([escape(f"{topic} {queue_id}", 48) for topic, queue_id in queues])
    places = list(dict.fromkeys(known["place"]))
    shared = posixpath.commonpath(places) if len(places) > 1 else posixpath.dirname(places[0])
    spans = []
    for n, place in enumerate(places):
        held = known["place"] == place
        millis = (end - begin)[held].dt.total_seconds() * 1000
        name = escape(posixpath.relpath(place, shared or ".") if place != shared else place, 40)
        colour, shape = PALETTE[n % len(PALETTE)], ("", "/", ".", "x", "-", "+")[n % 6]
        spans.append(bar(lanes[held], millis, name, colour, shape, base=begin[held], offsetgroup=str(n)))
    chart = figure(*spans, height=160 + 34 * len(set(lanes)), barmode="group")
    chart.update_xaxes(title=OWNERS["time"].render(lang), type="date")
    chart.update_yaxes(autorange="reversed")
    held = pd.DataFrame({"lane": lanes, "place": known["place"], "begin": begin, "end": end})
    several = sum(_together(part) for _, part in held.groupby("lane"))
    said = OWNERS["reading"].say(several=several, queues=len(set(lanes)))
    return OWNERS.chart(chart, known[list(OWNERS.columns)], said, lang)


def _together(lane: pd.DataFrame) -> bool:
    """Return whether two processes held a queue at the same time, for longer than a rebalance takes (20 s)."""
    rows: list[Any] = list(lane.itertuples())
    patience = pd.Timedelta(seconds=20)
    return any(
        a.place != b.place and min(a.end, b.end) - max(a.begin, b.begin) > patience
        for n, a in enumerate(rows)
        for b in rows[n + 1 :]
    )


def handled(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart what became of stored messages. `frame`: topic, stored, handled, behind, front; null if unknown."""
    known = frame.dropna() if len(frame) else frame
    if known.empty:
        return HANDLED.nothing(lang, frame)
    labels = [escape(topic, 48) for topic in known["topic"]]
    looks = {"handled": (GREEN, ""), "behind": (VERMILLION, "/"), "front": (SKY, ".")}
    chart = figure(*bars(labels, known, HANDLED.columns, looks, lang), height=160 + 44 * len(known), barmode="stack")
    chart.update_yaxes(autorange="reversed")
    nobody = int(known["behind"].sum() + known["front"].sum())
    said = HANDLED["reading"].say(nobody=nobody, stored=int(known["stored"].sum()))
    return HANDLED.chart(chart, known[list(HANDLED.columns)], said, lang)
