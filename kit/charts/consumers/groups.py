"""Charts of consumer groups: their lag over time, who pulled which queue when, what was handled against what is stored."""

from __future__ import annotations

import posixpath
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import GREEN, GREY, PALETTE, SKY, SYMBOLS, VERMILLION, Chart, bar, escape, figure
from kit.i18n import Lang, T

LAG = T("How far behind each queue was")
LAG_READING = T("{name} lags most: {lag} {lag:message|messages} at the end, in {queues} {queues:queue|queues}.")
LAG_ALT = T(
    "One line for each queue of the group that lags most: messages behind, over time; all groups are in the table."
)
NO_LAG = T("The offsets of the groups over time are not known from this evidence.")
TIME, BEHIND = T("time (UTC)"), T("messages behind")
GROUP, TOPIC, BROKER, QUEUE = T("consumer group"), T("topic"), T("broker"), T("queue")
OFFSET, END, SOURCE = T("offset of the group"), T("end of the queue"), T("known from")

OWNERS = T("Which process pulled which queue, and when")
OWNERS_READING = T(
    "{several} of {queues} {queues:queue|queues} {several:was|were} pulled by more than one process at the same time."
)
OWNERS_ALT = T(
    "One bar for each time a process held a queue, one lane for each queue; a bar without an end is drawn to the last time."
)
NO_OWNERS = T("Which process pulled which queue is not known from this evidence.")
PLACE, CLIENT, FIRST, LAST = T("process (folder)"), T("client id"), T("from"), T("to")

HANDLED = T("What was handled against what is stored")
HANDLED_READING = T("{nobody} of {stored} stored messages {nobody:was|were} not handled by anybody in the group.")
HANDLED_ALT = T("One bar for each topic: handled, passed over behind the offset, still in front of it.")
NO_HANDLED = T("What was handled is not known: the ledgers of all consumers of the group are needed.")
WAS_HANDLED, PASSED, WAITING, STORED = (
    T("handled"),
    T("behind the offset, handled by nobody"),
    T("in front of the offset"),
    T("stored"),
)

STACKS = T("What the consuming threads were doing")
STACKS_READING = T("{threads} of {all} consuming threads {threads:is|are} in {frame}.")
STACKS_ALT = T("One bar for each dump: consuming threads by the topmost frame of the application; idle ones in grey.")
NO_STACKS = T("There is no thread dump with consuming threads.")
IDLE, FRAME, DUMP, THREADS = T("waits for messages"), T("topmost frame of the application"), T("dump"), T("threads")
MOST_QUEUES: Final = 64


def lag(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the lag over time. `frame`: time, source, group, topic, broker, queue_id, offset, end, lag."""
    names = {
        "time": TIME, "source": SOURCE, "group": GROUP, "topic": TOPIC, "broker": BROKER, "queue_id": QUEUE, "offset": OFFSET, "end": END, "lag": BEHIND,
    }  # fmt: skip
    known = frame[frame["time"].notna() & frame["lag"].notna()] if len(frame) else frame
    if known.empty:
        return Chart(figure(), frame, NO_LAG, NO_LAG, LAG, names, lang)
    keys = ["group", "topic", "broker", "queue_id"]
    last = known.sort_values("time").drop_duplicates(keys, keep="last")
    largest: Any = last.groupby(["group", "topic"])["lag"].sum().astype("int64").idxmax()
    group, topic = largest
    of_group = known[(known["group"] == group) & (known["topic"] == topic)]
    traces = []
    for n, ((broker, queue_id), part) in enumerate(of_group.groupby(["broker", "queue_id"], sort=True)):
        if n == MOST_QUEUES:
            break
        marker = {"color": PALETTE[n % len(PALETTE)], "symbol": SYMBOLS[n % len(SYMBOLS)], "size": 7}
        part = part.sort_values("time")
        name = escape(f"{broker} {queue_id}", 40)
        traces.append(
            go.Scatter(x=part["time"], y=part["lag"].astype("float64"), mode="lines+markers", name=name, marker=marker)
        )
    chart = figure(*traces, height=420)
    chart.update_xaxes(title=TIME.render(lang))
    chart.update_yaxes(title=BEHIND.render(lang), rangemode="tozero")
    ending = last[(last["group"] == group) & (last["topic"] == topic)]
    said = LAG_READING.say(name=f"{topic}@{group}", lag=int(ending["lag"].sum()), queues=len(ending))
    table = known[list(names)].reset_index(drop=True)
    return Chart(chart, table, said, LAG_ALT, LAG, names, lang)


def owners(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart which process held which queue when. `frame`: place, client_id, topic, broker, queue_id, first, last (null: to the end)."""
    names = {
        "place": PLACE,
        "client_id": CLIENT,
        "topic": TOPIC,
        "broker": BROKER,
        "queue_id": QUEUE,
        "first": FIRST,
        "last": LAST,
    }
    known = frame[frame["first"].notna()] if len(frame) else frame
    if known.empty:
        return Chart(figure(), frame, NO_OWNERS, NO_OWNERS, OWNERS, names, lang)
    known = known.sort_values(["topic", "queue_id", "first", "place"]).reset_index(drop=True)
    begin = pd.to_datetime(known["first"])
    final = max(begin.max(), pd.to_datetime(known["last"]).max()) if known["last"].notna().any() else begin.max()
    # A queue still held is drawn beyond the last change, so that it can be seen.
    end = pd.to_datetime(known["last"]).fillna(final + max((final - begin.min()) * 0.1, pd.Timedelta(seconds=5)))
    lanes = [
        escape(f"{topic} {queue_id}", 48) for topic, queue_id in zip(known["topic"], known["queue_id"], strict=True)
    ]
    places = list(dict.fromkeys(known["place"]))
    shared = posixpath.commonpath(places) if len(places) > 1 else posixpath.dirname(places[0])
    bars = []
    for n, place in enumerate(places):
        of_place = (known["place"] == place).to_numpy()
        bars.append(
            bar(
                [lane for lane, own in zip(lanes, of_place, strict=True) if own],
                ((end - begin).dt.total_seconds() * 1000)[of_place],
                escape(posixpath.relpath(place, shared or ".") if place != shared else place, 40),
                PALETTE[n % len(PALETTE)],
                ("", "/", ".", "x", "-", "+")[n % 6],
                base=begin[of_place],
                offsetgroup=str(n),
            )
        )
    chart = figure(*bars, height=160 + 34 * len(set(lanes)), barmode="group")
    chart.update_xaxes(title=TIME.render(lang), type="date")
    chart.update_yaxes(autorange="reversed")
    spans = pd.DataFrame({"lane": lanes, "place": known["place"], "begin": begin, "end": end})
    several = sum(_together(part) for _, part in spans.groupby("lane"))
    said = OWNERS_READING.say(several=several, queues=len(set(lanes)))
    return Chart(chart, known[list(names)], said, OWNERS_ALT, OWNERS, names, lang)


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
    names = {"topic": TOPIC, "stored": STORED, "handled": WAS_HANDLED, "behind": PASSED, "front": WAITING}
    known = frame.dropna() if len(frame) else frame
    if known.empty:
        return Chart(figure(), frame, NO_HANDLED, NO_HANDLED, HANDLED, names, lang)
    labels = [escape(topic, 48) for topic in known["topic"]]
    bars = [
        bar(
            labels,
            known[column].astype("int64"),
            names[column].render(lang),
            colour,
            shape,
            text=[f"{int(n):,}" if n else "" for n in known[column]],
        )
        for column, colour, shape in (("handled", GREEN, ""), ("behind", VERMILLION, "/"), ("front", SKY, "."))
    ]
    chart = figure(*bars, height=160 + 44 * len(known), barmode="stack")
    chart.update_yaxes(autorange="reversed")
    nobody = int(known["behind"].sum() + known["front"].sum())
    said = HANDLED_READING.say(nobody=nobody, stored=int(known["stored"].sum()))
    return Chart(chart, known[list(names)], said, HANDLED_ALT, HANDLED, names, lang)


def stacks(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart what consuming threads were doing. `frame`: file, dump, time, group, thread, state, frame, waiting_for, deadlocked."""
    names = {"dump": DUMP, "frame": FRAME, "threads": THREADS}
    if frame.empty:
        return Chart(figure(), frame, NO_STACKS, NO_STACKS, STACKS, names, lang)
    idle = IDLE.render(lang)
    labelled = frame.assign(dump=frame["file"] + " #" + frame["dump"].astype(str), frame=frame["frame"].fillna(idle))
    counted = labelled.groupby(["dump", "frame"], as_index=False).size().rename(columns={"size": "threads"})
    busy = [f for f in dict.fromkeys(counted.sort_values("threads", ascending=False)["frame"]) if f != idle]
    bars = []
    for n, frame_name in enumerate([*busy, idle]):
        part = counted[counted["frame"] == frame_name]
        colour = GREY if frame_name == idle else PALETTE[n % len(PALETTE)]
        bars.append(bar([escape(d, 60) for d in part["dump"]], part["threads"], escape(frame_name, 60), colour))
    chart = figure(*bars, height=160 + 44 * counted["dump"].nunique(), barmode="stack")
    chart.update_xaxes(title=THREADS.render(lang))
    if not busy:
        return Chart(chart, counted, STACKS_ALT, STACKS_ALT, STACKS, names, lang)
    top = counted[counted["frame"] == busy[0]].sort_values("threads").iloc[-1]
    every = int(counted[counted["dump"] == top["dump"]]["threads"].sum())
    said = STACKS_READING.say(threads=int(top["threads"]), all=every, frame=str(top["frame"]))
    return Chart(chart, counted, said, STACKS_ALT, STACKS, names, lang)
