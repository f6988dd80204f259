"""Charts of the half-topic blow-up: how fast the leaked half records double, who writes them, the life of one, what each fix prevents."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, GREEN, GREY, ORANGE, SYMBOLS, VERMILLION, Chart, bar, common, downsample, figure, pictures
from kit.i18n import Lang, T
from kit.rocketmq import names

GROWTH = T("Leaked half records over time")
GROWTH_READING = T(
    "{messages} leaked {messages:message|messages} became {records} {records:half record|half records} in {seconds} s; the number doubled {doublings} {doublings:time|times}, typically every {median} s."
)
GROWTH_FEW = T(
    "{messages} leaked {messages:message|messages}, {records} {records:half record|half records} in {seconds} s: too few to speak of doubling."
)
GROWTH_ALT = T(
    "Line on a logarithmic scale, rising from {first} to {last} {last:half record|half records}; each doubling is marked with a diamond and its number."
)
NOTHING = T("No half record leaked.")
RECORDS = T("leaked half records")
TIME = T("store time (UTC)")
DOUBLED = T("doubled")
COUNTED = T("leaked half records so far")
ROUND = T("doubling")
REACHED = T("reached at")
TOOK = T("seconds since the last")

FLOW = T("Who wrote the leaked records, and where they went")
FLOW_READING = T(
    "It started with {consumer} fresh {consumer:copy|copies} from the consumer; checks put back {check} more, diverted commits added {commit}, "
    "and {limit} {limit:was|were} discarded after their last check."
)
WRITERS: Final = {
    "consumer": T("consumer: send-back failed"),
    "check": T("check: put-back"),
    "commit": T("commit: answer to the check"),
    "limit": T("check: discarded"),
}

STAGES: Final = {
    "half": T("half message", "半消息"),
    "committed": T("committed to its topic"),
    "resent": T("sent again by the consumer"),
    "put_back": T("put back by a check"),
    "committed_again": T("commit, diverted by DELAY"),
    "leaked": T("back in the half topic"),
    "given_up": T("discarded after the last check"),
    "stored": T("stored"),
}
WHY: Final = {
    "half": T("the producer's transaction"),
    "committed": T("the producer answered COMMIT"),
    "resent": T("the send-back was refused; TRAN_MSG and a delay are still set"),
    "put_back": T("a check writes a copy first; DELAY diverts it"),
    "committed_again": T("the answer COMMIT writes a copy; DELAY diverts it too"),
    "leaked": T("its delay has expired; REAL_TOPIC is the half topic"),
    "given_up": T("the check limit is reached"),
    "stored": T("a record like any other"),
}

FIXES = T("What each fix would have changed", "每种修复会带来什么不同")
FIXES_READING = T(
    "{count} of these {count:lets|let} the retries reach the consumer: {fixes}.",
    "其中 {count} 种能让重试送达消费者：{fixes}。",
)
FIXES_ALT = T(
    "Two bars for each fix, leaked records and retries that arrive; the numbers are in the table.",
    "每种修复两条横条：泄漏的记录与送达的重试；数字见表。",
)
LEFT = T("leaked records", "泄漏的记录")
FIX, RETRIES = T("fix"), T("retries that reach the consumer", "送达消费者的重试")
ROUND_GAP: Final = pd.Timedelta(milliseconds=600)
LANES: Final = {
    "re-sent": T("sent anew by the consumer → SCHEDULE", "消费者重新发送 → SCHEDULE"),
    "half topic": T("half topic, when due", "到期，进入半消息主题"),
    "put back": T("check: put back → SCHEDULE", "回查：回写 → SCHEDULE"),
    "commit": T("answer COMMIT → SCHEDULE", "应答 COMMIT → SCHEDULE"),
}
LANE_COLOURS: Final = {"re-sent": ORANGE, "half topic": BLUE, "put back": GREEN, "commit": VERMILLION}
TWO = T("One message's records, and what each was made from", "一条消息的记录，以及各由哪条记录写出")
LANES_ALT = T(
    "One lane for each kind of record; arrows lead from a record to those made from it.",
    "每种记录一条泳道；箭头从一条记录指向由它写出的记录。",
)
ROUNDS = T("Leaked half records by number of checks", "泄漏的半消息记录，按回查次数")
CHECKED = T("checks so far (TRANSACTION_CHECK_TIMES)", "已回查次数（TRANSACTION_CHECK_TIMES）")
LOOP = T("The loop, with the numbers of this evidence", "循环，数字取自这份证据")
LOOP_ALT = T(
    "Boxes for consumer, schedule topic, half topic and check; an arrow for each hop with its property and count.",
    "方框是消费者、延时主题、半消息主题和回查；每个箭头标出起作用的属性和次数。",
)
NODES: Final = (
    (1.1, 5.2, T("consumer")),
    (1.1, 1.0, T("%RETRY% + group", "%RETRY% + 组名")),
    (4.3, 3.1, T("SCHEDULE_TOPIC_XXXX", "SCHEDULE_TOPIC_XXXX（延时）")),
    (8.6, 3.1, T("half topic", "半消息主题")),
    (6.6, 5.2, T("check: put back", "回查：回写")),
    (6.6, 1.0, T("producer group answers COMMIT", "生产者组应答 COMMIT")),
    (8.2, 0.1, T("discarded: TRANS_CHECK_MAX_TIME_TOPIC", "丢弃：TRANS_CHECK_MAX_TIME_TOPIC")),
)
HOPS: Final[dict[str, pictures.Hop]] = {
    "refused": (1.1, 4.9, 1.1, 1.35, 1.95, 2.9, T("send-back refused", "回发被拒")),
    "re-sent": (
        1.5,
        4.9,
        3.9,
        3.45,
        2.6,
        5.0,
        T(
            "sent anew: TRAN_MSG=true, DELAY<br>→ REAL_TOPIC = half topic",
            "重新发送：TRAN_MSG=true、DELAY<br>→ REAL_TOPIC = 半消息主题",
        ),
    ),
    "due": (5.5, 3.1, 8.0, 3.1, 6.75, 3.5, T("delay over", "到期")),
    "checked": (8.4, 3.45, 7.2, 4.9, 0, 0, None),
    "put back": (6.0, 4.9, 4.7, 3.45, 4.7, 4.4, T("diverted by DELAY", "被 DELAY 转移")),
    "asked": (8.4, 2.75, 7.2, 1.3, 0, 0, None),
    "commit": (6.0, 1.3, 4.7, 2.75, 4.7, 1.8, T("diverted by DELAY", "被 DELAY 转移")),
    "discarded": (8.8, 2.75, 8.8, 0.4, 9.35, 1.6, T("check limit", "达到回查上限")),
}
"""Each hop: from, to, where its words stand, its words."""
FIX_NAMES: Final = {
    "as it happened": T("as it happened", "实际发生"),
    "rollback-unknown-topic": T("listener answers ROLLBACK"),
    "client-4.6.1": T("client 4.6.1 or newer"),
    "split-tags": T("shorter group name"),
}


def growth(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the leaked half records over time, doublings marked.

    `frame`: leaked half records in offset order, possibly thinned, with `seq` (1…), `store_timestamp`, `half_queue_offset`, `check_times`, `uniq_key`
    and `doubling` (the rows with seq = leaked messages × 2^k, never thinned out).
    """
    frame = frame.sort_values("seq", kind="stable")
    seq, when = frame["seq"].to_numpy("int64"), frame["store_timestamp"]
    at = frame[frame["doubling"].astype(bool)]
    marks = pd.DataFrame(
        {"doubling": range(len(at)), "records": at["seq"].to_numpy(), "reached": at["store_timestamp"].to_numpy()}
    )
    marks["seconds"] = pd.to_timedelta(marks["reached"].diff()).dt.total_seconds()
    named = {"doubling": ROUND, "records": RECORDS, "reached": REACHED, "seconds": TOOK}
    if frame.empty:
        return Chart(figure(), marks, NOTHING, NOTHING, GROWTH, named, lang)
    ticks = when.astype("datetime64[ns]").astype("int64")
    kept = downsample(ticks.cummax().to_numpy(), seq)
    chart = figure(
        go.Scatter(
            x=when.iloc[kept],
            y=seq[kept],
            mode="lines",
            line={"color": BLUE, "width": 2.5, "shape": "hv"},
            name=COUNTED.render(lang),
            hovertemplate="%{x}<br>%{y:,}<extra></extra>",
        ),
        go.Scatter(
            x=marks["reached"],
            y=marks["records"],
            mode="markers+text",
            text=[f"{m:,}" for m in marks["records"]],
            textposition="top left",
            textfont={"size": 11},
            marker={"color": VERMILLION, "symbol": "diamond", "size": 9},
            name=DOUBLED.render(lang),
            cliponaxis=False,
            customdata=marks["seconds"].fillna(0),
            hovertemplate="%{y:,}<br>%{x}<br>+%{customdata:.1f} s<extra></extra>",
        ),
        height=420,
    )
    _log(chart, int(seq[-1]), lang)
    chart.update_xaxes(title=TIME.render(lang))
    seconds = (when.iloc[-1] - when.iloc[0]).total_seconds()
    messages = int(marks["records"].iloc[0]) if len(marks) else int(frame["uniq_key"].nunique())
    said = {
        "messages": messages,
        "records": int(seq[-1]),
        "seconds": round(seconds),
        "doublings": max(0, len(marks) - 1),
    }
    # The interface defines no doubling time below three doublings.
    reading = (
        GROWTH_READING.say(**said, median=float(marks["seconds"].median()))
        if len(marks) > 3
        else GROWTH_FEW.say(**said)
    )
    alt = GROWTH_ALT.say(first=int(seq[0]), last=int(seq[-1]))
    return Chart(chart, marks, reading, alt, GROWTH, named, lang)


def flow(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart who wrote the leaked records and where the schedule topic took them.

    `frame`: `writer` (`consumer`, `check`, `commit`), `target` (the REAL_TOPIC the record carries), `records`; one row per pair.
    """
    given_up = (frame["target"] == names.DISCARD_TOPIC) & (frame["writer"] == "check")
    frame = frame.assign(writer=frame["writer"].mask(given_up, "limit"))
    into = pd.DataFrame(
        {
            "source": [WRITERS[w].render(lang) for w in frame["writer"]],
            "target": names.SCHEDULE_TOPIC,
            "count": frame["records"],
        }
    )
    out = pd.DataFrame({"source": names.SCHEDULE_TOPIC, "target": frame["target"], "count": frame["records"]})
    by = frame.groupby("writer")["records"].sum()
    reading = FLOW_READING.say(**{writer: int(by.get(writer, 0)) for writer in WRITERS})
    return common.flow(pd.concat([into, out], ignore_index=True), lang, FLOW, reading)


def life(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the records of one leaked message in lanes.

    `frame`: `store_timestamp`, `topic`, `queue_id`, `offset_msg_id`, `real_topic`, `check_times`, `committed` (written by a commit), in store order.
    """
    stages = [_stage(row) for row in frame.to_dict("records")]
    shown = frame.assign(stage=[STAGES[s].render(lang) for s in stages], why=[WHY[s].render(lang) for s in stages])
    return common.timeline(shown, lang)


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
    table = frame.assign(fix=[FIX_NAMES[f].render(lang) if f in FIX_NAMES else str(f) for f in frame["fix"]])
    named = {"fix": FIX, "leaked_records": LEFT, "retries": RETRIES}
    if table.empty:
        return Chart(figure(), table, NOTHING, NOTHING, FIXES, named, lang)
    bars = [
        bar(
            table["fix"],
            table[column],
            named[column].render(lang),
            colour,
            shape,
            text=[f"{n:,}" for n in table[column]],
            textposition="outside",
            cliponaxis=False,
            xaxis=axis,
            hovertemplate="%{y}: %{x:,}<extra></extra>",
        )
        for column, colour, shape, axis in (("leaked_records", VERMILLION, "/", "x"), ("retries", GREEN, "", "x2"))
    ]
    chart = figure(*bars, height=130 + 44 * len(table), showlegend=False)
    chart.update_yaxes(type="category", autorange="reversed", gridcolor="rgba(0,0,0,0)")
    for axis, column, domain in (("xaxis", "leaked_records", [0, 0.6]), ("xaxis2", "retries", [0.72, 1])):
        most = float(table[column].max() or 1) * 1.25
        title = {"text": named[column].render(lang), "font": {"size": 13}}
        chart.update_layout(
            {
                axis: {
                    "domain": domain,
                    "range": [0, most],
                    "title": title,
                    "tickformat": ",d",
                    "nticks": 4,
                    "anchor": "y",
                }
            }
        )
    through = table[(table["retries"] > 0)]
    reading = FIXES_READING.say(count=len(through), fixes=[str(each) for each in through["fix"]])
    return Chart(chart, table, reading, FIXES_ALT, FIXES, named, lang, min_width=620)


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
    commits = table[table["lane"] == "commit"].merge(
        table, left_on="made_from", right_on="physical_offset", suffixes=("", "_old")
    )
    pairs = [
        *zip(waiting.to_dict("records"), half.to_dict("records"), strict=False),
        *zip(half.to_dict("records"), again.to_dict("records"), strict=False),
    ]
    pairs += [
        ({"store_timestamp": row["store_timestamp_old"], "y": row["y_old"]}, row) for row in commits.to_dict("records")
    ]
    chart = figure(height=150 + 90 * len(lanes), showlegend=False)
    for old, new in pairs:
        to_commit = new["lane"] == "commit"
        chart.add_annotation(
            x=new["store_timestamp"], y=new["y"], ax=old["store_timestamp"], ay=old["y"], xref="x", yref="y",
            axref="x", ayref="y", showarrow=True, arrowhead=2, arrowsize=1, arrowwidth=1.2, arrowcolor=VERMILLION if to_commit else GREY, opacity=0.8, text="",
            standoff=4,
        )  # fmt: skip
    for n, lane in enumerate(lanes):
        part = table[table["lane"] == lane]
        chart.add_scatter(
            x=part["store_timestamp"], y=part["y"], mode="markers", name=LANES[lane].render(lang),
            marker={"size": 8, "color": LANE_COLOURS[lane], "symbol": SYMBOLS[n], "line": {"width": 1, "color": "white"}},
            customdata=part["physical_offset"], hovertemplate="%{x}<br>@ %{customdata}<extra></extra>",
        )  # fmt: skip
    names_ = [f"{LANES[lane].render(lang)} · {int((table['lane'] == lane).sum())}" for lane in lanes]
    chart.update_yaxes(tickvals=list(range(len(lanes))), ticktext=names_, range=[len(lanes) - 0.5, -0.5])
    chart.update_xaxes(title=TIME.render(lang))
    return Chart(chart, frame, "", LANES_ALT, TWO, {}, lang, min_width=680)


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
    _log(chart, int(count.max()), lang)
    chart.update_xaxes(title=CHECKED.render(lang), dtick=1)
    return Chart(chart, frame.assign(ratio=ratio), "", ROUNDS, ROUNDS, {}, lang, min_width=560)


def loop(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Draw the loop: each hop with the property that makes it happen and how often it did here.

    `frame`: `hop` (`refused`, `re-sent`, `due`, `put back`, `commit`, `discarded`), `records` (null: not known).
    """
    return pictures.diagram(
        frame, NODES, HOPS, LOOP, LOOP_ALT, lang, strong=("put back", "commit", "due", "checked", "asked")
    )


def _log(chart: go.Figure, largest: int, lang: Lang) -> None:
    """Set a logarithmic count axis with space for labels above the largest value."""
    top = math.log10(max(largest, 10)) + 0.35
    chart.update_yaxes(
        type="log", title=RECORDS.render(lang), range=[-0.1, top], dtick=1, exponentformat="none", tickformat=",d"
    )
