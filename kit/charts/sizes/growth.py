"""Charts of how a record grows: field by field at each stage, and a what-if for one message."""

from __future__ import annotations

import json
from typing import Any, Final

import pandas as pd

from kit.charts import BLUE, GREEN, GREY, PURPLE, SKY, VERMILLION, Chart, Table, bar, escape, figure
from kit.i18n import Lang, T
from kit.rocketmq import names, rewrites, size

FIELDS = T("What each side measures, field by field")
FIELDS_READING = T(
    "The body has {body} bytes; the limit leaves {room} for everything else. The half record needs {half}, its put-back {put_back}: {over} bytes too many."
)
FIELDS_FIT = T("The body has {body} bytes; the half record needs {half} bytes on top of it, its put-back {put_back}.")
FIELDS_ALT = T(
    "Stacked bars of the bytes beyond the body, one bar per stage; a line marks what the limit leaves. The numbers are in the table."
)
STAGES: Final = {
    "checked": T("what the client checks: the raw body"),
    "sent": T("as it leaves the client"),
    "half": T("half record, as stored"),
    "put_back": T("put-back by the check"),
}
FIELD: Final = {
    "fixed": (T("fixed fields"), GREY, ""),
    "topic": (T("topic"), SKY, "/"),
    "application": (T("properties of the application"), BLUE, ""),
    "client": (T("added by the client"), PURPLE, "x"),
    "broker": (T("added by the broker"), GREEN, "\\"),
    "check": (T("added by the check"), VERMILLION, "."),
}
BEYOND = T("bytes beyond the body")
ROOM = T("left by the limit: {room}")
STAGE, BODY, TOTAL, LIMIT = T("stage"), T("body"), T("bytes in all"), T("limit")
TOPIC, FATE = T("topic"), T("fate")

WHAT_IF = T("What if the body had {body} bytes: room left at each rewrite")
WHAT_IF_READING = T(
    "A message of topic {topic} as this evidence holds it, on its broker (release {broker}, limit {limit} bytes): the tightest rewrite leaves {left} bytes. The largest body that is safe on this topic: {safe}."
)
OF_A_TRANSACTION: Final = ("sent", "prepared", "put_back", "put_back_immune", "committed")
"""Only rewrites that this evidence suffices for; a send-back also depends on the consumer group's name."""
NO_WHAT_IF = T(
    "This evidence has no message whose limit and release are both known, so there is nothing to calculate with."
)
WHAT_IF_ALT = T("One bar for each rewrite: bytes left to the limit, to the left of zero where it is refused.")
LEFT, FITS, TOO_LARGE = T("bytes left"), T("stored", "可存储"), T("refused")


def fields(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart how a half record grows, field by field. `frame`: `stage`, `field`, `bytes`, `limit`, `offset_msg_id`
    (`kit.rocketmq.record_fields.stages`).
    """
    wide = (
        frame.pivot_table(index="stage", columns="field", values="bytes", sort=False)
        .reindex(list(STAGES))
        .dropna(how="all")
    )
    wide = wide.reindex(columns=["body", *FIELD]).fillna(0).astype("int64")
    limit = int(frame["limit"].iloc[0]) if len(frame) and frame["limit"].notna().any() else None
    table = wide.assign(total=wide.sum(axis=1), limit=limit).reset_index()
    beyond = (table["total"] - table["body"]).tolist()
    table["stage"] = [STAGES[s].render(lang) for s in table["stage"]]
    named = {"stage": STAGE, "body": BODY, "total": TOTAL, "limit": LIMIT}
    named |= {slug: text for slug, (text, *_) in FIELD.items()}
    bars = [
        bar(
            table["stage"],
            table[slug],
            text.render(lang),
            colour,
            shape,
            text=[f"{n:,}" if n > 15 else "" for n in table[slug]],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            hovertemplate="%{y}<br>%{fullData.name}: %{x:,}<extra></extra>",
        )
        for slug, (text, colour, shape) in FIELD.items()
    ]
    chart = figure(*bars, barmode="stack", height=150 + 56 * len(table))
    chart.update_yaxes(type="category", autorange="reversed", gridcolor="rgba(0,0,0,0)")
    chart.update_xaxes(title=BEYOND.render(lang), tickformat=",d")
    body = int(table["body"].iloc[-1]) if len(table) else 0
    half, put_back = (beyond[-2], beyond[-1]) if len(beyond) > 1 else (None, None)
    said = FIELDS_FIT.say(body=body, half=half, put_back=put_back)
    if limit is not None and put_back is not None and 0 <= limit - body <= 4 * max(beyond):
        room = limit - body
        chart.add_vline(x=room, line={"color": VERMILLION, "width": 2, "dash": "dash"})
        chart.add_annotation(
            x=room, y=1, yref="paper", yanchor="bottom", text=ROOM.say(room=room).render(lang), showarrow=False
        )
        if put_back > room:
            said = FIELDS_READING.say(body=body, room=room, half=half, put_back=put_back, over=put_back - room)
    chart.update_layout(legend={"y": -0.38, "yanchor": "top"})
    return Chart(chart, table, said, FIELDS_ALT, FIELDS, named, lang, min_width=560)


def room(frame: pd.DataFrame, body: int | None = None, lang: Lang = "en") -> Chart | Table:
    """Chart the bytes left to the limit at each rewrite of a message of this evidence, with a body of `body` bytes (None: its own).

    `frame`: the row of `kit.analysis.sizes.half_records.start`; if it is empty, a sentence instead of a chart.
    """
    if frame.empty:
        return Table(pd.DataFrame(), NO_WHAT_IF, lang=lang)
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
        fate = TOO_LARGE if row["refused"] or left < 0 else FITS
        rows.append((row["text"].render(lang), escape(row["topic"], 40), stored, left, fate.render(lang)))
    table = pd.DataFrame(rows, columns=pd.Index(["stage", "topic", "bytes", "left", "fate"]))
    named = {"stage": STAGE, "topic": TOPIC, "bytes": TOTAL, "left": LEFT, "fate": FATE}
    traces = []
    for text, colour, shape in ((FITS, GREEN, ""), (TOO_LARGE, VERMILLION, "/")):
        part = table[table["fate"] == text.render(lang)]
        if len(part):
            traces.append(
                bar(
                    part["stage"],
                    part["left"],
                    text.render(lang),
                    colour,
                    shape,
                    text=[f"{n:,}" for n in part["left"]],
                    textposition="auto",
                    hovertemplate="%{y}: %{x:,}<extra></extra>",
                )
            )
    chart = figure(*traces, height=130 + 32 * len(table), barmode="overlay")
    chart.update_yaxes(
        type="category",
        autorange="reversed",
        categoryorder="array",
        categoryarray=list(table["stage"]),
        gridcolor="rgba(0,0,0,0)",
    )
    chart.update_xaxes(title=LEFT.render(lang), tickformat=",d", zeroline=True, zerolinecolor=GREY)
    safe = given["safe_body"]
    reading = WHAT_IF_READING.say(
        topic=str(given["topic"]),
        broker=spec["broker"],
        limit=spec["limit"],
        left=int(table["left"].min()),
        safe=None if pd.isna(safe) else int(safe),
    )
    title = WHAT_IF.say(body=body).render(lang)
    return Chart(chart, table, reading, WHAT_IF_ALT, title, named, lang, min_width=640)


def explore_room(frame: pd.DataFrame, interactive: bool = True, lang: Lang = "en") -> Any:
    """Return `room` with a slider for the body, from 0 to the limit; without a widget if there is nothing to calculate."""
    if not interactive or frame.empty:
        return room(frame, None, lang)
    from ipywidgets import IntSlider

    from kit.charts.controls import live

    body, limit = int(frame["body"].iloc[0]), int(frame["limit"].iloc[0])
    return live(lambda body: room(frame, body, lang), body=IntSlider(body, 0, limit, continuous_update=False))
