"""Charts of the half-topic blow-up: how fast the leaked half records double, who writes them, the life of one, what each fix prevents."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import (
    BLUE,
    GREEN,
    GREY,
    LABELS,
    ORANGE,
    SYMBOLS,
    VERMILLION,
    Captions,
    Chart,
    bars,
    common,
    downsample,
    figure,
    line,
    log_counts,
    marks,
    named,
    pictures,
)
from kit.i18n import Lang
from kit.rocketmq import names

GROWTH = Captions.of("leak growth")
FLOW = Captions.of("leak flow")
FIXES = Captions.of("fixes")
TWO = Captions.of("one becomes two")
ROUNDS = Captions.of("rounds")

WRITERS: Final = LABELS["half topic writers"]

STAGES: Final = LABELS["half topic stages"]
WHY: Final = LABELS["half topic why"]

ROUND_GAP: Final = pd.Timedelta(milliseconds=600)
LANES: Final = LABELS["half topic lanes"]
LANE_COLOURS: Final = {"re-sent": ORANGE, "half topic": BLUE, "put back": GREEN, "commit": VERMILLION}
FIX_NAMES: Final = LABELS["half topic fix names"]


def growth(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the leaked half records over time, doublings marked.

    `frame`: leaked half records in offset order, possibly thinned, with `seq` (1…), `store_timestamp`, `half_queue_offset`, `check_times`, `uniq_key`
    and `doubling` (the rows with seq = leaked messages × 2^k, never thinned out).
    """
    frame = frame.sort_values("seq", kind="stable")
    seq, when = frame["seq"].to_numpy("int64"), frame["store_timestamp"]
    at = frame[frame["doubling"].astype(bool)]
    doublings = pd.DataFrame(
        {"doubling": range(len(at)), "records": at["seq"].array, "reached": at["store_timestamp"].array}
    )
    doublings["seconds"] = pd.to_timedelta(doublings["reached"].diff()).dt.total_seconds()
    if frame.empty:
        return GROWTH.nothing(lang, doublings)
    ticks = when.astype("datetime64[ns]").astype("int64")
    kept = downsample(ticks.cummax().to_numpy(), seq)
    hover = "%{x}<br>%{y:,}<extra></extra>"
    doubled = marks(
        doublings["reached"],
        doublings["records"],
        GROWTH["doubled"].render(lang),
        VERMILLION,
        "diamond",
        size=9,
        mode="markers+text",
        text=[f"{n:,}" for n in doublings["records"]],
        textposition="top left",
        textfont={"size": 11},
        cliponaxis=False,
        hover=doublings["seconds"].fillna(0),
        hovertemplate="%{y:,}<br>%{x}<br>+%{customdata:.1f} s<extra></extra>",
    )
    counted = GROWTH["counted"].render(lang)
    growing = line(when.iloc[kept], seq[kept], counted, BLUE, steps=True, width=2.5, hovertemplate=hover)
    chart = figure(growing, doubled, height=420)
    chart.update_yaxes(title=GROWTH.columns["records"].render(lang), **log_counts(seq[-1]))
    chart.update_xaxes(title=GROWTH["time"].render(lang))
    said = {
        "messages": int(doublings["records"].iloc[0]) if len(doublings) else int(frame["uniq_key"].nunique()),
        "records": int(seq[-1]),
        "seconds": round((when.iloc[-1] - when.iloc[0]).total_seconds()),
        "doublings": max(0, len(doublings) - 1),
    }
    reading = GROWTH["few"].say(**said)
    if len(doublings) > 3:  # the interface defines no doubling time below three doublings
        reading = GROWTH["reading"].say(**said, median=float(doublings["seconds"].median()))
    alt = GROWTH["alt"].say(first=int(seq[0]), last=int(seq[-1]))
    return GROWTH.chart(chart, doublings, reading, lang, alt=alt)


def flow(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart who wrote the leaked records and where the schedule topic took them.

    `frame`: `writer` (`consumer`, `check`, `commit`), `target` (the REAL_TOPIC the record carries), `records`; one row per pair.
    """
    given_up = (frame["target"] == names.DISCARD_TOPIC) & (frame["writer"] == "check")
    frame = frame.assign(writer=frame["writer"].mask(given_up, "limit"))
    records = frame["records"]
    writers = named(frame["writer"], WRITERS, lang)
    into = pd.DataFrame({"source": writers, "target": names.SCHEDULE_TOPIC, "count": records})
    out = pd.DataFrame({"source": names.SCHEDULE_TOPIC, "target": frame["target"], "count": records})
    by = frame.groupby("writer")["records"].sum()
    reading = FLOW["reading"].say(**{writer: int(by.get(writer, 0)) for writer in WRITERS})
    return common.flow(pd.concat([into, out], ignore_index=True), lang, FLOW["title"], reading)


def life(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the records of one leaked message in lanes.

    `frame`: `store_timestamp`, `topic`, `queue_id`, `offset_msg_id`, `real_topic`, `check_times`, `committed` (written by a commit), in store order.
    """
    stages = [_stage(row) for row in frame.to_dict("records")]
    return common.timeline(frame.assign(stage=named(stages, STAGES, lang), why=named(stages, WHY, lang)), lang)


def _stage(row: dict[Hashable, Any]) -> str:
    """Return which of `STAGES` a record of a leaked message is."""
    topic, real = row["topic"], row["real_topic"]
    if topic == names.DISCARD_TOPIC or (topic == names.SCHEDULE_TOPIC and real == names.DISCARD_TOPIC):
        return "given_up"
    if topic == names.SCHEDULE_TOPIC and real == names.HALF_TOPIC:
        return "committed_again" if row["committed"] else "resent" if pd.isna(row["check_times"]) else "put_back"
    if topic == names.HALF_TOPIC:
        return "leaked" if real == names.HALF_TOPIC else "half"
    return "committed" if row["committed"] else "stored"


def fixes(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart, for what happened and for each documented fix, the leaked records and beside them the retries that reach the consumer.

    `frame`: `fix`, `leaked_records`, `retries`.
    """
    table = frame.assign(fix=named(frame["fix"], FIX_NAMES, lang))
    if table.empty:
        return FIXES.nothing(lang, table)
    looks, hover = {"leaked_records": (VERMILLION, "/"), "retries": (GREEN, "")}, "%{y}: %{x:,}<extra></extra>"
    outside = {"textposition": "outside", "cliponaxis": False, "hovertemplate": hover}
    leaks, retries = bars(table["fix"], table, FIXES.columns, looks, lang, least=0, **outside)
    chart = figure(leaks, retries.update(xaxis="x2"), height=130 + 44 * len(table), showlegend=False)
    chart.update_yaxes(type="category", autorange="reversed", gridcolor="rgba(0,0,0,0)")
    for axis, column, domain in (("xaxis", "leaked_records", [0, 0.6]), ("xaxis2", "retries", [0.72, 1])):
        title = {"text": FIXES.columns[column].render(lang), "font": {"size": 13}}
        most = float(table[column].max() or 1) * 1.25
        place = {"domain": domain, "range": [0, most], "title": title, "tickformat": ",d", "nticks": 4, "anchor": "y"}
        chart.update_layout({axis: place})
    through = table[table["retries"] > 0]
    reading = FIXES["reading"].say(count=len(through), fixes=[str(each) for each in through["fix"]])
    return FIXES.chart(chart, table, reading, lang, min_width=620)


def one_becomes_two(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the records of one leaked message, put-backs and commits on lanes of their own, an arrow from each record to those made from it.

    `frame`: `store_timestamp`, `lane` (`re-sent`, `half topic`, `put back`, `commit`), `physical_offset`, `made_from` (the record a commit ends, else 0), in
    store order. A record that falls due and a put-back name no ancestor: the n-th half record is the n-th one that was due, and it is put back n-th.
    """
    table = frame.copy()
    # Records of one round are milliseconds apart: they stand below each other in their lane.
    turn = (table.groupby("lane")["store_timestamp"].diff() > ROUND_GAP).groupby(table["lane"]).cumsum()
    place = table.groupby(["lane", turn]).cumcount()
    size = table.groupby(["lane", turn])["lane"].transform("size")
    lanes = [lane for lane in LANES if lane in set(table["lane"])]
    table["y"] = [lanes.index(lane) for lane in table["lane"]] + (place - (size - 1) / 2) * (0.62 / size.clip(lower=4))
    half = table[table["lane"] == "half topic"].reset_index(drop=True)
    waiting = table[table["lane"] != "half topic"].reset_index(drop=True)
    again = table[table["lane"] == "put back"].reset_index(drop=True)
    commits = table[table["lane"] == "commit"].reset_index(drop=True)
    ended = commits[["made_from"]].merge(table, left_on="made_from", right_on="physical_offset", how="left")
    chart = figure(height=150 + 90 * len(lanes), showlegend=False)
    for old, new, colour in ((waiting, half, GREY), (half, again, GREY), (ended, commits, VERMILLION)):
        begins = zip(old["store_timestamp"], old["y"], strict=True)
        ends = zip(new["store_timestamp"], new["y"], strict=True)
        for begin, end in zip(begins, ends, strict=False):
            if pd.notna(begin[1]):
                look = {"arrowwidth": 1.2, "arrowcolor": colour, "opacity": 0.8, "standoff": 4}
                pictures.add_arrow(chart, begin, end, **look)
    edge, hover = {"line": {"width": 1, "color": "white"}}, "%{x}<br>@ %{customdata}<extra></extra>"
    for n, lane in enumerate(lanes):
        part = table[table["lane"] == lane]
        points = (part["store_timestamp"], part["y"], LANES[lane].render(lang), LANE_COLOURS[lane], SYMBOLS[n])
        chart.add_trace(marks(*points, size=8, marker=edge, hover=part["physical_offset"], hovertemplate=hover))
    labels = [f"{LANES[lane].render(lang)} · {int((table['lane'] == lane).sum())}" for lane in lanes]
    chart.update_yaxes(tickvals=list(range(len(lanes))), ticktext=labels, range=[len(lanes) - 0.5, -0.5])
    chart.update_xaxes(title=TWO["time"].render(lang))
    return TWO.chart(chart, frame, "", lang, min_width=680)


def rounds(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the half records by how often they were checked, each bar with its ratio to the one before. `frame`: `checks`, `half_records`, first of all."""
    count = frame["half_records"].astype("float64")
    ratio = (count / count.shift()).round(2)
    text = [f"{n:,.0f}" + ("" if pd.isna(r) else f"<br>× {r:.1f}") for n, r in zip(count, ratio, strict=True)]
    chart = figure(
        go.Bar(
            x=frame["checks"],
            y=count,
            text=text,
            textposition="outside",
            cliponaxis=False,
            marker={"color": BLUE},
            hovertemplate="%{x}: %{y:,}<extra></extra>",
        ),
        height=400,
    )
    chart.update_yaxes(title=GROWTH.columns["records"].render(lang), **log_counts(count.max()))
    chart.update_xaxes(title=ROUNDS["checked"].render(lang), dtick=1)
    return ROUNDS.chart(chart, frame.assign(ratio=ratio), "", lang, min_width=560)


def loop(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Draw the loop: each hop with the property that makes it happen and how often it did here.

    `frame`: `hop` (`refused`, `re-sent`, `due`, `put back`, `commit`, `discarded`), `records` (null: not known).
    """
    return pictures.diagram("half topic loop", frame, lang)
