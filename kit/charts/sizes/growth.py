"""Charts of how a record grows: field by field at each stage, and a what-if for one message."""

from __future__ import annotations

import json
from typing import Any, Final

import pandas as pd

from kit.charts import (
    BLUE,
    GREEN,
    GREY,
    LABELS,
    PURPLE,
    SKY,
    VERMILLION,
    Captions,
    Chart,
    bar,
    escape,
    figure,
    lanes,
    named,
)
from kit.i18n import Lang
from kit.rocketmq import names, record_fields, rewrites, size

FIELDS = Captions.of("record fields")
ROOM = Captions.of("room left")
STAGES: Final = LABELS["growth stages"]
FIELD: Final = {
    "fixed": (GREY, ""),
    "topic": (SKY, "/"),
    "application": (BLUE, ""),
    "client": (PURPLE, "x"),
    "broker": (GREEN, "\\"),
    "check": (VERMILLION, "."),
}
"""Colour and pattern of each part of a record."""

OF_A_TRANSACTION: Final = ("sent", "prepared", "put_back", "put_back_immune", "committed")
"""Only rewrites that this evidence suffices for; a send-back also depends on the consumer group's name."""


def fields(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart how a half record grows, field by field. `frame`: `stage`, `field`, `bytes`, `limit`, `offset_msg_id`
    (`kit.rocketmq.record_fields.stages`).
    """
    wide = frame.pivot_table(index="stage", columns="field", values="bytes", sort=False)
    wide = wide.reindex(list(STAGES)).dropna(how="all").reindex(columns=["body", *FIELD]).fillna(0).astype("int64")
    limit = int(frame["limit"].iloc[0]) if len(frame) and frame["limit"].notna().any() else None
    table = wide.assign(total=wide.sum(axis=1), limit=limit).reset_index()
    beyond = (table["total"] - table["body"]).tolist()
    table["stage"] = named(table["stage"], STAGES, lang)
    bars = [
        bar(
            table["stage"],
            table[slug],
            FIELDS.columns[slug].render(lang),
            colour,
            shape,
            text=[f"{n:,}" if n > 15 else "" for n in table[slug]],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            hovertemplate="%{y}<br>%{fullData.name}: %{x:,}<extra></extra>",
        )
        for slug, (colour, shape) in FIELD.items()
    ]
    chart = figure(*bars, barmode="stack")
    chart.update_yaxes(type="category", autorange="reversed", gridcolor="rgba(0,0,0,0)")
    chart.update_xaxes(title=FIELDS["beyond"].render(lang), tickformat=",d")
    body = int(table["body"].iloc[-1]) if len(table) else 0
    half, put_back = (beyond[-2], beyond[-1]) if len(beyond) > 1 else (None, None)
    said = FIELDS["fit"].say(body=body, half=half, put_back=put_back)
    if limit is not None and put_back is not None and 0 <= limit - body <= 4 * max(beyond):
        room = limit - body
        chart.add_vline(x=room, line={"color": VERMILLION, "width": 2, "dash": "dash"})
        left = FIELDS["room"].say(room=room).render(lang)
        at = {
            "x": room,
            "xanchor": "right",
            "y": 1,
            "yref": "paper",
            "yanchor": "top",
        }  # beside the bar of the client's check: it has none
        chart.add_annotation(**at, text=left, showarrow=False, xshift=-4)
        if put_back > room:
            said = FIELDS["reading"].say(body=body, room=room, half=half, put_back=put_back, over=put_back - room)
    # Below the axis, across the whole width: on a phone its names need two lines.
    below = {"xref": "container", "x": 0.02, "yref": "container", "y": 0.01, "yanchor": "bottom"}
    chart.update_layout(legend=below, margin_b=130, height=230 + 56 * len(table))
    return FIELDS.chart(chart, table, said, lang, min_width=560)


def of_record(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart how the first half record of `frame` grows; `frame` as in `kit.rocketmq.record_fields.of_first`."""
    return fields(record_fields.of_first(frame), lang)


def room(frame: pd.DataFrame, body: int | None = None, lang: Lang = "en") -> Chart:
    """Chart the bytes left to the limit at each rewrite of a message of this evidence, with a body of `body` bytes (None: its own).

    `frame`: the row of `kit.analysis.sizes.half_records.start`; if it is empty, a sentence instead of a chart.
    """
    if frame.empty:
        return ROOM.nothing(lang, body="–")
    given = frame.iloc[0].to_dict()
    body = int(given["body"]) if body is None else body
    spec = rewrites.table(
        body, str(given["topic"]), json.loads(given["properties"]), broker=str(given["broker"]),
        limit=int(given["limit"]), producer_group=str(given["producer_group"]), check_max=int(given["check_max"]),
        dledger=bool(given["dledger"]), cluster=str(given["cluster"]), v6=bool(given["v6"]),
    )  # fmt: skip
    slack = {"total": None, "body": spec["limit"] - body, "body+64k": spec["limit"] - body}[spec["rule"]]
    rows = []
    immune = names.CHECK_IMMUNITY in json.loads(given["properties"])
    for row in spec["rows"]:
        if row["stage"] not in OF_A_TRANSACTION or (row["stage"] == "put_back_immune" and not immune):
            continue
        stored = row["bytes"] + int(given["extra"])
        whole = spec["limit"] + (size.TOTAL_SLACK if spec["rule"] == "body+64k" else 0) - stored
        left = slack if spec["rule"] == "body" else whole if slack is None else min(slack, whole)
        fate = ROOM["too_large"] if row["refused"] or left < 0 else ROOM["fits"]
        rows.append((row["text"].render(lang), escape(row["topic"], 40), stored, left, fate.render(lang)))
    table = pd.DataFrame(rows, columns=pd.Index(["stage", "topic", "bytes", "left", "fate"]))
    traces = []
    hover = {"textposition": "auto", "hovertemplate": "%{y}: %{x:,}<extra></extra>"}
    for outcome, colour, shape in (("fits", GREEN, ""), ("too_large", VERMILLION, "/")):
        name = ROOM[outcome].render(lang)
        part = table[table["fate"] == name]
        numbers = [f"{n:,}" for n in part["left"]]
        if len(part):
            traces.append(bar(part["stage"], part["left"], name, colour, shape, text=numbers, **hover))
    chart = figure(*traces, height=130 + 32 * len(table), barmode="overlay")
    lanes(chart, table["stage"])
    chart.update_yaxes(gridcolor="rgba(0,0,0,0)")
    chart.update_xaxes(title=ROOM.columns["left"].render(lang), tickformat=",d", zeroline=True, zerolinecolor=GREY)
    safe = given["safe_body"]
    reading = ROOM["reading"].say(
        topic=str(given["topic"]),
        broker=spec["broker"],
        limit=spec["limit"],
        left=int(table["left"].min()),
        safe=None if pd.isna(safe) else int(safe),
    )
    return ROOM.chart(chart, table, reading, lang, title=ROOM["title"].say(body=body), min_width=640)


def explore_room(frame: pd.DataFrame, interactive: bool = True, lang: Lang = "en") -> Any:
    """Return `room` with a slider for the body, from 0 to the limit; without a widget if there is nothing to calculate."""
    if not interactive or frame.empty:
        return room(frame, None, lang)
    from ipywidgets import IntSlider

    from kit.charts.controls import live

    body, limit = int(frame["body"].iloc[0]), int(frame["limit"].iloc[0])
    return live(lambda body: room(frame, body, lang), body=IntSlider(body, 0, limit, continuous_update=False))
