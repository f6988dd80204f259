"""Charts of message identity: an id taken apart byte by byte, one message's journey in lanes, the retry funnel of each
group.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, GREEN, GREY, ORANGE, PALETTE, PURPLE, SYMBOLS, VERMILLION, Chart, Table, escape, figure
from kit.i18n import Lang, T

ANATOMY = T("The id, byte by byte")
ANATOMY_READING = T("{id} is {kind}: {parts}.")
ANATOMY_ALT = T(
    "One row of blocks, a block for each field in the order of its bytes; the same fields are in the table."
)
BYTES, FIELD, HEX, VALUE = T("bytes"), T("field"), T("hex"), T("means")
OFFSET, UNIQ = T("an offset id"), T("a UNIQ_KEY")
NO_ID = T("No id to take apart.")
PARTS = {
    "store host": T("store host"),
    "port": T("port"),
    "offset": T("physical offset"),
    "ip": T("producer's address"),
    "pid": T("process id"),
    "loader": T("class loader"),
    "millis": T("ms since the month began"),
    "counter": T("counter"),
}

JOURNEY = T("The journey of one message")
JOURNEY_READING = T(
    "{records} copies with {ids} offset ids and one UNIQ_KEY in {seconds} s; consumers wrote down {handled} deliveries, {good} of them with success."
)
JOURNEY_ALT = T(
    "One lane for each stage and one for the consumer; lines lead from each copy to the one written from it; the same rows are in the table."
)
NO_JOURNEY = T("No record of this message is in the evidence.")
CONSUMER_LANE = T("consumer")
SUCCESS, FAILED, UNKNOWN = T("handled with success"), T("failed"), T("end not known")
COPY, COPIED = T("copy"), T("written from")
STORED, STAGE, TOPIC, OFFSET_ID, WHY = T("at"), T("stage"), T("topic"), T("offset id"), T("why")

FUNNEL = T("Retries of each consumer group")
FUNNEL_READING = T(
    "{group} sent back {first} messages after their first failure; {dlq} of them ended in its dead letter topic."
)
FUNNEL_ALT = T("Bars for each group, from the first failure through each retry to the dead letters.")
NO_FUNNEL = T("No message was sent back.")
GROUP, STEP, MESSAGES, SECONDS = (T("consumer group"), T("step"), T("messages"), T("median seconds before"))
SENT_BACK, RETRIED, GIVEN_UP, DEAD = T("sent back {n}"), T("retry {n}"), T("given up", "identity"), T("dead letter")


def anatomy(text: str, lang: Lang = "en") -> Chart:
    """Chart the fields of one id in the order of its bytes. Raise `kit.rocketmq.ids.BadId` for what is no id."""
    from kit.rocketmq import ids

    info = ids.decode(text)
    wide = len(info.text) // 2 - 12
    if info.kind == "offset":
        fields = [("store host", wide, str(info.ip)), ("port", 4, str(info.port)), ("offset", 8, f"{info.offset:,}")]
    elif info.kind == "uniq":
        fields = [
            ("ip", wide, str(info.ip)),
            ("pid", 2, str(info.pid)),
            ("loader", 4, f"{info.loader:08X}"),
            ("millis", 4, f"{info.millis:,}"),
            ("counter", 2, str(info.counter)),
        ]
    else:
        fields = []
    table = pd.DataFrame(_cut(info.text, fields, lang), columns=pd.Index(["bytes", "field", "hex", "means"]))
    named = {
        "bytes": BYTES.render(lang),
        "field": FIELD.render(lang),
        "hex": HEX.render(lang),
        "means": VALUE.render(lang),
    }
    if table.empty:
        return Chart(figure(), table, NO_ID.render(lang), NO_ID.render(lang), ANATOMY.render(lang), named, lang)
    bars = []
    for i, ((name, size, _), row) in enumerate(zip(fields, table.itertuples(), strict=True)):
        bars.append(
            go.Bar(
                x=[size],
                y=[""],
                orientation="h",
                name=PARTS[name].render(lang),
                marker={"color": PALETTE[i % len(PALETTE)], "line": {"color": "white", "width": 2}},
                text=[f"{escape(row.hex)}<br>{escape(row.field)}<br>{escape(row.means)}"],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": "white" if i < 3 else "black", "size": 12},
                hovertemplate=f"{escape(row.field)}<br>{escape(row.hex)}<br>{escape(row.means)}<extra></extra>",
            )
        )
    chart = figure(*bars, height=170, barmode="stack", showlegend=False, uniformtext={"minsize": 9, "mode": "show"})
    chart.update_xaxes(title=BYTES.render(lang), dtick=2, range=[0, len(info.text) // 2])
    chart.update_yaxes(visible=False)
    parts = [f"{row.field} {row.means}" for row in table.itertuples()]
    reading = ANATOMY_READING.say(id=info.text, kind=OFFSET if info.kind == "offset" else UNIQ, parts=parts)
    return Chart(
        chart, table, reading.render(lang), ANATOMY_ALT.render(lang), ANATOMY.render(lang), named, lang, min_width=720
    )


def explore(frame: pd.DataFrame, lang: Lang = "en", interactive: bool = True) -> Any:
    """Return a field to type an id into, taken apart as `apart` does; it begins with the first UNIQ_KEY of `frame` (as
    in `life`).
    """
    text = next((str(key) for key in frame.get("uniq_key", ()) if pd.notna(key)), "")
    if not interactive:
        return apart(text, lang)
    import ipywidgets

    from kit.charts.controls import live

    typed = ipywidgets.Text(text, description="id", continuous_update=False, layout=ipywidgets.Layout(width="44em"))
    return live(lambda text: apart(text, lang), text=typed)


def apart(text: str, lang: Lang = "en") -> Chart | Table:
    """Return `anatomy`, or one line that says what is wrong with a text that is no id."""
    from kit.rocketmq.ids import BadId

    try:
        return anatomy(text.strip(), lang)
    except BadId as bad:
        return Table(pd.DataFrame(), bad.sentence.render(lang), lang=lang)


def _cut(text: str, fields: list[tuple[str, int, str]], lang: Lang) -> list[tuple[str, str, str, str]]:
    rows, at = [], 0
    for name, size, value in fields:
        rows.append((f"{at}–{at + size - 1}", PARTS[name].render(lang), text[2 * at : 2 * (at + size)], value))
        at += size
    return rows


def journey(records: pd.DataFrame, handled: pd.DataFrame | None = None, lang: Lang = "en") -> Chart:
    """Chart one message in lanes: a lane for each stage, one for what consumers did with it.

    `records`: `store_timestamp`, `stage`, `topic`, `offset_msg_id`, `copied_from`, `why` as in `kit.trace`; `handled`:
    `time`, `result`, `success`,
    `offset_msg_id`, `consumer`.
    """
    named = {
        "at": STORED.render(lang),
        "stage": STAGE.render(lang),
        "topic": TOPIC.render(lang),
        "offset_msg_id": OFFSET_ID.render(lang),
        "why": WHY.render(lang),
    }
    records = records.reset_index(drop=True)
    if not len(records):
        empty = pd.DataFrame(columns=pd.Index(list(named)))
        return Chart(
            figure(), empty, NO_JOURNEY.render(lang), NO_JOURNEY.render(lang), JOURNEY.render(lang), named, lang
        )
    at = pd.to_datetime(records["store_timestamp"], utc=True, format="ISO8601")
    lanes = [escape(stage, 40) for stage in records["stage"]]
    done = _deliveries(handled, lang)
    traces = [_links(records, at, lanes), *_marks(records, at, lanes, lang), *_ends(done, lang)]
    order = list(dict.fromkeys(lanes)) + ([CONSUMER_LANE.render(lang)] if len(done) else [])
    chart = figure(*traces, height=150 + 46 * len(order))
    chart.update_yaxes(type="category", categoryorder="array", categoryarray=order[::-1])
    chart.update_layout(legend={"orientation": "h", "y": -0.22, "yanchor": "top"}, margin={"b": 90})
    table = pd.DataFrame(
        {
            "at": at,
            "stage": records["stage"],
            "topic": records["topic"],
            "offset_msg_id": records["offset_msg_id"],
            "why": records["why"],
        }
    )
    if len(done):
        told = pd.DataFrame(
            {
                "at": done["at"],
                "stage": CONSUMER_LANE.render(lang),
                "topic": done["consumer"],
                "offset_msg_id": done["offset_msg_id"],
                "why": done["result"],
            }
        )
        table = pd.concat([table, told], ignore_index=True).sort_values("at", kind="stable", ignore_index=True)
    good = int((done["end"] == "good").sum()) if len(done) else 0
    seconds = round((at.max() - at.min()).total_seconds(), 1)
    reading = JOURNEY_READING.say(
        records=len(records), ids=records["offset_msg_id"].nunique(), seconds=seconds, handled=len(done), good=good
    )
    return Chart(
        chart, table, reading.render(lang), JOURNEY_ALT.render(lang), JOURNEY.render(lang), named, lang, min_width=620
    )


def life(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the journey of the first message of `frame`: its copies and, where `row` is `delivery`, what consumers did
    with them.
    """
    mine = frame[frame["id"] == frame["id"].iloc[0]] if len(frame) else frame
    copies = mine[mine["row"] == "copy"] if len(mine) else mine
    return journey(copies, mine[mine["row"] == "delivery"] if len(mine) else None, lang)


def uniq_apart(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Take the UNIQ_KEY of the first message of `frame` apart; `frame` as in `life`."""
    return anatomy(str(frame["uniq_key"].dropna().iloc[0]), lang)


def offset_apart(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Take the offset id of the first copy in `frame` apart."""
    return anatomy(str(frame["offset_msg_id"].dropna().iloc[0]), lang)


def _deliveries(handled: pd.DataFrame | None, lang: Lang) -> pd.DataFrame:
    columns = ["time", "result", "success", "offset_msg_id", "consumer"]
    if handled is None or handled.empty:
        return pd.DataFrame(columns=pd.Index(columns))
    done = handled.reindex(columns=columns)
    done = done.assign(
        at=pd.to_datetime(done["time"], utc=True, format="ISO8601"),
        end=["good" if s is True else "bad" if s is False else "open" for s in done["success"]],
    )
    return done.dropna(subset=["at"])


def _links(records: pd.DataFrame, at: pd.Series, lanes: list[str]) -> go.Scatter:
    """Lead a line from each copy to those written from it."""
    place = {copy: i for i, copy in enumerate(records["offset_msg_id"])}
    x: list[pd.Timestamp | None] = []
    y: list[str | None] = []
    for i, source in enumerate(records["copied_from"]):
        if isinstance(source, str) and source in place:
            x += [at.iloc[place[source]], at.iloc[i], None]
            y += [lanes[place[source]], lanes[i], None]
    return go.Scatter(x=x, y=y, mode="lines", line={"color": GREY, "width": 1.5}, hoverinfo="skip", showlegend=False)


def _marks(records: pd.DataFrame, at: pd.Series, lanes: list[str], lang: Lang) -> list[go.Scatter]:
    """Draw the copies, each labelled with the end of its offset id: what differs between them."""
    hover = [
        f"{escape(r.stage)}<br>{escape(r.topic)}<br>{escape(r.offset_msg_id)}<br>{escape(r.why, 140)}"
        for r in records.itertuples()
    ]
    tails = ["…" + escape(str(copy)[-6:]) for copy in records["offset_msg_id"]]
    return [
        go.Scatter(
            x=at,
            y=lanes,
            mode="markers+text",
            text=tails,
            textposition="top center",
            textfont={"size": 11},
            name=COPY.render(lang),
            customdata=hover,
            marker={"size": 12, "color": BLUE, "symbol": SYMBOLS[0]},
            hovertemplate="%{customdata}<br>%{x}<extra></extra>",
            cliponaxis=False,
        )
    ]


def _ends(done: pd.DataFrame, lang: Lang) -> list[go.Scatter]:
    looks = {"good": (SUCCESS, GREEN, "star"), "bad": (FAILED, VERMILLION, "x"), "open": (UNKNOWN, GREY, "diamond")}
    drawn = []
    for end, part in done.groupby("end", sort=False) if len(done) else ():
        name, colour, symbol = looks[str(end)]
        hover = [f"{escape(r.consumer)}: {escape(r.result)}<br>{escape(r.offset_msg_id)}" for r in part.itertuples()]
        drawn.append(
            go.Scatter(
                x=part["at"],
                y=[CONSUMER_LANE.render(lang)] * len(part),
                mode="markers",
                name=name.render(lang),
                customdata=hover,
                marker={"size": 14, "color": colour, "symbol": symbol},
                hovertemplate="%{customdata}<br>%{x}<extra></extra>",
            )
        )
    return drawn


def funnel(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the retry funnel: `consumer_group`, `level`, `step` (`sent back`, `retry`, `given up`, `dlq`), `messages`,
    `seconds`, of `stages.funnel`.
    """
    named = {
        "consumer_group": GROUP.render(lang),
        "step": STEP.render(lang),
        "messages": MESSAGES.render(lang),
        "seconds": SECONDS.render(lang),
    }
    says = {"sent back": SENT_BACK, "retry": RETRIED, "given up": GIVEN_UP, "dlq": DEAD}
    shown = frame[frame["step"].isin(says)] if len(frame) else frame
    if not len(shown):
        return Chart(
            figure(),
            pd.DataFrame(columns=pd.Index(list(named))),
            NO_FUNNEL.render(lang),
            NO_FUNNEL.render(lang),
            FUNNEL.render(lang),
            named,
            lang,
        )
    steps = [
        says[str(step)].say(n=int(level)).render(lang)
        for step, level in zip(shown["step"], shown["level"], strict=True)
    ]
    table = pd.DataFrame(
        {
            "consumer_group": shown["consumer_group"].to_numpy(),
            "step": steps,
            "messages": shown["messages"].to_numpy(),
            "seconds": shown["seconds"].to_numpy(),
        }
    )
    colours = {"sent back": ORANGE, "retry": BLUE, "given up": PURPLE, "dlq": VERMILLION}
    groups = list(dict.fromkeys(table["consumer_group"]))[:12]
    bars = []
    for group in groups:
        mine = (table["consumer_group"] == group).to_numpy()
        bars.append(
            go.Bar(
                y=[f"{escape(group, 32)} · {step}" for step in table["step"][mine]],
                x=table["messages"][mine],
                orientation="h",
                text=[f"{n:,}" for n in table["messages"][mine]],
                textposition="outside",
                marker={"color": [colours[s] for s in shown["step"].to_numpy()[mine]]},
                showlegend=False,
                cliponaxis=False,
                hovertemplate="%{y}: %{x:,}<extra></extra>",
            )
        )
    chart = figure(*bars, height=130 + 30 * int(table["consumer_group"].isin(groups).sum()))
    chart.update_yaxes(type="category", autorange="reversed")
    chart.update_xaxes(title=MESSAGES.render(lang), rangemode="tozero")
    worst = max(
        groups, key=lambda g: (int(_dead(shown, g)), int(shown[shown["consumer_group"] == g]["messages"].max()))
    )
    first = int(shown[(shown["consumer_group"] == worst) & (shown["level"] == shown["level"].min())]["messages"].max())
    reading = FUNNEL_READING.say(group=str(worst), first=first, dlq=int(_dead(shown, worst)))
    return Chart(
        chart, table, reading.render(lang), FUNNEL_ALT.render(lang), FUNNEL.render(lang), named, lang, min_width=560
    )


def _dead(frame: pd.DataFrame, group: str) -> int:
    return int(frame[(frame["consumer_group"] == group) & (frame["step"] == "dlq")]["messages"].sum())
