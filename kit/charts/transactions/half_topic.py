"""Charts of the half-topic blow-up: how fast the leaked half records double, who writes them, the life of one, what each fix prevents."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, GREEN, ORANGE, VERMILLION, Chart, bar, common, downsample, figure
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

FIXES = T("What each fix would have prevented")
FIXES_READING = T(
    "“{best}” would have prevented all {records} leaked records and let the retries through; the weakest, “{worst}”, still leaves {left}."
)
FIXES_ALT = T("One bar for each fix, prevented and remaining records; the numbers are in the table.")
PREVENTED, LEFT = T("prevented"), T("would still be written")
FIX, RETRIES = T("fix"), T("retries reach the consumer")
FIX_NAMES: Final = {
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
    """Chart, for each documented fix, how many leaked records of this incident it would have prevented.

    `frame`: `fix`, `prevented`, `left`, `retries_delivered`.
    """
    table = frame.assign(fix=[FIX_NAMES[f].render(lang) if f in FIX_NAMES else str(f) for f in frame["fix"]])
    named = {"fix": FIX, "prevented": PREVENTED, "left": LEFT, "retries_delivered": RETRIES}
    if table.empty:
        return Chart(figure(), table, NOTHING, NOTHING, FIXES, named, lang)

    bars = [
        bar(
            table["fix"],
            table[column],
            named[column].render(lang),
            colour,
            shape,
            text=[f"{n:,}" if n else "" for n in table[column]],
            textposition="auto",
            hovertemplate="%{y}: %{x:,}<extra></extra>",
        )
        for column, colour, shape in (("prevented", GREEN, ""), ("left", ORANGE, "/"))
    ]
    chart = figure(*bars, barmode="stack", height=150 + 50 * len(table))
    chart.update_yaxes(type="category", gridcolor="rgba(0,0,0,0)")
    chart.update_xaxes(tickformat=",d")
    best = table.sort_values(["retries_delivered", "prevented"], ascending=False).iloc[0]
    worst = table.sort_values("prevented").iloc[0]
    reading = FIXES_READING.say(
        best=best["fix"], records=int(best["prevented"]), worst=worst["fix"], left=int(worst["left"])
    )
    return Chart(chart, table, reading, FIXES_ALT, FIXES, named, lang)


def _log(chart: go.Figure, largest: int, lang: Lang) -> None:
    """Set a logarithmic count axis with space for labels above the largest value."""
    top = math.log10(max(largest, 10)) + 0.35
    chart.update_yaxes(
        type="log", title=RECORDS.render(lang), range=[-0.1, top], dtick=1, exponentformat="none", tickformat=",d"
    )
