"""Charts of sizes against the limit: refused writes, stored half records, the blocked half queue."""

from __future__ import annotations

from typing import Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, GREY, ORANGE, VERMILLION, Chart, Table, escape, figure, pictures
from kit.i18n import Lang, T

LIMIT = T("limit")
REFUSALS = T("Refused writes, one row per file and text")
WRITERS: Final = {
    "put_back": T("check: put-back"),
    "send": T("send"),
    "commit": T("commit"),
    "schedule": T("delivery of a delayed message"),
}
REFUSAL_HEADS: Final = {
    "writer": T("what was written"),
    "file": T("file"),
    "event": T("text", "文本"),
    "count": T("times"),
    "first": T("first"),
    "last": T("last"),
    "total": T("bytes (largest)"),
    "limit": LIMIT,
    "msg_id": T("offset message id"),
}

NEAR = T("Stored half records against the limit")
NEAR_READING = T(
    "Half records near the limit: {refused} looping, {at_risk} more that do not fit when put back, {fits} open ones that fit, {ended} that ended in time."
)
NEAR_NONE = T("No half record is within {zoom} bytes of the limit.")
NEAR_ALT = T(
    "One mark for each stored half record, by half queue offset and size; the band below the limit is what a put-back adds."
)
FATES: Final = {
    "refused": (T("put-back refused"), VERMILLION, "x"),
    "at_risk": (T("open, will not fit"), ORANGE, "diamond"),
    "fits": (T("open, fits"), BLUE, "circle"),
    "ended": (T("committed or ended"), GREY, "circle-open"),
}
OFFSET, STORED, FATE = T("half queue offset"), T("stored bytes"), T("fate")
GROWN, OFFSET_ID, TOPIC = T("bytes at the last put-back"), T("offset message id"), T("topic")
ZOOM: Final = 200
"""How many bytes below the limit are drawn: a put-back adds 26 to about 70."""

QUEUE = T("The half queue over time")
QUEUE_READING = T(
    "In the last round the check was at offset {at} of {end}: {behind} {behind:record was|records were} behind it."
)
QUEUE_END = T("The half queue grew to offset {end}; where the check was is not in the logs of this evidence.")
QUEUE_NONE = T("Neither the half queue nor the checks are in the evidence.")
QUEUE_ALT = T("Two stepped lines over time: the end of the half queue and the check's offset.")
LINES: Final = {
    "stored": (T("end of the half queue"), BLUE, "solid"),
    "checked": (T("where the check begins"), VERMILLION, "dash"),
}
TIME, WHICH = T("time (UTC)"), T("line", "线")


def refusals(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Return refused writes, one row per file and text: who wrote, what was printed, how often, when. `frame`: the table
    `size_refusals`.
    """
    shown = frame[["writer", "file", "event", "count", "first", "last", "total", "limit", "msg_id"]].copy()
    shown["writer"] = [WRITERS[w].render(lang) if w in WRITERS else None for w in shown["writer"]]
    return Table(shown.astype(object), REFUSALS, REFUSAL_HEADS, lang)


def near_limit(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart stored half records near the limit. `frame`: `queue_offset`, `store_size`, `last_size`, `limit`, `fate`, `offset_msg_id`."""
    limit = int(frame["limit"].iloc[0]) if len(frame) and frame["limit"].notna().any() else None
    near = (
        frame.iloc[0:0]
        if limit is None
        else frame[frame["last_size"] > limit - ZOOM].sort_values("queue_offset", ignore_index=True)
    )
    table = near.assign(fate=[FATES[f][0].render(lang) for f in near["fate"]])
    named = {
        "queue_offset": OFFSET,
        "store_size": STORED,
        "last_size": GROWN,
        "limit": LIMIT,
        "fate": FATE,
        "offset_msg_id": OFFSET_ID,
    }
    if near.empty or limit is None:
        return Chart(figure(), table, NEAR_NONE.say(zoom=ZOOM), NEAR_ALT, NEAR, named, lang)
    traces = []
    for fate, (text, colour, symbol) in FATES.items():
        part = near[near["fate"] == fate]
        if len(part):
            traces.append(
                go.Scatter(
                    x=part["queue_offset"],
                    y=part["store_size"],
                    mode="markers",
                    name=text.render(lang),
                    customdata=[escape(i) for i in part["offset_msg_id"]],
                    marker={"color": colour, "symbol": symbol, "size": 10},
                    hovertemplate="%{x:,} · %{y:,}<br>%{customdata}<extra></extra>",
                )
            )
    chart = figure(*traces, height=380)
    chart.add_hline(
        y=limit,
        line={"color": VERMILLION, "width": 2, "dash": "dash"},
        annotation_text=f"{LIMIT.render(lang)} {limit:,}",
    )
    grows = int((near["last_size"] - near["store_size"]).max())
    chart.add_hrect(y0=limit - grows, y1=limit, fillcolor=ORANGE, opacity=0.2, line_width=0, layer="below")
    chart.update_xaxes(title=OFFSET.render(lang), tickformat=",d")
    chart.update_yaxes(title=STORED.render(lang), tickformat=",d")
    counts = near["fate"].value_counts()
    reading = NEAR_READING.say(**{fate: int(counts.get(fate, 0)) for fate in FATES})
    return Chart(chart, table, reading, NEAR_ALT, NEAR, named, lang)


def half_queue(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the half queue over time. `frame`: `ts`, `offset`, `line` (`stored`, `checked`)."""
    ordered = frame.sort_values(["ts", "line"], ignore_index=True)
    table = ordered.assign(line=[LINES[each][0].render(lang) for each in ordered["line"]])
    named = {"ts": TIME, "offset": OFFSET, "line": WHICH}
    if ordered.empty:
        return Chart(figure(), table, QUEUE_NONE, QUEUE_ALT, QUEUE, named, lang)
    traces, last = [], {}
    for slug, (text, colour, dash) in LINES.items():
        part = ordered[ordered["line"] == slug]
        if len(part):
            last[slug] = int(part["offset"].iloc[-1])
            x, y = [*part["ts"], ordered["ts"].max()], [*part["offset"], last[slug]]
            line = {"color": colour, "dash": dash, "shape": "hv", "width": 2}
            traces.append(
                go.Scatter(
                    x=x,
                    y=y,
                    mode="lines+markers",
                    name=text.render(lang),
                    line=line,
                    hovertemplate="%{x}<br>%{y:,}<extra></extra>",
                )
            )
    chart = figure(*traces, height=340)
    chart.update_xaxes(title=TIME.render(lang))
    chart.update_yaxes(title=OFFSET.render(lang), tickformat=",d", rangemode="tozero")
    end = last.get("stored")
    reading = QUEUE_END.say(end=end)
    if "checked" in last:
        reading = QUEUE_READING.say(
            at=last["checked"], end=end, behind=None if end is None else max(end - last["checked"], 0)
        )
    return Chart(chart, table, reading, QUEUE_ALT, QUEUE, named, lang)


LOOP = T("Where the check stands", "回查停在哪里")
LOOP_ALT = T(
    "Boxes for producer, half queue, check and producer group; an arrow for each hop with its count.",
    "方框是生产者、半消息队列、回查和生产者组；每个箭头标出次数。",
)
NODES: Final = (
    (1.2, 2.6, T("producer", "生产者")),
    (4.6, 2.6, T("half queue", "半消息队列")),
    (8.3, 2.6, T("check", "回查")),
    (8.3, 0.4, T("producer group: COMMIT?", "生产者组：COMMIT？")),
)
HOPS: Final[dict[str, pictures.Hop]] = {
    "accepted": (1.7, 2.6, 3.9, 2.6, 2.8, 3.1, T("half messages, they fit", "半消息，未超限")),
    "read": (5.3, 2.4, 7.9, 2.4, 6.6, 1.9, T("rounds of checks", "回查轮次")),
    "refused": (7.9, 2.8, 5.3, 2.8, 6.6, 3.4, T("put-back + 26 bytes: refused", "回写 + 26 字节：被拒")),
    "waiting": (8.3, 2.2, 8.3, 0.8, 9.2, 1.5, T("wait behind it", "在其后等待")),
}


def loop(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Draw why the check does not get on. `frame`: `hop` (accepted, read, refused, waiting), `records`."""
    return pictures.diagram(frame, NODES, HOPS, LOOP, LOOP_ALT, lang, strong=("refused",))
